/* What a call does to its file, and what the kernel says of the file first: compared with the kernel. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/base/fileop.h"

Suite *suite_fileop(void);

START_TEST(accesses)
{
	static const struct {
		int flags;
		unsigned access;
	} cases[] = {
		{ O_RDONLY, ACCESS_READ },
		{ O_WRONLY, ACCESS_WRITE },
		{ O_RDWR, ACCESS_READ | ACCESS_WRITE },
		{ O_ACCMODE, ACCESS_READ | ACCESS_WRITE },
		{ O_RDONLY | O_TRUNC, ACCESS_READ | ACCESS_WRITE },
		{ O_RDONLY | O_CREAT, ACCESS_READ | ACCESS_WRITE },
		{ O_WRONLY | O_TMPFILE, ACCESS_WRITE },
		{ O_RDONLY | O_DIRECTORY, ACCESS_READ },
		{ O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, ACCESS_READ },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ck_assert_uint_eq(open_access(cases[i].flags), cases[i].access);
		ck_assert_int_eq(open_op(cases[i].access),
				 cases[i].access & ACCESS_WRITE ? OP_WRITE : OP_READ);
	}
	ck_assert(!open_creates(O_RDWR | O_DIRECTORY | O_EXCL));
	ck_assert(open_creates(O_CREAT) && open_creates(O_RDWR | O_TMPFILE));
}
END_TEST

static const int flag_bits[] = { O_CREAT, O_EXCL, O_TRUNC, O_DIRECTORY, O_NOFOLLOW };
#define FLAG_SETS (1u << 5)

static int flags_of(unsigned set, int mode)
{
	for (unsigned i = 0; i < 5; i++)
		mode |= set >> i & 1 ? flag_bits[i] : 0;
	return mode;
}

static void put_all(void)
{
	int fd = open("file", O_WRONLY | O_CREAT, 0600);

	ck_assert_int_ge(fd, 0);
	close(fd);
	unlink("none");
	ck_assert(mkdir("dir", 0700) == 0 || errno == EEXIST);
	ck_assert(symlink("file", "link") == 0 || errno == EEXIST);
}

/* As an ordinary user or as root: nothing here is about rights. */
START_TEST(the_kernel_says_the_same_of_what_exists)
{
	static const char *const names[] = { "file", "dir", "link", "none" };
	static const int modes[] = { O_RDONLY, O_WRONLY, O_RDWR };
	char root[] = "/tmp/pale-fileop-XXXXXX";
	unsigned compared = 0;

	ck_assert_ptr_nonnull(mkdtemp(root));
	ck_assert_int_eq(chdir(root), 0);
	for (unsigned i = 0; i < 4 * 3 * FLAG_SETS; i++) {
		int flags = flags_of(i / 12, modes[i / 4 % 3]);
		bool follows = !(flags & O_NOFOLLOW || (flags & O_CREAT && flags & O_EXCL));
		unsigned access, mode;
		struct stat st;
		int want, fd;

		/* EINVAL since Linux 6.4, undefined without O_CREAT (open(2)) */
		if ((flags & O_CREAT && flags & O_DIRECTORY) || (flags & O_EXCL && !(flags & O_CREAT)))
			continue;
		put_all();
		mode = (follows ? stat(names[i % 4], &st) : lstat(names[i % 4], &st)) == 0 ? st.st_mode : 0;
		want = open_existence(flags, mode, &access);
		fd = open(names[i % 4], flags | O_NONBLOCK, 0600);
		ck_assert_msg((fd >= 0 ? 0 : -errno) == want, "%s, flags %o: %d", names[i % 4], flags, want);
		if (fd >= 0 && mode != 0)
			ck_assert_uint_eq(access, open_access(flags & ~O_CREAT));
		compared++;
		if (fd >= 0)
			close(fd);
	}
	ck_assert_uint_gt(compared, 150);
	ck_assert(unlink("file") == 0 && unlink("link") == 0 && rmdir("dir") == 0);
	(void)unlink("none");
	ck_assert_int_eq(rmdir(root), 0);
}
END_TEST

START_TEST(temporary_files_need_a_directory)
{
	unsigned access;

	ck_assert_int_eq(open_existence(O_RDWR | O_TMPFILE, S_IFDIR | 0755, &access), 0);
	ck_assert_uint_eq(access, ACCESS_READ | ACCESS_WRITE);
	ck_assert_int_eq(open_existence(O_RDWR | O_TMPFILE, S_IFREG | 0644, &access), -ENOTDIR);
	ck_assert_int_eq(open_existence(O_RDWR | O_TMPFILE, 0, &access), -ENOENT);
}
END_TEST

START_TEST(entries)
{
	static const struct {
		enum op op;
		unsigned access, mode;
		int want;
	} cases[] = {
		{ OP_MKDIR, ACCESS_WRITE, S_IFDIR, -EEXIST },
		{ OP_MKDIR, ACCESS_WRITE, 0, 0 },
		{ OP_SYMLINK, ACCESS_WRITE, S_IFREG, -EEXIST },
		{ OP_MKNOD, ACCESS_WRITE, S_IFREG, -EEXIST },
		{ OP_DELETE, ACCESS_DELETE, 0, -ENOENT },
		{ OP_DELETE, ACCESS_DELETE, S_IFREG, 0 },
		{ OP_RENAME, ACCESS_DELETE, 0, -ENOENT },
		{ OP_RENAME, ACCESS_WRITE, 0, 0 },
		{ OP_LINK, ACCESS_WRITE, 0, 0 },
		{ OP_CHMOD, ACCESS_WRITE, 0, -ENOENT },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		ck_assert_int_eq(op_existence(cases[i].op, cases[i].access, cases[i].mode, "/x"),
				 cases[i].want);
	ck_assert_int_eq(op_existence(OP_MKDIR, ACCESS_WRITE, 0, "/proc/x"), -ENOENT);
}
END_TEST

Suite *suite_fileop(void)
{
	Suite *s = suite_create("fileop");
	TCase *tc = tcase_create("fileop");

	tcase_add_test(tc, accesses);
	tcase_add_test(tc, the_kernel_says_the_same_of_what_exists);
	tcase_add_test(tc, temporary_files_need_a_directory);
	tcase_add_test(tc, entries);
	suite_add_tcase(s, tc);
	return s;
}
