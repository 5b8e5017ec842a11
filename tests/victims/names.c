/*
 * What is done to names and attributes, without libc: the same matrix of calls, to be run bare and
 * carried, whose lines must be the same.
 *
 *	names matrix N DIR   each N-th case of each call with each path, in a directory of its own below
 *	                     DIR; a line each: the call, its result, and what the directory looks like then
 *	names outside DIR    each call once on what stands in DIR, absolutely and through a link
 *	names descriptors DIR   the same by descriptors that were not opened for writing
 *	names pair N DIR     N times mknod and unlink in DIR
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "tests/victims/names_calls.h"
#include "tests/victims/rawcall.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))
/* --- the fixture -------------------------------------------------------------------------------- */

static void must(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "names: %s: %s\n", what, strerror(errno));
	exit(2);
}

static void put(const char *path, const char *text, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, mode);

	must(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text), path);
	close(fd);
}

static void open_as(int number, const char *path, int flags)
{
	int fd = open(path, flags, 0600);

	must(fd >= 0 && dup2(fd, number) == number, path);
	close(fd);
}

static void make_files(void)
{
	must(mkdir("d", 0755) == 0 && mkdir("e", 0755) == 0 && mkdir("ro", 0755) == 0, "mkdir");
	must(mkdir("shut", 0755) == 0 && mkdir("sg", 0755) == 0, "mkdir");
	put("f", "hello", 0644);
	put("gone", "gone", 0644);
	put("d/x", "below", 0600);
	put("ro/f", "read only", 0644);
	put("shut/x", "shut", 0644);
	must(link("f", "h") == 0, "link");
	must(symlink("f", "l") == 0 && symlink("d", "ld") == 0, "symlink");
	must(symlink("nowhere", "dang") == 0 && symlink("loop", "loop") == 0, "symlink");
	must(mkfifo("fifo", 0644) == 0, "mkfifo");
	(void)setxattr("f", "user.x", "there", 5, 0);
	(void)setxattr("d/x", "user.x", "there", 5, 0);
}

static void open_files(void)
{
	int pipes[2];

	open_as(FD_DIR, "d", O_RDONLY | O_DIRECTORY);
	open_as(FD_DIR_PATH, "d", O_PATH | O_DIRECTORY);
	open_as(FD_READ, "f", O_RDONLY);
	open_as(FD_WRITE, "f", O_RDWR);
	open_as(FD_PATH, "f", O_PATH);
	open_as(FD_LINK, "l", O_PATH | O_NOFOLLOW);
	open_as(FD_TMP, ".", O_TMPFILE | O_RDWR);
	open_as(FD_GONE, "gone", O_RDONLY);
	must(unlink("gone") == 0, "unlink");
	must(pipe(pipes) == 0 && dup2(pipes[0], FD_PIPE) == FD_PIPE, "pipe");
	close(pipes[0]);
	close(pipes[1]);
	must(chmod("ro", 0555) == 0 && chmod("shut", 0) == 0 && chmod("sg", 02775) == 0, "chmod");
}

/* Makes a directory of the name `case` and stands in it. */
static void begin(void)
{
	umask(0);
	must(mkdir("case", 0755) == 0 && chdir("case") == 0, "case");
	make_files();
	open_files();
	umask(027);
}

/* --- what it looks like ------------------------------------------------------------------------- */

/* Only what the calls set is told of the times. */
static void show_times(const struct stat *st)
{
	if (st->st_atim.tv_sec < 1000000000)
		printf(" a%ld.%ld", (long)st->st_atim.tv_sec, st->st_atim.tv_nsec);
	if (st->st_mtim.tv_sec < 1000000000)
		printf(" m%ld.%ld", (long)st->st_mtim.tv_sec, st->st_mtim.tv_nsec);
}

static void show_attrs(const char *path)
{
	static const char *const names[] = { "user.a", "user.b", "user.x" };
	char value[64];

	for (size_t i = 0; i < NELEM(names); i++) {
		ssize_t n = lgetxattr(path, names[i], value, sizeof(value));

		if (n >= 0)
			printf(" %s=%.*s", names[i], (int)n, value);
	}
}

