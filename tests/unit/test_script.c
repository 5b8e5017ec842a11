/* What the kernel makes of a script's first line, and when that counts. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/command/script.h"

Suite *suite_script(void);

static void words_are(const struct elf_info *script, const char *path, const char *const *argv,
		      const char *want)
{
	const char *words[16];
	char line[256] = "";
	size_t n = 0, got;

	while (argv[n])
		n++;
	got = script_words(script, path, argv, n, words);
	ck_assert_ptr_null(words[got]);
	for (size_t i = 0; i < got; i++) {
		strcat(line, words[i]);
		strcat(line, "|");
	}
	ck_assert_str_eq(line, want);
}

START_TEST(the_words_of_an_interpreter)
{
	const struct elf_info plain = { .kind = ELF_SCRIPT, .interp = "/bin/sh" };
	const struct elf_info arg = { .kind = ELF_SCRIPT, .interp = "/usr/bin/git", .interp_arg = "push" };

	words_are(&plain, "./run", (const char *const[]){ "run", "-v", NULL }, "/bin/sh|./run|-v|");
	words_are(&plain, "./run", (const char *const[]){ NULL }, "/bin/sh|./run|");
	words_are(&arg, "origin", (const char *const[]){ "x", "main", NULL },
		  "/usr/bin/git|push|origin|main|");
	words_are(&arg, "origin", (const char *const[]){ "x", NULL }, "/usr/bin/git|push|origin|");
}
END_TEST

/* The kernel's own word on it. */
START_TEST(as_the_kernel_does)
{
	const struct elf_info script = { .kind = ELF_SCRIPT, .interp = "/bin/echo", .interp_arg = "a b" };
	char path[] = "/tmp/pale-script-XXXXXX", want[256], got[256] = "";
	int fd = mkstemp(path), ends[2];
	const char *words[8];
	size_t n;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_gt(dprintf(fd, "#!/bin/echo a b\n"), 0);
	ck_assert_int_eq(fchmod(fd, 0700), 0);
	close(fd);
	ck_assert_int_eq(pipe(ends), 0);
	if (fork() == 0) {
		dup2(ends[1], 1);
		execl(path, "zero", "one", "two", (char *)NULL);
		_exit(1);
	}
	close(ends[1]);
	ck_assert_int_gt(read(ends[0], got, sizeof(got) - 1), 0);
	close(ends[0]);
	unlink(path);
	n = script_words(&script, path, (const char *const[]){ "zero", "one", "two" }, 3, words);
	ck_assert_uint_eq(n, 5);
	snprintf(want, sizeof(want), "%s %s %s %s\n", words[1], words[2], words[3], words[4]);
	ck_assert_str_eq(got, want);
}
END_TEST

START_TEST(an_interpreter_counts_by_a_rule)
{
	const struct decision allow = { .verdict = VERDICT_ALLOW, .reason = REASON_RULE };
	const struct decision deny = { .verdict = VERDICT_DENY, .reason = REASON_RULE };
	const struct decision ask = { .verdict = VERDICT_ASK, .reason = REASON_RULE };
	const struct decision trunk = { .verdict = VERDICT_DENY, .reason = REASON_TRUNK };
	const struct decision never = { .verdict = VERDICT_DENY, .reason = REASON_NEVER, .rule = 1 };
	const struct decision unasked = { .verdict = VERDICT_DENY,
					  .reason = REASON_NEVER,
					  .rule = RULE_NONE };
	const struct decision unnamed = { .verdict = VERDICT_DENY, .reason = REASON_DEFAULT };

	ck_assert(script_is_held(&allow, &deny));
	ck_assert(script_is_held(&allow, &ask));
	ck_assert(script_is_held(&ask, &trunk));
	ck_assert(script_is_held(&allow, &never));
	ck_assert(!script_is_held(&allow, &unasked));
	ck_assert(!script_is_held(&allow, &unnamed));
	ck_assert(!script_is_held(&deny, &ask));
	ck_assert(!script_is_held(&deny, &deny));
	ck_assert(!script_is_held(&allow, &allow));
}
END_TEST

Suite *suite_script(void)
{
	Suite *s = suite_create("script");
	TCase *t = tcase_create("script");

	tcase_add_test(t, the_words_of_an_interpreter);
	tcase_add_test(t, as_the_kernel_does);
	tcase_add_test(t, an_interpreter_counts_by_a_rule);
	suite_add_tcase(s, t);
	return s;
}
