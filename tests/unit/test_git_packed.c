/* packed-refs: which texts say the same to whoever reads them, and what they say. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/supervisor/git.h"

#define A      "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define B      "0123456789abcdef0123456789ABCDEF01234567"
#define A256   "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define HEADER "# pack-refs with: peeled fully-peeled sorted \n"
#define MAIN   A " refs/heads/main\n"
#define TAG    A " refs/tags/v1\n"
#define PEELED "^" B "\n"

/* Between these, everything in the text but its last NUL counts. */
struct packed_case {
	const char *text;
	size_t len;
};

#define TEXT(s)                                                                                              \
	{                                                                                                    \
		s, sizeof(s) - 1                                                                             \
	}

Suite *suite_git_packed(void);

static const struct packed_case sound[] = {
	TEXT(""),
	TEXT(HEADER),
	TEXT("# pack-refs with:\n"),
	TEXT(MAIN),
	TEXT(HEADER MAIN),
	TEXT(HEADER MAIN TAG PEELED),
	TEXT(HEADER TAG PEELED A " refs/tags/v2\n" PEELED),
	TEXT(HEADER A256 " refs/heads/main\n"),
	/* Byte order, a shorter name before what begins with it. */
	TEXT(A " refs/heads/a\n" A " refs/heads/a-b\n" A " refs/heads/a/b\n" A " refs/heads/a0\n"),
	TEXT(A " refs/heads/Z\n" A " refs/heads/a\n" A " refs/heads/\xc3\xa9\n"),
	TEXT(A " refs/heads/#x\n" A " refs/heads/^x\n"),
};

static const struct packed_case unsound[] = {
	/* no newline at its end */
	TEXT(A " refs/heads/main"),
	TEXT(HEADER MAIN A " refs/tags/v1"),
	TEXT("# pack-refs with: sorted"),
	/* order, duplicates */
	TEXT(A " refs/heads/b\n" A " refs/heads/a\n"),
	TEXT(MAIN MAIN),
	TEXT(MAIN B " refs/heads/main\n"),
	TEXT(A " refs/heads/a/b\n" A " refs/heads/a\n"),
	TEXT(A " refs/heads/\xc3\xa9\n" MAIN),
	TEXT(TAG PEELED TAG),
	/* what is peeled stands below one name, once, whole */
	TEXT(PEELED),
	TEXT(HEADER PEELED MAIN),
	TEXT(TAG PEELED PEELED),
	TEXT(TAG "^\n"),
	TEXT(TAG "^" A " \n"),
	TEXT(TAG "^" A "a\n"),
	TEXT(TAG "^aa\n"),
	/* remarks: the first line alone, and git's own */
	TEXT(MAIN HEADER),
	TEXT(HEADER HEADER),
	TEXT(MAIN "# a remark\n" TAG),
	TEXT("# a remark\n" MAIN),
	TEXT("#\n"),
	TEXT("# refs/heads/main\n" MAIN),
	/* no line of this kind */
	TEXT("\n"),
	TEXT(HEADER "\n" MAIN),
	TEXT(A "\n"),
	TEXT(A " \n"),
	TEXT(" refs/heads/main\n"),
	TEXT("aaaa refs/heads/main\n"),
	TEXT(A "a refs/heads/main\n"),
	TEXT("g" A " refs/heads/main\n"),
	TEXT(A "\trefs/heads/main\n"),
	TEXT(A "  refs/heads/main\n"),
	TEXT(A " refs/heads/main \n"),
	TEXT(A " refs/heads/main x\n"),
	TEXT(A " refs/heads/main\r\n"),
	TEXT("ref: refs/heads/other\n"),
	/* NUL ends a name for who reads strings */
	TEXT(A " refs/heads/main\0x\n"),
	TEXT(A "\0refs/heads/main\n"),
	TEXT(MAIN "\0\n"),
	TEXT(MAIN "\0"),
	TEXT(A " refs/heads/a\x7f\n"),
};

