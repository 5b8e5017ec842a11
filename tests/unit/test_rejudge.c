/* What a changed policy would have said of what was recorded. */
#include <stdio.h>

#include "image_fixture.h"
#include "policy/lesson/rejudge.h"

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

#define UNCHANGED CHANGES
#define UNKNOWN	  (CHANGES + 1)

Suite *suite_rejudge(void);

static struct fixture before, after;
static struct changes changes;

static void begin(struct fixture *f)
{
	fixture_init(f);
	f->p.s.cmd_default = VERDICT_ASK;
	fixture_workspace(f);
}

static void setup(void)
{
	begin(&before);
	fixture_rule(&before, RULE_FILE_WRITE, "/lost");
	fixture_rule(&before, RULE_CMD_DENY, "make deploy");
	fixture_rule(&before, RULE_CMD_ALLOW, "make test");
	fixture_rule(&before, RULE_NET_ALLOW, "lost.example");
	fixture_compile(&before);
	begin(&after);
	fixture_rule(&after, RULE_FILE_WRITE, "/won");
	fixture_rule(&after, RULE_FILE_ASK, "/asked");
	fixture_rule(&after, RULE_CMD_ALLOW, "make deploy");
	fixture_rule(&after, RULE_NET_ALLOW, "won.example");
	fixture_rule(&after, RULE_NET_ALLOW, "10.0.0.1");
	fixture_compile(&after);
	changes_init(&changes, &before.img, &after.img, "/ws");
}

static void teardown(void)
{
	changes_done(&changes);
	fixture_done(&before);
	fixture_done(&after);
}

static void tell(const char *op, const char *access, const char *verdict, const char *target,
		 const char *detail)
{
	const struct record r = { .op = op,
				  .access = access,
				  .verdict = verdict,
				  .target = target,
				  .detail = detail,
				  .approval = "",
				  .count = 1 };

	ck_assert_int_eq(changes_add(&changes, &r), 0);
}

static const struct {
	const char *op, *access, *verdict, *target, *detail;
	int want;
} deeds[] = {
	{ "write", "w", "deny", "/won/x", "", CHANGE_OPENED },
	{ "write", "w", "deny", "/won/a\\x0ab \\\\x", "", CHANGE_OPENED },
	{ "write", "w", "deny", "/else/x", "", UNCHANGED },
	{ "write", "w", "allow", "/lost/x", "", CHANGE_CLOSED },
	{ "write", "w", "allow", "/ws/x", "", UNCHANGED },
	{ "write", "w", "deny", "/asked/x", "", CHANGE_ASKED },
	{ "exec", "", "deny", "make deploy", "", CHANGE_OPENED },
	{ "exec", "", "deny", "'make' de\\ploy 'A=a b'", "", CHANGE_OPENED },
	{ "exec", "", "allow", "make test", "", CHANGE_DOUBT },
	{ "exec", "", "allow", "make other", "", UNCHANGED },
	{ "connect", "", "deny", "won.example:443", "", CHANGE_OPENED },
	{ "connect", "", "allow", "lost.example:443", "", CHANGE_CLOSED },
	{ "connect", "", "deny", "10.0.0.1:443", "", CHANGE_OPENED },
	{ "connect", "", "deny", "[::ffff:10.0.0.1]:443", "", CHANGE_OPENED },
	{ "resolve", "", "deny", "won.example", "", CHANGE_OPENED },
	/* A name that leads to an address of the organization is not the name alone. */
	{ "connect", "", "deny", "won.example:443", "id=1 addr=192.168.0.1", CHANGE_ASKED },
	{ "connect", "", "deny", "won.example:443", "id=1 addr=[fd00::1]; more", UNCHANGED },
	{ "connect", "", "deny", "won.example:443", "id=1 addr=93.184.215.14", CHANGE_OPENED },
	/* By the old one alone it would have gone the other way: a human said so, or the record is too short.
	 */
	{ "write", "w", "deny", "/lost/x", "", UNKNOWN },
	{ "write", "w", "allow", "/won/x", "", UNKNOWN },
	/* Cut, masked, another image's, no path, no port, no words. */
	{ "write", "w", "deny", "/won/x", "id=1 cut=900", UNKNOWN },
	{ "write", "w", "deny", "/won/x", "id=1 image=2", UNKNOWN },
	{ "exec", "", "deny", "make deploy ***", "", UNKNOWN },
	{ "write", "w", "deny", "won/x", "", UNKNOWN },
	{ "connect", "", "deny", "won.example", "", UNKNOWN },
	{ "exec", "", "deny", "", "", UNKNOWN },
};

START_TEST(test_deeds)
{
	const int want = deeds[_i].want;
	char name[64];

	tell(deeds[_i].op, deeds[_i].access, deeds[_i].verdict, deeds[_i].target, deeds[_i].detail);
	ck_assert_uint_eq(changes.judged, 1);
	ck_assert_uint_eq(changes.unknown, want == UNKNOWN);
	ck_assert_int_eq(changes_none(&changes), want >= CHANGES);
	for (int i = 0; i < CHANGES; i++)
		ck_assert_uint_eq(changes.n[i], i == want);
	if (want >= CHANGES)
		return;
	snprintf(name, sizeof(name), "%s %s", deeds[_i].op, deeds[_i].target);
	ck_assert_str_eq(changes.name[want][0], name);
}
END_TEST

/* What is no decision is none of these; what was seen is counted once. */
START_TEST(test_passed_over)
{
	tell("session/start", "", "", "", "");
	tell("write", "w", "ask", "/won/x", "");
	ck_assert_uint_eq(changes.judged, 0);
	for (int i = 0; i < 3; i++)
		tell("write", "w", "deny", "/won/x", "");
	ck_assert_uint_eq(changes.judged, 1);
	ck_assert_uint_eq(changes.n[CHANGE_OPENED], 1);
}
END_TEST

/* More than are named are counted, more than are looked at are said. */
START_TEST(test_many)
{
	char path[32];

	for (int i = 0; i < CHANGE_SEEN + 10; i++) {
		snprintf(path, sizeof(path), "/won/%d", i);
		tell("write", "w", "deny", path, "");
	}
	ck_assert_uint_eq(changes.judged, CHANGE_SEEN);
	ck_assert_uint_eq(changes.n[CHANGE_OPENED], CHANGE_SEEN);
	ck_assert_uint_eq(changes.beyond, 10);
	ck_assert_str_eq(changes.name[CHANGE_OPENED][CHANGE_NAMES - 1], "write /won/19");
}
END_TEST

START_TEST(test_texts)
{
	ck_assert_str_eq(change_text(CHANGE_CLOSED), "past allows would now be denied");
	ck_assert_str_eq(change_text(CHANGES), "?");
}
END_TEST

Suite *suite_rejudge(void)
{
	Suite *s = suite_create("rejudge");
	TCase *t = tcase_create("rejudge");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, test_deeds, 0, COUNT(deeds));
	tcase_add_test(t, test_passed_over);
	tcase_add_test(t, test_many);
	tcase_add_test(t, test_texts);
	suite_add_tcase(s, t);
	return s;
}
