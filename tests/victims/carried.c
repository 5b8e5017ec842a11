/*
 * Opens without libc, to be compared: `carried matrix` opens every kind of file in every way below the
 * current directory and prints what came of it, one line each, the same bare as carried.
 *
 *   matrix          kinds of files x flags, by openat
 *   calls           open, creat, openat2: arguments, sizes, umasks, constraints
 *   one FLAGS PATH  one open; exit status is the errno
 *   many N PATH     N opens for reading
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/victims/rawcall.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))
#define UNKNOWN	 0x40000000 /* a flag that no kernel knows */
#define MODE	 06666

static long raw_openat(int dirfd, const char *path, long flags, long mode)
{
	return raw_call(SYS_openat, dirfd, (long)path, flags, mode, 0, 0);
}

static long raw_openat2(int dirfd, const char *path, const void *how, size_t size)
{
	long r = -EAGAIN;

	/* What anybody on the machine renames meanwhile makes `..` below a constraint unsafe: openat2(2) says
	 * to try again. */
	for (int i = 0; i < 100 && r == -EAGAIN; i++)
		r = raw_call(SYS_openat2, dirfd, (long)path, (long)how, (long)size, 0, 0);
	return r;
}

/* --- what came of it ------------------------------------------------------------------------------ */

static char type_of(mode_t mode)
{
	static const char letters[] = "?pc?d?b?-?l?s???";

	return letters[(mode & S_IFMT) >> 12];
}

/* The descriptor's flags, kind and mode; devices and procfs have sizes and modes of their own. */
static void print_fd(long fd)
{
	struct stat st;

	if (fd < 0) {
		printf("%s", strerrorname_np((int)-fd));
		return;
	}
	printf("fl=%o fd=%d", fcntl((int)fd, F_GETFL), fcntl((int)fd, F_GETFD));
	if (fstat((int)fd, &st) == 0)
		printf(" %c%04o links=%d size=%d", type_of(st.st_mode), st.st_mode & 07777, (int)st.st_nlink,
		       S_ISREG(st.st_mode) ? (int)st.st_size : 0);
	close((int)fd);
}

/* What the directory has by that name afterwards. */
static void print_name(const char *path)
{
	struct stat st;

	if (lstat(path, &st) < 0)
		printf(" then %s\n", strerrorname_np(errno));
	else
		printf(" then %c%04o size=%d\n", type_of(st.st_mode), st.st_mode & 07777,
		       S_ISREG(st.st_mode) ? (int)st.st_size : 0);
}

/* --- a tree with one of each ------------------------------------------------------------------------ */

static void put_file(const char *path, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || write(fd, "content\n", 8) != 8 || fchmod(fd, mode) < 0)
		exit(90);
	close(fd);
}

static void put_socket(const char *path)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	strcpy(sa.sun_path, path);
	/* A fence may refuse it: then it is missing in both. */
	if (s >= 0) {
		(void)bind(s, (struct sockaddr *)&sa, sizeof(sa));
		close(s);
	}
	unlink(path);
}

static void put_tree(const char *dir)
{
	umask(022);
	if (mkdir(dir, 0755) < 0 || chdir(dir) < 0)
		exit(91);
	put_file("file", 0644);
	put_file("own", 0600);
	put_file("locked", 0);
	put_file("frozen", 0444);
	put_file("fifo-not", 0644);
	put_socket("socket");
	if (mkdir("dir", 0755) < 0 || mkdir("setgid", 02775) < 0 || chmod("setgid", 02775) < 0 ||
	    mkdir("shut", 0700) < 0 || mkfifo("fifo", 0644) < 0)
		exit(92);
	put_file("dir/inner", 0644);
	put_file("shut/inner", 0644);
	chmod("shut", 0);
	if (symlink("file", "to-file") || symlink("nothing", "to-nothing") || symlink("dir", "to-dir") ||
	    symlink("to-file", "to-link") || symlink("loop", "loop") || symlink("dir/inner", "to-inner") ||
	    symlink("/dev/null", "to-null") || symlink("../file", "dir/up"))
		exit(93);
}

static void leave_tree(void)
{
	chmod("shut", 0700);
	if (chdir("..") < 0)
		exit(94);
}

