/* Names and attributes on behalf of another: what is denied changes nothing, what is allowed is recorded. */
#include "tests/unit/test_names.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

Suite *suite_names(void);

/* --- denied ------------------------------------------------------------------------------------- */

static const struct timespec old[2] = { { 1, 0 }, { 2, 0 } };

/* What a denial must not have touched. */
static int is_untouched(const char *path)
{
	struct stat st;
	char value[8];

	return lstat(path, &st) == 0 && st.st_mode == (S_IFREG | 0644) && st.st_nlink == 1 &&
	       st.st_size == 4 && st.st_mtim.tv_sec > 1000 &&
	       lgetxattr(path, "user.a", value, sizeof(value)) < 0;
}

static int deny_all(const char *path)
{
	char new[64];

	snprintf(new, sizeof(new), "%s.new", path);
	WANT(-EACCES, CALL1(unlink, path));
	WANT(-EACCES, CALL2(rename, path, "mine"));
	WANT(-EACCES, CALL2(rename, "f", path));
	WANT(-EACCES, CALL2(rename, "f", new));
	WANT(-EACCES, CALL5(renameat2, AT_FDCWD, path, AT_FDCWD, "f", RENAME_EXCHANGE));
	WANT(-EACCES, CALL5(renameat2, AT_FDCWD, "f", AT_FDCWD, path, RENAME_EXCHANGE));
	WANT(-EACCES, CALL2(link, path, "mine"));
	WANT(-EACCES, CALL2(link, "f", new));
	WANT(-EACCES, CALL2(symlink, "x", new));
	WANT(-EACCES, CALL2(mkdir, new, 0755));
	WANT(-EACCES, CALL3(mknod, new, S_IFREG | 0644, 0));
	WANT(-EACCES, CALL2(truncate, path, 0));
	WANT(-EACCES, CALL2(chmod, path, 0777));
	WANT(-EACCES, CALL4(fchmodat2, AT_FDCWD, path, 0777, AT_SYMLINK_NOFOLLOW));
	WANT(-EACCES, CALL3(chown, path, -1, -1));
	WANT(-EACCES, CALL3(lchown, path, -1, -1));
	WANT(-EACCES, CALL2(utime, path, 0));
	WANT(-EACCES, CALL4(utimensat, AT_FDCWD, path, old, 0));
	WANT(-EACCES, CALL5(setxattr, path, "user.a", "v", 1, 0));
	WANT(-EACCES, CALL2(removexattr, path, "user.a"));
	WANT(1, is_untouched(path));
	WANT(-1, access(new, F_OK));
	WANT(-1, access("mine", F_OK));
	return 0;
}

static int deed_outside(void)
{
	return deny_all(in("out/f")) || deny_all("../out/f") || deny_all("way/f") || deny_all("way/d/../f");
}

START_TEST(nothing_outside_changes)
{
	prepare();
	serve(deed_outside);
	finish();
}
END_TEST

static int deed_readonly(void)
{
	return deny_all("ro/f") || deny_all(in("ws/ro/f"));
}

START_TEST(nothing_readonly_changes)
{
	prepare();
	serve(deed_readonly);
	finish();
}
END_TEST

/* May change, but not go. */
static int deed_kept(void)
{
	WANT(-EACCES, CALL1(unlink, "kept"));
	WANT(-EACCES, CALL2(rename, "kept", "gone"));
	WANT(0, CALL2(chmod, "kept", 0600));
	WANT(0, CALL2(truncate, "kept", 1));
	WANT(1, is_mode("kept", S_IFREG | 0600));
	/* A directory above what is protected may not be moved away. */
	WANT(-EACCES, CALL2(rename, in("ws"), in("ws2")));
	return 0;
}

START_TEST(what_is_kept_may_change)
{
	prepare();
	serve(deed_kept);
	finish();
}
END_TEST

static int deny_descriptor(int fd, long fchmod_errno)
{
	WANT(fchmod_errno, CALL2(fchmod, fd, 0777));
	WANT(-EACCES, CALL4(fchmodat2, fd, "", 0777, AT_EMPTY_PATH));
	WANT(fchmod_errno, CALL3(fchown, fd, -1, -1));
	WANT(fchmod_errno, CALL4(utimensat, fd, 0, old, 0));
	WANT(-EACCES, CALL4(utimensat, fd, "", old, AT_EMPTY_PATH));
	WANT(fchmod_errno, CALL5(fsetxattr, fd, "user.a", "v", 1, 0));
	WANT(-EACCES, CALL5(linkat, fd, "", AT_FDCWD, "mine", AT_EMPTY_PATH));
	return 0;
}