static void show(const char *dir);

static void show_one(const char *dir, const char *name)
{
	char path[PATH_MAX], text[PATH_MAX];
	struct stat st;
	ssize_t n;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	if (lstat(path, &st) < 0)
		return;
	printf("; %.20s %o %u", path + 2, st.st_mode, (unsigned)st.st_nlink);
	if (S_ISREG(st.st_mode))
		printf(" %ld", (long)st.st_size);
	n = S_ISLNK(st.st_mode) ? readlink(path, text, sizeof(text)) : 0;
	printf(n > 0 ? " -> %.*s" : "%.*s", (int)n, text);
	show_times(&st);
	show_attrs(path);
	if (S_ISDIR(st.st_mode) && strcmp(name, ".") != 0)
		show(path);
}

static void show(const char *dir)
{
	struct dirent **list;
	int n = scandir(dir, &list, NULL, alphasort);

	for (int i = 0; i < n; i++) {
		if (strcmp(list[i]->d_name, "..") != 0 &&
		    (strcmp(dir, ".") == 0 || strcmp(list[i]->d_name, ".") != 0))
			show_one(dir, list[i]->d_name);
		free(list[i]);
	}
	if (n >= 0)
		free(list);
}

static void remove_tree(const char *dir)
{
	struct dirent **list;
	char path[PATH_MAX];
	int n;

	(void)chmod(dir, 0700);
	n = scandir(dir, &list, NULL, NULL);
	for (int i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, list[i]->d_name);
		if (strcmp(list[i]->d_name, ".") != 0 && strcmp(list[i]->d_name, "..") != 0 &&
		    unlink(path) < 0)
			remove_tree(path);
		free(list[i]);
	}
	if (n >= 0)
		free(list);
	must(rmdir(dir) == 0, dir);
}

/* --- the matrix --------------------------------------------------------------------------------- */

static const char *where;
static long step; /* only every so many-th case is performed */

static long value_of(const struct arg *a, long p, long q)
{
	switch (a->kind) {
	case NUM:
		return a->num;
	case TEXT:
		return (long)a->text;
	case PATH1:
		return p;
	case PATH2:
		return q;
	}
	return 0;
}

static long perform(const struct call *c, long p, long q)
{
	long v[6];

	for (int i = 0; i < 6; i++)
		v[i] = value_of(&c->arg[i], p, q);
	return raw_call(c->nr, v[0], v[1], v[2], v[3], v[4], v[5]);
}

static void one(const struct call *c, long p, long q, const char *told)
{
	static long count;
	long r;

	if (count++ % step != 0)
		return;
	must(chdir(where) == 0, where);
	begin();
	r = perform(c, p, q);
	printf("%s %s: %ld %s", c->name, told, r, r < 0 ? strerrorname_np((int)-r) : "");
	(void)chdir(where);
	if (chdir("case") == 0)
		show(".");
	putchar('\n');
	must(chdir(where) == 0, where);
	remove_tree("case");
}

static const char *name_of(const char *path)
{
	static char text[80];

	snprintf(text, sizeof(text), "%.40s", path ? *path ? path : "\"\"" : "NULL");
	return text;
}

static void with_paths(const struct call *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < NELEM(paths); k++)
			one(&list[i], (long)paths[k], 0, name_of(paths[k]));
}

static bool is_following(const struct call *c)
{
	return c->name[0] != 'l' && !strstr(c->name, "nofollow") && c->nr != NR_removexattrat;
}

static void with_magic(const struct call *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < NELEM(magic) && is_following(&list[i]); k++)
			one(&list[i], (long)magic[k], 0, name_of(magic[k]));
}

static void with_descriptors(void)
{
	char told[32];

	for (size_t i = 0; i < NELEM(fd_calls); i++)
		for (size_t k = 0; k < NELEM(descriptors); k++) {
			snprintf(told, sizeof(told), "fd%ld", descriptors[k]);
			one(&fd_calls[i], descriptors[k], 0, told);
		}
}

