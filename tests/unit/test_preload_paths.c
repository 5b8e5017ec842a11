/*
 * The cached path of a directory: it is used while the session's counts are unchanged and the descriptor is
 * still that directory; otherwise the kernel is asked.
 */
#include "preload_fixture.h"

Suite *suite_preload_paths(void);

static char buf[512];

static void leads_to(int dirfd, const char *name)
{
	ck_assert_int_gt(sys_lexical(dirfd, "x", buf, sizeof buf), 0);
	ck_assert_str_eq(buf, at(name));
}

/* How often the kernel was asked where a descriptor leads. */
static unsigned asked(void)
{
	return faked_count(SYS_readlinkat);
}

START_TEST(a_descriptor_is_asked_once)
{
	int fd = open("dir", O_PATH | O_DIRECTORY);

	for (int i = 0; i < 5; i++)
		leads_to(fd, "dir/x");
	ck_assert_uint_eq(asked(), 1);
	(void)close(fd);
}
END_TEST

/* The same number, another directory: a second one that was opened, or put there by dup2(2). */
START_TEST(another_directory_of_the_same_number)
{
	int fd = open("dir", O_PATH | O_DIRECTORY), other = open("closed", O_PATH | O_DIRECTORY);

	leads_to(fd, "dir/x");
	ck_assert_int_eq(dup2(other, fd), fd);
	leads_to(fd, "closed/x");
	ck_assert_uint_eq(asked(), 2);
	(void)close(fd);
	ck_assert_int_eq(sys_lexical(fd, "x", buf, sizeof buf), -EBADF);
	(void)close(other);
}
END_TEST

/* A rename anywhere in the session, finished or under way. */
START_TEST(a_rename_ends_it)
{
	int fd = open("dir", O_PATH | O_DIRECTORY);

	leads_to(fd, "dir/x");
	ck_assert_int_eq(rename("dir", "elsewhere"), 0);
	(void)ring_count_end(&session.ring->moved, ring_count_begin(&session.ring->moved) == 0);
	leads_to(fd, "elsewhere/x");
	(void)ring_count_begin(&session.ring->moved);
	leads_to(fd, "elsewhere/x");
	leads_to(fd, "elsewhere/x");
	ck_assert_uint_eq(asked(), 4);
	ck_assert_int_eq(rename("elsewhere", "dir"), 0);
	(void)close(fd);
}
END_TEST

/* A file system without times of birth gives no proof, so nothing is kept. */
START_TEST(without_proof_nothing_is_kept)
{
	int fd = open("dir", O_PATH | O_DIRECTORY);

	faked_answer(SYS_statx, -ENOSYS, 0);
	for (int i = 0; i < 3; i++)
		leads_to(fd, "dir/x");
	ck_assert_uint_eq(asked(), 3);
	(void)close(fd);
}
END_TEST

START_TEST(the_working_directory_is_asked_once)
{
	for (int i = 0; i < 5; i++)
		leads_to(AT_FDCWD, "x");
	ck_assert_uint_eq(faked_count(SYS_getcwd), 1);
	ck_assert_int_eq(sys_wander(SYS_chdir, (long)"dir"), 0);
	leads_to(AT_FDCWD, "dir/x");
	ck_assert_uint_eq(faked_count(SYS_getcwd), 2);
	/* A change under way, by any process of the session. */
	(void)ring_count_begin(&session.ring->wandered);
	leads_to(AT_FDCWD, "dir/x");
	leads_to(AT_FDCWD, "dir/x");
	ck_assert_uint_eq(faked_count(SYS_getcwd), 4);
}
END_TEST

/* Renames outside the session are not counted, so what was asked long ago does not count. */
START_TEST(an_old_answer_does_not_count)
{
	leads_to(AT_FDCWD, "x");
	process->cwd.asked_ns -= CWD_NS;
	leads_to(AT_FDCWD, "x");
	ck_assert_uint_eq(faked_count(SYS_getcwd), 2);
}
END_TEST

/* At level hooks no supervisor counts the changes that the hooks do not see. */
START_TEST(at_hooks_it_is_always_asked)
{
	for (int i = 0; i < 3; i++)
		leads_to(AT_FDCWD, "x");
	ck_assert_uint_eq(faked_count(SYS_getcwd), 3);
}
END_TEST

static const struct {
	const char *path, *near; /* near: below the directory; NULL where only a walk can say */
} spellings[] = {
	{ "dir/file", "dir/file" },
	{ "./dir//file", "dir/file" },
	{ "dir/./file", "dir/file" },
	{ "dir/../x", NULL },
	{ "..", NULL },
};

START_TEST(lexical_paths)
{
	const char *near = sys_near(AT_FDCWD, spellings[_i].path, buf, sizeof buf);

	if (spellings[_i].near)
		ck_assert_str_eq(near, at(spellings[_i].near));
	else
		ck_assert_ptr_null(near);
}
END_TEST

/* The directory that a relative path starts at is held; an absolute one needs none. */
START_TEST(anchors)
{
	int dir = open("dir", O_PATH | O_DIRECTORY), fd = sys_anchor(dir, "x");

	ck_assert_int_ne(fd, dir);
	leads_to(fd, "dir/x");
	(void)close(fd);
	ck_assert_int_eq(sys_anchor(dir, "/x"), dir);
	faked_answer(SYS_fcntl, -EMFILE, 0);
	ck_assert_int_eq(sys_anchor(dir, "x"), dir);
	(void)close(dir);
}
END_TEST

Suite *suite_preload_paths(void)
{
	Suite *s = suite_create("preload_paths");
	TCase *t = tcase_create("full"), *h = tcase_create("hooks");

	tcase_add_checked_fixture(t, full, end);
	tcase_add_test(t, a_descriptor_is_asked_once);
	tcase_add_test(t, another_directory_of_the_same_number);
	tcase_add_test(t, a_rename_ends_it);
	tcase_add_test(t, without_proof_nothing_is_kept);
	tcase_add_test(t, the_working_directory_is_asked_once);
	tcase_add_test(t, an_old_answer_does_not_count);
	tcase_add_loop_test(t, lexical_paths, 0, (int)(sizeof spellings / sizeof *spellings));
	tcase_add_test(t, anchors);
	suite_add_tcase(s, t);
	tcase_add_checked_fixture(h, hooks, end);
	tcase_add_test(h, at_hooks_it_is_always_asked);
	suite_add_tcase(s, h);
	return s;
}