static int deed_descriptors(void)
{
	int flags = FS_NODUMP_FL, reading = open("way/f", O_RDONLY), path = open("way/f", O_PATH);
	int writing = open("way/f", O_RDWR);

	WANT(0, deny_descriptor(reading, -EACCES));
	WANT(0, deny_descriptor(path, -EBADF));
	WANT(-EACCES, CALL3(ioctl, reading, FS_IOC_SETFLAGS, &flags));
	WANT(-EBADF, CALL3(ioctl, path, FS_IOC_SETFLAGS, &flags));
	WANT(-EPERM, CALL3(ioctl, reading, 0x1234, &flags));
	WANT(1, is_untouched("way/f"));
	/* To write is not to change the mode: it may be the operator's redirection. */
	WANT(-EACCES, CALL2(fchmod, writing, 0600));
	WANT(-EACCES, CALL3(fchown, writing, -1, -1));
	WANT(1, is_untouched("way/f"));
	/* Times come with writing; a name of one's own is more than that. */
	WANT(0, CALL4(utimensat, writing, NULL, NULL, 0));
	WANT(-EACCES, CALL5(linkat, writing, "", AT_FDCWD, "mine", AT_EMPTY_PATH));
	WANT(-1, access("mine", F_OK));
	return 0;
}

START_TEST(a_descriptor_gives_what_it_was_opened_for)
{
	prepare();
	serve(deed_descriptors);
	finish();
}
END_TEST

/* --- the kernel's own answers first ------------------------------------------------------------- */

static int deed_existence(void)
{
	WANT(-ENOENT, CALL1(unlink, "way/none"));
	WANT(-ENOENT, CALL1(unlink, "way/none/x"));
	WANT(-ENOTDIR, CALL1(unlink, "way/f/x"));
	WANT(-ENOTDIR, CALL1(unlink, "way/f/"));
	WANT(-EEXIST, CALL2(mkdir, "way/d", 0755));
	WANT(-EEXIST, CALL2(mkdir, "way/f/", 0755));
	WANT(-EEXIST, CALL2(mkdir, "/", 0755));
	WANT(-EEXIST, CALL2(symlink, "x", "way/f"));
	WANT(-ENOENT, CALL2(symlink, "x", "way/none/"));
	WANT(-EEXIST, CALL3(mknod, "way/f/", S_IFREG, 0));
	WANT(-EEXIST, CALL2(link, "f", "way/f"));
	WANT(-ENOENT, CALL2(link, "none", "way/new"));
	WANT(-ENOENT, CALL2(rename, "way/none", "x"));
	WANT(-ENOENT, CALL2(rename, "way/f", "none/x"));
	WANT(-EEXIST, CALL5(renameat2, AT_FDCWD, "f", AT_FDCWD, "way/f", RENAME_NOREPLACE));
	WANT(-ENOENT, CALL5(renameat2, AT_FDCWD, "f", AT_FDCWD, "way/none", RENAME_EXCHANGE));
	WANT(-EBUSY, CALL2(rename, "way/f", "d/.."));
	WANT(-ENOTEMPTY, CALL1(rmdir, "way/.."));
	WANT(-EINVAL, CALL1(rmdir, "way/."));
	WANT(-EBUSY, CALL1(rmdir, "/"));
	WANT(-EISDIR, CALL1(unlink, "way/.."));
	WANT(-ENOENT, CALL2(chmod, "way/none", 0));
	WANT(-EISDIR, CALL2(truncate, "way/d", 0));
	WANT(-EINVAL, CALL2(truncate, "/dev/null", 0));
	WANT(-EFAULT, CALL1(unlink, 8));
	WANT(-EFAULT, CALL2(chmod, 0, 0644));
	WANT(-EBADF, CALL3(unlinkat, 77, "x", 0));
	return 0;
}

START_TEST(existence_comes_first)
{
	prepare();
	serve(deed_existence);
	finish();
}
END_TEST

