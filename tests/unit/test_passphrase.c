/* The kept passphrase: what it is checked against, what it refuses to be, and its text. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "policy/passphrase.h"

Suite *suite_passphrase(void);

static const char *const secret = "correct horse \xc3\xa9 battery";

START_TEST(test_made_checked_written_read)
{
	struct passphrase made, read;
	char *text;

	ck_assert_int_eq(passphrase_make(&made, secret, "blue heron"), 0);
	ck_assert_int_eq(passphrase_check(&made, secret), 0);
	ck_assert_int_eq(passphrase_check(&made, "correct horse"), -EACCES);
	ck_assert_int_eq(passphrase_check(&made, ""), -EACCES);
	text = passphrase_write(&made);
	ck_assert_ptr_nonnull(text);
	/* Neither it nor a part of it is in the file. */
	ck_assert_ptr_null(strstr(text, "correct"));
	ck_assert_int_eq(passphrase_read(&read, text, strlen(text)), 0);
	ck_assert_str_eq(read.phrase, "blue heron");
	ck_assert_int_eq(passphrase_check(&read, secret), 0);
	free(text);
}
END_TEST

/* Two hashes of one passphrase have nothing in common but their cost. */
START_TEST(test_salted)
{
	struct passphrase a, b;

	ck_assert_int_eq(passphrase_make(&a, secret, "x"), 0);
	ck_assert_int_eq(passphrase_make(&b, secret, "x"), 0);
	ck_assert_str_ne(a.hash, b.hash);
	ck_assert(strncmp(a.hash, "$argon2id$v=19$m=65536,t=3,p=1$", 31) == 0);
}
END_TEST

START_TEST(test_texts_that_are_none)
{
	static const char *const bad[] = {
		"",
		"{}",
		"[]",
		"{\"version\": 1, \"hash\": \"\", \"phrase\": \"x\"}",
		"{\"version\": 2, \"hash\": \"$argon2id$v=19$m=65536,t=3,p=1$a$b\", \"phrase\": \"x\"}",
		"{\"version\": 1, \"hash\": \"$argon2id$v=19$m=8,t=1,p=1$a$b\", \"phrase\": \"x\"}",
		"{\"version\": 1, \"hash\": \"$argon2id$v=19$m=4194304,t=99,p=1$a$b\", \"phrase\": \"x\"}",
		"{\"version\": 1, \"hash\": \"$argon2i$v=19$m=65536,t=3,p=1$a$b\", \"phrase\": \"x\"}",
		"{\"version\": 1, \"hash\": \"$argon2id$v=19$m=65536,t=3,p=1$a$b\", \"phrase\": \"\"}",
		"{\"version\": 1, \"hash\": \"$argon2id$v=19$m=65536,t=3,p=1$a$b\", \"phrase\": "
		"\"\\u001b[2J\"}",
		"{\"version\": 1, \"hash\": 7, \"phrase\": \"x\"}",
		"{\"version\": 1, \"hash\": \"$argon2id$v=19$m=65536,t=3,p=1$a$b\"}",
	};
	struct passphrase p = { .hash = "untouched" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ck_assert_int_eq(passphrase_read(&p, bad[i], strlen(bad[i])), -EBADMSG);
		ck_assert_str_eq(p.hash, "untouched");
	}
	ck_assert_int_eq(passphrase_check(&p, "untouched"), -EBADMSG);
	/* A hash without an end. */
	memset(p.hash, 'a', sizeof(p.hash));
	ck_assert_int_eq(passphrase_check(&p, "x"), -EBADMSG);
}
END_TEST

START_TEST(test_what_is_unfit)
{
	char longer[PASSPHRASE_MAX + 2];

	memset(longer, 'a', sizeof(longer));
	longer[PASSPHRASE_MAX + 1] = '\0';
	ck_assert_ptr_nonnull(passphrase_unfit(longer));
	longer[PASSPHRASE_MAX] = '\0';
	ck_assert_ptr_null(passphrase_unfit(longer));
	ck_assert_ptr_nonnull(passphrase_unfit(""));
	ck_assert_ptr_nonnull(passphrase_unfit("1234567"));
	ck_assert_ptr_null(passphrase_unfit("12345678"));
	ck_assert_ptr_nonnull(passphrase_unfit("1234567\xff"));
	ck_assert_ptr_nonnull(phrase_unfit(""));
	ck_assert_ptr_nonnull(phrase_unfit("two\nlines"));
	ck_assert_ptr_nonnull(phrase_unfit("\xe2\x80\xaegnp"));
	longer[PHRASE_MAX + 1] = '\0';
	ck_assert_ptr_nonnull(phrase_unfit(longer));
	longer[PHRASE_MAX] = '\0';
	ck_assert_ptr_null(phrase_unfit(longer));
}
END_TEST

Suite *suite_passphrase(void)
{
	Suite *s = suite_create("passphrase");
	TCase *tc = tcase_create("passphrase");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, test_made_checked_written_read);
	tcase_add_test(tc, test_salted);
	tcase_add_test(tc, test_texts_that_are_none);
	tcase_add_test(tc, test_what_is_unfit);
	suite_add_tcase(s, tc);
	return s;
}
