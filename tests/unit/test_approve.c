/* The queue of questions: which steps a card may take, what holds afterwards, and who is asked again. */
#include <check.h>
#include <errno.h>
#include <string.h>

/* White box: the state machine has no I/O, so it is tested as it stands, without the helper around it. */
#include "helper/approve.c"

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

static struct approval *card(const char *id, const char *print, uint64_t until_ns)
{
	struct approval *ap = calloc(1, sizeof(*ap));

	snprintf(ap->id, sizeof(ap->id), "%s", id);
	snprintf(ap->print, sizeof(ap->print), "%s", print);
	ap->target = strdup("x");
	ap->until_ns = until_ns;
	ck_assert_int_eq(queue_add(q, ap), 0);
	return ap;
}

START_TEST(only_pending_moves)
{
	for (int from = 0; from < APPROVAL_STATES; from++)
		for (int to = 0; to < APPROVAL_STATES; to++) {
			struct approval ap = { .state = (enum approval_state)from };
			bool may = from == APPROVAL_PENDING && to != APPROVAL_PENDING;

			ck_assert_int_eq(approval_move(&ap, (enum approval_state)to), may ? 0 : -EPERM);
			ck_assert_int_eq((int)ap.state, may ? to : from);
		}
}
END_TEST

START_TEST(once_is_not_remembered)
{
	char id[APPROVAL_ID_HEX];
	struct approval *ap = card("aaaa1", "p", 10);

	ck_assert_int_eq(queue_lookup(q, "p", 1, id), KNOWN_PENDING);
	ck_assert_int_eq(queue_remember(q, ap, APPROVAL_APPROVED, GRANT_ONCE, 1), 0);
	queue_forget(q, ap);
	ck_assert_int_eq(queue_lookup(q, "p", 1, id), KNOWN_NOTHING);
}
END_TEST

START_TEST(session_is_remembered)
{
	char id[APPROVAL_ID_HEX];
	struct approval *ap = card("aaaa1", "p", 10);

	ck_assert_int_eq(queue_remember(q, ap, APPROVAL_APPROVED, GRANT_SESSION, 1), 0);
	queue_forget(q, ap);
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(queue_lookup(q, "p", UINT64_MAX, id), KNOWN_GRANT);
	ck_assert_str_eq(id, "aaaa1");
	queue_turn(q);
	ck_assert_int_eq(queue_lookup(q, "p", 1, id), KNOWN_GRANT);
}
END_TEST

START_TEST(denied_holds_for_the_turn)
{
	char id[APPROVAL_ID_HEX];
	struct approval *ap = card("aaaa1", "p", 10);

	ck_assert_int_eq(queue_remember(q, ap, APPROVAL_DENIED, GRANT_ONCE, 1), 0);
	queue_forget(q, ap);
	ck_assert_int_eq(queue_lookup(q, "p", 1, id), KNOWN_DENIED);
	ck_assert_int_eq(queue_lookup(q, "other", 1, id), KNOWN_NOTHING);
	queue_turn(q);
	ck_assert_int_eq(queue_lookup(q, "p", 1, id), KNOWN_NOTHING);
}
END_TEST

