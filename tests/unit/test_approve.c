/* The queue of questions: which steps a card may take, what holds afterwards, and who is asked again. */
#include <check.h>
#include <errno.h>
#include <string.h>

/* White box: the state machine has no I/O, so it is tested as it stands, without the helper around it. */
#include "helper/approvals/queue.c"

#include "policy/base/util.h"

Suite *suite_approve(void);

static struct queue *q;

static void make_queue(void)
{
	q = calloc(1, sizeof(*q));
	q->turn = 1;
}

static void free_queue(void)
{
	queue_done(q);
	free(q);
}

static struct approval *known_card;

static enum approval_known look(const char *print, uint64_t now_ns)
{
	return queue_lookup(q, print, now_ns, &known_card);
}

static struct approval *card_at(const char *id, const char *print, uint64_t until_ns, uint64_t now_ns)
{
	struct approval *ap = calloc(1, sizeof(*ap));

	snprintf(ap->id, sizeof(ap->id), "%s", id);
	snprintf(ap->print, sizeof(ap->print), "%s", print);
	ap->target = strdup("x");
	ap->rule = strdup("policy.ini:1 [commands] ask = x");
	ap->until_ns = until_ns;
	ck_assert_int_eq(queue_add(q, ap, now_ns), 0);
	return ap;
}

static struct approval *card(const char *id, const char *print, uint64_t until_ns)
{
	return card_at(id, print, until_ns, 1);
}

/* The table, as a reviewer wants it. */
START_TEST(steps_are_these)
{
	static const char *const want[] = {
		"pending approved", "pending denied", "pending expired",   "pending cancelled",
		"expired late",	    "expired denied", "expired cancelled", "late approved",
		"late done",	    "approved done",
	};

	for (int from = 0; from < APPROVAL_STATES; from++)
		for (int to = 0; to < APPROVAL_STATES; to++) {
			struct approval ap = { .state = (enum approval_state)from };
			bool may = false;
			char step[64];

			snprintf(step, sizeof(step), "%s %s", approval_state_name(ap.state),
				 approval_state_name((enum approval_state)to));
			for (size_t i = 0; i < NELEM(want); i++)
				may |= strcmp(step, want[i]) == 0;
			ck_assert_msg(approval_move(&ap, (enum approval_state)to) == (may ? 0 : -EPERM), "%s",
				      step);
			ck_assert_int_eq((int)ap.state, may ? to : from);
		}
}
END_TEST

START_TEST(only_these_may_be_answered)
{
	for (int s = 0; s < APPROVAL_STATES; s++) {
		const struct approval ap = { .state = (enum approval_state)s };
		bool may = s == APPROVAL_PENDING || s == APPROVAL_EXPIRED;

		ck_assert_int_eq(approval_may_answer(&ap), may);
		ck_assert_int_eq(approval_is_listed(&ap), may);
	}
}
END_TEST

START_TEST(once_is_not_remembered)
{
	struct approval *ap = card("aaaa1", "p", 10);

	ck_assert_int_eq(look("p", 1), KNOWN_PENDING);
	ck_assert_ptr_eq(known_card, ap);
	ck_assert_int_eq(approval_move(ap, APPROVAL_APPROVED), 0);
	ck_assert_int_eq(look("p", 1), KNOWN_NOTHING);
}
END_TEST

START_TEST(denied_holds_for_the_turn)
{
	struct approval *ap = card("aaaa1", "p", 10);

	queue_deny(q, ap);
	queue_forget(q, ap);
	ck_assert_int_eq(look("p", 1), KNOWN_DENIED);
	ck_assert_int_eq(look("other", 1), KNOWN_NOTHING);
	queue_turn(q);
	ck_assert_int_eq(look("p", 1), KNOWN_NOTHING);
}
END_TEST

START_TEST(late_is_used_once_and_ends)
{

	for (int i = 0; i < 2; i++) {
		struct approval *ap = card("aaaa1", "p", 10);

		ck_assert_ptr_eq(queue_overdue(q, 9), NULL);
		ck_assert_ptr_eq(queue_overdue(q, 10), ap);
		ck_assert_int_eq(approval_move(ap, APPROVAL_EXPIRED), 0);
		ck_assert_int_eq(look("p", 11), KNOWN_NOTHING);
		ck_assert_int_eq(approval_move(ap, APPROVAL_LATE), 0);
		ap->until_ns = 200;
		if (i == 0) {
			ck_assert_int_eq(look("p", 199), KNOWN_LATE);
			ck_assert_ptr_eq(known_card, ap);
		}
		ck_assert_int_eq(look("p", 200), KNOWN_NOTHING);
		queue_forget(q, ap);
	}
}
END_TEST

START_TEST(ids_by_unique_prefix)
{
	struct approval *a = card("abcd11", "p", 10), *b = card("abcd12", "r", 10), *ret = NULL;

	ck_assert_int_eq(queue_find(q, "abc", &ret), -ENOENT);
	ck_assert_int_eq(queue_find(q, "abcd", &ret), -EEXIST);
	ck_assert_int_eq(queue_find(q, "ffff", &ret), -ENOENT);
	ck_assert_int_eq(queue_find(q, "abcd12", &ret), 0);
	ck_assert_ptr_eq(queue_by_id(q, "abcd1"), NULL);
	ck_assert_ptr_eq(queue_by_id(q, "abcd12"), b);
	ck_assert_ptr_eq(ret, b);
	ck_assert_int_eq(queue_short(q, a), 6);
	queue_forget(q, b);
	ck_assert_int_eq(queue_short(q, a), 4);
}
END_TEST

