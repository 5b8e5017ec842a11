/* What git may take a misspelt command for. */
#include <check.h>

#include "policy/command/git_typo.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))

Suite *suite_git_typo(void);

/* git 2.39 with help.autocorrect=immediate corrects each, but for two that are near several commands. */
static const struct {
	const char *word, *command;
} corrected[] = {
	{ "pushh", "push" },	   { "psuh", "push" },		 { "pus", "push" },	 { "p", "push" },
	{ "bush", "push" },	   { "updateref", "update-ref" }, { "swich", "switch" }, { "chekcout", "checkout" },
	{ "symbolicref", "symbolic-ref" },
}, not_corrected[] = {
	{ "lfs", "push" },  { "stash", "push" }, { "pull", "push" }, { "frobnicate", "push" }, { "", "push" },
	{ "push", "push" }, { "pushpushpushpushpushpushpush", "push" }, { "show", "switch" },
};

START_TEST(test_corrected)
{
	ck_assert_msg(git_could_correct(corrected[_i].word, corrected[_i].command), "%s", corrected[_i].word);
}
END_TEST

START_TEST(test_not_corrected)
{
	ck_assert_msg(!git_could_correct(not_corrected[_i].word, not_corrected[_i].command), "%s",
		      not_corrected[_i].word);
}
END_TEST

Suite *suite_git_typo(void)
{
	Suite *s = suite_create("git_typo");
	TCase *t = tcase_create("corrected");

	tcase_add_loop_test(t, test_corrected, 0, NELEM(corrected));
	tcase_add_loop_test(t, test_not_corrected, 0, NELEM(not_corrected));
	suite_add_tcase(s, t);
	return s;
}
