/* What a repository's configuration may come to say of where fetch, pull and push go. */
#include <check.h>
#include <string.h>

#include "policy/gitfiles/gitconfig.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))

Suite *suite_gitconfig_trunk(void);

/* main is protected, and what begins with release/. */
static bool is_trunk(const void *ctx, const char *branch)
{
	(void)ctx;
	return strcmp(branch, "main") == 0 || strncmp(branch, "release/", 8) == 0;
}

static const struct gitconfig_trunk trunk = { is_trunk, NULL };

static struct gitconfig parsed(const char *text)
{
	struct gitconfig g;
	unsigned line;

	ck_assert_msg(gitconfig_parse(text, strlen(text), &g, &line) == 0, "%s", text);
	return g;
}

static bool moves(const char *first, const char *before, const char *now, enum gitconfig_part part)
{
	struct gitconfig f = parsed(first), b = parsed(before), n = parsed(now);
	bool found = gitconfig_moves(&f, &b, &n, &trunk, part) != NULL;

	gitconfig_done(&f);
	gitconfig_done(&b);
	gitconfig_done(&n);
	return found;
}

#define CLONE                                                                                                \
	"[remote \"origin\"]\nurl = A\nfetch = +refs/heads/*:refs/remotes/origin/*\n"                        \
	"[branch \"main\"]\nremote = origin\nmerge = refs/heads/main\n"

static const struct {
	const char *line;
	bool moves;
} lines[] = {
	{ "[remote \"o\"]\nfetch = +refs/heads/*:refs/remotes/o/*\n", false },
	{ "[remote \"o\"]\nfetch = refs/pull/*/head:refs/remotes/o/pr/*\n", false },
	{ "[remote \"o\"]\nfetch = main\nfetch = ^refs/heads/main\nfetch = main:\n", false },
	{ "[push]\nfollowTags\n", true },
	{ "[push]\nfollowtags = false\n", false },
	{ "[remote \"o\"]\nfetch = x:y\n", true },
	{ "[remote \"o\"]\nfetch = refs/heads/*:refs/heads/x/*\n", true },
	{ "[remote \"o\"]\nfetch = x:refs/remotes/main\n", true },
	{ "[remote \"o\"]\nfetch = refs/tags/*:refs/tags/*\n", false },
	{ "[remote \"o\"]\nfetch = +refs/heads/*:refs/tags/x/*\n", true },
	{ "[remote \"o\"]\nfetch = +refs/heads/*:refs/tags/*\n", true },
	{ "[remote \"o\"]\nfetch = refs/heads/*:refs/t*\n", true },
	{ "[remote \"o\"]\nfetch = x:main\n", true },
	{ "[remote \"o\"]\nFETCH = +x:heads/release/1\n", true },
	{ "[remote.o]\nfetch = x:refs/heads/main\n", true },
	{ "[remote \"o\"]\nfetch = refs/heads/*:refs/heads/rel*\n", true },
	{ "[remote \"o\"]\nfetch = refs/heads/*:m*\n", true },
	{ "[remote \"o\"]\nfetch = refs/*:refs/*\n", true },
	{ "[remote \"o\"]\nfetch = refs/heads/*:*\n", true },
	{ "[remote \"o\"]\nfetch = x:refs/tags/main\nfetch = x:y\n", true },
	{ "[remote \"o\"]\nfetch = refs/x/*:refs/replace/*\n", true },
	{ "[remote \"o\"]\npush = x\n", true },
	{ "[remote \"o\"]\npush = HEAD:refs/for/main\n", true },
	{ "[remote \"o\"]\npush = +main\n", true },
	{ "[remote \"o\"]\npush = x:\n", true },
	{ "[remote \"o\"]\npush = :\n", true },
	{ "[remote \"o\"]\npush = @\n", true },
	{ "[remote \"o\"]\npush = @{-1}\n", true },
	{ "[remote \"o\"]\npush = x:HEAD\n", true },
	{ "[remote \"o\"]\npush = :release/1\n", true },
	{ "[remote \"o\"]\nmirror\n", true },
	{ "[remote \"o\"]\nmirror = no\n", false },
	{ "[remote]\npushDefault = o\n", true },
	{ "[push]\ndefault = current\n", false },
	{ "[push]\ndefault = Matching\n", true },
	{ "[push]\ndefault\n", true },
	{ "[rebase]\nupdateRefs\n", true },
	{ "[rebase]\nautoSquash = true\nupdateRefs = 0\n", false },
	{ "[alias]\nt = tag -f main topic\n", true },
	{ "[alias]\nst = status -s\nco = checkout\nlg = log main\nd = diff main\n", false },
	{ "[alias]\nunstage = reset HEAD --\n", true },
	{ "[alias]\nst = reset --hard topic\n", true },
	{ "[alias]\nst = branch -f main\n", true },
	{ "[alias]\nst = checkout -qBmain\n", true },
	{ "[alias]\nst = switch --force-create=main\n", true },
	{ "[alias]\nst = branch  -f  main  topic\n", true },
	{ "[alias]\nst = reset HEAD@{1}\n", true },
	{ "[core]\nbare = true\n", true },
	{ "[core]\nbare = false\n", false },
	{ "[extensions]\nrefStorage = reftable\n", true },
	{ "[extensions]\nrefStorage = files\n", false },
	{ "[branch \"main\"]\nremote = B\n", true },
	{ "[branch \"main\"]\nmerge = refs/heads/x\n", true },
	{ "[branch \"main\"]\nrebase = true\n", true },
	{ "[branch \"main\"]\npushremote = origin\n", true },
	{ "[branch \"main\"]\ndescription = x\n", false },
	{ "[branch \"x\"]\nremote = B\nmerge = refs/heads/main\nrebase = true\n", false },
	{ "[branch \"release/1\"]\nremote = origin\nmerge = refs/heads/x\n", true },
	{ "[remote \"origin\"]\nurl = B\n", true },
	{ "[remote \"origin\"]\npushurl = A\n", true },
	{ "[remote \"new\"]\nurl = B\n[remote \"new\"]\nurl = C\n", false },
};