START_TEST(pending_is_bounded)
{
	struct approval *ap = calloc(1, sizeof(*ap));
	char print[PRINT_HEX];

	for (int i = 0; i < LIMIT_PENDING; i++) {
		snprintf(print, sizeof(print), "p%d", i);
		card("aaaa", print, 10);
	}
	ck_assert_int_eq(look("new", UINT64_MAX), KNOWN_FULL);
	ck_assert_int_eq(look("p3", UINT64_MAX), KNOWN_PENDING);
	ck_assert_int_eq(queue_add(q, ap, 1), -ENOSPC);
	approval_free(ap);
}
END_TEST

/* What a human said is never forgotten for a new question; what nobody answered is. */
START_TEST(answers_are_not_pushed_out)
{
	struct approval *ap;
	char print[PRINT_HEX];

	for (int i = 0; i < APPROVALS_MAX; i++) {
		snprintf(print, sizeof(print), "p%d", i);
		ap = card("aaaa", print, 10);
		ck_assert_int_eq(approval_move(ap, APPROVAL_EXPIRED), 0);
		if (i > 0)
			ck_assert_int_eq(approval_move(ap, APPROVAL_LATE), 0);
	}
	ck_assert_int_eq(queue_dispensable(q)->state, APPROVAL_EXPIRED);
	queue_forget(q, queue_dispensable(q));
	ck_assert_ptr_null(queue_dispensable(q));
	ap = card("bbbb", "new", 10);
	ck_assert_uint_eq(queue_count(q, APPROVAL_EXPIRED), 0);
	ck_assert_uint_eq(queue_count(q, APPROVAL_LATE), APPROVALS_MAX - 1);
	ap = calloc(1, sizeof(*ap));
	ck_assert_int_eq(queue_add(q, ap, 1), -ENOSPC);
	ck_assert_ptr_null(queue_dispensable(q));
	approval_free(ap);
}
END_TEST

START_TEST(ten_a_second)
{
	char print[PRINT_HEX];

	for (unsigned i = 0; i < 25; i++) {
		uint64_t now = NS_S + i * 50 * NS_MS;
		bool room = i % 20 < RATE_MAX;

		snprintf(print, sizeof(print), "p%u", i);
		ck_assert_msg(look(print, now) == (room ? KNOWN_NOTHING : KNOWN_RATE), "%u", i);
		if (room)
			card_at("aaaa", print, UINT64_MAX, now);
	}
	/* What is known already is no new question. */
	ck_assert_int_eq(look("p1", NS_S), KNOWN_PENDING);
}
END_TEST

START_TEST(a_flood_is_told)
{
	char print[PRINT_HEX];

	for (unsigned i = 0; i < 8; i++) {
		snprintf(print, sizeof(print), "p%u", i);
		ck_assert_int_eq(card_at("aaaa", print, UINT64_MAX, NS_S * (i + 1))->is_flood, i >= FLOOD);
	}
	ck_assert(!card_at("aaaa", "later", UINT64_MAX, 120 * NS_S)->is_flood);
}
END_TEST

/* What a human typed for one question never names another one that came after. */
START_TEST(shorts_are_given_once)
{
	char id[APPROVAL_ID_HEX];
	static struct queue a;

	for (unsigned i = 0; i < SHORTS / 2 - 1; i++) {
		snprintf(id, sizeof(id), "%04x%028x", i * 7 % SHORTS, i);
		ck_assert(queue_take_short(&a, id));
		ck_assert(!queue_take_short(&a, id));
	}
	/* half of them: from here on the first may come again */
	ck_assert(queue_take_short(&a, "ffff"));
	snprintf(id, sizeof(id), "%04x%028x", 0, 0);
	ck_assert(queue_take_short(&a, id));
}
END_TEST

START_TEST(prints_differ)
{
	static const char *const one[] = { "npm", "publish", NULL }, *const two[] = { "npmp", "ublish",
										      NULL };
	const struct request base = {
		.op = OP_EXEC, .path = "/bin/npm", .argv = one, .argc = 2, .cwd = "/w"
	};
	struct request r[8];
	char a[PRINT_HEX], b[PRINT_HEX];

	for (size_t i = 0; i < 8; i++)
		r[i] = base;
	r[1].argv = two;
	r[2].cwd = "/v";
	r[3].path = "/w/npm";
	r[4].argc = 1;
	r[5].op = OP_READ;
	r[6].access = ACCESS_WRITE;
	r[7].git_branch = "topic";
	approval_print(&base, 0, a);
	approval_print(&r[0], 0, b);
	ck_assert_str_eq(a, b);
	for (size_t i = 1; i < 8; i++) {
		approval_print(&r[i], 0, b);
		ck_assert_str_ne(a, b);
	}
}
END_TEST

Suite *suite_approve(void)
{
	Suite *s = suite_create("approve");
	TCase *t = tcase_create("approve");

	tcase_set_timeout(t, 30);
	tcase_add_checked_fixture(t, make_queue, free_queue);
	tcase_add_test(t, steps_are_these);
	tcase_add_test(t, only_these_may_be_answered);
	tcase_add_test(t, shorts_are_given_once);
	tcase_add_test(t, once_is_not_remembered);
	tcase_add_test(t, denied_holds_for_the_turn);
	tcase_add_test(t, late_is_used_once_and_ends);
	tcase_add_test(t, ids_by_unique_prefix);
	tcase_add_test(t, pending_is_bounded);
	tcase_add_test(t, answers_are_not_pushed_out);
	tcase_add_test(t, ten_a_second);
	tcase_add_test(t, a_flood_is_told);
	tcase_add_test(t, prints_differ);
	suite_add_tcase(s, t);
	return s;
}