START_TEST(git_reads_these)
{
	const struct packed_case *c = &sound[_i];

	ck_assert_msg(git_packed_is_sound(c->text, c->len), "refused: %s", c->text);
}
END_TEST

START_TEST(these_are_refused)
{
	const struct packed_case *c = &unsound[_i];

	ck_assert_msg(!git_packed_is_sound(c->text, c->len), "taken: %s", c->text);
}
END_TEST

/* Nothing behind its end is looked at, wherever that is: here a heap block ends there. */
START_TEST(cut_anywhere)
{
	static const char whole[] = HEADER MAIN TAG PEELED;

	for (size_t len = 0; len < sizeof(whole); len++) {
		char *text = malloc(len ? len : 1);
		const char *value;

		ck_assert_ptr_nonnull(text);
		memcpy(text, whole, len);
		ck_assert_int_eq(git_packed_is_sound(text, len),
				 len == 0 || (len < sizeof(whole) && text[len - 1] == '\n'));
		(void)git_packed_value(text, len, "refs/heads/main", &value);
		free(text);
	}
}
END_TEST

START_TEST(long_lines)
{
	const size_t n = (size_t)1 << 20;
	char *text = malloc(2 * n), *p = text;

	ck_assert_ptr_nonnull(text);
	p += sprintf(p, A " refs/heads/");
	memset(p, 'x', n);
	p[n] = '\n';
	p += n + 1;
	ck_assert(git_packed_is_sound(text, (size_t)(p - text)));
	p += sprintf(p, TAG);
	ck_assert(git_packed_is_sound(text, (size_t)(p - text)));
	/* The same name once more, one byte shorter. */
	memmove(p, text, n / 2);
	p[n / 2 - 1] = '\n';
	ck_assert(!git_packed_is_sound(text, (size_t)(p - text) + n / 2));
	free(text);
}
END_TEST

static void value_is(const char *text, size_t len, const char *name, const char *want)
{
	const char *got = "";
	size_t n = git_packed_value(text, len, name, &got);

	ck_assert_uint_eq(n, strlen(want));
	ck_assert(memcmp(got, want, n) == 0);
}

START_TEST(values)
{
	static const char text[] = HEADER A " refs/heads/ma\n" B " refs/heads/main\n" A
					    " refs/heads/main2\n" A " refs/remotes/x\n" TAG PEELED;
	static const char remark[] = "# refs/heads/main\n" B " refs/heads/main\n";
	static const char open_end[] = HEADER B " refs/heads/main";

	value_is(text, sizeof(text) - 1, "refs/heads/main", B);
	value_is(text, sizeof(text) - 1, "refs/heads/ma", A);
	value_is(text, sizeof(text) - 1, "refs/heads/mai", "");
	value_is(text, sizeof(text) - 1, "refs/heads/x", "");
	value_is(text, sizeof(text) - 1, "refs/heads/v1", "");
	value_is(text, sizeof(text) - 1, "main", "");
	value_is(text, sizeof(text) - 1, "refs/heads/", "");
	value_is("", 0, "refs/heads/main", "");
	value_is(remark, sizeof(remark) - 1, "refs/heads/main", B);
	value_is(open_end, sizeof(open_end) - 1, "refs/heads/main", B);
}
END_TEST

Suite *suite_git_packed(void)
{
	Suite *s = suite_create("git_packed");
	TCase *c = tcase_create("git_packed");

	tcase_add_loop_test(c, git_reads_these, 0, sizeof(sound) / sizeof(sound[0]));
	tcase_add_loop_test(c, these_are_refused, 0, sizeof(unsound) / sizeof(unsound[0]));
	tcase_add_test(c, cut_anywhere);
	tcase_add_test(c, long_lines);
	tcase_add_test(c, values);
	suite_add_tcase(s, c);
	return s;
}
