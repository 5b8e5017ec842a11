/*
 * Programs that run what their arguments, their input or a file say: a grant of one of these would be a grant
 * of everything.  The list has the common programs, and options.def says which options make a program run
 * another one.  A program that is in neither counts as an ordinary one.
 */
#include "grant_impl.h"

#include <string.h>

#include "policy/base/path.h"
#include "policy/base/util.h"
#include "policy/command/cmd.h"

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

bool name_is_runner(const char *name)
{
	for (size_t i = 0; name && i < NELEM(runners); i++)
		if (word_like_list(runners[i], name))
			return true;
	return false;
}

/* True if the option, or a letter of a cluster, makes the program run another one. */
static bool option_runs(const struct cmd_options *global, const struct cmd_options *sub, const char *arg)
{
	const struct cmd_options *row = sub ? sub : global;
	char name[] = "-x", mark;

	if (arg[1] == '-' || (row && row->flags & OPTIONS_SINGLE_DASH))
		return cmd_option_class(global, sub, arg, strcspn(arg, "="), &mark) == CLASS_RUNS;
	for (const char *p = arg + (arg[0] == '-'); *p; p++) {
		name[1] = *p;
		if (cmd_option_class(global, sub, name, 2, &mark) == CLASS_RUNS)
			return true;
		if (mark && arg[0] == '-')
			break;
	}
	return false;
}

bool command_is_runner(const struct command *c)
{
	struct cmd_view v = cmd_view_of(c);
	const struct cmd_options *row = v.sub ? v.sub : v.global;
	struct cmd_walk w = { .view = &v };
	struct command inner;
	enum cmd_arg kind;
	const char *arg;

	if (name_is_runner(c->program) || name_is_runner(c->alias) || command_unwrap(c, &inner) ||
	    (v.sub && v.sub->flags & OPTIONS_RUNS))
		return true;
	while ((kind = cmd_walk_next(&w, &arg)) != ARG_END) {
		if (kind == ARG_WORD && row && word_like_list(row->options[CLASS_RUNS], arg))
			return true;
		if (cmd_walk_at_option(&w, kind) && option_runs(v.global, w.seen_sub ? v.sub : NULL, arg))
			return true;
	}
	return false;
}
