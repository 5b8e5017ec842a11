/*
 * The resolver, case by case: what it says of each kind of path, and what it holds afterwards.
 * test_resolve_random.c compares it with the kernel at large.
 */
#include "test_resolve.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PROC_MAGIC 0x9fa0

int test_held, test_held_max;
char test_root[256];
static bool no_openat2;

static int sys_open_path(int dirfd, const char *path, bool directory, bool no_symlinks, bool nofollow)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC };
	long fd;

	if (no_symlinks && no_openat2)
		return -ENOSYS;
	if (directory)
		how.flags |= O_DIRECTORY;
	if (nofollow)
		how.flags |= O_NOFOLLOW;
	if (no_symlinks)
		how.resolve = RESOLVE_NO_SYMLINKS;
	fd = syscall(SYS_openat2, dirfd, path, &how, sizeof how);
	if (fd < 0)
		return -errno;
	if (++test_held > test_held_max)
		test_held_max = test_held;
	return (int)fd;
}

static int sys_readlinkat(int dirfd, const char *path, char *buf, size_t size)
{
	ssize_t n = readlinkat(dirfd, path, buf, size);

	return n < 0 ? -errno : (int)n;
}

static int sys_fd_path(int fd, char *buf, size_t size)
{
	char link[64];
	ssize_t n;

	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	n = readlink(link, buf, size - 1);
	if (n < 0)
		return -errno;
	buf[n] = '\0';
	return (int)n;
}

static int sys_cwd_path(char *buf, size_t size)
{
	long n = syscall(SYS_getcwd, buf, size);

	return n < 0 ? -errno : (int)n - 1;
}

static int sys_close(int fd)
{
	test_held--;
	return close(fd);
}

static int sys_is_magic(int dirfd)
{
	struct statfs sf;

	return fstatfs(dirfd, &sf) == 0 && sf.f_type == PROC_MAGIC;
}

static int sys_own_pid(void)
{
	return getpid();
}

const struct resolve_sys test_sys = {
	.open_path = sys_open_path,
	.readlinkat = sys_readlinkat,
	.fd_path = sys_fd_path,
	.cwd_path = sys_cwd_path,
	.close = sys_close,
	.is_magic = sys_is_magic,
	.own_pid = sys_own_pid,
};