START_TEST(test_lines)
{
	char now[1024];

	ck_assert_uint_lt(strlen(CLONE) + strlen(lines[_i].line), sizeof(now));
	strcpy(now, CLONE);
	strcat(now, lines[_i].line);
	ck_assert_msg(moves(CLONE, CLONE, now, GITCONFIG_WHOLE) == lines[_i].moves, "%s", lines[_i].line);
	ck_assert_msg(!moves(CLONE, now, now, GITCONFIG_WHOLE), "unchanged: %s", lines[_i].line);
	ck_assert_msg(!moves(now, CLONE, now, GITCONFIG_WHOLE), "as it was: %s", lines[_i].line);
}
END_TEST

#define REMOTE(name, url) "[remote \"" name "\"]\nurl = " url "\n"
#define MAIN(remote)	  "[branch \"main\"]\nremote = " remote "\nmerge = refs/heads/main\n"
#define MAIN_ALONE	  "[branch \"main\"]\nmerge = refs/heads/main\n"

/* From CLONE on, in steps. */
static const struct {
	const char *before, *now;
	bool moves;
} steps[] = {
	/* another name */
	{ CLONE, REMOTE("up", "A") MAIN("origin"), true },
	{ CLONE, REMOTE("up", "A") MAIN("up"), true },
	{ CLONE, REMOTE("up", "B") MAIN("up"), true },
	{ REMOTE("up", "A") MAIN("up"), CLONE, false },
	{ REMOTE("up", "A") MAIN("up"), REMOTE("up", "A") REMOTE("origin", "B") MAIN("up"), true },
	/* gone */
	{ CLONE, REMOTE("origin", "A") MAIN_ALONE, true },
	{ CLONE, MAIN("origin"), true },
	{ CLONE, "[url \"B\"]\ninsteadof = A\n" CLONE, true },
	{ REMOTE("origin", "A") MAIN_ALONE, MAIN_ALONE, true },
	{ REMOTE("origin", "A") MAIN_ALONE, REMOTE("origin", "A"), true },
	{ REMOTE("origin", "A"), "", true },
	{ "", REMOTE("origin", "B"), true },
	{ "", REMOTE("x", "B"), false },
	{ "", REMOTE("origin", "A"), false },
	{ "", CLONE, false },
	{ "", REMOTE("x", "B") MAIN("x"), true },
	{ "", REMOTE("x", "B") MAIN_ALONE, true },
	{ "", MAIN("A"), true },
	{ "", MAIN("."), true },
	/* what the operator says meanwhile */
	{ REMOTE("origin", "B") MAIN("origin"), REMOTE("origin", "B") MAIN("origin") "[user]\nname = x\n",
	  false },
	{ MAIN("B"), MAIN("B") REMOTE("x", "C"), false },
	{ MAIN("B"), MAIN("B") REMOTE("B", "C"), true },
};

START_TEST(test_steps)
{
	ck_assert_msg(moves(CLONE, steps[_i].before, steps[_i].now, GITCONFIG_WHOLE) == steps[_i].moves,
		      "%s->\n%s", steps[_i].before, steps[_i].now);
}
END_TEST

START_TEST(test_besides)
{
	ck_assert(moves(CLONE, "", REMOTE("x", "B"), GITCONFIG_BESIDES));
	ck_assert(moves(CLONE, "", "[remote]\npushdefault = origin\n", GITCONFIG_BESIDES));
	ck_assert(moves(CLONE, "", MAIN("."), GITCONFIG_BESIDES));
	ck_assert(moves(CLONE, "", "[core]\nbare = true\n", GITCONFIG_BESIDES));
	ck_assert(!moves("[core]\nbare = true\n", "", "[core]\nbare = true\n", GITCONFIG_BESIDES));
	ck_assert(!moves(CLONE, "", "[core]\nsparsecheckout = true\n", GITCONFIG_BESIDES));
	ck_assert(!moves(CLONE, REMOTE("x", "B"), REMOTE("x", "B"), GITCONFIG_BESIDES));
}
END_TEST

Suite *suite_gitconfig_trunk(void)
{
	Suite *s = suite_create("gitconfig_trunk");
	TCase *t = tcase_create("moves");

	tcase_add_loop_test(t, test_lines, 0, NELEM(lines));
	tcase_add_loop_test(t, test_steps, 0, NELEM(steps));
	tcase_add_test(t, test_besides);
	suite_add_tcase(s, t);
	return s;
}
