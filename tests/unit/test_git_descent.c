/*
 * Which commits are shown to lead to another: nothing is believed of whoever reads them.
 *
 * git is a script here, which answers from a directory of files, so that it can lie.
 */
#include <check.h>
#include <sha1.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/supervisor/git/git_descent.h"

#define TREE "tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\n"
#define HEX  (2 * SHA1_DIGEST_LENGTH)

Suite *suite_git_descent(void);

static char dir[] = "/tmp/pale-descent-XXXXXX", program[64];

static void setup(void)
{
	FILE *f;

	strcpy(dir + strlen(dir) - 6, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(program, sizeof(program), "%s/git", dir);
	f = fopen(program, "w");
	ck_assert_ptr_nonnull(f);
	fprintf(f, "#!/bin/sh\nwhile read -r x; do cat \"$GIT_DIR/$x\" 2>/dev/null || echo \"$x missing\"; "
		   "done\n");
	fclose(f);
	ck_assert_int_eq(chmod(program, 0755), 0);
}

static void teardown(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", dir);
	ck_assert_int_eq(system(command), 0);
}

/* What git answers when it is asked for `name`. */
static void answer(const char *name, const char *type, const char *text, size_t len)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	ck_assert_ptr_nonnull(f);
	fprintf(f, "%s %s %zu\n%s\n", name, type, len, text);
	fclose(f);
}

/* A commit with these parents, which git has; its name. */
static void commit(const char *message, const char *a, const char *b, char name[HEX + 1])
{
	char text[512], head[32];
	SHA1_CTX sha1;
	int n = snprintf(text, sizeof(text), TREE "%s%.40s%s%s%.40s%sauthor a <a> 0 +0000\n\n%s\n",
			 a ? "parent " : "", a ? a : "", a ? "\n" : "", b ? "parent " : "", b ? b : "",
			 b ? "\n" : "", message);
	int h = snprintf(head, sizeof(head), "commit %d", n) + 1;

	SHA1Init(&sha1);
	SHA1Update(&sha1, (const uint8_t *)head, (size_t)h);
	SHA1Update(&sha1, (const uint8_t *)text, (size_t)n);
	SHA1End(&sha1, name);
	answer(name, "commit", text, (size_t)n);
}

static enum git_descent descends(const char *now, const char *old)
{
	struct git_name a, b;

	ck_assert_uint_eq(git_name_parse(now, &a), SHA1_DIGEST_LENGTH);
	ck_assert_uint_eq(git_name_parse(old, &b), SHA1_DIGEST_LENGTH);
	return git_descent(program, dir, &b, &a, SHA1_DIGEST_LENGTH, NULL);
}

/* How many commits `now` brings, -1 where nobody knows; at least 1000 where some of them may not be new. */
static int brings(const char *now, const char *old)
{
	struct git_count n = { 0 };
	struct git_name a, b;

	(void)git_name_parse(now, &a);
	(void)git_name_parse(old, &b);
	(void)git_descent(program, dir, &b, &a, SHA1_DIGEST_LENGTH, &n);
	return !n.is_known ? -1 : (int)n.n + (n.is_exact ? 0 : 1000);
}

START_TEST(history)
{
	char root[HEX + 1], one[HEX + 1], two[HEX + 1], side[HEX + 1], merge[HEX + 1], amended[HEX + 1],
		other[HEX + 1];

	commit("root", NULL, NULL, root);
	commit("one", root, NULL, one);
	commit("two", one, NULL, two);
	commit("side", root, NULL, side);
	commit("merge", side, one, merge);
	commit("amended", root, NULL, amended);
	commit("another root", NULL, NULL, other);
	ck_assert_int_eq(descends(one, one), GIT_DESCENDS);
	ck_assert_int_eq(descends(two, one), GIT_DESCENDS);
	ck_assert_int_eq(descends(merge, one), GIT_DESCENDS);
	ck_assert_int_eq(descends(root, one), GIT_LOSES);
	ck_assert_int_eq(descends(one, two), GIT_LOSES);
	ck_assert_int_eq(descends(side, one), GIT_LOSES);
	ck_assert_int_eq(descends(amended, one), GIT_LOSES);
	ck_assert_int_eq(descends(other, one), GIT_LOSES);
	ck_assert_int_eq(descends(merge, two), GIT_LOSES);
	ck_assert_int_eq(brings(one, one), 0);
	ck_assert_int_eq(brings(two, one), 1);
	ck_assert_int_eq(brings(two, root), 2);
	ck_assert_int_eq(brings(merge, one), 2);
	ck_assert_int_eq(brings(merge, root), 3);
	ck_assert_int_eq(brings(root, one), 0);
	ck_assert_int_eq(brings(side, two), 1);
	ck_assert_int_eq(brings(amended, merge), 1);
	ck_assert_int_eq(brings(other, one), 1);
}
END_TEST

