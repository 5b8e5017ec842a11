/* A call on a name: judged, held and made through the gate, or made plain; against a faked kernel. */
#include "preload_fixture.h"
#include "preload/judge/name_call.h"

Suite *suite_preload_gate(void);

static long removal(const char *name)
{
	const struct name_call c = { .op = OP_DELETE,
				     .follow = RESOLVE_ENTRY_LAST,
				     .dirfd = AT_FDCWD,
				     .path = name,
				     .nr = SYS_unlinkat };

	return name_call(&c);
}

/* The act is on the held directory, by one name, with the pass. */
START_TEST(acts_on_the_held_directory)
{
	const struct faked_call *held, *act;

	ck_assert_int_eq(removal("dir/file"), 0);
	held = faked_call(SYS_openat2, 0);
	act = faked_call(SYS_unlinkat, 0);
	ck_assert_str_eq(held->path, at("dir/"));
	ck_assert_int_eq(act->arg[0], held->result);
	ck_assert_str_eq(act->path, "file");
	ck_assert_uint_eq(act->pass, PASS);
	recorded(OP_DELETE, VERDICT_ALLOW, "dir/file");
	/* The directory is let go. */
	ck_assert_int_eq(fcntl((int)held->result, F_GETFD), -1);
}
END_TEST

START_TEST(by_a_link_the_far_way)
{
	const struct faked_call *act;

	ck_assert_int_eq(removal("into/file"), 0);
	act = faked_call(SYS_unlinkat, 0);
	ck_assert_str_eq(act->path, "file");
	ck_assert_int_ne(act->arg[0], AT_FDCWD);
	recorded(OP_DELETE, VERDICT_ALLOW, "dir/file");
	nothing_recorded();
}
END_TEST

START_TEST(a_denial_makes_no_call)
{
	ck_assert_int_eq(removal("closed/secret"), -EACCES);
	ck_assert_int_eq(removal("out/secret"), -EACCES);
	ck_assert_uint_eq(faked_count(SYS_unlinkat), 0);
	ck_assert_uint_ge(faked_count(SYS_ioctl), 2);
}
END_TEST

/* The kernel's own error comes before the denial. */
START_TEST(what_is_not_there_is_not_denied)
{
	ck_assert_int_eq(removal("closed/nothing"), -ENOENT);
	ck_assert_uint_eq(faked_count(SYS_unlinkat), 0);
	nothing_recorded();
}
END_TEST

/* Landlock refuses what the policy allows: the caller's own call, and no record of ours. */
START_TEST(a_refusal_is_carried)
{
	const struct faked_call *act;

	faked_answer(SYS_unlinkat, -EACCES, 1);
	ck_assert_int_eq(removal("dir/file"), 0);
	act = faked_call(SYS_unlinkat, 1);
	ck_assert_str_eq(act->path, "dir/file");
	ck_assert_int_eq(act->arg[0], AT_FDCWD);
	ck_assert_uint_eq(act->pass, 0);
	nothing_recorded();
}
END_TEST

/* No descriptor is free: nothing can be held, so nothing is judged here. */
START_TEST(without_a_descriptor_it_is_carried)
{
	faked_answer(SYS_openat2, -EMFILE, 0);
	faked_answer(SYS_openat, -EMFILE, 0);
	ck_assert_int_eq(removal("dir/file"), 0);
	ck_assert_uint_eq(faked_count(SYS_unlinkat), 1);
	ck_assert_uint_eq(faked_call(SYS_unlinkat, 0)->pass, 0);
	nothing_recorded();
}
END_TEST

START_TEST(a_question_is_carried)
{
	faked_answer(SYS_unlinkat, 0, 0);
	ck_assert_int_eq(removal("asked"), 0);
	ck_assert_str_eq(faked_call(SYS_unlinkat, 0)->path, "asked");
	ck_assert_uint_eq(faked_call(SYS_unlinkat, 0)->pass, 0);
	nothing_recorded();
}
END_TEST

START_TEST(outside_a_session_nothing_is_judged)
{
	session.state = STATE_OFF;
	ck_assert_int_eq(removal("closed/secret"), 0);
	ck_assert_uint_eq(faked_count(SYS_openat2), 0);
	nothing_recorded();
}
END_TEST

/* The session's image cannot be used: everything that is judged is denied. */
START_TEST(a_broken_session_denies)
{
	session.state = STATE_BROKEN;
	session.img = (struct image){ 0 };
	ck_assert_int_eq(removal("dir/file"), -EACCES);
	ck_assert_uint_eq(faked_count(SYS_unlinkat), 0);
}
END_TEST

Suite *suite_preload_gate(void)
{
	Suite *s = suite_create("preload_gate");
	TCase *t = tcase_create("full");

	tcase_add_checked_fixture(t, full, end);
	tcase_add_test(t, acts_on_the_held_directory);
	tcase_add_test(t, by_a_link_the_far_way);
	tcase_add_test(t, a_denial_makes_no_call);
	tcase_add_test(t, what_is_not_there_is_not_denied);
	tcase_add_test(t, a_refusal_is_carried);
	tcase_add_test(t, without_a_descriptor_it_is_carried);
	tcase_add_test(t, a_question_is_carried);
	tcase_add_test(t, outside_a_session_nothing_is_judged);
	tcase_add_test(t, a_broken_session_denies);
	suite_add_tcase(s, t);
	return s;
}
