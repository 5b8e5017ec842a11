/* A card's digest: it covers what is shown, all of it, and nothing else. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "policy/base/util.h"
#include "policy/question/carddigest.h"

#include "tools/base/output.h"
#include "tools/cards/card.h"

Suite *suite_carddigest(void);

/* Two values of each member, as JSON. */
static const struct {
	const char *member, *one, *two;
} samples[] = {
	{ "agent", "\"claude\"", "\"codex\"" },
	{ "argv", "[\"a\", \"b c\"]", "[\"a\", \"b\", \"c\"]" },
	{ "askers", "[{\"pid\": 9, \"exe\": \"/bin/a\"}]",
	  "[{\"pid\": 9, \"exe\": \"/bin/a\"}, {\"pid\": 10, \"exe\": \"/bin/a\"}]" },
	{ "branch", "\"main\"", "\"work\"" },
	{ "cwd", "\"/a\"", "\"/b\"" },
	{ "env", "[\"A=1\"]", "[\"A\"]" },
	{ "exe", "\"/bin/sh\"", "\"/bin/bash\"" },
	{ "file", "\"/opt/a\"", "\"/opt/b\"" },
	{ "id", "\"aaaa\"", "\"bbbb\"" },
	{ "needs", "\"[files] write = /a\"", "\"[files] write = /b\"" },
	{ "offers", "{\"section\": \"commands\", \"lines\": [\"allow = a $\"]}",
	  "{\"section\": \"commands\", \"lines\": [\"allow = a\"]}" },
	{ "op", "\"read\"", "\"write\"" },
	{ "pid", "7", "8" },
	{ "risk", "{\"level\": \"low\", \"reasons\": []}",
	  "{\"level\": \"high\", \"reasons\": [\"it pushes\"]}" },
	{ "rule", "\"policy:1\"", "\"policy:2\"" },
	{ "sends", "\"a onto b\"", "\"a onto c\"" },
	{ "session", "\"s1\"", "\"s2\"" },
	{ "stepup", "true", "false" },
	{ "target", "\"/etc/a\"", "\"/etc/b\"" },
	{ "to", "\"host a: https://a/b\"", "\"host c: https://c/b\"" },
	{ "tree", "[{\"pid\": 9, \"exe\": \"/bin/a\"}]", "[{\"pid\": 9, \"exe\": \"/bin/b\"}]" },
};

static const char base[] =
	"{\"id\": \"cccc\", \"short\": \"cccc\", \"state\": \"pending\", \"op\": \"exec\", \"pid\": 1,"
	"\"session\": \"s\", \"agent\": \"x\", \"deadline_ns\": 1, \"risk\": {\"level\": \"low\"}}";

static json_t *card_with(const char *member, const char *value)
{
	json_t *card = json_loads(base, 0, NULL);

	ck_assert_ptr_nonnull(card);
	ck_assert_int_eq(json_object_set_new(card, "short", json_incref(json_object_get(card, "id"))), 0);
	ck_assert_int_eq(json_object_set_new(card, member, json_loads(value, JSON_DECODE_ANY, NULL)), 0);
	if (strcmp(member, "id") == 0)
		ck_assert_int_eq(json_object_set(card, "short", json_object_get(card, "id")), 0);
	return card;
}

/* All that a human sees of it, but for the digest itself. */
static char *shown(const json_t *card)
{
	struct card_text t;
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(card_text_init(&t, card), 0);
	while (t.n > 0 && t.line[t.n - 1].part == CARD_DIGEST)
		free(t.line[--t.n].text);
	card_print(f, card, json_str(card, "session"), &t);
	card_text_done(&t);
	ck_assert_int_eq(fclose(f), 0);
	return text;
}

START_TEST(each_member_is_digested_and_shown)
{
	json_t *one = card_with(samples[_i].member, samples[_i].one);
	json_t *two = card_with(samples[_i].member, samples[_i].two);
	char a[DIGEST_HEX], b[DIGEST_HEX], *x = shown(one), *y = shown(two);

	ck_assert_int_eq(card_digest(one, a), 0);
	ck_assert_int_eq(card_digest(two, b), 0);
	ck_assert_str_ne(a, b);
	ck_assert_msg(strcmp(x, y) != 0, "%s is digested and not shown", samples[_i].member);
	ck_assert_str_eq(card_members[_i], samples[_i].member);
	free(x);
	free(y);
	json_decref(one);
	json_decref(two);
}
END_TEST

START_TEST(nothing_else_is_digested)
{
	static const char *const others[] = { "state", "short", "left_s", "deadline_ns", "asked", "new" };
	json_t *card = json_loads(base, 0, NULL);
	char a[DIGEST_HEX], b[DIGEST_HEX];

	ck_assert_int_eq(card_digest(card, a), 0);
	for (size_t i = 0; i < NELEM(others); i++) {
		ck_assert_int_eq(json_object_set_new(card, others[i], json_string("z")), 0);
		ck_assert_int_eq(card_digest(card, b), 0);
		ck_assert_str_eq(a, b);
	}
	json_decref(card);
	ck_assert_ptr_null(card_members[NELEM(samples)]);
}
END_TEST

/* As another implementation of pale-control(5) has it. */
START_TEST(a_known_digest)
{
	json_t *card = json_pack("{s:s, s:s, s:[s, s], s:i, s:s}", "op", "exec", "id", "aa", "argv",
				 "a\"\\x1b", "\xc3\xa9", "pid", 7, "left", "1");
	char hex[DIGEST_HEX];

	ck_assert_int_eq(card_digest(card, hex), 0);
	ck_assert_str_eq(hex, "bc439f80248fbbf90e162b71e53550a0e22ebf9ef7370ba8f8a99eac83462622");
	json_decref(card);
}
END_TEST

Suite *suite_carddigest(void)
{
	Suite *s = suite_create("carddigest");
	TCase *tc = tcase_create("carddigest");

	tcase_add_loop_test(tc, each_member_is_digested_and_shown, 0, (int)NELEM(samples));
	tcase_add_test(tc, nothing_else_is_digested);
	tcase_add_test(tc, a_known_digest);
	suite_add_tcase(s, tc);
	return s;
}
