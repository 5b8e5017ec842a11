/*
 * The resolver against the kernel: random trees and paths, and trees that change under the walk.
 *
 * The kernel is asked the same question by the whole path; the resolver's answer is asked by
 * *at(parent, name).  Both must reach the same inode or fail alike.  PALE_TEST_ROUNDS=N makes N times as
 * many trees.
 */
#include "test_resolve.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define TREES  40
#define PATHS  150
#define NOBODY 65534

static uint64_t seed;

static unsigned pick(unsigned n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (unsigned)(seed >> 33) % n;
}

/* A path of a few components out of few names, so that it often hits something. */
static void random_path(char *buf, size_t size)
{
	static const char *const names[] = { "a", "b", "c", "d", "a", "b", "c", "..", "." };
	unsigned n = 1 + pick(6);
	size_t len = 0;

	buf[0] = '\0';
	if (pick(5) == 0)
		len = (size_t)snprintf(buf, size, "%s/", test_root);
	for (unsigned i = 0; i < n; i++)
		len += (size_t)snprintf(buf + len, size - len, "%s%s", i ? (pick(8) ? "/" : "//") : "",
					names[pick(sizeof names / sizeof names[0])]);
	if (pick(5) == 0)
		snprintf(buf + len, size - len, pick(4) ? "/" : "//");
}

static void random_tree(void)
{
	char path[512], text[512];
	int fd;

	for (int i = 0; i < 40; i++) {
		random_path(path, sizeof path);
		switch (pick(8)) {
		case 0:
		case 1:
		case 2:
			mkdir(path, 0755);
			break;
		case 3:
			fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);
			if (fd >= 0)
				close(fd);
			break;
		case 4:
			if (pick(4) == 0 && strncmp(path, "..", 2) != 0)
				chmod(path, 0600);
			break;
		default:
			random_path(text, sizeof text);
			if (symlink(text, path) < 0)
				continue;
		}
	}
	chmod(test_root, 0755);
}

static bool same_file(int fd, int other)
{
	struct stat a, b;

	return fstat(fd, &a) == 0 && fstat(other, &b) == 0 && a.st_ino == b.st_ino && a.st_dev == b.st_dev;
}

/* What the resolver found, opened: fd or -errno. */
static int open_found(const struct resolved *r)
{
	int fd = openat(r->parent, r->name,
			O_PATH | O_NOFOLLOW | O_CLOEXEC | (r->trailing_slash ? O_DIRECTORY : 0));

	return fd < 0 ? -errno : fd;
}

/* The path that was told leads there, without any link. */
static bool path_is_real(const char *path, int fd)
{
	struct open_how how = { .flags = O_PATH | O_NOFOLLOW | O_CLOEXEC };
	char parent[LIMIT_PATH];
	int dir, other;
	bool ok;

	strcpy(parent, path);
	*(strrchr(parent, '/') + (strrchr(parent, '/') == parent)) = '\0';
	how.resolve = RESOLVE_NO_SYMLINKS;
	dir = (int)syscall(SYS_openat2, AT_FDCWD, parent, &how, sizeof how);
	if (dir < 0)
		return errno == EACCES;
	other = openat(dir, path[1] ? strrchr(path, '/') + 1 : ".", O_PATH | O_NOFOLLOW | O_CLOEXEC);
	ok = other < 0 ? errno == EACCES : same_file(fd, other);
	close(dir);
	if (other >= 0)
		close(other);
	return ok;
}

/* Nothing is there: what the kernel creates by the path appears at the place that was found. */
static bool creates_alike(int dirfd, const char *path, int err, const struct resolved *r)
{
	int fd = openat(dirfd, path, O_CREAT | O_WRONLY | O_CLOEXEC | O_NONBLOCK, 0644);
	int found;
	bool ok;

	/* The kernel sees the slash before it looks; a missing directory on the way says so here. */
	if (fd < 0 && errno == EISDIR)
		return err == -ENOENT || (err == 0 && (r->trailing_slash || strcmp(r->name, ".") == 0));
	if (fd < 0)
		return err == -errno || (err == 0 && (errno == EACCES || errno == EPERM || errno == EROFS));
	found = err == 0 ? open_found(r) : err;
	ok = found >= 0 && same_file(fd, found) && unlinkat(r->parent, r->name, 0) == 0;
	close(fd);
	if (found >= 0)
		close(found);
	return ok;
}