static void with_two(void)
{
	char told[128];

	for (size_t i = 0; i < NELEM(two_calls); i++)
		for (size_t k = 0; k < NELEM(firsts); k++)
			for (size_t m = 0; m < NELEM(seconds_of); m++) {
				snprintf(told, sizeof(told), "%s -> %s", name_of(firsts[k]),
					 *seconds_of[m] ? seconds_of[m] : "\"\"");
				one(&two_calls[i], (long)firsts[k], (long)seconds_of[m], told);
			}
}

static int matrix(long every, const char *dir)
{
	where = dir;
	step = every > 0 ? every : 1;
	memset(name_256, 'n', 256);
	memset(name_255, 'n', 255);
	memset(path_4096, '/', 4096);
	path_4096[4095] = 'f';
	with_paths(entry_calls, NELEM(entry_calls));
	with_paths(attr_calls, NELEM(attr_calls));
	with_magic(attr_calls, NELEM(attr_calls));
	with_paths(publish_calls, NELEM(publish_calls));
	with_descriptors();
	with_two();
	return 0;
}

/* --- outside ------------------------------------------------------------------------------------ */

/* Every call on DIR/file, or on DIR/new where it makes something, which a policy is to deny. */
static int outside(const char *dir)
{
	static const struct call *const lists[] = { entry_calls, attr_calls, two_calls };
	static const size_t counts[] = { NELEM(entry_calls), NELEM(attr_calls), NELEM(two_calls) };
	static const char *const tails[] = { "file", "new", "dir", "dir/", "link" };
	char far[PATH_MAX];

	put("inside", "mine", 0644);
	for (size_t l = 0; l < NELEM(lists); l++)
		for (size_t i = 0; i < counts[l]; i++)
			for (size_t t = 0; t < NELEM(tails); t++) {
				snprintf(far, sizeof(far), "%s/%s", dir, tails[t]);
				printf("%s %s: %ld\n", lists[l][i].name, tails[t],
				       perform(&lists[l][i], (long)far, (long)"inside"));
				if (lists[l] == two_calls)
					printf("%s to %s: %ld\n", lists[l][i].name, tails[t],
					       perform(&lists[l][i], (long)"inside", (long)far));
			}
	return 0;
}

/* Descriptors that were opened for reading, or for nothing, give no right to change. */
static int outside_fds(const char *dir)
{
	char far[PATH_MAX];

	snprintf(far, sizeof(far), "%s/file", dir);
	open_as(FD_READ, far, O_RDONLY);
	open_as(FD_PATH, far, O_PATH);
	open_as(FD_DIR, dir, O_RDONLY | O_DIRECTORY);
	for (size_t i = 0; i < NELEM(fd_calls); i++)
		for (long fd = FD_DIR; fd <= FD_PATH; fd++)
			if (fd != FD_DIR_PATH && fd != FD_WRITE)
				printf("%s fd%ld: %ld\n", fd_calls[i].name, fd, perform(&fd_calls[i], fd, 0));
	return 0;
}

/* --- speed -------------------------------------------------------------------------------------- */

static int pairs(long n, const char *dir)
{
	must(chdir(dir) == 0, dir);
	for (long i = 0; i < n; i++) {
		must(raw_call(SYS_mknodat, AT_FDCWD, (long)"pair", S_IFREG | 0644, 0, 0, 0) == 0, "mknod");
		must(raw_call(SYS_unlinkat, AT_FDCWD, (long)"pair", 0, 0, 0, 0) == 0, "unlink");
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 4 && strcmp(argv[1], "matrix") == 0)
		return matrix(atol(argv[2]), argv[3]);
	if (argc == 3 && strcmp(argv[1], "outside") == 0)
		return outside(argv[2]);
	if (argc == 3 && strcmp(argv[1], "descriptors") == 0)
		return outside_fds(argv[2]);
	if (argc == 4 && strcmp(argv[1], "pair") == 0)
		return pairs(atol(argv[2]), argv[3]);
	fprintf(stderr, "usage: names outside|descriptors DIR | matrix|pair N DIR\n");
	return 2;
}