/* Of a long history an older commit is told by a few steps, for the walk from the old end catches up. */
START_TEST(long_history)
{
	static char names[400][HEX + 1];

	commit("0", NULL, NULL, names[0]);
	for (size_t i = 1; i < 400; i++) {
		char message[16];

		snprintf(message, sizeof(message), "%zu", i);
		commit(message, names[i - 1], NULL, names[i]);
	}
	ck_assert_int_eq(descends(names[390], names[399]), GIT_LOSES);
	ck_assert_int_eq(descends(names[399], names[390]), GIT_DESCENDS);
	ck_assert_int_eq(brings(names[399], names[390]), 9);
	ck_assert_int_eq(brings(names[390], names[399]), 0);
}
END_TEST

/* Whatever git says of an object counts for nothing where the object's name does not say the same. */
START_TEST(lies)
{
	static const char made_up[] = "1111111111111111111111111111111111111111";
	static const char missing[] = "2222222222222222222222222222222222222222";
	char root[HEX + 1], one[HEX + 1], text[256], lost[HEX + 1];
	int n;

	commit("root", NULL, NULL, root);
	commit("one", root, NULL, one);
	ck_assert_int_eq(descends(made_up, one), GIT_UNSHOWN);
	n = snprintf(text, sizeof(text), TREE "parent %s\nauthor a <a> 0 +0000\n\nx\n", one);
	answer(made_up, "commit", text, (size_t)n);
	ck_assert_int_eq(descends(made_up, one), GIT_UNSHOWN);
	answer(made_up, "blob", text, (size_t)n);
	ck_assert_int_eq(descends(made_up, one), GIT_UNSHOWN);
	answer(made_up, "commit", text, 1u << 30);
	ck_assert_int_eq(descends(made_up, one), GIT_UNSHOWN);
	/* a parent that is not there may have been anything */
	commit("lost", made_up, NULL, lost);
	ck_assert_int_eq(descends(lost, one), GIT_UNSHOWN);
	ck_assert_int_eq(brings(lost, one), -1);
	/* what the old end has before such a one is not known, nor whether it has these */
	commit("gone", missing, NULL, lost);
	ck_assert_int_eq(brings(one, lost), 1002);
	/* no parent but where git looks for one */
	n = snprintf(text, sizeof(text), "x\n\nparent %s", one);
	commit(text, root, NULL, lost);
	ck_assert_int_eq(descends(lost, one), GIT_LOSES);
}
END_TEST

START_TEST(no_git)
{
	static const char made_up[] = "1111111111111111111111111111111111111111";
	char root[HEX + 1];

	commit("root", NULL, NULL, root);
	strcpy(program, "/nonexistent");
	ck_assert_int_eq(descends(root, root), GIT_DESCENDS);
	ck_assert_int_eq(descends(made_up, root), GIT_UNSHOWN);
	strcpy(program, "/bin/true");
	ck_assert_int_eq(descends(made_up, root), GIT_UNSHOWN);
	strcpy(program, "/bin/cat");
	ck_assert_int_eq(descends(made_up, root), GIT_UNSHOWN);
}
END_TEST

START_TEST(names)
{
	struct git_name name;

	ck_assert_uint_eq(git_name_parse("", &name), 0);
	ck_assert_uint_eq(git_name_parse("111111111111111111111111111111111111111", &name), 0);
	ck_assert_uint_eq(git_name_parse("11111111111111111111111111111111111111111", &name), 0);
	ck_assert_uint_eq(git_name_parse("ABCDEF1111111111111111111111111111111111", &name), 0);
	ck_assert_uint_eq(git_name_parse("ref: refs/heads/main", &name), 0);
	ck_assert_uint_eq(git_name_parse("1111111111111111111111111111111111111111\n", &name), 20);
	ck_assert_uint_eq(
		git_name_parse("1111111111111111111111111111111111111111111111111111111111111111", &name),
		32);
}
END_TEST

Suite *suite_git_descent(void)
{
	Suite *s = suite_create("git_descent");
	TCase *tc = tcase_create("walk");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, history);
	tcase_add_test(tc, long_history);
	tcase_add_test(tc, lies);
	tcase_add_test(tc, no_git);
	tcase_add_test(tc, names);
	suite_add_tcase(s, tc);
	return s;
}