static bool looks_alike(int dirfd, const char *path, enum resolve_follow follow, int err,
			const struct resolved *r)
{
	int nofollow = follow == RESOLVE_FOLLOW_LAST ? 0 : O_NOFOLLOW;
	int fd = openat(dirfd, path, O_PATH | O_CLOEXEC | nofollow);
	int want = fd < 0 ? -errno : 0;
	int found = err == 0 ? open_found(r) : err;
	bool ok;

	if (want == -ENOENT && follow == RESOLVE_FOLLOW_LAST && found == -ENOENT)
		return creates_alike(dirfd, path, err, r);
	if (want < 0)
		ok = found == want;
	else
		ok = found >= 0 && same_file(fd, found) && path_is_real(r->path, fd);
	if (fd >= 0)
		close(fd);
	if (found >= 0)
		close(found);
	return ok;
}

/* mkdir and rmdir by the place do what they do by the path. */
static bool acts_alike(int dirfd, const char *path, int err, const struct resolved *r)
{
	int want = mkdirat(dirfd, path, 0755) < 0 ? -errno : 0;
	struct stat st;

	if (want == 0)
		return err == 0 && fstatat(r->parent, r->name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		       S_ISDIR(st.st_mode) && unlinkat(r->parent, r->name, AT_REMOVEDIR) == 0;
	if (err == 0)
		err = mkdirat(r->parent, r->name, 0755) < 0 ? -errno : 0;
	return err == want;
}

static void compare(int dirfd, const char *path, enum resolve_follow follow)
{
	struct resolved r;
	int err = resolve(&test_sys, dirfd, path, follow, &r);
	bool ok;

	if (follow == RESOLVE_ENTRY_LAST)
		ok = acts_alike(dirfd, path, err, &r);
	else
		ok = looks_alike(dirfd, path, follow, err, &r);
	ck_assert_msg(ok, "%s (%d): %d, %s / %s", path, (int)follow, err, err ? "" : r.path,
		      err ? "" : r.name);
	ck_assert(err < 0 || r.same == (strcmp(r.path, r.given) == 0));
	resolved_done(&test_sys, &r);
	ck_assert_int_eq(test_held, 0);
	ck_assert_int_le(test_held_max, 2);
}

/* One tree, as an ordinary user, for whom there are directories without search permission. */
static void one_tree(bool root)
{
	char path[512];
	int dirfd;

	test_tree_make();
	if (root && (chown(test_root, NOBODY, NOBODY) < 0 || seteuid(NOBODY) < 0))
		ck_abort();
	random_tree();
	for (int i = 0; i < PATHS; i++) {
		random_path(path, sizeof path);
		dirfd = pick(3) ? AT_FDCWD : open(pick(2) ? "a" : "a/b", O_PATH | O_CLOEXEC | O_DIRECTORY);
		if (dirfd < 0 && dirfd != AT_FDCWD)
			dirfd = AT_FDCWD;
		for (int follow = RESOLVE_NOFOLLOW_LAST; follow <= RESOLVE_ENTRY_LAST; follow++)
			compare(dirfd, path, (enum resolve_follow)follow);
		if (dirfd != AT_FDCWD)
			close(dirfd);
	}
	if (root)
		ck_assert_int_eq(seteuid(0), 0);
	test_tree_remove();
}

START_TEST(test_like_the_kernel)
{
	const char *rounds = getenv("PALE_TEST_ROUNDS");
	int before = test_count_fds();
	long n = TREES * (rounds ? atol(rounds) : 1);

	seed = 0x70616c65;
	for (long i = 0; i < n; i++)
		one_tree(geteuid() == 0);
	ck_assert_int_eq(test_count_fds(), before);
}
END_TEST

/* fs.protected_symlinks: another user's link in a sticky directory that all may write. */
START_TEST(test_sticky)
{
	test_tree_make();
	mkdir("t", 0755);
	chmod("t", 01777);
	mkdir("dir", 0755);
	ck_assert_int_eq(symlink("../dir", "t/l"), 0);
	ck_assert_int_eq(symlink("l", "t/m"), 0);
	if (geteuid() == 0 && lchown("t/l", 12345, 12345) < 0)
		ck_abort();
	for (int follow = RESOLVE_NOFOLLOW_LAST; follow <= RESOLVE_ENTRY_LAST; follow++) {
		compare(AT_FDCWD, "t/l", (enum resolve_follow)follow);
		compare(AT_FDCWD, "t/l/", (enum resolve_follow)follow);
		compare(AT_FDCWD, "t/l/x", (enum resolve_follow)follow);
		compare(AT_FDCWD, "t/m", (enum resolve_follow)follow);
	}
	test_tree_remove();
}
END_TEST

static int parent_pid(void)
{
	return getppid();
}

/* Another process's descriptor is not ours by its number, and a slash demands a directory. */
START_TEST(test_magic_others)
{
	struct resolve_sys sys = test_sys;
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	struct resolved r;
	char path[64];

	test_tree_make();
	snprintf(path, sizeof path, "/proc/self/fd/%d/", fd);
	ck_assert_int_eq(resolve(&sys, AT_FDCWD, path, RESOLVE_FOLLOW_LAST, &r), -ENOTDIR);
	ck_assert_int_eq(resolve(&sys, AT_FDCWD, "/proc/self/cwd//", RESOLVE_NOFOLLOW_LAST, &r), 0);
	ck_assert(!r.magic && strcmp(r.path, test_root) == 0 && strcmp(r.name, ".") == 0);
	resolved_done(&sys, &r);
	snprintf(path, sizeof path, "/proc/%d/fd/0", getppid());
	sys.own_pid = parent_pid;
	if (dup2(fd, 0) == 0 && resolve(&sys, AT_FDCWD, path, RESOLVE_FOLLOW_LAST, &r) == 0) {
		ck_assert(r.magic && (r.magic_fd == -1 || strcmp(r.path, "/dev/zero") == 0));
		resolved_done(&sys, &r);
	}
	sys.own_pid = NULL;
	ck_assert_int_eq(resolve(&sys, AT_FDCWD, "/proc/self/fd/0", RESOLVE_FOLLOW_LAST, &r), 0);
	ck_assert(r.magic && r.magic_fd == -1);
	resolved_done(&sys, &r);
	ck_assert_int_eq(test_held, 0);
	close(fd);
	test_tree_remove();
}
END_TEST

/* --- a tree that changes ------------------------------------------------------------------------- */

struct flipper {
	const char *a, *b;
	unsigned flags; /* RENAME_EXCHANGE, or 0: to and fro */
	_Atomic bool stop;
	unsigned long flips;
};

static void *flip(void *arg)
{
	struct flipper *f = arg;

	while (!f->stop) {
		syscall(SYS_renameat2, AT_FDCWD, f->a, AT_FDCWD, f->b, f->flags);
		if (f->flags == 0)
			syscall(SYS_renameat2, AT_FDCWD, f->b, AT_FDCWD, f->a, 0);
		f->flips++;
	}
	return NULL;
}

static ino_t ino_of(int dirfd, const char *path)
{
	struct stat st;

	ck_assert_int_eq(fstatat(dirfd, path, &st, AT_EMPTY_PATH), 0);
	return st.st_ino;
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* One place where a path may lead: the directory's inode and what it may be called. */
struct legal {
	ino_t ino;
	char path[2][300];
};

static void check_legal(const struct legal *l, size_t n, const struct resolved *r)
{
	ino_t ino = ino_of(r->parent, "");

	for (size_t i = 0; i < n; i++)
		if (l[i].ino == ino &&
		    (strcmp(l[i].path[0], r->path) == 0 || strcmp(l[i].path[1], r->path) == 0))
			return;
	ck_abort_msg("%s is not what is held", r->path);
}

static void race(struct flipper *f, const char *path, enum resolve_follow follow, const struct legal *l,
		 size_t n)
{
	double end = now() + 0.15;
	unsigned long found = 0;
	struct resolved r;
	pthread_t t;

	f->stop = false;
	ck_assert_int_eq(pthread_create(&t, NULL, flip, f), 0);
	while (now() < end) {
		int err = resolve(&test_sys, AT_FDCWD, path, follow, &r);

		ck_assert_msg(err == 0 || (err == -ENOENT && f->flags == 0), "%s: %d", path, err);
		if (err == 0) {
			check_legal(l, n, &r);
			found++;
		}
		resolved_done(&test_sys, &r);
		ck_assert_int_eq(test_held, 0);
	}
	f->stop = true;
	pthread_join(t, NULL);
	ck_assert(found > 10 && f->flips > 10);
}

static void legal_set(struct legal *l, const char *dir, const char *one, const char *two)
{
	l->ino = ino_of(AT_FDCWD, dir);
	snprintf(l->path[0], sizeof l->path[0], "%s/%s", test_root, one);
	snprintf(l->path[1], sizeof l->path[1], "%s/%s", test_root, two);
}

/* `flip` is now a directory and now a link to another one. */
START_TEST(test_race_link)
{
	struct flipper f = { .a = "flip", .b = "other", .flags = RENAME_EXCHANGE };
	struct legal in[2], at[1];

	test_tree_make();
	mkdir("flip", 0755);
	mkdir("target", 0755);
	ck_assert_int_eq(symlink("target", "other"), 0);
	legal_set(&in[0], "flip", "flip/x", "other/x");
	legal_set(&in[1], "target", "target/x", "target/x");
	race(&f, "flip/x", RESOLVE_NOFOLLOW_LAST, in, 2);
	race(&f, "flip/x", RESOLVE_FOLLOW_LAST, in, 2);
	race(&f, "target/../flip/x", RESOLVE_ENTRY_LAST, in, 2);
	legal_set(&at[0], ".", "flip", "target");
	race(&f, "flip", RESOLVE_FOLLOW_LAST, at, 1);
	test_tree_remove();
}
END_TEST

/* A directory moves up while `..` is on its way through it. */
START_TEST(test_race_dotdot)
{
	struct flipper f = { .a = "w/a/b/c", .b = "w/c" };
	struct legal l[2];
	char path[LIMIT_PATH] = "w/a/b/c/";

	/* Many steps that lead nowhere give the other thread its time. */
	for (size_t len = strlen(path); len < sizeof path - 32; len += 2)
		strcpy(path + len, "./");
	strcat(path, "../../x");
	test_tree_make();
	mkdir("w", 0755);
	mkdir("w/a", 0755);
	mkdir("w/a/b", 0755);
	mkdir("w/a/b/c", 0755);
	legal_set(&l[0], "w/a", "w/a/x", "w/a/x");
	legal_set(&l[1], ".", "x", "x");
	race(&f, path, RESOLVE_NOFOLLOW_LAST, l, 2);
	race(&f, path, RESOLVE_FOLLOW_LAST, l, 2);
	test_tree_remove();
}
END_TEST

TCase *tcase_resolve_random(void)
{
	TCase *t = tcase_create("random");

	tcase_set_timeout(t, 600);
	tcase_add_test(t, test_like_the_kernel);
	tcase_add_test(t, test_sticky);
	tcase_add_test(t, test_magic_others);
	tcase_add_test(t, test_race_link);
	tcase_add_test(t, test_race_dotdot);
	return t;
}
