/*
 * One way around the opens of libc each: `esc_libc NAME SECRET OUTSIDE DIR`.
 *
 * SECRET may not be read, OUTSIDE is a file that may be read but not changed, DIR a directory in
 * which nothing may appear.  What is read goes to stdout; whether anything worked is for the
 * caller to see on disk.
 */
#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <sched.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utmp.h>
#include <wordexp.h>

extern char **environ;
extern FILE *_IO_fopen(const char *path, const char *mode);

static const char *secret, *outside, *dir;

static void show(int fd)
{
	char buf[512];
	ssize_t n;

	while (fd >= 0 && (n = read(fd, buf, sizeof(buf))) > 0)
		if (write(1, buf, (size_t)n) < 0)
			return;
}

static void show_stream(FILE *f)
{
	if (f)
		show(fileno(f));
}

static char *in_dir(const char *leaf)
{
	static char buf[8192];

	snprintf(buf, sizeof(buf), "%s/%s", dir, leaf);
	return buf;
}

static int outside_fd(void)
{
	return open(outside, O_RDONLY);
}

static void esc_temp(void)
{
	mkstemp(in_dir("XXXXXX"));
	mkostemps(in_dir("XXXXXX.c"), 2, O_CLOEXEC);
	mkdtemp(in_dir("XXXXXX"));
}

static void esc_tables(void)
{
	struct utmp entry = { .ut_type = USER_PROCESS };

	show_stream(setmntent(secret, "r"));
	setmntent(in_dir("table"), "w");
	updwtmp(outside, &entry);
	utmpname(outside);
	setutent();
	pututline(&entry);
}

static void esc_old_names(void)
{
	show_stream(_IO_fopen(secret, "r"));
	_IO_fopen(in_dir("old"), "w");
}

static void esc_times(void)
{
	struct timeval tv[2] = { { .tv_sec = 1 }, { .tv_sec = 1 } };
	struct timespec ts[2] = { { .tv_sec = 1 }, { .tv_sec = 1 } };

	utimes(outside, tv);
	lutimes(outside, tv);
	utimensat(AT_FDCWD, outside, ts, 0);
	futimens(outside_fd(), ts);
	syscall(SYS_utimensat, outside_fd(), NULL, ts, 0);
}

static void esc_rights(void)
{
	fchmod(outside_fd(), 0777);
	fchownat(outside_fd(), "", getuid(), getgid(), AT_EMPTY_PATH);
	syscall(SYS_fchmod, outside_fd(), 0777);
	setxattr(outside, "user.x", "y", 1, 0);
	fsetxattr(outside_fd(), "user.x", "y", 1, 0);
}

static void esc_link_by_fd(void)
{
	int fd;

	linkat(outside_fd(), "", AT_FDCWD, "linked", AT_EMPTY_PATH);
	fd = open("linked", O_WRONLY | O_APPEND);
	if (fd >= 0 && write(fd, "changed\n", 8) < 0)
		return;
}

static void esc_bind(void)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	int at = open(dir, O_PATH | O_DIRECTORY);

	snprintf(un.sun_path, sizeof(un.sun_path), "/proc/self/fd/%d/socket", at);
	bind(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&un, sizeof(un));
}

static void esc_wordexp(void)
{
	char words[8192];
	wordexp_t w = { 0 };

	environ = NULL;
	snprintf(words, sizeof(words), "$(cat '%s'; : >'%s')", secret, in_dir("expanded"));
	if (wordexp(words, &w, 0) != 0)
		return;
	for (size_t i = 0; i < w.we_wordc; i++)
		puts(w.we_wordv[i]);
}

static void spawn_cat(posix_spawn_file_actions_t *fa)
{
	char *argv[] = { (char *)"cat", NULL };
	pid_t pid;

	if (posix_spawn(&pid, "/bin/cat", fa, NULL, argv, environ) == 0)
		waitpid(pid, NULL, 0);
}

/* What was ordered comes to mean something else: by a link, by the working directory. */
static void esc_spawn(void)
{
	posix_spawn_file_actions_t fa;
	char *slash = strrchr(secret, '/');

	posix_spawn_file_actions_init(&fa);
	if (symlink("file", "turning") == 0 &&
	    posix_spawn_file_actions_addopen(&fa, 0, "turning", O_RDONLY, 0) == 0 && unlink("turning") == 0 &&
	    symlink(secret, "turning") == 0)
		spawn_cat(&fa);
	unlink("turning");
	posix_spawn_file_actions_init(&fa);
	close(open(slash + 1, O_CREAT | O_WRONLY, 0600));
	posix_spawn_file_actions_addopen(&fa, 0, slash + 1, O_RDONLY, 0);
	*slash = '\0';
	if (chdir(secret) == 0)
		spawn_cat(&fa);
}

static void esc_mount(void)
{
	char *slash = strrchr(secret, '/');
	char path[4096];

	unshare(CLONE_NEWUSER | CLONE_NEWNS);
	mkdir("ground", 0700);
	*slash = '\0';
	if (mount(secret, "ground", NULL, MS_BIND, NULL) != 0)
		syscall(SYS_mount, secret, "ground", NULL, MS_BIND, NULL);
	snprintf(path, sizeof(path), "ground/%s", slash + 1);
	show(open(path, O_RDONLY));
	if (chroot(secret) != 0 && syscall(SYS_chroot, secret) != 0)
		return;
	snprintf(path, sizeof(path), "/%s", slash + 1);
	show(open(path, O_RDONLY));
}

/* A file of the program's own has become descriptor 2: no place to talk. */
static void esc_stderr(void)
{
	close(2);
	if (open("precious", O_CREAT | O_RDWR, 0600) == 2)
		open(secret, O_RDONLY);
}

static const struct {
	const char *name;
	void (*escape)(void);
} ways[] = {
	{ "temp", esc_temp },	{ "tables", esc_tables },   { "old_names", esc_old_names },
	{ "times", esc_times }, { "rights", esc_rights },   { "link_by_fd", esc_link_by_fd },
	{ "bind", esc_bind },	{ "wordexp", esc_wordexp }, { "spawn", esc_spawn },
	{ "mount", esc_mount }, { "stderr", esc_stderr },
};

int main(int argc, char **argv)
{
	if (argc < 5)
		return 2;
	secret = argv[2];
	outside = argv[3];
	dir = argv[4];
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (strcmp(argv[1], ways[i].name) == 0) {
			ways[i].escape();
			puts("tried");
			return 0;
		}
	return 2;
}
