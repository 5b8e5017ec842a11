/* The near and the far way of an open, and what the gate refuses, against a faked kernel. */
#include "preload_fixture.h"
#include "preload/judge/check_open.h"

Suite *suite_preload_open(void);

/* One call: the judged path, no link followed, with the pass. */
START_TEST(near_is_one_call)
{
	int fd = check_open(AT_FDCWD, at("dir/file"), O_RDWR, 0);

	ck_assert_int_ge(fd, 0);
	ck_assert_uint_eq(faked_count(SYS_openat2), 1);
	ck_assert_uint_eq(faked_count(SYS_openat), 0);
	ck_assert_str_eq(faked_call(SYS_openat2, 0)->path, at("dir/file"));
	ck_assert_uint_eq(faked_call(SYS_openat2, 0)->pass, PASS);
	recorded(OP_WRITE, VERDICT_ALLOW, "dir/file");
	nothing_recorded();
	(void)close(fd);
}
END_TEST

/* A relative path may start elsewhere by then, so the judged path is opened. */
START_TEST(near_opens_what_was_judged)
{
	int fd = check_open(AT_FDCWD, "dir/new", O_WRONLY | O_CREAT, 0600);

	ck_assert_int_ge(fd, 0);
	ck_assert_str_eq(faked_call(SYS_openat2, 0)->path, at("dir/new"));
	ck_assert_int_eq(faked_call(SYS_openat2, 0)->arg[0], AT_FDCWD);
	recorded(OP_WRITE, VERDICT_ALLOW, "dir/new");
	(void)close(fd);
}
END_TEST

/* Each error for which the near way says nothing: the file is opened by the real path, or by its held
 * directory and its name, and recorded once. */
static const int far_errors[] = { ELOOP, ENOSYS, EINVAL, E2BIG, EPERM, EAGAIN };

START_TEST(errors_that_go_far)
{
	const struct faked_call *call;
	int fd;

	faked_answer(SYS_openat2, -far_errors[_i], 1);
	fd = check_open(AT_FDCWD, at("dir/file"), O_RDONLY, 0);
	ck_assert_int_ge(fd, 0);
	call = faked_call(SYS_openat2, faked_count(SYS_openat2) - 1);
	ck_assert_str_eq(call->path, at("dir/file"));
	ck_assert_uint_eq(call->pass, PASS);
	recorded(OP_READ, VERDICT_ALLOW, "dir/file");
	nothing_recorded();
	(void)close(fd);
}
END_TEST

/* Where the real path cannot be opened so, it is opened by its held directory and its name. */
static const int held_errors[] = { ELOOP, ENOSYS, EPERM };

START_TEST(errors_that_hold)
{
	const struct faked_call *call;
	int fd;

	faked_answer(SYS_openat2, -held_errors[_i], 0);
	fd = check_open(AT_FDCWD, at("dir/file"), O_RDONLY, 0);
	ck_assert_int_ge(fd, 0);
	call = faked_call(SYS_openat, faked_count(SYS_openat) - 1);
	ck_assert_str_eq(call->path, "file");
	ck_assert_int_ne(call->arg[0], AT_FDCWD);
	ck_assert(call->flags & O_NOFOLLOW);
	ck_assert_uint_eq(call->pass, PASS);
	recorded(OP_READ, VERDICT_ALLOW, "dir/file");
	nothing_recorded();
	(void)close(fd);
}
END_TEST

/* And errors that are the answer. */
static const int final_errors[] = { ENOENT, ENOTDIR, EISDIR, ENOSPC, ETXTBSY };

START_TEST(errors_that_are_final)
{
	faked_answer(SYS_openat2, -final_errors[_i], 1);
	ck_assert_int_eq(check_open(AT_FDCWD, at("dir/file"), O_RDONLY, 0), -final_errors[_i]);
	ck_assert_uint_eq(faked_count(SYS_openat), 0);
	recorded(OP_READ, VERDICT_ALLOW, "dir/file");
}
END_TEST

START_TEST(a_link_is_judged_where_it_leads)
{
	int fd = check_open(AT_FDCWD, "into/file", O_RDONLY, 0);

	ck_assert_int_ge(fd, 0);
	recorded(OP_READ, VERDICT_ALLOW, "dir/file");
	nothing_recorded();
	(void)close(fd);
	ck_assert_int_eq(check_open(AT_FDCWD, "out/secret", O_RDONLY, 0), -EACCES);
}
END_TEST

/* Nothing is opened; the supervisor hears of it. */
START_TEST(denied_makes_no_open)
{
	ck_assert_int_eq(check_open(AT_FDCWD, at("closed/secret"), O_RDONLY, 0), -EACCES);
	for (unsigned i = 0; i < faked_count(SYS_openat); i++)
		ck_assert(faked_call(SYS_openat, i)->flags & O_PATH);
	for (unsigned i = 0; i < faked_count(SYS_openat2); i++)
		ck_assert(faked_call(SYS_openat2, i)->flags & O_PATH);
	ck_assert_uint_ge(faked_count(SYS_ioctl), 1);
	nothing_recorded();
}
END_TEST