static const char *const targets[] = {
	"file",
	"own",
	"locked",
	"frozen",
	"missing",
	"dir",
	"dir/",
	"file/",
	"missing/",
	"dir/.",
	"dir/..",
	"dir/inner",
	"dir/missing",
	"./file",
	".",
	"..",
	"./missing2",
	"dir/../file",
	"dir/../missing",
	"dir//inner",
	"file/x",
	"missing/x",
	"to-file",
	"to-nothing",
	"to-dir",
	"to-dir/",
	"to-dir/inner",
	"to-link",
	"to-inner",
	"to-null",
	"loop",
	"loop/x",
	"shut/inner",
	"shut/missing",
	"dir/up",
	"setgid/new",
	"fifo-not",
	"socket",
	"",
	"to-dir/missing",
	"to-file/",
	"/dev/null",
	"/dev/zero",
	"/dev/full",
	"/proc/self",
	"/proc/self/",
	"/proc/self/comm",
	"/proc/nothing",
	"/proc/self/nothing",
	"/proc/self/status",
	"/proc/thread-self/comm",
	"/proc/self/exe",
	"/",
	"/dev/fd/9",
	"/proc/self/fd/9",
	"/proc/self/fd/8/inner",
	"/proc/self/fd/8/missing",
	"/dev/fd/8",
	"/proc/self/fd/7",
	"/proc/self/fd/77",
	"/proc/self/cwd/file",
	"/proc/self/cwd",
	"/proc/self/root",
	"/proc/self/task",
};

/* FIFOs only where nobody waits. */
static const char *const fifo_targets[] = { "fifo", "./fifo", "fifo/", "dir/../fifo" };

static const struct {
	const char *name;
	long flags;
} ways[] = {
	{ "rdonly", O_RDONLY },
	{ "wronly", O_WRONLY },
	{ "rdwr", O_RDWR },
	{ "accmode3", O_ACCMODE },
	{ "append", O_WRONLY | O_APPEND },
	{ "trunc", O_WRONLY | O_TRUNC },
	{ "rdonly-trunc", O_RDONLY | O_TRUNC },
	{ "creat", O_WRONLY | O_CREAT },
	{ "rdonly-creat", O_RDONLY | O_CREAT },
	{ "creat-trunc", O_WRONLY | O_CREAT | O_TRUNC },
	{ "excl", O_WRONLY | O_CREAT | O_EXCL },
	{ "excl-nofollow", O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW },
	{ "creat-nofollow", O_WRONLY | O_CREAT | O_NOFOLLOW },
	{ "nofollow", O_RDONLY | O_NOFOLLOW },
	{ "directory", O_RDONLY | O_DIRECTORY },
	{ "directory-nofollow", O_RDONLY | O_DIRECTORY | O_NOFOLLOW },
	{ "directory-wronly", O_WRONLY | O_DIRECTORY },
	{ "creat-directory", O_RDONLY | O_CREAT | O_DIRECTORY },
	{ "cloexec", O_RDONLY | O_CLOEXEC },
	{ "nonblock", O_RDONLY | O_NONBLOCK },
	{ "nonblock-wronly", O_WRONLY | O_NONBLOCK },
	{ "nonblock-rdwr", O_RDWR | O_NONBLOCK | O_CLOEXEC },
	{ "many", O_RDWR | O_APPEND | O_SYNC | O_NOCTTY | O_ASYNC | O_NOFOLLOW | O_CLOEXEC },
	{ "noatime", O_RDONLY | O_NOATIME },
	{ "tmpfile", O_RDWR | O_TMPFILE },
	{ "tmpfile-excl", O_WRONLY | O_TMPFILE | O_EXCL },
	{ "tmpfile-rdonly", O_RDONLY | O_TMPFILE },
	{ "tmpfile-bare", O_RDWR | (O_TMPFILE & ~O_DIRECTORY) },
	{ "unknown", O_RDONLY | UNKNOWN },
	{ "path", O_PATH },
	{ "path-odd", O_PATH | O_RDWR | O_CREAT | O_NOFOLLOW },
};

static void move(int from, int to)
{
	if (dup2(from, to) != to)
		exit(95);
	close(from);
}

/* 7: a pipe's reading end, 8: a directory, 9: a file for reading. */
static void put_descriptors(void)
{
	int pipe_fds[2];

	if (pipe2(pipe_fds, O_CLOEXEC) < 0)
		exit(95);
	close(pipe_fds[1]);
	move(pipe_fds[0], 7);
	move(open("dir", O_RDONLY | O_DIRECTORY), 8);
	move(open("file", O_RDONLY), 9);
}

