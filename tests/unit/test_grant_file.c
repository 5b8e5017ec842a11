/* The file of grants that are kept: what is one, what becomes of the rest of it, and when they are over. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "policy/grant/grant_file.h"

Suite *suite_grant_file(void);

#define ID(c) c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c

static const struct grant_entry project = {
	.id = ID("a"),
	.section = "commands",
	.line = "allow = git push origin feature/*",
	.agent = "codex",
	.workspace = "/ws",
	.made = "2026-11-01T00:00:00.000000Z",
	.until = "2026-12-01",
	.by = "ana",
	.bound = "in /ws: /usr/bin/git",
	.binding = "b",
	.scope = GRANT_PROJECT,
};
static const struct grant_entry always = {
	.id = ID("b"),
	.section = "network",
	.line = "allow = a.example:443",
	.agent = "codex",
	.workspace = "",
	.made = "2026-11-01T00:00:00.000000Z",
	.until = "",
	.by = "ana",
	.bound = "in /ws: /usr/bin/git",
	.binding = "b",
	.scope = GRANT_ALWAYS,
};

/* As nobody makes one: of a command, bound to nothing. */
static const struct grant_entry unbound = {
	.id = ID("c"),
	.section = "commands",
	.line = "allow = x $",
	.agent = "codex",
	.workspace = "",
	.made = "",
	.until = "",
	.by = "",
	.bound = "",
	.binding = "",
	.scope = GRANT_ALWAYS,
};

static const struct grant_list empty;

/* Takes text over. */
static struct grant_list parsed(char *text)
{
	struct grant_list l;
	const char *why;

	ck_assert_int_eq(grant_list_parse(text, &l, &why), 0);
	return l;
}

static struct grant_list two(void)
{
	struct grant_list one = parsed(grant_list_text(&empty, NULL, &project, 0)), both;

	both = parsed(grant_list_text(&one, NULL, &always, 0));
	grant_list_done(&one);
	return both;
}

START_TEST(comes_back_as_it_was)
{
	struct grant_list l = two();
	const struct grant_entry *e = &l.list[0];

	ck_assert_uint_eq(l.n, 2);
	ck_assert_str_eq(e->id, project.id);
	ck_assert_str_eq(e->agent, project.agent);
	ck_assert_str_eq(e->workspace, project.workspace);
	ck_assert_str_eq(e->until, project.until);
	ck_assert_str_eq(e->by, project.by);
	ck_assert_str_eq(e->made, project.made);
	ck_assert_str_eq(e->binding, project.binding);
	ck_assert_str_eq(e->bound, project.bound);
	ck_assert_str_eq(e->section, project.section);
	ck_assert_str_eq(e->line, project.line);
	ck_assert_uint_eq(e->scope, GRANT_PROJECT);
	ck_assert_uint_eq(l.list[1].scope, GRANT_ALWAYS);
	grant_list_done(&l);
}
END_TEST

START_TEST(a_session_has_its_own)
{
	const struct grant_entry mine = { .id = ID("c"),
					  .section = "commands",
					  .line = "allow = x $",
					  .agent = "",
					  .workspace = "",
					  .made = "",
					  .until = "",
					  .by = "",
					  .bound = "",
					  .binding = "",
					  .scope = GRANT_SESSION };
	struct grant_list l = parsed(grant_list_text(&empty, NULL, &mine, 0));

	ck_assert_uint_eq(l.list[0].scope, GRANT_SESSION);
	ck_assert_str_eq(l.list[0].until, "");
	grant_list_done(&l);
}
END_TEST

START_TEST(each_scope_may_have_an_end)
{
	static const struct {
		enum grant_scope scope;
		const char *workspace;
	} scopes[] = { { GRANT_SESSION, "" }, { GRANT_PROJECT, "/ws" }, { GRANT_ALWAYS, "" } };
	uint64_t end;

	ck_assert_int_eq(until_end("2026-12-01T14:00:00Z", &end), 0);
	for (size_t i = 0; i < sizeof(scopes) / sizeof(scopes[0]); i++) {
		struct grant_entry e = project;
		struct grant_list l;

		e.scope = scopes[i].scope;
		e.workspace = scopes[i].workspace;
		e.until = "2026-12-01T14:00:00Z";
		l = parsed(grant_list_text(&empty, NULL, &e, end));
		ck_assert_uint_eq(l.list[0].scope, e.scope);
		ck_assert_str_eq(l.list[0].until, e.until);
		ck_assert_ptr_null(grant_entry_off(&l.list[0], "codex", "/ws", end - 1));
		ck_assert_str_eq(grant_entry_off(&l.list[0], "codex", "/ws", end), "over");
		grant_list_done(&l);
	}
}
END_TEST

