/*
 * Tries the escapes: each in a process of its own, in a directory of its own, with a limit of time.
 *
 *   escape list             the table: name, rows of the threat model, rings, promise
 *   escape setup OUT WORK [NAME...]
 *                           makes what the probes try to get at
 *   escape check OUT        names each probe whose directory outside is not as it was
 *   escape run NAME...      `NAME worked|stopped|absent` for each; no name: all
 *
 * ESCAPE_KEY, ESCAPE_OUT, ESCAPE_OTHER, ESCAPE_PORT, ESCAPE_PID and ESCAPE_IPC tell `run` where things are.
 */
#include "escape.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>

#include "policy/image/image.h"
#include "policy/wire/wire.h"
#include "tests/victims/rawcall.h"

#define DECOY	  "decoy-7c1f"
#define PRECIOUS  "precious\n"
#define LIMIT_SEC 5 /* times ESCAPE_SLOW */

static const struct probe {
	const char *name, *rows, *rings, *promise;
	int (*try)(void);
} probes[] = {
#define P(name, rows, rings, promise) { #name, rows, rings, #promise, probe_##name },
#include "probes.def"
#undef P
};
#define N_PROBES (sizeof(probes) / sizeof(probes[0]))

const char *escape_key, *escape_name, *escape_other;
pid_t escape_pale, escape_helper, escape_neighbour;
int escape_port;
static const char *out;
static uint64_t pass;

long escape_call(long nr, long a, long b, long c, long d, long e, long f)
{
#if defined(ESCAPE_RAW) || defined(ESCAPE_DIG)
	long r = raw_call(nr, a, b, c, d, e, f ? f : (long)pass);

	if (r < 0 && r > -4096) {
		errno = (int)-r;
		return -1;
	}
	return r;
#else
	return syscall(nr, a, b, c, d, e, f);
#endif
}

/* --- for the probes ------------------------------------------------------------------------------- */

const char *outside(const char *name)
{
	static char buf[4][4096];
	static unsigned turn;
	char *p = buf[turn++ % 4];

	snprintf(p, sizeof(buf[0]), "%s/%s/%s", out, escape_name, name);
	return p;
}

bool is_key(int fd)
{
	char buf[4096];
	ssize_t n = fd < 0 ? -1 : read(fd, buf, sizeof(buf) - 1);

	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return false;
	buf[n] = '\0';
	return strstr(buf, DECOY) != NULL;
}

int read_it(int fd)
{
	return is_key(fd) ? WORKED : STOPPED;
}

int if_done(long result)
{
	if (result != -1)
		return WORKED;
	return errno == ENOSYS || errno == EOPNOTSUPP || errno == ENOTTY ? NOT_HERE : STOPPED;
}

void put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		exit(NOT_HERE);
	close(fd);
}

bool there(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

/* --- what is to be had ----------------------------------------------------------------------------- */

static void must(bool ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	exit(3);
}

static void enter(const char *dir)
{
	must((mkdir(dir, 0755) == 0 || errno == EEXIST) && chdir(dir) == 0, dir);
}

static void furnish(void)
{
	put("file", PRECIOUS);
	must(mkdir("dir", 0755) == 0 && mkdir("sub", 0755) == 0, "dir");
	put("sub/inner", PRECIOUS);
}

/* In the workspace, finer than any floor: names that the policy has patterns for. */
static void furnish_inside(void)
{
	static const char *const kinds[] = { "locked", "hidden", "kept" };
	char path[64];

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		must(mkdir(kinds[i], 0755) == 0, kinds[i]);
		snprintf(path, sizeof(path), "%s/file", kinds[i]);
		put(path, strcmp(kinds[i], "hidden") == 0 ? DECOY : PRECIOUS);
	}
}

/* A repository in dir, as git tells one. */
static void furnish_repository(const char *dir)
{
	static const char *const dirs[] = { "", "/objects", "/refs", "/refs/heads", "/hooks" };
	char path[64];

	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		snprintf(path, sizeof(path), "%s%s", dir, dirs[i]);
		must(mkdir(path, 0755) == 0 || errno == EEXIST, path);
	}
	snprintf(path, sizeof(path), "%s/HEAD", dir);
	put(path, "ref: refs/heads/topic\n");
	snprintf(path, sizeof(path), "%s/config", dir);
	put(path, "[core]\n\tbare = true\n");
}

/* What git obeys, for the probes of that (git.c): one here, and the branch in the workspace's own. */
static void furnish_git(const char *name)
{
	char path[256];

	furnish_repository("r");
	furnish_repository("../.git");
	snprintf(path, sizeof(path), "../.git/refs/heads/%s", name);
	put(path, "1111111111111111111111111111111111111111\n");
}

static void furnish_for(const char *name, const char *outdir, const char *work)
{
	enter(outdir);
	enter(name);
	furnish();
	enter(work);
	enter(name);
	furnish_inside();
	if (strncmp(name, "git_", 4) == 0)
		furnish_git(name);
}

/* For our own probes, and for those of others by their names. */
static int setup(const char *outdir, const char *work, char **names)
{
	struct timespec coarse = { .tv_nsec = 30 * 1000 * 1000 };

	for (size_t i = 0; i < N_PROBES; i++)
		furnish_for(probes[i].name, outdir, work);
	for (; *names; names++)
		furnish_for(*names, outdir, work);
	/* The clock of inodes ticks coarsely: what happens from here on is later than the stamp. */
	nanosleep(&coarse, NULL);
	enter(outdir);
	put(".stamp", "");
	nanosleep(&coarse, NULL);
	return 0;
}