static int deed_nonsense(void)
{
	struct {
		uint64_t value;
		uint32_t size, flags;
		uint64_t later;
	} args = { 0, 0, 0, 1 };

	WANT(-EINVAL, CALL3(unlinkat, AT_FDCWD, "way/none", 1));
	WANT(-EINVAL, CALL5(renameat2, AT_FDCWD, "way/none", AT_FDCWD, "x", 0x80));
	WANT(-EINVAL, CALL5(renameat2, AT_FDCWD, "a", AT_FDCWD, "b", RENAME_EXCHANGE | RENAME_NOREPLACE));
	WANT(-EINVAL, CALL5(linkat, AT_FDCWD, "way/none", AT_FDCWD, "x", AT_SYMLINK_NOFOLLOW));
	WANT(-EINVAL, CALL2(truncate, "way/none", -1));
	WANT(-EPERM, CALL3(mknod, "way/none/x", S_IFDIR, 0));
	WANT(-EINVAL, CALL3(mknod, "way/none/x", S_IFLNK, 0));
	WANT(-ERANGE, CALL5(setxattr, "way/none", "", "v", 1, 0));
	WANT(-E2BIG, CALL5(setxattr, "way/none", "user.a", "v", 65537, 0));
	WANT(-EINVAL, CALL5(setxattr, "way/none", "user.a", "v", 1, 4));
	WANT(-EINVAL, do_call(__NR_setxattrat, U(AT_FDCWD), U("f"), 0, U("user.a"), U(&args)));
	WANT(-E2BIG, CALL4(file_setattr, AT_FDCWD, "f", &args, 4097));
	return 0;
}

START_TEST(nonsense_is_refused_before_anything)
{
	prepare();
	serve(deed_nonsense);
	finish();
}
END_TEST

/* --- allowed ------------------------------------------------------------------------------------ */

static int deed_records(void)
{
	WANT(0, CALL2(rename, "f", "g"));
	WANT(-ENOTDIR, CALL2(chmod, "d/../g/../d/f", 0600));
	WANT(0, CALL2(link, "g", "h"));
	WANT(0, CALL1(unlink, "./d//f"));
	WANT(-EACCES, CALL1(unlink, "way/f"));
	return 0;
}

START_TEST(each_end_is_recorded_by_its_real_path)
{
	static const struct {
		enum op op;
		enum verdict verdict;
		unsigned access;
		const char *target;
	} want[] = {
		{ OP_RENAME, VERDICT_ALLOW, ACCESS_DELETE, "ws/f" },
		{ OP_RENAME, VERDICT_ALLOW, ACCESS_WRITE, "ws/g" },
		{ OP_LINK, VERDICT_ALLOW, ACCESS_WRITE, "ws/g" },
		{ OP_LINK, VERDICT_ALLOW, ACCESS_WRITE, "ws/h" },
		{ OP_DELETE, VERDICT_ALLOW, ACCESS_DELETE, "ws/d/f" },
		{ OP_DELETE, VERDICT_DENY, ACCESS_DELETE, "out/f" },
	};
	struct ring_record r;

	prepare();
	serve(deed_records);
	for (size_t i = 0; i < NELEM(want); i++) {
		ck_assert(carried_record(&t, &r));
		ck_assert_int_eq(r.op, want[i].op);
		ck_assert_int_eq(r.verdict, want[i].verdict);
		ck_assert_uint_eq(r.access, want[i].access);
		ck_assert_uint_eq(r.target_len, strlen(in(want[i].target)));
		ck_assert_mem_eq(r.target, in(want[i].target), r.target_len);
	}
	ck_assert(!carried_record(&t, &r));
	ck_assert_uint_eq(atomic_load(&t.setup.ring->moved), 1);
	finish();
}
END_TEST

static int deed_publish(void)
{
	char self[40];
	struct stat st;
	int fd = open(".", O_TMPFILE | O_RDWR, 0600);

	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	WANT(-EACCES, CALL5(linkat, AT_FDCWD, self, AT_FDCWD, "way/new", AT_SYMLINK_FOLLOW));
	WANT(0, CALL5(linkat, AT_FDCWD, self, AT_FDCWD, "one", AT_SYMLINK_FOLLOW));
	WANT(0, CALL5(linkat, fd, "", AT_FDCWD, "two", AT_EMPTY_PATH));
	WANT(0, fstat(fd, &st));
	WANT(2, (long)st.st_nlink);
	/* By way of a link to a link, and the object is what counts. */
	WANT(0, CALL2(chmod, self, 0640));
	WANT(1, is_mode("one", S_IFREG | 0640));
	WANT(-EACCES, CALL2(chmod, "/proc/1/cwd", 0700));
	return 0;
}

