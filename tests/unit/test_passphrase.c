/* The kept passphrase: what it is checked against, what it refuses to be, and its file. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/record/passphrase.h"

Suite *suite_passphrase(void);

static const char *const secret = "correct horse \xc3\xa9 battery";

static ssize_t read_whole(int fd, char text[PASSPHRASE_FILE_MAX])
{
	return fd < 0 ? -1 : read(fd, text, PASSPHRASE_FILE_MAX);
}

static char dir_path[] = "/tmp/pale-passphrase-XXXXXX";
static int dir = -1;

static void begin(void)
{
	strcpy(dir_path + sizeof(dir_path) - 7, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir_path));
	dir = open(dir_path, O_RDONLY | O_DIRECTORY);
	ck_assert_int_ge(dir, 0);
}

static void end(void)
{
	(void)unlinkat(dir, PASSPHRASE_FILE, 0);
	(void)close(dir);
	ck_assert_int_eq(rmdir(dir_path), 0);
}

START_TEST(test_made_checked_kept_loaded)
{
	struct passphrase made, read;
	char text[PASSPHRASE_FILE_MAX + 1] = "";
	struct stat st;
	int fd;

	ck_assert_int_eq(passphrase_load(dir, &read), -ENOKEY);
	ck_assert_int_eq(passphrase_make(&made, secret, "blue heron"), 0);
	ck_assert_int_eq(passphrase_check(&made, secret), 0);
	ck_assert_int_eq(passphrase_check(&made, "correct horse"), -EACCES);
	ck_assert_int_eq(passphrase_check(&made, ""), -EACCES);
	(void)umask(0);
	/* The second replaces the first. */
	ck_assert_int_eq(passphrase_store(dir, &made), 0);
	ck_assert_int_eq(passphrase_store(dir, &made), 0);
	fd = openat(dir, PASSPHRASE_FILE, O_RDONLY);
	ck_assert_int_gt(read_whole(fd, text), 0);
	ck_assert_int_eq(fstat(fd, &st), 0);
	close(fd);
	ck_assert_int_eq(st.st_mode & 07777, 0600);
	/* Neither it nor a part of it is in the file. */
	ck_assert_ptr_null(strstr(text, "correct"));
	ck_assert_int_eq(passphrase_load(dir, &read), 0);
	ck_assert_str_eq(read.phrase, "blue heron");
	ck_assert_int_eq(passphrase_check(&read, secret), 0);
	ck_assert_int_eq(passphrase_forget(dir), 0);
	ck_assert_int_eq(passphrase_load(dir, &read), -ENOKEY);
	ck_assert_int_eq(passphrase_forget(dir), -ENOENT);
}
END_TEST

/* A file that others may read, a link and what is no file are refused, not followed. */
START_TEST(test_files_that_are_none)
{
	struct passphrase made = { .hash = "$argon2id$v=19$m=65536,t=2,p=1$a$b", .phrase = "x" }, read;

	ck_assert_int_eq(passphrase_store(dir, &made), 0);
	ck_assert_int_eq(passphrase_load(dir, &read), 0);
	ck_assert_int_eq(fchmodat(dir, PASSPHRASE_FILE, 0640, 0), 0);
	ck_assert_int_eq(passphrase_load(dir, &read), -EBADMSG);
	ck_assert_int_eq(fchmodat(dir, PASSPHRASE_FILE, 0600, 0), 0);
	ck_assert_int_eq(renameat(dir, PASSPHRASE_FILE, dir, "other"), 0);
	ck_assert_int_eq(symlinkat("other", dir, PASSPHRASE_FILE), 0);
	ck_assert_int_eq(passphrase_load(dir, &read), -EBADMSG);
	ck_assert_int_eq(unlinkat(dir, "other", 0), 0);
	ck_assert_int_eq(passphrase_forget(dir), 0);
	ck_assert_int_eq(mkfifoat(dir, PASSPHRASE_FILE, 0600), 0);
	ck_assert_int_eq(passphrase_load(dir, &read), -EBADMSG);
}
END_TEST

/* Two hashes of one passphrase have nothing in common but their cost. */
START_TEST(test_salted)
{
	struct passphrase a, b;

	ck_assert_int_eq(passphrase_make(&a, secret, "x"), 0);
	ck_assert_int_eq(passphrase_make(&b, secret, "x"), 0);
	ck_assert_str_ne(a.hash, b.hash);
	ck_assert(strncmp(a.hash, "$argon2id$v=19$m=65536,t=2,p=1$", 31) == 0);
}
END_TEST

START_TEST(test_texts_that_are_none)
{
	static const char *const bad[] = {
		"",
		"{}",
		"[]",
		"{\"version\": 1, \"hash\": \"\", \"phrase\": \"x\"}",
		"{\"version\": 2, \"hash\": \"$argon2id$v=19$m=65536,t=2,p=1$a$b\", \"phrase\": \"x\"}",
		"{\"version\": 1, \"hash\": \"$argon2id$v=19$m=8,t=1,p=1$a$b\", \"phrase\": \"x\"}",
		"{\"version\": 1, \"hash\": \"$argon2id$v=19$m=4194304,t=99,p=1$a$b\", \"phrase\": \"x\"}",
		"{\"version\": 1, \"hash\": \"$argon2i$v=19$m=65536,t=2,p=1$a$b\", \"phrase\": \"x\"}",
		"{\"version\": 1, \"hash\": \"$argon2id$v=19$m=65536,t=2,p=1$a$b\", \"phrase\": \"\"}",
		"{\"version\": 1, \"hash\": \"$argon2id$v=19$m=65536,t=2,p=1$a$b\", \"phrase\": "
		"\"\\u001b[2J\"}",
		"{\"version\": 1, \"hash\": 7, \"phrase\": \"x\"}",
		"{\"version\": 1, \"hash\": \"$argon2id$v=19$m=65536,t=2,p=1$a$b\"}",
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
	tcase_add_checked_fixture(tc, begin, end);
	tcase_add_test(tc, test_made_checked_kept_loaded);
	tcase_add_test(tc, test_files_that_are_none);
	tcase_add_test(tc, test_salted);
	tcase_add_test(tc, test_texts_that_are_none);
	tcase_add_test(tc, test_what_is_unfit);
	suite_add_tcase(s, tc);
	return s;
}
