/* Limits: values as people write them, and the layers of [limits]. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "policy/parse/parse.h"
#include "policy/rules/rule.h"
#include "parse_fixture.h"

Suite *suite_limits(void);

#define ROWS(a) (int)(sizeof(a) / sizeof((a)[0]))

/* --- values ----------------------------------------------------------------------------------------------
 */

static const struct {
	enum resource r;
	const char *text;
	uint64_t value; /* 0: refused */
	const char *shown;
} values[] = {
	{ RESOURCE_MEMORY, "4G", 4ull << 30, "4G" },
	{ RESOURCE_MEMORY, "1024M", 1ull << 30, "1G" },
	{ RESOURCE_MEMORY, "1536M", 1536ull << 20, "1536M" },
	{ RESOURCE_MEMORY, "2T", 2ull << 40, "2T" },
	{ RESOURCE_MEMORY, "4", 0, NULL },
	{ RESOURCE_MEMORY, "4 G", 0, NULL },
	{ RESOURCE_MEMORY, "4GB", 0, NULL },
	{ RESOURCE_MEMORY, "4g", 0, NULL },
	{ RESOURCE_MEMORY, "-4G", 0, NULL },
	{ RESOURCE_MEMORY, "+4G", 0, NULL },
	{ RESOURCE_MEMORY, "4.5G", 0, NULL },
	{ RESOURCE_MEMORY, "0G", 0, NULL },
	{ RESOURCE_MEMORY, "1K", 0, NULL },
	{ RESOURCE_MEMORY, "17179869184G", 0, NULL },
	{ RESOURCE_MEMORY, "18446744073709551617M", 0, NULL },
	{ RESOURCE_MEMORY, "G", 0, NULL },
	{ RESOURCE_MEMORY, "", 0, NULL },
	{ RESOURCE_CPU, "200%", 200, "200%" },
	{ RESOURCE_CPU, "200", 0, NULL },
	{ RESOURCE_CPU, "0%", 0, NULL },
	{ RESOURCE_PROCESSES, "512", 512, "512" },
	{ RESOURCE_PROCESSES, "5k", 0, NULL },
	{ RESOURCE_FILES, "1024", 1024, "1024" },
	{ RESOURCE_FILES, "3", 0, NULL },
	{ RESOURCE_FILE_SIZE, "10G", 10ull << 30, "10G" },
	{ RESOURCE_TIME, "90s", 90, "90s" },
	{ RESOURCE_TIME, "120m", 7200, "2h" },
	{ RESOURCE_TIME, "1d", 86400, "1d" },
	{ RESOURCE_TIME, "1h30m", 0, NULL },
	{ RESOURCE_TIME, "forever", 0, NULL },
};

START_TEST(values_are_read_strictly)
{
	uint64_t value = 7;
	char buf[32];
	int r = resource_parse(values[_i].r, values[_i].text, &value);

	ck_assert_int_eq(r, values[_i].value ? 0 : -EINVAL);
	ck_assert_uint_eq(value, values[_i].value ? values[_i].value : 7);
	if (values[_i].shown)
		ck_assert_str_eq(resource_text(values[_i].r, value, buf, sizeof(buf)), values[_i].shown);
}
END_TEST

START_TEST(names_are_found)
{
	for (unsigned r = 0; r < RESOURCE_COUNT; r++)
		ck_assert_int_eq(resource_by_name(resource_name((enum resource)r)), (int)r);
	ck_assert_int_eq(resource_by_name("mem"), RESOURCE_COUNT);
}
END_TEST

/* --- layers ----------------------------------------------------------------------------------------------
 */

static void setup_agent(void)
{
	setup();
	b.agent = strdup("opencode");
}

static void add(enum source_layer layer, const char *name, const char *text)
{
	ck_assert_int_eq(bundle_add_source(&b, layer, name, text, strlen(text)), 0);
}

static const struct limit *limit(enum resource r)
{
	return &p.limits.of[r];
}

START_TEST(nothing_is_limited_by_itself)
{
	ck_assert_int_eq(policy_parse(&b, &p, &d), 0);
	for (unsigned r = 0; r < RESOURCE_COUNT; r++)
		ck_assert_uint_eq(limit((enum resource)r)->value, 0);
	ck_assert(!p.limits.best_effort);
}
END_TEST