START_TEST(a_file_without_a_name_is_given_one)
{
	prepare();
	serve(deed_publish);
	finish();
}
END_TEST

static int deed_modes(void)
{
	WANT(0, chmod("d", 02775));
	umask(027);
	WANT(0, CALL2(mkdir, "d/sub", 0777));
	WANT(1, is_mode("d/sub", S_IFDIR | S_ISGID | 0750));
	WANT(0, CALL3(mknod, "d/fifo", S_IFIFO | 0666, 0));
	WANT(1, is_mode("d/fifo", S_IFIFO | 0640));
	umask(0);
	WANT(0, CALL2(mkdir, "open/", 0777));
	WANT(1, is_mode("open", S_IFDIR | 0777));
	return 0;
}

START_TEST(the_callers_umask_holds)
{
	prepare();
	serve(deed_modes);
	/* Nor is it left behind. */
	ck_assert_uint_eq(umask(022), 022);
	finish();
}
END_TEST

static volatile sig_atomic_t n_signals;

static void count_signal(int number)
{
	(void)number;
	n_signals = n_signals + 1;
}

static int deed_limit(void)
{
	const struct rlimit small = { 10, 10 };
	struct stat st;

	signal(SIGXFSZ, count_signal);
	WANT(0, setrlimit(RLIMIT_FSIZE, &small));
	WANT(0, CALL2(truncate, "f", 10));
	WANT(-EFBIG, CALL2(truncate, "f", 11));
	WANT(0, stat("f", &st));
	WANT(10, (long)st.st_size);
	WANT(1, n_signals);
	WANT(0, CALL2(truncate, "f", 3));
	return 0;
}

START_TEST(the_callers_size_limit_holds)
{
	prepare();
	serve(deed_limit);
	finish();
}
END_TEST

/* --- races -------------------------------------------------------------------------------------- */

#define TRIES 20000

static atomic_bool over;

/* `spot` is a directory of the workspace and the way outside by turns. */
static void *swap(void *unused)
{
	while (!atomic_load(&over))
		(void)renameat2(AT_FDCWD, "d", AT_FDCWD, "way", RENAME_EXCHANGE);
	return unused;
}

static int deed_race(void)
{
	static const char *const shapes[] = { "d/f", "d/../d/f", "./d/f" };
	pthread_t thread;
	long won = 0;

	WANT(0, pthread_create(&thread, NULL, swap, NULL));
	for (long i = 0; i < TRIES; i++) {
		const char *path = shapes[i % 3];

		won += CALL2(chmod, path, 0600) == 0;
		(void)CALL2(truncate, path, 2);
		(void)CALL4(utimensat, AT_FDCWD, path, old, 0);
		(void)CALL2(link, path, "caught");
		(void)CALL1(unlink, path);
		(void)CALL3(mknod, path, S_IFREG | 0644, 0);
		(void)CALL1(unlink, "caught");
	}
	atomic_store(&over, true);
	pthread_join(thread, NULL);
	WANT(1, won > 0);
	WANT(1, is_untouched(in("out/f")));
	return 0;
}

START_TEST(a_swapped_directory_leads_nowhere)
{
	prepare();
	serve(deed_race);
	finish();
}
END_TEST

Suite *suite_names(void)
{
	Suite *s = suite_create("names");
	TCase *tc = tcase_create("names");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, nothing_outside_changes);
	tcase_add_test(tc, nothing_readonly_changes);
	tcase_add_test(tc, what_is_kept_may_change);
	tcase_add_test(tc, a_descriptor_gives_what_it_was_opened_for);
	tcase_add_test(tc, existence_comes_first);
	tcase_add_test(tc, nonsense_is_refused_before_anything);
	tcase_add_test(tc, each_end_is_recorded_by_its_real_path);
	tcase_add_test(tc, a_file_without_a_name_is_given_one);
	tcase_add_test(tc, the_callers_umask_holds);
	tcase_add_test(tc, the_callers_size_limit_holds);
	tcase_add_test(tc, a_swapped_directory_leads_nowhere);
	suite_add_tcase(s, tc);
	return s;
}