START_TEST(one_is_taken_out)
{
	struct grant_list l = two(), rest = parsed(grant_list_text(&l, ID("a"), NULL, 0));

	ck_assert_ptr_nonnull(grant_list_find(&l, ID("a")));
	ck_assert_ptr_null(grant_list_find(&l, "aaaa"));
	ck_assert_ptr_null(grant_list_find(&rest, ID("a")));
	ck_assert_ptr_nonnull(grant_list_find(&rest, ID("b")));
	ck_assert_uint_eq(rest.n, 1);
	grant_list_done(&l);
	grant_list_done(&rest);
}
END_TEST

#define HEAD(id, until) "# " id "\tan agent\t\t" until "\tana\t2026\tb"
#define ENTRY(workspace, until)                                                                              \
	"# " ID("a") "\tan agent\t" workspace "\t" until "\tana\t2026\tb\tin /ws\n[commands]\n" RULE "\n"
#define RULE "allow = x\t\"y z\" $"

/* A text that is not understood grants nothing at all. */
START_TEST(what_is_not_understood_is_none)
{
	static const char *const bad[] = {
		"x",
		"\n\nx\n",
		"{\"version\":1,\"grants\":[]}",
		"[commands]\n" RULE "\n",
		"# \t\n",
		ENTRY("/ws", ""),
		ENTRY("/ws", "2026-13-01"),
		ENTRY("", "2026-12-01"),
		ENTRY("/ws", "session"),
		ENTRY("/ws", "always 2026-12-01"),
		ENTRY("", "2026-12-01T14:00:00Z"),
		ENTRY("", "always 2026-12-01T14:00Z"),
		ENTRY("", "session soon"),
		ENTRY("/ws", "2026-12-01") "x",
		ENTRY("", "") "allow = y\n",
		HEAD(ID("a"), "") "\n[commands]\n" RULE "\n",
		HEAD(ID("a"), "") "\tin /ws\tmore\n[commands]\n" RULE "\n",
		HEAD(ID("a"), "") "\tin /ws\n" RULE "\n",
		HEAD(ID("a"), "") "\tin /ws\n[commands]\n\n" RULE "\n",
		HEAD(ID("a"), "") "\tin /ws\n[commands]\n" RULE,
		HEAD(ID("A"), "") "\tin /ws\n[commands]\n" RULE "\n",
		HEAD(" " ID("a"), "") "\tin /ws\n[commands]\n" RULE "\n",
		HEAD("aaaa", "") "\tin /ws\n[commands]\n" RULE "\n",
	};
	struct grant_list l =
		parsed(strdup("# mine\n\n" ENTRY("", "") "\n#\n" ENTRY("/ws", "2026-12-01") "# end"));
	const char *why = NULL;

	ck_assert_uint_eq(l.n, 2);
	ck_assert_str_eq(l.list[1].line, RULE);
	grant_list_done(&l);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ck_assert_msg(grant_list_parse(strdup(bad[i]), &l, &why) == -EBADMSG, "%s", bad[i]);
		ck_assert_uint_eq(l.n, 0);
		ck_assert_ptr_null(l.text);
		ck_assert_ptr_nonnull(why);
	}
	ck_assert_int_eq(grant_list_parse(NULL, &l, &why), -ENOMEM);
}
END_TEST

START_TEST(a_text_has_so_many_and_no_more)
{
	static const char entry[] = ENTRY("", "");
	const size_t size = sizeof(entry) - 1;
	char *text = malloc(size * (GRANT_ENTRIES + 1) + 1);
	struct grant_list l;
	const char *why;

	for (size_t i = 0; i <= GRANT_ENTRIES; i++)
		strcpy(text + i * size, entry);
	ck_assert_int_eq(grant_list_parse(strdup(text), &l, &why), -EBADMSG);
	text[size * GRANT_ENTRIES] = '\0';
	l = parsed(text);
	ck_assert_uint_eq(l.n, GRANT_ENTRIES);
	grant_list_done(&l);
}
END_TEST

