/*
 * Programs that run what their arguments, their input or a file say: a grant of one of these would be a grant
 * of everything.  Tables of what everybody has; a program that they do not know counts as an ordinary one.
 */
#include "grant_impl.h"

#include <string.h>

#include "cmd.h"
#include "path.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))

/* Blank-separated globs of names. */
static const char *const runners[] = {
	/* shells */
	"sh ash bash rbash dash zsh ksh* mksh lksh pdksh yash fish csh tcsh rc es elvish xonsh nu osh ysh "
	"pwsh*",
	"powershell* cmd cmd.exe busybox* toybox* git-shell tclsh* wish* expect",
	/* interpreters */
	"python* pypy* ipython* perl* ruby* irb* php* lua* node nodejs deno bun bunx tsx ts-node* java "
	"jshell",
	"groovy* scala* kotlin* guile* racket* sbcl clisp ecl emacs* ghci* runghc* runhaskell ocaml* erl "
	"escript",
	"elixir iex julia* R Rscript octave* awk ?awk gawk* original-awk sed ed dc bc gdb* lldb* tcc cling "
	"qjs",
	"mujs gjs* d8 js rhino swift wasmtime wasmer wine* qemu-* ld.so ld-* ld.* m4 gp maxima sqlite3* psql",
	"mysql mariadb",
	/* editors and pagers with a shell in them */
	"vi vim* nvim view ex rvim rview gvim* nano pico less more most man mc joe micro hx kak",
	/* what starts another program */
	"env xargs parallel nice nohup setsid stdbuf timeout time ionice chrt taskset sudo* su doas pkexec",
	"runuser gosu su-exec chroot unshare nsenter setpriv capsh command exec builtin eval coreutils flock",
	"fakeroot* faketime eatmydata catchsegv dbus-run-session systemd-* prlimit setarch linux32 linux64 "
	"tini*",
	"dumb-init rlwrap unbuffer watch xvfb-run script strace* ltrace valgrind perf bwrap firejail proot",
	"run-parts start-stop-daemon at batch crontab screen tmux* nc nc.* netcat* ncat socat* ssh rsh mosh*",
	"rlogin telnet pdsh npx pnpx uvx pipx corepack entr watchexec inotifywait hyperfine direnv dotenv*",
	"nix-shell guix ifne chronic vipe pale xdg-open open gio",
};

/* Globs of words with which an ordinary program does so. */
static const struct {
	const char *program, *words;
} escapes[] = {
	{ "find", "-exec* -ok* -delete -fprint* -fls" },
	{ "fd", "-x* -X* --exec*" },
	{ "fdfind", "-x* -X* --exec*" },
	{ "rg", "--pre* --hostname-bin*" },
	{ "sort", "--co*" },
	{ "split", "--f*" },
	{ "tar", "--to-c* --checkpoint-a* -I* --use* --rsh* -F* --info-script* --new-volume* --rmt*" },
	{ "git",
	  "-c* --config-env* --exec* --upload-pack* --receive-pack* -O* --open-files* --ext-diff ext::* "
	  "bisect submodule filter-* difftool mergetool config" },
	{ "make", "--ev* -E* SHELL=* .SHELLFLAGS* -f* --fi* --ma* -I* --include* MAKEFILES=*" },
	{ "rsync", "-e* --rsh* --rsync-path*" },
	{ "scp", "-S* -o*" },
	{ "sftp", "-S* -o*" },
	{ "zip", "-T* --unzip*" },
	{ "tcpdump", "-z*" },
	{ "docker", "run exec build buildx compose create start" },
	{ "podman", "run exec build compose create start play kube" },
	{ "kubectl", "exec run cp apply create edit plugin --kubeconfig*" },
	{ "npm", "exec x explore --script-shell* --node-options* --prefix* -C*" },
	{ "pnpm", "exec dlx --script-shell* --dir* -C*" },
	{ "yarn", "exec dlx node --cwd*" },
	{ "cargo", "run --config* +*" },
	{ "go", "run generate -exec* -toolexec* -vettool*" },
	{ "gcc*", "-wrapper* -B* -fplugin* -specs*" },
	{ "g++*", "-wrapper* -B* -fplugin* -specs*" },
	{ "cc", "-wrapper* -B* -fplugin* -specs*" },
	{ "gh", "alias extension api" },
	{ "glab", "alias api" },
	{ "uv", "run tool" },
	{ "poetry", "run shell" },
	{ "pipenv", "run shell" },
	{ "conda", "run" },
	{ "rustup", "run" },
	{ "openssl", "-engine*" },
	{ "curl", "-K* --config*" },
	{ "wget", "--use-askpass* -e* --execute*" },
	{ "hg", "--config*" },
	{ "svn", "--config-option* --editor-cmd* --diff-cmd*" },
	{ "apt*", "-o* --option* -c*" },
	{ "dpkg", "--pre-invoke* --post-invoke*" },
	{ "pip*", "--python*" },
};

/* word is like one of the blank-separated globs. */
static bool is_like_one(const char *globs, const char *word)
{
	size_t len = strlen(word);

	while (*globs) {
		size_t n = strcspn(globs, " ");

		if (glob_match(globs, n, word, len))
			return true;
		globs += n + (globs[n] == ' ');
	}
	return false;
}

bool name_is_runner(const char *name)
{
	for (size_t i = 0; name && i < NELEM(runners); i++)
		if (is_like_one(runners[i], name))
			return true;
	return false;
}

bool word_is_escape(const char *program, const char *word)
{
	for (size_t i = 0; program && i < NELEM(escapes); i++)
		if (glob_match(escapes[i].program, strlen(escapes[i].program), program, strlen(program)) &&
		    is_like_one(escapes[i].words, word))
			return true;
	return false;
}

bool command_is_runner(const struct command *c)
{
	struct command inner;
	size_t n = command_count(c);

	if (name_is_runner(c->program) || name_is_runner(c->alias) || command_unwrap(c, &inner))
		return true;
	for (size_t i = 0; i < n; i++)
		if (word_is_escape(c->program, command_arg(c, i)) ||
		    word_is_escape(c->alias, command_arg(c, i)))
			return true;
	return false;
}
