/* The file of grants that are kept: what is one, what becomes of the rest of it, and days. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "policy/grant_file.h"

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

static json_t *two(void)
{
	const char *why;
	json_t *file = grant_file_parse("", 0, &why);

	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(grant_file_add(file, &project), 0);
	ck_assert_int_eq(grant_file_add(file, &always), 0);
	return file;
}

START_TEST(comes_back_as_it_was)
{
	json_t *file = two(), *again;
	char *text = grant_file_text(file);
	struct grant_entry e;
	const char *why;

	again = grant_file_parse(text, strlen(text), &why);
	ck_assert_ptr_null(why);
	ck_assert(json_equal(file, again));
	ck_assert_uint_eq(grant_file_count(again), 2);
	ck_assert(grant_file_get(again, 0, &e));
	ck_assert_str_eq(e.line, project.line);
	ck_assert_uint_eq(e.scope, GRANT_PROJECT);
	ck_assert(!grant_file_get(again, 2, &e));
	free(text);
	json_decref(file);
	json_decref(again);
}
END_TEST

START_TEST(what_is_not_known_is_kept)
{
	json_t *file = two(), *again;
	const char *why;
	char *text;

	json_object_set_new(file, "later", json_string("x"));
	json_object_set_new(json_array_get(json_object_get(file, "grants"), 0), "note", json_integer(7));
	grant_file_used(file, ID("a"), 3);
	ck_assert_int_eq(grant_file_remove(file, 1), 0);
	text = grant_file_text(file);
	again = grant_file_parse(text, strlen(text), &why);
	ck_assert_str_eq(json_string_value(json_object_get(again, "later")), "x");
	file = (json_decref(file), json_array_get(json_object_get(again, "grants"), 0));
	ck_assert_int_eq(json_integer_value(json_object_get(file, "note")), 7);
	ck_assert_int_eq(json_integer_value(json_object_get(file, "used")), 3);
	free(text);
	json_decref(again);
}
END_TEST

#define ENTRY(scope, workspace, until)                                                                       \
	"{\"id\":\"" ID("a") "\",\"scope\":\"" scope "\",\"section\":\"commands\",\"line\":\"allow = x $\"," \
			     "\"agent\":\"a\",\"workspace\":\"" workspace                                    \
			     "\",\"made\":\"\",\"until\":\"" until "\",\"by\":\"\"}"
#define FILE_OF(entry) "{\"version\":1,\"grants\":[" entry "]}"

/* A broken file grants nothing at all. */
START_TEST(what_is_not_understood_is_none)
{
	static const char *const bad[] = {
		"x",
		"[]",
		"{}",
		"{\"version\":1}",
		"{\"version\":2,\"grants\":[]}",
		"{\"version\":1,\"grants\":[]",
		"{\"version\":1,\"version\":1,\"grants\":[]}",
		"{\"version\":1,\"grants\":{}}",
		FILE_OF("7"),
		FILE_OF("{}"),
		FILE_OF(ENTRY("once", "", "")),
		FILE_OF(ENTRY("session", "", "")),
		FILE_OF(ENTRY("project", "/ws", "")),
		FILE_OF(ENTRY("project", "/ws", "2026-13-01")),
		FILE_OF(ENTRY("project", "", "2026-12-01")),
		FILE_OF(ENTRY("always", "/ws", "")),
		FILE_OF(ENTRY("always", "", "2026-12-01")),
		FILE_OF(ENTRY("always", "", "") ",7"),
	};
	const char *why, *good = FILE_OF(ENTRY("always", "", ""));
	json_t *file = grant_file_parse(good, strlen(good), &why);

	ck_assert_ptr_nonnull(file);
	json_decref(file);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ck_assert_msg(!grant_file_parse(bad[i], strlen(bad[i]), &why), "%s", bad[i]);
		ck_assert_ptr_nonnull(why);
	}
}
END_TEST

START_TEST(found_by_the_beginning_of_the_id)
{
	json_t *file = two();
	size_t i = 9;

	ck_assert_int_eq(grant_file_find(file, "bbbb", &i), 0);
	ck_assert_uint_eq(i, 1);
	ck_assert_int_eq(grant_file_find(file, "bbb", &i), -ENOENT);
	ck_assert_int_eq(grant_file_find(file, "cccc", &i), -ENOENT);
	ck_assert_int_eq(grant_file_add(file, &always), 0);
	ck_assert_int_eq(grant_file_find(file, "bbbb", &i), -EEXIST);
	json_decref(file);
}
END_TEST

START_TEST(holds_where_and_while_it_says)
{
	uint64_t end;

	ck_assert_int_eq(day_end("2026-12-01", &end), 0);
	ck_assert_ptr_null(grant_entry_off(&project, "codex", "/ws", end - 1));
	ck_assert_ptr_nonnull(grant_entry_off(&project, "codex", "/ws", end));
	ck_assert_ptr_nonnull(grant_entry_off(&project, "codex", "/ws2", end - 1));
	ck_assert_ptr_nonnull(grant_entry_off(&project, "claude", "/ws", end - 1));
	ck_assert_ptr_null(grant_entry_off(&always, "codex", "/other", UINT32_MAX));
	ck_assert_ptr_nonnull(grant_entry_off(&always, "claude", "/ws", 0));
}
END_TEST

START_TEST(what_is_long_over_goes)
{
	json_t *file = two();
	uint64_t end;

	ck_assert_int_eq(day_end("2026-12-01", &end), 0);
	grant_file_prune(file, end + 29 * 86400);
	ck_assert_uint_eq(grant_file_count(file), 2);
	grant_file_prune(file, end + 31 * 86400);
	ck_assert_uint_eq(grant_file_count(file), 1);
	json_decref(file);
}
END_TEST

START_TEST(days_are_those_of_the_calendar)
{
	static const char *const none[] = { "",		  "2026-2-1",	 "2026-02-29", "2026-04-31",
					    "2026-00-01", "2026-01-00",	 "1999-12-31", "2100-01-01",
					    "2026/01/01", "2026-01-01 ", "20260-01-1", "2026-1x-01",
					    "tomorrow",	  "2026-01-32" };
	char day[GRANT_DAY];
	uint64_t end;

	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		ck_assert_msg(day_end(none[i], &end) == -EINVAL, "%s", none[i]);
	ck_assert_int_eq(day_end("2000-01-01", &end), 0);
	ck_assert_uint_eq(end, 946771200u);
	ck_assert_int_eq(day_end("2024-02-29", &end), 0);
	ck_assert_uint_eq(end, 1709251200u);
	for (uint64_t s = 946684800u; s < 4102444800u; s += 86400) {
		day_of(s, day);
		ck_assert_int_eq(day_end(day, &end), 0);
		ck_assert_uint_eq(end, s + 86400);
	}
}
END_TEST

Suite *suite_grant_file(void)
{
	Suite *s = suite_create("grant_file");
	TCase *tc = tcase_create("grant_file");

	tcase_add_test(tc, comes_back_as_it_was);
	tcase_add_test(tc, what_is_not_known_is_kept);
	tcase_add_test(tc, what_is_not_understood_is_none);
	tcase_add_test(tc, found_by_the_beginning_of_the_id);
	tcase_add_test(tc, holds_where_and_while_it_says);
	tcase_add_test(tc, what_is_long_over_goes);
	tcase_add_test(tc, days_are_those_of_the_calendar);
	suite_add_tcase(s, tc);
	return s;
}
