/*
 * Programs that do what breaks interposers: `traps NAME FILE [WORD]` springs one trap and reads FILE in it.
 * What it prints is the same with and without a fence, but for a FILE that the fence denies, where it
 * prints the errno.  Used by tests/t/work/traps-*.sh.
 */
#include "tests/victims/traps.h"

#include <dirent.h>
#include <dlfcn.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <wordexp.h>

static char *none[] = { NULL };

/* --- the environment ---------------------------------------------------------------------------- */

static int environment_null(const char *file)
{
	char *argv[] = { "cat", (char *)file, NULL };

	execve("/bin/cat", argv, NULL);
	return -1;
}

static int environ_is_null(const char *file)
{
	environ = NULL;
	execl("/bin/cat", "cat", file, NULL);
	return -1;
}

static int cleared(const char *file)
{
	clearenv();
	execlp("cat", "cat", file, NULL);
	return -1;
}

static int unset(const char *file)
{
	unsetenv("LD_PRELOAD");
	unsetenv("PALE_SESSION_DIR");
	execl("/bin/cat", "cat", file, NULL);
	return -1;
}

static int put(const char *file)
{
	char line[4096];

	putenv("LD_PRELOAD=");
	putenv("PALE_SESSION_DIR=/tmp");
	snprintf(line, sizeof line, "exec cat '%s'", file);
	return system(line) ? -1 : 0;
}

/* The strings themselves are overwritten, as setproctitle does. */
static int overwritten(const char *file)
{
	char line[4096];
	FILE *p;

	for (char **e = environ; *e; e++)
		if (strncmp(*e, "PATH=", 5) != 0)
			memset(*e, 'x', strlen(*e));
	snprintf(line, sizeof line, "exec /bin/cat '%s'", file);
	p = popen(line, "r");
	while (p && fgets(line, sizeof line, p))
		fputs(line, stdout);
	return p && pclose(p) == 0 ? 0 : -1;
}

/* LD_PRELOAD twice, and a foreign session. */
static int own_vector(const char *file)
{
	char *argv[] = { "cat", (char *)file, NULL };
	char *envp[] = { "LD_PRELOAD=", "A=1", "LD_PRELOAD=libutil.so.1", "PALE_SESSION_DIR=/nowhere", NULL };

	execve("/bin/cat", argv, envp);
	return -1;
}

static int no_argv0(const char *file)
{
	/* The kernel gives an empty vector one empty word (5.18): a shell with none reads its input. */
	int fd[2];

	if (pipe(fd) < 0)
		return -1;
	dprintf(fd[1], "read -r line <'%s' && echo \"$line\"\n", file);
	close(fd[1]);
	dup2(fd[0], 0);
	close(fd[0]);
	execve("/bin/sh", none, environ);
	return -1;
}

/* --- children ----------------------------------------------------------------------------------- */

static int descriptors_closed(const char *file)
{
	close_range(3, ~0u, 0);
	show(open(file, O_RDONLY));
	closefrom(3);
	show(open(file, O_RDONLY));
	fflush(stdout);
	execl("/bin/cat", "cat", file, NULL);
	return -1;
}

static int reap(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid)
		return -1;
	printf("status %d\n", status);
	return 0;
}

static int vforked(const char *file)
{
	char *argv[] = { "cat", (char *)file, NULL };
	pid_t pid = vfork();

	if (pid == 0) {
		close_range(3, ~0u, 0);
		execve("/bin/cat", argv, none);
		_exit(errno);
	}
	reap(pid);
	/* The parent is whole. */
	show(open(file, O_RDONLY));
	return 0;
}

static int spawned(const char *file)
{
	char *argv[] = { "cat", NULL };
	posix_spawn_file_actions_t fa;
	pid_t pid;
	int r;

	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_addopen(&fa, 7, file, O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&fa, 7, 0);
	posix_spawn_file_actions_addopen(&fa, 8, "made", O_CREAT | O_WRONLY, 0604);
	posix_spawn_file_actions_addclosefrom_np(&fa, 3);
	fflush(stdout);
	r = posix_spawnp(&pid, "cat", &fa, NULL, argv, none);
	printf("posix_spawnp %d\n", r);
	return r ? -1 : reap(pid);
}