static void matrix_way(size_t w, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		printf("%s \"%s\": ", ways[w].name, list[i]);
		print_fd(raw_openat(AT_FDCWD, list[i], ways[w].flags, MODE));
		print_name(*list[i] == '/' ? "file" : list[i]);
	}
}

static int matrix(void)
{
	for (size_t w = 0; w < NELEM(ways); w++) {
		char dir[32];

		snprintf(dir, sizeof(dir), "tree%zu", w);
		put_tree(dir);
		put_descriptors();
		umask(027);
		matrix_way(w, targets, NELEM(targets));
		if (ways[w].flags & (O_NONBLOCK | O_EXCL | O_RDWR))
			matrix_way(w, fifo_targets, NELEM(fifo_targets));
		leave_tree();
	}
	return 0;
}

/* --- the other calls ---------------------------------------------------------------------------------- */

static void said(const char *what, long fd, const char *name)
{
	printf("%s: ", what);
	print_fd(fd);
	print_name(name);
}

static void umasks(void)
{
	static const mode_t masks[] = { 0, 022, 077, 0777 };

	for (size_t i = 0; i < NELEM(masks); i++) {
		umask(masks[i]);
		said("umask openat", raw_openat(AT_FDCWD, "new", O_WRONLY | O_CREAT, 0777), "new");
		unlink("new");
		said("umask excl", raw_openat(AT_FDCWD, "new", O_RDWR | O_CREAT | O_EXCL, 06755), "new");
		unlink("new");
		said("umask tmpfile", raw_openat(AT_FDCWD, "dir", O_RDWR | O_TMPFILE, 0666), "dir");
#ifdef SYS_creat
		said("creat", raw_call(SYS_creat, (long)"new", 0666, 0, 0, 0, 0), "new");
		said("creat again", raw_call(SYS_creat, (long)"new", 0600, 0, 0, 0, 0), "new");
		unlink("new");
		said("open", raw_call(SYS_open, (long)"new", O_RDWR | O_CREAT, 0640, 0, 0, 0), "new");
		unlink("new");
#endif
	}
	umask(022);
}

static void directories(void)
{
	int dir = open("dir", O_RDONLY | O_DIRECTORY), file = open("file", O_RDONLY);
	int place = open("dir", O_PATH), gone;

	said("dirfd", raw_openat(dir, "inner", O_RDONLY, 0), "dir");
	said("dirfd up", raw_openat(dir, "../file", O_RDONLY, 0), "dir");
	said("dirfd link up", raw_openat(dir, "up", O_RDWR, 0), "dir");
	said("dirfd place", raw_openat(place, "inner", O_RDWR, 0), "dir");
	said("dirfd create", raw_openat(place, "made", O_RDWR | O_CREAT, 0600), "dir/made");
	said("dirfd file", raw_openat(file, "inner", O_RDONLY, 0), "dir");
	said("dirfd file create", raw_openat(file, "inner", O_WRONLY | O_CREAT, 0), "dir");
	said("dirfd none", raw_openat(777, "inner", O_RDONLY, 0), "dir");
	said("dirfd none create", raw_openat(777, "inner", O_RDWR | O_CREAT, 0), "dir");
	said("dirfd negative", raw_openat(-5, "inner", O_RDONLY, 0), "dir");
	said("dirfd unused", raw_openat(-5, "/dev/null", O_RDONLY, 0), "dir");
	said("dirfd empty", raw_openat(dir, "", O_RDONLY, 0), "dir");
	mkdir("gone", 0755);
	gone = open("gone", O_RDONLY | O_DIRECTORY);
	rmdir("gone");
	said("gone", raw_openat(gone, "x", O_RDONLY, 0), "gone");
	said("gone create", raw_openat(gone, "x", O_RDWR | O_CREAT, 0600), "gone");
	said("gone dot", raw_openat(gone, ".", O_RDONLY, 0), "gone");
	said("gone up", raw_openat(gone, "../file", O_RDONLY, 0), "file");
	mkdir("x (deleted)", 0755);
	put_file("x (deleted)/y (deleted)", 0644);
	said("said deleted", raw_openat(AT_FDCWD, "x (deleted)/y (deleted)", O_RDWR, 0), "x (deleted)");
}