/* Any change of an inode (content, mode, owner, links, names in it) moves its ctime. */
static bool as_it_was(const char *path, const struct timespec *stamp)
{
	struct stat st;

	if (lstat(path, &st) < 0)
		return false;
	return st.st_ctim.tv_sec < stamp->tv_sec ||
	       (st.st_ctim.tv_sec == stamp->tv_sec && st.st_ctim.tv_nsec <= stamp->tv_nsec);
}

static int check(const char *outdir)
{
	static const char *const all[] = { ".", "file", "dir", "sub", "sub/inner" };
	struct dirent *e;
	struct stat stamp;
	DIR *d = opendir(outdir);

	out = outdir;
	must(d && chdir(outdir) == 0 && stat(".stamp", &stamp) == 0, outdir);
	while ((e = readdir(d))) {
		bool same = true;

		escape_name = e->d_name;
		for (size_t k = 0; e->d_name[0] != '.' && k < sizeof(all) / sizeof(all[0]); k++)
			same = same && as_it_was(outside(all[k]), &stamp.st_mtim);
		if (!same)
			puts(e->d_name);
	}
	closedir(d);
	return 0;
}

/* --- the attempts ---------------------------------------------------------------------------------- */

static const char *from_environment(const char *name)
{
	const char *v = getenv(name);

	must(v != NULL, name);
	return v;
}

/* The session's image is mapped by the hooks that stand in this very process. */
static void dig(void)
{
	const char *dir = from_environment("PALE_SESSION_DIR");
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[8192];

	must(maps != NULL, "maps");
	while (fgets(line, sizeof(line), maps)) {
		const char *path = strchr(line, '/');
		const struct image_header *h = (const void *)strtoul(line, NULL, 16);

		if (path && strncmp(path, dir, strlen(dir)) == 0 && h->magic == IMAGE_MAGIC)
			pass = h->pass;
	}
	fclose(maps);
}

/* Whose directory in /proc nobody inside sees: but it is he who listens for the hooks. */
static pid_t who_listens(const char *dir)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	struct ucred who = { 0 };
	socklen_t len = sizeof(who);
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(at.sun_path, sizeof(at.sun_path), "%.90s/" WIRE_AGENT_SOCKET, dir);
	must(connect(fd, (struct sockaddr *)&at, sizeof(at)) == 0, at.sun_path);
	must(getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) == 0 && who.pid > 0, "helper");
	close(fd);
	return who.pid;
}

static pid_t stand_in(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	return pid;
}

/* Inside a session our parent is the supervisor; bare, somebody stands in for it. */
static void find_pale(void)
{
	const char *dir = getenv("PALE_SESSION_DIR");

	escape_pale = dir ? getppid() : stand_in();
	escape_helper = dir ? who_listens(dir) : stand_in();
}

static int attempt(const struct probe *p)
{
	escape_name = p->name;
	must(chdir(p->name) == 0, p->name);
	/* A group of its own, out of the terminal's foreground: its word to the terminal is not to stop it.
	 */
	setpgid(0, 0);
	signal(SIGTTOU, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	return p->try();
}

/* A process that the filter killed was stopped as well. */
static const char *outcome(const struct probe *p)
{
	struct timespec tick = { .tv_nsec = 200 * 1000 };
	const char *slow = getenv("ESCAPE_SLOW");
	time_t end = time(NULL) + LIMIT_SEC * (slow ? atoi(slow) : 1);
	pid_t pid;
	int status;

	fflush(stdout);
	pid = fork();
	if (pid == 0)
		_exit(attempt(p));
	while (waitpid(pid, &status, WNOHANG) == 0) {
		if (time(NULL) > end) {
			kill(pid, SIGKILL);
			waitpid(pid, &status, 0);
			return "hung";
		}
		nanosleep(&tick, NULL);
	}
	if (!WIFEXITED(status))
		return "stopped";
	return WEXITSTATUS(status) == WORKED	? "worked"
	       : WEXITSTATUS(status) == STOPPED ? "stopped"
						: "absent";
}

static bool wanted(const char *name, char **names)
{
	for (; *names; names++)
		if (strcmp(*names, name) == 0)
			return true;
	return false;
}

static int run(char **names)
{
	escape_key = from_environment("ESCAPE_KEY");
	out = from_environment("ESCAPE_OUT");
	escape_other = from_environment("ESCAPE_OTHER");
	escape_port = atoi(from_environment("ESCAPE_PORT"));
	escape_neighbour = atoi(from_environment("ESCAPE_PID"));
#ifdef ESCAPE_DIG
	dig();
#endif
	(void)dig;
	find_pale();
	for (size_t i = 0; i < N_PROBES; i++)
		if (!*names || wanted(probes[i].name, names))
			printf("%s %s\n", probes[i].name, outcome(&probes[i]));
	return 0;
}

static int list(void)
{
	for (size_t i = 0; i < N_PROBES; i++)
		printf("%s %s %s %s\n", probes[i].name, probes[i].rows, probes[i].rings, probes[i].promise);
	return 0;
}

int main(int argc, char **argv)
{
	const char *verb = argc > 1 ? argv[1] : "";

	if (strcmp(verb, "list") == 0)
		return list();
	if (strcmp(verb, "setup") == 0 && argc >= 4)
		return setup(argv[2], argv[3], argv + 4);
	if (strcmp(verb, "check") == 0 && argc == 3)
		return check(argv[2]);
	if (strcmp(verb, "run") == 0)
		return run(argv + 2);
	fprintf(stderr, "usage: escape list | setup OUT WORK [NAME...] | check OUT | run [NAME...]\n");
	return 3;
}