START_TEST(late_grant_is_used_once_and_ends)
{
	char id[APPROVAL_ID_HEX];

	for (int i = 0; i < 2; i++) {
		struct approval *ap = card("aaaa1", "p", 10);

		ck_assert_ptr_eq(queue_overdue(q, 9), NULL);
		ck_assert_ptr_eq(queue_overdue(q, 10), ap);
		ck_assert_int_eq(approval_move(ap, APPROVAL_EXPIRED), 0);
		ck_assert_int_eq(queue_lookup(q, "p", 11, id), KNOWN_NOTHING);
		ck_assert_int_eq(queue_remember(q, ap, APPROVAL_APPROVED, GRANT_ONCE, 100), 0);
		queue_forget(q, ap);
		if (i == 0)
			ck_assert_int_eq(queue_lookup(q, "p", 101, id), KNOWN_GRANT);
		ck_assert_int_eq(queue_lookup(q, "p", 100 + 601 * NS_S, id), KNOWN_NOTHING);
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
	ck_assert_ptr_eq(ret, b);
	ck_assert_int_eq(queue_short(q, a), 6);
	queue_forget(q, b);
	ck_assert_int_eq(queue_short(q, a), 4);
}
END_TEST

START_TEST(pending_is_bounded)
{
	struct approval *ap = calloc(1, sizeof(*ap));
	char print[PRINT_HEX], id[APPROVAL_ID_HEX];

	for (int i = 0; i < LIMIT_PENDING; i++) {
		snprintf(print, sizeof(print), "p%d", i);
		card("aaaa", print, 10);
	}
	ck_assert_int_eq(queue_lookup(q, "new", 1, id), KNOWN_FULL);
	ck_assert_int_eq(queue_lookup(q, "p3", 1, id), KNOWN_PENDING);
	ck_assert_int_eq(queue_add(q, ap), -ENOSPC);
	approval_free(ap);
}
END_TEST

/* Any order of asking, answering, expiring and new turns: bounded, and nothing is granted that no one
 * approved. */
START_TEST(random_interleavings)
{
	uint64_t seed = 7, now = 1;
	bool approved[16] = { false };

	for (int i = 0; i < 200000; i++) {
		char print[PRINT_HEX], id[APPROVAL_ID_HEX];
		struct approval *ap;
		unsigned k;

		seed = seed * 6364136223846793005ull + 1442695040888963407ull;
		k = (unsigned)(seed >> 40) % 16;
		now += seed >> 58;
		snprintf(print, sizeof(print), "p%u", k);
		switch (queue_lookup(q, print, now, id)) {
		case KNOWN_GRANT:
			ck_assert(approved[k]);
			break;
		case KNOWN_NOTHING:
			card("abcdef", print, now + 50);
			break;
		case KNOWN_PENDING:
			ap = queue_pending(q, print);
			if (seed >> 33 & 1)
				break;
			approved[k] |= k % 3 == 0;
			(void)queue_remember(q, ap, k % 3 == 0 ? APPROVAL_APPROVED : APPROVAL_DENIED,
					     k % 2 ? GRANT_SESSION : GRANT_ONCE, now);
			queue_forget(q, ap);
			break;
		case KNOWN_DENIED:
			if (seed >> 60 == 0)
				queue_turn(q);
			break;
		case KNOWN_FULL:
			break;
		}
		while ((ap = queue_overdue(q, now))) {
			if (approval_move(ap, APPROVAL_EXPIRED) < 0)
				queue_forget(q, ap);
			else
				ap->until_ns = now + 100;
		}
		ck_assert_uint_le(q->n, APPROVALS_MAX);
	}
}
END_TEST

START_TEST(prints_differ)
{
	static const char *const one[] = { "npm", "publish", NULL }, *const two[] = { "npmp", "ublish",
										      NULL };
	const struct request base = {
		.op = OP_EXEC, .path = "/bin/npm", .argv = one, .argc = 2, .cwd = "/w"
	};
	struct request r[7];
	char a[PRINT_HEX], b[PRINT_HEX];

	for (size_t i = 0; i < 7; i++)
		r[i] = base;
	r[1].argv = two;
	r[2].cwd = "/v";
	r[3].path = "/w/npm";
	r[4].argc = 1;
	r[5].op = OP_READ;
	r[6].access = ACCESS_WRITE;
	approval_print(&base, a);
	approval_print(&r[0], b);
	ck_assert_str_eq(a, b);
	for (size_t i = 1; i < 7; i++) {
		approval_print(&r[i], b);
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
	tcase_add_test(t, only_pending_moves);
	tcase_add_test(t, once_is_not_remembered);
	tcase_add_test(t, session_is_remembered);
	tcase_add_test(t, denied_holds_for_the_turn);
	tcase_add_test(t, late_grant_is_used_once_and_ends);
	tcase_add_test(t, ids_by_unique_prefix);
	tcase_add_test(t, pending_is_bounded);
	tcase_add_test(t, random_interleavings);
	tcase_add_test(t, prints_differ);
	suite_add_tcase(s, t);
	return s;
}