START_TEST(layers_may_only_tighten)
{
	add(SOURCE_FLOOR, "floor.ini", "[limits]\nmemory = 8G\nfiles = 4096\n");
	add(SOURCE_FLOOR, "floor.d.ini", "[limits]\nmemory = 9G\n");
	add(SOURCE_USER, "policy.ini", "[limits]\nmemory = 16G\ntime = 2h\nenforce = best\n");
	add(SOURCE_PROJECT, "project.ini",
	    "[limits]\nmemory = 4G\ntime = 3h\nprocesses = 100\nenforce = all\n");
	ck_assert_int_eq(policy_parse(&b, &p, &d), 0);
	ck_assert_uint_eq(limit(RESOURCE_MEMORY)->value, 4ull << 30);
	ck_assert_str_eq(limit(RESOURCE_MEMORY)->file, "project.ini");
	ck_assert_uint_eq(limit(RESOURCE_MEMORY)->line, 2);
	ck_assert_uint_eq(limit(RESOURCE_TIME)->value, 7200);
	ck_assert_str_eq(limit(RESOURCE_TIME)->file, "policy.ini");
	ck_assert_uint_eq(limit(RESOURCE_FILES)->value, 4096);
	ck_assert_uint_eq(limit(RESOURCE_PROCESSES)->value, 100);
	ck_assert(!p.limits.best_effort);
	ck_assert_uint_eq(d.n, 1);
	ck_assert_str_eq(d.list[0].code, "project-loosens");
	ck_assert_uint_eq(d.list[0].line, 3);
}
END_TEST

START_TEST(untrusted_project_does_not_choose_best)
{
	add(SOURCE_PROJECT, "project.ini", "[limits]\nenforce = best\n");
	ck_assert_int_eq(policy_parse(&b, &p, &d), 0);
	ck_assert(!p.limits.best_effort);
	ck_assert_str_eq(d.list[0].code, "project-loosens");
}
END_TEST

START_TEST(agents_section_beats_the_general_one)
{
	add(SOURCE_USER, "policy.ini",
	    "[agent \"opencode\" limits]\ntime = 3h\n[limits]\ntime = 2h\ncpu = 50%\n"
	    "[agent \"other\" limits]\ncpu = 1%\n");
	ck_assert_int_eq(policy_parse(&b, &p, &d), 0);
	ck_assert_uint_eq(limit(RESOURCE_TIME)->value, 3 * 3600);
	ck_assert_uint_eq(limit(RESOURCE_CPU)->value, 50);
}
END_TEST

static const struct {
	const char *text, *code;
	unsigned line, col;
} bad[] = {
	{ "[limits]\nmemory = 4\n", "bad-value", 2, 10 },
	{ "[limits]\ntime = 0s\n", "bad-value", 2, 8 },
	{ "[limits]\nenforce = most\n", "bad-value", 2, 11 },
	{ "[limits]\ncpu = 50%\ncpu = 60%\n", "duplicate-key", 3, 7 },
	{ "[limits]\nmemroy = 4G\n", "unknown-key", 2, 1 },
	{ "[agent \"x\" limits]\nfiles = many\n", "bad-value", 2, 9 },
};

START_TEST(mistakes_have_their_place)
{
	add(SOURCE_USER, "policy.ini", bad[_i].text);
	ck_assert_int_eq(policy_parse(&b, &p, &d), -EBADMSG);
	ck_assert_str_eq(d.list[0].code, bad[_i].code);
	ck_assert_uint_eq(d.list[0].line, bad[_i].line);
	ck_assert_uint_eq(d.list[0].col, bad[_i].col);
	ck_assert_uint_eq(limit(RESOURCE_CPU)->value, 0);
}
END_TEST

Suite *suite_limits(void)
{
	Suite *s = suite_create("limits");
	TCase *tc = tcase_create("values"), *layers = tcase_create("layers");

	tcase_add_loop_test(tc, values_are_read_strictly, 0, ROWS(values));
	tcase_add_test(tc, names_are_found);
	suite_add_tcase(s, tc);
	tcase_add_checked_fixture(layers, setup_agent, teardown);
	tcase_add_test(layers, nothing_is_limited_by_itself);
	tcase_add_test(layers, layers_may_only_tighten);
	tcase_add_test(layers, untrusted_project_does_not_choose_best);
	tcase_add_test(layers, agents_section_beats_the_general_one);
	tcase_add_loop_test(layers, mistakes_have_their_place, 0, ROWS(bad));
	suite_add_tcase(s, layers);
	return s;
}