int test_count_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	ck_assert_ptr_nonnull(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

void test_tree_make(void)
{
	char name[] = "/tmp/pale-resolve-XXXXXX";

	ck_assert_ptr_nonnull(mkdtemp(name));
	ck_assert_int_eq(chdir(name), 0);
	ck_assert_ptr_nonnull(getcwd(test_root, sizeof test_root));
	test_held = test_held_max = 0;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	(void)st;
	(void)kind;
	(void)ftw;
	return remove(path);
}

void test_tree_remove(void)
{
	ck_assert_int_eq(chdir("/"), 0);
	nftw(test_root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* The tree of the cases: d/sub/f, files, and links of every kind. */
static void tree(void)
{
	static const struct {
		const char *text, *name;
	} links[] = {
		{ "d/sub", "tosub" },	       { "d/sub/f", "tofile" },	  { "d/sub/", "toslash" },
		{ "d/missing", "dangling" },   { "gone/x", "nowhere" },	  { "loop2", "loop1" },
		{ "loop1", "loop2" },	       { "d/sub/../..", "tome" }, { "d/sub/f/", "fileslash" },
		{ "tosub/../sub/f", "round" },
	};
	int fd;

	no_openat2 = false;
	test_tree_make();
	mkdir("d", 0755);
	mkdir("d/sub", 0755);
	fd = creat("d/sub/f", 0644);
	ck_assert_int_ge(fd, 0);
	close(fd);
	for (size_t i = 0; i < sizeof links / sizeof links[0]; i++)
		ck_assert_int_eq(symlink(links[i].text, links[i].name), 0);
}

#define N RESOLVE_NOFOLLOW_LAST
#define F RESOLVE_FOLLOW_LAST
#define E RESOLVE_ENTRY_LAST

static const struct {
	const char *path;
	enum resolve_follow follow;
	int err;
	const char *real; /* below the root of the tree; NULL: the root itself */
	const char *name;
	bool slash;
} cases[] = {
	{ "d/sub/f", N, 0, "d/sub/f", "f", false },
	{ "d/sub/f", F, 0, "d/sub/f", "f", false },
	{ "d//sub/./f", F, 0, "d/sub/f", "f", false },
	{ "d/sub/../sub/f", F, 0, "d/sub/f", "f", false },
	{ "d/new", F, 0, "d/new", "new", false },
	{ "d/new/", E, 0, "d/new", "new/", true },
	{ "d/new/", N, 0, "d/new", "new", true },
	{ "new/", F, 0, "new", "new", true },
	{ "d/sub/", N, 0, "d/sub", "sub", true },
	{ "d/sub/.", F, 0, "d/sub", ".", false },
	{ "d/sub/..", F, 0, "d", ".", false },
	{ ".", F, 0, NULL, ".", false },
	{ "d/..", N, 0, NULL, ".", false },
	{ "tosub/f", N, 0, "d/sub/f", "f", false },
	{ "tosub/../x", N, 0, "d/x", "x", false },
	{ "tosub", N, 0, "tosub", "tosub", false },
	{ "tosub", F, 0, "d/sub", "sub", false },
	{ "tosub/", N, 0, "d/sub", "sub", true },
	{ "tosub/", E, 0, "tosub", "tosub/", true },
	{ "tosub/.", N, 0, "d/sub", ".", false },
	{ "tofile", F, 0, "d/sub/f", "f", false },
	{ "tofile/", N, -ENOTDIR, NULL, NULL, false },
	{ "tofile/x", N, -ENOTDIR, NULL, NULL, false },
	{ "fileslash", F, -ENOTDIR, NULL, NULL, false },
	{ "fileslash", N, 0, "fileslash", "fileslash", false },
	{ "toslash", F, 0, "d/sub", "sub", true },
	{ "toslash/f", F, 0, "d/sub/f", "f", false },
	{ "round", F, 0, "d/sub/f", "f", false },
	{ "dangling", F, 0, "d/missing", "missing", false },
	{ "dangling", N, 0, "dangling", "dangling", false },
	{ "dangling/", F, 0, "d/missing", "missing", true },
	{ "dangling/x", F, -ENOENT, NULL, NULL, false },
	{ "nowhere", F, -ENOENT, NULL, NULL, false },
	{ "loop1", F, -ELOOP, NULL, NULL, false },
	{ "loop1", N, 0, "loop1", "loop1", false },
	{ "loop1/x", N, -ELOOP, NULL, NULL, false },
	{ "tome", F, 0, NULL, ".", false },
	{ "tome/tome/d/sub/f", F, 0, "d/sub/f", "f", false },
	{ "gone/x", F, -ENOENT, NULL, NULL, false },
	{ "d/sub/f/", F, -ENOTDIR, NULL, NULL, false },
	{ "d/sub/f/x", F, -ENOTDIR, NULL, NULL, false },
	{ "d/sub/f/..", F, -ENOTDIR, NULL, NULL, false },
	{ "", F, -ENOENT, NULL, NULL, false },
};

static void one_case(const char *path, size_t i)
{
	struct resolved r;
	char real[512];
	struct stat held, want;
	int err = resolve(&test_sys, AT_FDCWD, path, cases[i].follow, &r);

	ck_assert_msg(err == cases[i].err, "%s: %d, not %d", path, err, cases[i].err);
	if (err == 0) {
		snprintf(real, sizeof real, "%s%s%s", test_root, cases[i].real ? "/" : "",
			 cases[i].real ? cases[i].real : "");
		ck_assert_str_eq(r.path, real);
		ck_assert_str_eq(r.name, cases[i].name);
		ck_assert_int_eq(r.trailing_slash, cases[i].slash);
		ck_assert_int_eq(r.same, strcmp(r.given, r.path) == 0);
		ck_assert(!r.magic && r.magic_fd == -1);
		if (strcmp(r.name, ".") != 0)
			*strrchr(real, '/') = '\0';
		ck_assert_int_eq(fstatat(r.parent, "", &held, AT_EMPTY_PATH), 0);
		ck_assert_int_eq(stat(real, &want), 0);
		ck_assert(held.st_ino == want.st_ino && held.st_dev == want.st_dev);
	}
	resolved_done(&test_sys, &r);
	resolved_done(&test_sys, &r);
	ck_assert_int_eq(test_held, 0);
	ck_assert_int_le(test_held_max, 2);
}

START_TEST(test_case)
{
	char abs[512];
	size_t i = (size_t)_i;

	one_case(cases[i].path, i);
	no_openat2 = true;
	one_case(cases[i].path, i);
	if (cases[i].path[0] == '\0')
		return;
	snprintf(abs, sizeof abs, "%s/%s", test_root, cases[i].path);
	one_case(abs, i);
	no_openat2 = false;
	one_case(abs, i);
}
END_TEST

START_TEST(test_root_and_above)
{
	static const char *const paths[] = { "/", "//", "/..", "/../..", "/./" };
	struct resolved r;

	for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
		ck_assert_int_eq(resolve(&test_sys, -1, paths[i], F, &r), 0);
		ck_assert_str_eq(r.path, "/");
		ck_assert_str_eq(r.name, ".");
		resolved_done(&test_sys, &r);
	}
	ck_assert_int_eq(resolve(&test_sys, -1, "/etc", N, &r), 0);
	ck_assert_str_eq(r.path, "/etc");
	ck_assert(r.same);
	resolved_done(&test_sys, &r);
	ck_assert_int_eq(test_held, 0);
}
END_TEST

START_TEST(test_bad_start)
{
	int file = open("d/sub/f", O_RDONLY), p[2];
	struct resolved r;

	ck_assert_int_eq(resolve(&test_sys, 999, "x", F, &r), -EBADF);
	ck_assert_int_eq(resolve(&test_sys, -1, "x", F, &r), -EBADF);
	ck_assert_int_eq(resolve(&test_sys, file, "x", F, &r), -ENOTDIR);
	ck_assert_int_eq(resolve(&test_sys, file, "x/y", N, &r), -ENOTDIR);
	ck_assert_int_eq(pipe(p), 0);
	ck_assert_int_eq(resolve(&test_sys, p[0], "x", F, &r), -ENOTDIR);
	close(p[0]);
	close(p[1]);
	close(file);
}
END_TEST

START_TEST(test_too_long)
{
	char path[LIMIT_PATH + 8], text[LIMIT_PATH];
	struct resolved r;

	memset(path, 'a', sizeof path);
	path[300] = '\0';
	ck_assert_int_eq(resolve(&test_sys, AT_FDCWD, path, F, &r), -ENAMETOOLONG);
	path[300] = '/';
	path[sizeof path - 1] = '\0';
	ck_assert_int_eq(resolve(&test_sys, AT_FDCWD, path, F, &r), -ENAMETOOLONG);
	/* A link and what stands behind it, each of legal length, outgrow the limit together. */
	memset(text, '/', sizeof text);
	memcpy(text, "d", 1);
	text[4000] = '\0';
	ck_assert_int_eq(symlink(text, "long"), 0);
	memset(path, '/', sizeof path);
	memcpy(path, "long", 4);
	strcpy(path + 3000, "sub");
	ck_assert_int_eq(resolve(&test_sys, AT_FDCWD, path, F, &r), -ENAMETOOLONG);
	ck_assert_int_eq(test_held, 0);
}
END_TEST

START_TEST(test_forty_links)
{
	char name[16], text[16];
	struct resolved r;

	ck_assert_int_eq(symlink("d", "l1"), 0);
	for (int i = 2; i <= 41; i++) {
		snprintf(name, sizeof name, "l%d", i);
		snprintf(text, sizeof text, "l%d", i - 1);
		ck_assert_int_eq(symlink(text, name), 0);
	}
	ck_assert_int_eq(resolve(&test_sys, AT_FDCWD, "l40/x", F, &r), 0);
	resolved_done(&test_sys, &r);
	ck_assert_int_eq(resolve(&test_sys, AT_FDCWD, "l41/x", F, &r), -ELOOP);
	ck_assert_int_eq(resolve(&test_sys, AT_FDCWD, "l41", F, &r), -ELOOP);
	ck_assert_int_eq(test_held, 0);
}
END_TEST

START_TEST(test_magic_last)
{
	char path[64], want[300];
	struct resolved r;
	int file = open("d/sub/f", O_RDONLY), p[2];
	static const char *const dirs[] = { "/proc/self/fd", "/proc/thread-self/fd", "/dev/fd" };

	snprintf(want, sizeof want, "%s/d/sub/f", test_root);
	for (int i = 0; i < 3; i++) {
		snprintf(path, sizeof path, "%s/%d", dirs[i], file);
		ck_assert_int_eq(resolve(&test_sys, AT_FDCWD, path, F, &r), 0);
		ck_assert(r.magic && r.magic_fd == file && !r.same);
		ck_assert_str_eq(r.path, want);
		resolved_done(&test_sys, &r);
	}
	ck_assert_int_eq(unlink("d/sub/f"), 0);
	ck_assert_int_eq(resolve(&test_sys, AT_FDCWD, path, F, &r), 0);
	ck_assert(r.magic && resolve(&test_sys, -1, "", F, &r) == -ENOENT);
	resolved_done(&test_sys, &r);
	ck_assert_int_eq(pipe(p), 0);
	snprintf(path, sizeof path, "/proc/self/fd/%d", p[1]);
	ck_assert_int_eq(resolve(&test_sys, AT_FDCWD, path, F, &r), 0);
	ck_assert_int_eq(strncmp(r.path, "pipe:[", 6), 0);
	ck_assert_int_eq(r.magic_fd, p[1]);
	resolved_done(&test_sys, &r);
	ck_assert_int_eq(resolve(&test_sys, AT_FDCWD, path, N, &r), 0);
	ck_assert(!r.magic && r.exists_unknown);
	resolved_done(&test_sys, &r);
	if (resolve(&test_sys, AT_FDCWD, "/proc/1/exe", F, &r) == 0)
		ck_assert_int_eq(r.magic_fd, -1);
	resolved_done(&test_sys, &r);
}
END_TEST

START_TEST(test_magic_middle)
{
	char path[64], want[300];
	struct resolved r;
	int dir = open("d/sub", O_PATH | O_DIRECTORY);

	snprintf(path, sizeof path, "/proc/self/fd/%d/f", dir);
	snprintf(want, sizeof want, "%s/d/sub/f", test_root);
	ck_assert_int_eq(resolve(&test_sys, AT_FDCWD, path, E, &r), 0);
	ck_assert_str_eq(r.path, want);
	ck_assert(!r.magic);
	resolved_done(&test_sys, &r);
	ck_assert_int_eq(resolve(&test_sys, AT_FDCWD, "/proc/self/cwd/d/sub/f", F, &r), 0);
	ck_assert_str_eq(r.path, want);
	resolved_done(&test_sys, &r);
	ck_assert_int_eq(resolve(&test_sys, AT_FDCWD, "/proc/self/root/../etc", F, &r), 0);
	ck_assert_str_eq(r.path, "/etc");
	resolved_done(&test_sys, &r);
	ck_assert_int_eq(resolve(&test_sys, AT_FDCWD, "/proc/self/exe/x", F, &r), -ENOTDIR);
	/* Also where the walk starts among the magic links. */
	ck_assert_int_eq(chdir("/proc/self/fd"), 0);
	snprintf(path, sizeof path, "%d/f", dir);
	ck_assert_int_eq(resolve(&test_sys, AT_FDCWD, path, F, &r), 0);
	ck_assert_str_eq(r.path, want);
	resolved_done(&test_sys, &r);
	snprintf(path, sizeof path, "%d", dir);
	ck_assert_int_eq(resolve(&test_sys, AT_FDCWD, path, F, &r), 0);
	ck_assert(r.magic && r.magic_fd == dir);
	resolved_done(&test_sys, &r);
	ck_assert_int_eq(test_held, 0);
}
END_TEST

START_TEST(test_deleted)
{
	struct resolved r;
	int dir;

	mkdir("dead", 0755);
	dir = open("dead", O_PATH | O_DIRECTORY);
	ck_assert_int_eq(chdir("dead"), 0);
	ck_assert_int_eq(rmdir("../dead"), 0);
	ck_assert_int_eq(resolve(&test_sys, dir, "x", E, &r), -ENOENT);
	ck_assert_int_eq(resolve(&test_sys, AT_FDCWD, "x", F, &r), -ENOENT);
	ck_assert_int_eq(resolve(&test_sys, AT_FDCWD, "x/y", N, &r), -ENOENT);
	ck_assert_int_eq(resolve(&test_sys, AT_FDCWD, ".", F, &r), 0);
	ck_assert_ptr_nonnull(strstr(r.path, "/dead (deleted)"));
	resolved_done(&test_sys, &r);
	ck_assert_int_eq(resolve(&test_sys, dir, "../d/x", F, &r), 0);
	ck_assert_str_eq(r.path + strlen(test_root), "/d/x");
	resolved_done(&test_sys, &r);
	/* A directory may be called so. */
	ck_assert_int_eq(chdir(test_root), 0);
	mkdir("a (deleted)", 0755);
	ck_assert_int_eq(resolve(&test_sys, AT_FDCWD, "tosub/../../a (deleted)/x", E, &r), 0);
	ck_assert_str_eq(r.path + strlen(test_root), "/a (deleted)/x");
	resolved_done(&test_sys, &r);
	ck_assert_int_eq(test_held, 0);
}
END_TEST

START_TEST(test_no_descriptors)
{
	static const char *const paths[] = { "d/sub/f",
					     "tosub/f",
					     "tofile",
					     "tofile/x",
					     "dangling",
					     "d/../tosub/",
					     "/proc/self/cwd/tosub/f",
					     "round" };
	struct rlimit old, none;
	struct resolved r;
	int before = test_count_fds();
	int low, plugs[64];
	size_t n_plugs = 0;

	/* The two lowest numbers that are free stand side by side. */
	while (fcntl((low = dup(0)) + 1, F_GETFD) >= 0 && n_plugs < sizeof(plugs) / sizeof(plugs[0]))
		plugs[n_plugs++] = low;
	close(low);
	getrlimit(RLIMIT_NOFILE, &old);
	for (rlim_t room = 0; room < 3; room++) {
		none = old;
		none.rlim_cur = (rlim_t)low + room;
		setrlimit(RLIMIT_NOFILE, &none);
		for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
			int err = resolve(&test_sys, AT_FDCWD, paths[i], F, &r);

			ck_assert(err == 0 || err == -EMFILE || err == -ENOTDIR);
			ck_assert(room != 0 || err == -EMFILE);
			ck_assert(room != 2 || err != -EMFILE);
			resolved_done(&test_sys, &r);
			ck_assert_int_eq(test_held, 0);
		}
	}
	setrlimit(RLIMIT_NOFILE, &old);
	while (n_plugs > 0)
		close(plugs[--n_plugs]);
	ck_assert_int_eq(test_count_fds(), before);
}
END_TEST

Suite *suite_resolve(void)
{
	Suite *s = suite_create("resolve");
	TCase *t = tcase_create("cases");

	tcase_add_checked_fixture(t, tree, test_tree_remove);
	tcase_add_loop_test(t, test_case, 0, (int)(sizeof cases / sizeof cases[0]));
	tcase_add_test(t, test_root_and_above);
	tcase_add_test(t, test_bad_start);
	tcase_add_test(t, test_too_long);
	tcase_add_test(t, test_forty_links);
	tcase_add_test(t, test_magic_last);
	tcase_add_test(t, test_magic_middle);
	tcase_add_test(t, test_deleted);
	tcase_add_test(t, test_no_descriptors);
	suite_add_tcase(s, t);
	suite_add_tcase(s, tcase_resolve_random());
	return s;
}
