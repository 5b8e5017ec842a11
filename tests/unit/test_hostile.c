/* What is shown of hostile texts is printable ASCII, says all of it, and leads back to it. */
#include <check.h>
#include <stdlib.h>

#include "policy/base/buf.h"
#include "policy/base/util.h"
#include "policy/record/record.h"

#include "tests/victims/hostile_text.h"
#include "tools/base/output.h"
#include "tools/cards/stepup.h"

Suite *suite_hostile(void);

#define BIG (1u << 20)

static void expect_printable(const char *shown, const char *besides)
{
	for (const char *s = shown; *s; s++)
		ck_assert_msg((*s >= 0x20 && *s < 0x7f) || strchr(besides, *s), "byte %02x in: %s",
			      (unsigned char)*s, shown);
}

/* Undoes it in place and compares; frees. */
static void expect_back(char *shown, const char *text, size_t len)
{
	ck_assert_uint_eq(record_unescape(shown), len);
	ck_assert_mem_eq(shown, text, len);
	free(shown);
}

static char *escaped(const char *text, size_t len)
{
	char *shown = malloc(len * 4 + 1);
	struct out o = out_of(shown, len * 4 + 1);

	text_escaped(&o, text, len);
	ck_assert(!o.failed);
	text_end(&o);
	return shown;
}

/* As a surface shows what the helper or the ledger escaped. */
static void try_recorded(const char *text, size_t len)
{
	char *kept = record_escape(text, len), *shown = recorded_visible(kept), *direct = escaped(text, len);

	expect_printable(shown, "");
	/* One notation: however it comes, the same is shown. */
	ck_assert_str_eq(shown, direct);
	expect_back(shown, text, len);
	expect_back(kept, text, len);
	expect_back(direct, text, len);
}

START_TEST(test_table)
{
	ck_assert_uint_ge(HOSTILE_COUNT, 500);
	for (size_t i = 0; i < HOSTILE_COUNT; i++) {
		size_t len = 0;
		char *text = hostile_text(i, &len);

		try_recorded(text, len);
		free(text);
	}
}
END_TEST

/* Each byte, NUL among them, beside each of a few others. */
START_TEST(test_bytes)
{
	static const char beside[] = { 'a', '\\', 'x', '0', '\033', '\xc2', '\xe2', '\0' };

	for (int c = 0; c < 256; c++)
		for (size_t i = 0; i < sizeof(beside); i++) {
			const char text[] = { beside[i], (char)c, beside[i] };

			try_recorded(text, sizeof(text));
		}
}
END_TEST

START_TEST(test_big)
{
	char *text = malloc(BIG + 1);
	unsigned seed = 7;

	for (size_t i = 0; i < BIG; i++)
		text[i] = (char)((seed = seed * 1103515245u + 12345u) >> 16);
	text[BIG] = '\0';
	try_recorded(text, BIG);
	free(text);
}
END_TEST

/* Two texts are never shown alike: look-alikes of escapes are escaped themselves. */
START_TEST(test_unlike)
{
	static const char *const pairs[][2] = {
		{ "\033", "\\x1b" }, { "\\x1b", "\\\\x1b" }, { "\n", "\\x0a" },
		{ "\n", "\\n" },     { "\\", "\\\\" },	     { "\xe2\x80\xae", "\\xe2\\x80\\xae" },
	};

	for (size_t i = 0; i < NELEM(pairs); i++) {
		char *a = escaped(pairs[i][0], strlen(pairs[i][0])),
		     *b = escaped(pairs[i][1], strlen(pairs[i][1]));

		ck_assert_str_ne(a, b);
		free(a);
		free(b);
	}
}
END_TEST

Suite *suite_hostile(void)
{
	Suite *s = suite_create("hostile");
	TCase *tc = tcase_create("hostile");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, test_table);
	tcase_add_test(tc, test_bytes);
	tcase_add_test(tc, test_big);
	tcase_add_test(tc, test_unlike);
	suite_add_tcase(s, tc);
	return s;
}
