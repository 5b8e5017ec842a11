/* Cursors, outs and the escaper: nothing outside the range, failure sticks. */
#include <check.h>
#include <string.h>

#include "policy/base/buf.h"
#include "policy/base/op.h"

Suite *suite_buf(void);

START_TEST(test_roundtrip)
{
	uint8_t bytes[64];
	struct out o = out_of(bytes, sizeof(bytes));
	struct cursor c;

	put_bytes(&o, "\7", 1);
	put_u16(&o, 0x1234);
	put_u32(&o, 0xdeadbeef);
	put_str(&o, "pale");
	put_str(&o, NULL);
	put_bytes(&o, "xyz", 3);
	ck_assert(!o.failed);
	c = cursor_of(bytes, o.len);
	ck_assert_uint_eq(get_u8(&c), 7);
	ck_assert_uint_eq(get_u16(&c), 0x1234);
	ck_assert_uint_eq(get_u32(&c), 0xdeadbeef);
	ck_assert_str_eq(get_str(&c), "pale");
	ck_assert_str_eq(get_str(&c), "");
	ck_assert_mem_eq(get_bytes(&c, 3), "xyz", 3);
	ck_assert(!c.failed && c.left == 0);
}
END_TEST

START_TEST(test_cursor_fails_once_and_stays)
{
	struct cursor c = cursor_of("\1\2\3", 3);

	ck_assert_uint_eq(get_u32(&c), 0);
	ck_assert(c.failed);
	ck_assert_uint_eq(get_u8(&c), 0);
	ck_assert_ptr_null(get_bytes(&c, 1));
	ck_assert_str_eq(get_str(&c), "");
	c = cursor_of(NULL, 4);
	ck_assert(c.failed);
	ck_assert_uint_eq(get_u32(&c), 0);
}
END_TEST

START_TEST(test_strings_that_are_none)
{
	/* length, bytes: empty, longer than there is, without NUL, NUL in the middle */
	static const struct {
		uint32_t n;
		const char *bytes;
		size_t len;
	} bad[] = {
		{ 0, "", 0 }, { 9, "abc", 4 }, { 3, "abc", 3 }, { 4, "a\0b", 4 }, { UINT32_MAX, "a", 2 }
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		uint8_t bytes[32];
		struct cursor c;

		memcpy(bytes, &bad[i].n, 4);
		memcpy(bytes + 4, bad[i].bytes, bad[i].len);
		c = cursor_of(bytes, 4 + bad[i].len);
		ck_assert_str_eq(get_str(&c), "");
		ck_assert(c.failed);
	}
}
END_TEST

START_TEST(test_out_never_overflows)
{
	uint8_t bytes[8] = { [4] = 0xaa };
	struct out o = out_of(bytes, 4);

	put_u16(&o, 1);
	put_u32(&o, 2);
	ck_assert(o.failed && o.len == 2);
	put_u16(&o, 3);
	ck_assert_uint_eq(o.len, 2);
	ck_assert_uint_eq(bytes[4], 0xaa);
	o = out_of(NULL, 100);
	put_u16(&o, 1);
	ck_assert(o.failed);
	ck_assert_str_eq(text_end(&o), "");
}
END_TEST

START_TEST(test_text)
{
	char buf[64];
	struct out o = out_of(buf, sizeof(buf));

	text_str(&o, "n=");
	text_uint(&o, 0);
	text_str(&o, NULL);
	text_str(&o, " ");
	text_uint(&o, UINT64_MAX);
	text_str(&o, " ");
	text_hex(&o, 0x7f3a, 4);
	text_hex(&o, 0xabc, 99);
	ck_assert_str_eq(text_end(&o), "n=0 18446744073709551615 7f3a0000000000000abc");
}
END_TEST

START_TEST(test_text_is_cut_and_ends)
{
	char buf[5] = "zzzz";
	struct out o = out_of(buf, sizeof(buf));

	text_str(&o, "abcdefgh");
	ck_assert_str_eq(text_end(&o), "abcd");
	ck_assert(o.failed);
	text_str(&o, "x");
	ck_assert_str_eq(text_end(&o), "abcd");
	o = out_of(buf, 1);
	text_str(&o, "abc");
	ck_assert_str_eq(text_end(&o), "");
}
END_TEST

START_TEST(test_escaping_is_visible_and_whole)
{
	char buf[64];
	struct out o = out_of(buf, sizeof(buf));
	static const char nasty[] = "a\\\n\t\r\x1b[2J\xc3\xa9\x7f\0z";

	text_escaped(&o, nasty, sizeof(nasty) - 1);
	ck_assert_str_eq(text_end(&o), "a\\\\\\x0a\\x09\\x0d\\x1b[2J\\xc3\\xa9\\x7f\\x00z");
	for (size_t cap = 0; cap < 8; cap++) {
		o = out_of(buf, cap);
		text_escaped(&o, "a\x1b", 2);
		ck_assert_str_eq(text_end(&o), cap < 2 ? "" : cap < 6 ? "a" : "a\\x1b");
		ck_assert(o.failed == (cap < 6));
	}
}
END_TEST

START_TEST(test_names)
{
	for (unsigned op = OP_NONE + 1; op < OP_COUNT; op++) {
		ck_assert_uint_eq(op_by_name(op_name((enum op)op)), op);
		ck_assert_str_ne(op_name((enum op)op), "?");
	}
	for (unsigned r = 0; r < REASON_COUNT; r++)
		ck_assert_str_ne(reason_text((enum reason)r), "?");
	ck_assert_uint_eq(op_by_name("none"), OP_NONE);
	ck_assert_uint_eq(op_by_name("nonsense"), OP_NONE);
	ck_assert_uint_eq(op_by_name(NULL), OP_NONE);
	ck_assert_str_eq(op_name((enum op)999), "?");
	ck_assert_str_eq(reason_text((enum reason)999), "?");
	ck_assert_str_eq(verdict_name(VERDICT_ALLOW), "allow");
	ck_assert_str_eq(verdict_name(VERDICT_ASK), "ask");
	ck_assert_str_eq(verdict_name(VERDICT_DENY), "deny");
	ck_assert_str_eq(verdict_name((enum verdict)1), "?");
	ck_assert_uint_eq(op_access(OP_RENAME), ACCESS_WRITE | ACCESS_DELETE);
	ck_assert_uint_eq(op_access((enum op)999), 0);
	ck_assert(verdict_strictest(VERDICT_ALLOW, VERDICT_ASK) == VERDICT_ASK);
	ck_assert(verdict_strictest(VERDICT_ALLOW, (enum verdict)1) == VERDICT_DENY);
}
END_TEST

Suite *suite_buf(void)
{
	Suite *s = suite_create("buf");
	TCase *t = tcase_create("buf");

	tcase_add_test(t, test_roundtrip);
	tcase_add_test(t, test_cursor_fails_once_and_stays);
	tcase_add_test(t, test_strings_that_are_none);
	tcase_add_test(t, test_out_never_overflows);
	tcase_add_test(t, test_text);
	tcase_add_test(t, test_text_is_cut_and_ends);
	tcase_add_test(t, test_escaping_is_visible_and_whole);
	tcase_add_test(t, test_names);
	suite_add_tcase(s, t);
	return s;
}