START_TEST(holds_where_and_while_it_says)
{
	uint64_t end;

	ck_assert_int_eq(until_end("2026-12-01", &end), 0);
	ck_assert_ptr_null(grant_entry_off(&project, "codex", "/ws", end - 1));
	ck_assert_ptr_nonnull(grant_entry_off(&project, "codex", "/ws", end));
	ck_assert_ptr_nonnull(grant_entry_off(&project, "codex", "/ws2", end - 1));
	ck_assert_ptr_nonnull(grant_entry_off(&project, "claude", "/ws", end - 1));
	ck_assert_ptr_null(grant_entry_off(&always, "codex", "/other", UINT32_MAX));
	ck_assert_ptr_null(grant_entry_off(&always, NULL, "/other", 0));
	ck_assert_ptr_nonnull(grant_entry_off(&unbound, "codex", "/other", 0));
	ck_assert_ptr_nonnull(grant_entry_off(&always, "claude", "/ws", 0));
}
END_TEST

START_TEST(what_is_long_over_goes)
{
	struct grant_list l = two(), rest;
	uint64_t end;

	ck_assert_int_eq(until_end("2026-12-01", &end), 0);
	rest = parsed(grant_list_text(&l, NULL, NULL, end + 29 * 86400));
	ck_assert_uint_eq(rest.n, 2);
	grant_list_done(&rest);
	rest = parsed(grant_list_text(&l, NULL, NULL, end + 31 * 86400));
	ck_assert_uint_eq(rest.n, 1);
	grant_list_done(&rest);
	grant_list_done(&l);
}
END_TEST

START_TEST(days_are_those_of_the_calendar)
{
	static const char *const none[] = { "",		  "2026-2-1",	 "2026-02-29", "2026-04-31",
					    "2026-00-01", "2026-01-00",	 "1999-12-31", "2100-01-01",
					    "2026/01/01", "2026-01-01 ", "20260-01-1", "2026-1x-01",
					    "tomorrow",	  "2026-01-32" };
	static const char *const no_second[] = {
		"2026-12-01T24:00:00Z", "2026-12-01T23:60:00Z",	 "2026-12-01T23:00:60Z",
		"2026-12-01T23:00:00",	"2026-12-01T23:00:00Zx", "2026-12-01 23:00:00Z",
		"2026-12-01T 3:00:00Z", "2026-13-01T03:00:00Z",	 "2026-12-01T23:00:00+",
	};
	char day[GRANT_DAY], second[GRANT_UNTIL];
	uint64_t end;

	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		ck_assert_msg(until_end(none[i], &end) == -EINVAL, "%s", none[i]);
	for (size_t i = 0; i < sizeof(no_second) / sizeof(no_second[0]); i++)
		ck_assert_msg(until_end(no_second[i], &end) == -EINVAL, "%s", no_second[i]);
	ck_assert_int_eq(until_end("2024-02-28T23:59:59Z", &end), 0);
	ck_assert_uint_eq(end, 1709251200u - 86401);
	until_second(end, second);
	ck_assert_str_eq(second, "2024-02-28T23:59:59Z");
	ck_assert_int_eq(until_end("2000-01-01", &end), 0);
	ck_assert_uint_eq(end, 946771200u);
	ck_assert_int_eq(until_end("2024-02-29", &end), 0);
	ck_assert_uint_eq(end, 1709251200u);
	for (uint64_t s = 946684800u; s < 4102444800u; s += 86400) {
		until_day(s, day);
		ck_assert_int_eq(until_end(day, &end), 0);
		ck_assert_uint_eq(end, s + 86400);
	}
}
END_TEST

Suite *suite_grant_file(void)
{
	Suite *s = suite_create("grant_file");
	TCase *tc = tcase_create("grant_file");

	tcase_add_test(tc, comes_back_as_it_was);
	tcase_add_test(tc, a_session_has_its_own);
	tcase_add_test(tc, each_scope_may_have_an_end);
	tcase_add_test(tc, one_is_taken_out);
	tcase_add_test(tc, what_is_not_understood_is_none);
	tcase_add_test(tc, a_text_has_so_many_and_no_more);
	tcase_add_test(tc, holds_where_and_while_it_says);
	tcase_add_test(tc, what_is_long_over_goes);
	tcase_add_test(tc, days_are_those_of_the_calendar);
	suite_add_tcase(s, tc);
	return s;
}