/* daemon() forks, leaves the session, and turns to / where FILE, being absolute, is still found. */
static int daemonised(const char *file)
{
	int fd[2];
	char line[256];
	ssize_t n;
	pid_t pid;

	if (pipe(fd) < 0)
		return -1;
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		close(fd[0]);
		if (daemon(0, 0) < 0)
			_exit(1);
		n = read(open(file, O_RDONLY), line, sizeof line);
		dprintf(fd[1], "%d %.*s", getsid(0) == getpid(), n > 0 ? (int)n : 0, line);
		_exit(0);
	}
	close(fd[1]);
	while ((n = read(fd[0], line, sizeof line)) > 0)
		fwrite(line, 1, (size_t)n, stdout);
	waitpid(pid, NULL, 0);
	return 0;
}

/* --- programs ----------------------------------------------------------------------------------- */

static int fexecved(const char *file)
{
	char *argv[] = { "cat", (char *)file, NULL };

	fexecve(open("/bin/cat", O_RDONLY | O_CLOEXEC), argv, none);
	return -1;
}

static int memfd(const char *file)
{
	char *argv[] = { "cat", (char *)file, NULL }, buf[65536];
	int from = open("/bin/cat", O_RDONLY), to = memfd_create("copy", MFD_CLOEXEC);
	ssize_t n;

	while ((n = read(from, buf, sizeof buf)) > 0)
		if (write(to, buf, (size_t)n) != n)
			return -1;
	fexecve(to, argv, none);
	return -1;
}

static int wordexped(const char *file)
{
	char line[4096];
	wordexp_t w;
	int r;

	snprintf(line, sizeof line, "a $(cat '%s') nothing*", file);
	r = wordexp(line, &w, WRDE_SHOWERR);
	printf("wordexp %d\n", r);
	for (size_t i = 0; r == 0 && i < w.we_wordc; i++)
		printf("<%s>\n", w.we_wordv[i]);
	return 0;
}

/* --- names of open ------------------------------------------------------------------------------ */

int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int dirfd, const char *path, int flags);
int __openat64_2(int dirfd, const char *path, int flags);

static int fortified(const char *file)
{
	show(__open_2(file, O_RDONLY));
	show(__open64_2(file, O_RDONLY));
	show(__openat_2(AT_FDCWD, file, O_RDONLY));
	show(__openat64_2(AT_FDCWD, file, O_RDONLY));
	return 0;
}

static int show_stream(FILE *f)
{
	char line[256];

	if (!f)
		return printf("errno %d\n", errno);
	fputs(fgets(line, sizeof line, f) ? line : "nothing\n", stdout);
	return fclose(f);
}

static int large_names(const char *file)
{
	char name[] = "madeXXXXXX";
	struct dirent64 **list = NULL;
	int n;

	show(open64(file, O_RDONLY));
	show(openat64(AT_FDCWD, file, O_RDONLY));
	show_stream(fopen64(file, "r"));
	show_stream(freopen64(file, "r", fopen64("/dev/null", "r")));
	printf("creat64 %d\n", close(creat64("c", 0640)));
	printf("truncate64 %d", truncate64("c", 1ll << 33));
	printf(" %d\n", truncate64("c", 3));
	printf("mkstemp64 %d", close(mkstemp64(name)));
	printf(" %d\n", unlink(name));
	n = scandir64(".", &list, NULL, alphasort64);
	for (int i = 0; i < n; i++)
		printf("%s\n", list[i]->d_name);
	return 0;
}