/* Landlock's answers: above level hooks the caller's own call is made, which the supervisor records. */
static const int refusals[] = { EACCES, EXDEV, ENFILE, EMFILE };

START_TEST(what_the_gate_refuses_is_carried)
{
	const struct faked_call *call;

	faked_answer(SYS_openat2, -refusals[_i], 0);
	faked_answer(SYS_openat, 77, 0);
	ck_assert_int_eq(check_open(AT_FDCWD, "dir/file", O_RDWR, 0), 77);
	call = faked_call(SYS_openat, 0);
	ck_assert_str_eq(call->path, "dir/file");
	ck_assert_int_eq(call->arg[0], AT_FDCWD);
	ck_assert_uint_eq(call->flags, O_RDWR);
	ck_assert_uint_eq(call->pass, 0);
	nothing_recorded();
}
END_TEST

/* At level hooks there is no supervisor to carry the call. */
START_TEST(at_hooks_a_refusal_is_final)
{
	faked_answer(SYS_openat2, -refusals[_i], 0);
	ck_assert_int_eq(check_open(AT_FDCWD, "dir/file", O_RDWR, 0), -refusals[_i]);
	ck_assert_uint_eq(faked_count(SYS_openat), 0);
	ck_assert_uint_eq(faked_call(SYS_openat2, 0)->pass, 0);
	recorded(OP_WRITE, VERDICT_ALLOW, "dir/file");
}
END_TEST

/* A question, O_PATH, and a truncation that Landlock may not see are the supervisor's. */
static const struct {
	const char *name;
	int flags;
} plain[] = {
	{ "asked", O_RDONLY },
	{ "dir/file", O_PATH },
	{ "dir/file", O_RDONLY | O_TRUNC },
	{ "", O_RDONLY },
};

START_TEST(plain_calls)
{
	(void)check_open(AT_FDCWD, plain[_i].name, plain[_i].flags, 0600);
	ck_assert_uint_eq(faked_call(SYS_openat, faked_count(SYS_openat) - 1)->pass, 0);
	ck_assert_str_eq(faked_call(SYS_openat, faked_count(SYS_openat) - 1)->path, plain[_i].name);
	nothing_recorded();
}
END_TEST

/* A signal that comes before the supervisor has heard of a plain call is not the caller's concern; one that
 * ends the wait at a FIFO is. */
START_TEST(signals_before_a_plain_call)
{
	faked_answer(SYS_openat2, -EACCES, 0);
	faked_answer(SYS_openat, -EINTR, 3);
	ck_assert_int_ge(check_open(AT_FDCWD, "dir/file", O_RDONLY, 0), 0);
	ck_assert_uint_eq(faked_count(SYS_openat), 4);
	ck_assert_int_eq(mknod("dir/fifo", S_IFIFO | 0600, 0), 0);
	faked_answer(SYS_openat, -EINTR, 0);
	ck_assert_int_eq(check_open(AT_FDCWD, "dir/fifo", O_RDONLY, 0), -EINTR);
}
END_TEST

/* A memo makes a verdict faster and never changes it: with the page that holds memos, and without it. */
START_TEST(memos_change_no_verdict)
{
	for (int round = 0; round < 3; round++) {
		int fd = check_open(AT_FDCWD, at("dir/file"), O_RDONLY, 0);

		ck_assert_int_ge(fd, 0);
		(void)close(fd);
		ck_assert_int_eq(check_open(AT_FDCWD, at("closed/secret"), O_RDONLY, 0), -EACCES);
		if (round == 1)
			process = NULL;
	}
}
END_TEST

#define N(list) ((int)(sizeof(list) / sizeof(*(list))))

Suite *suite_preload_open(void)
{
	Suite *s = suite_create("preload_open");
	TCase *t = tcase_create("full"), *h = tcase_create("hooks");

	tcase_add_checked_fixture(t, full, end);
	tcase_add_test(t, near_is_one_call);
	tcase_add_test(t, near_opens_what_was_judged);
	tcase_add_loop_test(t, errors_that_go_far, 0, N(far_errors));
	tcase_add_loop_test(t, errors_that_hold, 0, N(held_errors));
	tcase_add_loop_test(t, errors_that_are_final, 0, N(final_errors));
	tcase_add_test(t, a_link_is_judged_where_it_leads);
	tcase_add_test(t, denied_makes_no_open);
	tcase_add_loop_test(t, what_the_gate_refuses_is_carried, 0, N(refusals));
	tcase_add_loop_test(t, plain_calls, 0, N(plain));
	tcase_add_test(t, signals_before_a_plain_call);
	tcase_add_test(t, memos_change_no_verdict);
	suite_add_tcase(s, t);
	tcase_add_checked_fixture(h, hooks, end);
	tcase_add_loop_test(h, at_hooks_a_refusal_is_final, 0, N(refusals));
	suite_add_tcase(s, h);
	return s;
}