/* Descriptors opened again by their links. */
static void reopened(void)
{
	static const struct {
		const char *name;
		int flags;
	} had[] = { { "rdonly", O_RDONLY }, { "wronly", O_WRONLY }, { "rdwr", O_RDWR } };
	char link[64];
	int fd;

	for (size_t i = 0; i < NELEM(had); i++) {
		put_file("victim", 0644);
		fd = open("victim", had[i].flags);
		unlink("victim");
		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		printf("deleted, had %s, ", had[i].name);
		said("rdonly", raw_openat(AT_FDCWD, link, O_RDONLY, 0), "victim");
		said("rdwr", raw_openat(AT_FDCWD, link, O_RDWR, 0), "victim");
		said("creat", raw_openat(AT_FDCWD, link, O_RDWR | O_CREAT, 0), "victim");
		said("excl", raw_openat(AT_FDCWD, link, O_RDWR | O_CREAT | O_EXCL, 0), "victim");
		close(fd);
	}
	fd = memfd_create("m", 0);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	said("memfd", raw_openat(AT_FDCWD, link, O_RDWR | O_TRUNC, 0), "file");
	said("memfd nofollow", raw_openat(AT_FDCWD, link, O_RDWR | O_NOFOLLOW, 0), "file");
	said("descriptors", raw_openat(AT_FDCWD, "/proc/self/fd", O_RDONLY | O_DIRECTORY, 0), "file");
	fd = open("file", O_PATH);
	snprintf(link, sizeof(link), "/dev/fd/%d", fd);
	said("place", raw_openat(AT_FDCWD, link, O_RDWR, 0), "file");
}

static void addresses(void)
{
	char name[300], path[5000], *edge;

	memset(name, 'n', sizeof(name));
	name[256] = '\0';
	said("long name", raw_openat(AT_FDCWD, name, O_WRONLY | O_CREAT, 0600), "file");
	name[255] = '\0';
	said("longest name", raw_openat(AT_FDCWD, name, O_WRONLY | O_CREAT, 0600), name);
	for (size_t i = 0; i < sizeof(path); i += 2)
		memcpy(path + i, "./", 2);
	memcpy(path + 4091, "file", 5);
	path[4090] = '/';
	said("longest path", raw_openat(AT_FDCWD, path, O_RDONLY, 0), "file");
	memcpy(path + 4092, "file", 5);
	path[4091] = '/';
	said("long path", raw_openat(AT_FDCWD, path, O_RDONLY, 0), "file");
	said("null", raw_openat(AT_FDCWD, NULL, O_RDONLY, 0), "file");
	said("nowhere", raw_openat(AT_FDCWD, (char *)1, O_RDONLY, 0), "file");
	edge = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap(edge + 4096, 4096);
	memcpy(edge + 4096 - 5, "file", 5);
	said("at the edge", raw_openat(AT_FDCWD, edge + 4096 - 5, O_RDONLY, 0), "file");
	memcpy(edge + 4096 - 4, "file", 4);
	said("over the edge", raw_openat(AT_FDCWD, edge + 4096 - 4, O_RDONLY, 0), "file");
}

static void full_table(void)
{
	struct rlimit limit = { 64, 64 };
	int fd, first = -1;

	setrlimit(RLIMIT_NOFILE, &limit);
	while ((fd = dup(1)) >= 0)
		first = first < 0 ? fd : first;
	said("full table", raw_openat(AT_FDCWD, "file", O_RDONLY, 0), "file");
	said("full table far", raw_openat(AT_FDCWD, "to-file", O_RDONLY, 0), "file");
	close(first);
	printf("%s: ", "lowest");
	fd = (int)raw_openat(AT_FDCWD, "file", O_RDONLY, 0);
	printf("%s\n", fd == first ? "yes" : "no");
}

#include "tests/victims/carried_how.h"

static int calls(void)
{
	put_tree("calls");
	umasks();
	directories();
	reopened();
	addresses();
	how_arguments();
	how_constraints();
	full_table();
	return 0;
}

static int one(long flags, const char *path)
{
	long fd = raw_openat(AT_FDCWD, path, flags, 0600);

	return fd < 0 ? (int)-fd : 0;
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc == 2 && strcmp(argv[1], "matrix") == 0)
		return matrix();
	if (argc == 2 && strcmp(argv[1], "calls") == 0)
		return calls();
	if (argc == 4 && strcmp(argv[1], "one") == 0)
		return one(strtol(argv[2], NULL, 0), argv[3]);
	if (argc == 4 && strcmp(argv[1], "many") == 0) {
		for (long i = strtol(argv[2], NULL, 0); i > 0; i--)
			close((int)raw_openat(AT_FDCWD, argv[3], O_RDONLY, 0));
		return 0;
	}
	return 2;
}