/* O_TMPFILE contains O_DIRECTORY: its mode must not get lost, and a directory has none.  WORD: where, too. */
static int tmpfile_mode(const char *file)
{
	static const mode_t modes[] = { 0600, 0640, 0777, 0400 };
	char link[64], name[64];
	struct stat st;

	umask(022);
	for (unsigned i = 0; i < sizeof modes / sizeof modes[0]; i++) {
		int fd = open(".", O_TMPFILE | O_RDWR, modes[i]);

		fstat(fd, &st);
		snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
		snprintf(name, sizeof name, "tmp%u", i);
		printf("%o %d\n", st.st_mode, linkat(AT_FDCWD, link, AT_FDCWD, name, AT_SYMLINK_FOLLOW));
		close(fd);
	}
	printf("directory %d\n", close(open(".", O_DIRECTORY | O_RDONLY)));
	if (word)
		show(open(word, O_TMPFILE | O_RDWR, 0600));
	show(open(file, O_RDONLY));
	return 0;
}

/* --- libraries of their own --------------------------------------------------------------------- */

static int in_new_namespace(const char *file)
{
	void *libc = dlmopen(LM_ID_NEWLM, "libc.so.6", RTLD_NOW);
	int (*its_open)(const char *, int, ...) =
		libc ? (int (*)(const char *, int, ...))dlsym(libc, "open") : NULL;
	int *its_errno, fd;

	if (!its_open) {
		printf("no libc: %s\n", dlerror());
		return -1;
	}
	its_errno = ((int *(*)(void))dlsym(libc, "__errno_location"))();
	fd = its_open(file, O_RDONLY);
	show_errno(fd, *its_errno);
	show(open(file, O_RDONLY));
	return 0;
}

/* WORD is an object that exports plugin_open(). */
static int deep_bound(const char *file)
{
	void *plugin = dlopen(word, RTLD_NOW | RTLD_DEEPBIND);
	int (*its_open)(const char *, int) =
		plugin ? (int (*)(const char *, int))dlsym(plugin, "plugin_open") : NULL;

	if (!its_open) {
		printf("no plugin: %s\n", dlerror());
		return -1;
	}
	show(its_open(file, O_RDONLY));
	show(open(file, O_RDONLY));
	return 0;
}

/* --- the table ---------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	int (*spring)(const char *file);
} traps[] = {
	{ "environment-null", environment_null },
	{ "environ-is-null", environ_is_null },
	{ "cleared", cleared },
	{ "unset", unset },
	{ "put", put },
	{ "overwritten", overwritten },
	{ "own-vector", own_vector },
	{ "no-argv0", no_argv0 },
	{ "descriptors-closed", descriptors_closed },
	{ "vfork", vforked },
	{ "spawn", spawned },
	{ "daemon", daemonised },
	{ "fexecve", fexecved },
	{ "memfd", memfd },
	{ "wordexp", wordexped },
	{ "fortified", fortified },
	{ "large-names", large_names },
	{ "tmpfile", tmpfile_mode },
	{ "dlmopen", in_new_namespace },
	{ "deepbind", deep_bound },
	{ "standard-closed", standard_closed },
	{ "few-descriptors", few_descriptors },
	{ "small-address-space", small_address_space },
	{ "small-stacks", small_stacks },
	{ "alternate-stack", alternate_stack },
	{ "forks-in-threads", forks_in_threads },
	{ "signals", signals },
	{ "unknown-calls", unknown_calls },
	{ "own-filter", own_filter },
	{ "not-dumpable", not_dumpable },
	{ "cancelled", cancelled },
	{ "cancelled-waiting", cancelled_waiting },
};

const char *word;

int main(int argc, char **argv)
{
	word = argc > 3 ? argv[3] : NULL;
	for (unsigned i = 0; argc > 2 && i < sizeof traps / sizeof traps[0]; i++)
		if (strcmp(argv[1], traps[i].name) == 0)
			return traps[i].spring(argv[2]) < 0;
	fprintf(stderr, "usage: traps NAME FILE [WORD]\n");
	return 2;
}
