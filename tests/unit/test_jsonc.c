/*
 * JSON with comments: what is none is left alone, to the byte and the column.
 */
#include <check.h>
#include <string.h>

#include "tools/import/import.h"

Suite *suite_jsonc(void);

static const struct {
	const char *text, *stripped;
} cases[] = {
	{ "{\"a\": 1}", "{\"a\": 1}" },
	{ "{} // x", "{}     " },
	{ "{ // x\n}", "{     \n}" },
	{ "{ /* a\nb */ }", "{     \n     }" },
	{ "{\"a\": \"// no /* no */\"}", "{\"a\": \"// no /* no */\"}" },
	{ "{\"a\": \"\\\" // no\"} // yes", "{\"a\": \"\\\" // no\"}       " },
	{ "{\"a\\\\\": 1} // yes", "{\"a\\\\\": 1}       " },
	{ "[1, 2, ]", "[1, 2  ]" },
	{ "{\"a\": [1,\n],\n}", "{\"a\": [1 \n] \n}" },
	{ "[1, // x\n]", "[1      \n]" },
	{ "[\",]\", \",}\",]", "[\",]\", \",}\" ]" },
	{ "[1,,]", "[1, ]" },
	/* A comment that does not end is the parser's to complain of. */
	{ "{} /* x", "{} /* x" },
	{ "{\"a\": \"x", "{\"a\": \"x" },
	{ "/", "/" },
	{ "", "" },
	{ "{\"u\": \"https://x\"}", "{\"u\": \"https://x\"}" },
};

START_TEST(strips_what_is_no_json)
{
	char text[128];

	strcpy(text, cases[_i].text);
	jsonc_strip(text, strlen(text));
	ck_assert_str_eq(text, cases[_i].stripped);
}
END_TEST

Suite *suite_jsonc(void)
{
	Suite *s = suite_create("jsonc");
	TCase *tc = tcase_create("jsonc");

	tcase_add_loop_test(tc, strips_what_is_no_json, 0, sizeof(cases) / sizeof(cases[0]));
	suite_add_tcase(s, tc);
	return s;
}
