/* git's configuration grammar, and which of its keys anybody may write. */
#include <check.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/gitfiles/gitconfig.h"
#include "policy/gitfiles/githook.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))
#define DIR	 "/w/.git"

Suite *suite_gitconfig(void);

/* --- grammar --- */

/* What is read, as section|subsection|name|value of the last entry, NULL: refused. */
static const struct {
	const char *text, *want;
} grammar[] = {
	{ "[a]\nb = c\n", "a|-|b|c" },
	{ "[a]b=c", "a|-|b|c" },
	{ "\xef\xbb\xbf[A]\nB = c", "a|-|b|c" },
	{ "[a \"B\"]\nb = c", "a|B|b|c" },
	{ "[a\t \"B \\\" \\\\ ]\"] b=c", "a|B \" \\ ]|b|c" },
	{ "[a.B.C]\nb", "a|b.c|b|-" },
	{ "[a]\nb", "a|-|b|-" },
	{ "[a]\nb =\n", "a|-|b|" },
	{ "[a]\n; [x]\n# y\nb = c ; d\n", "a|-|b|c" },
	{ "[a]\r\nb = c\r\n", "a|-|b|c" },
	{ "[a]\nb = c \\\n  d\n", "a|-|b|c   d" },
	{ "[a]\nb = \"c ; # d  \" e  \n", "a|-|b|c ; # d   e" },
	{ "[a]\nb = \"  \"\n", "a|-|b|  " },
	{ "[a]\nb = c\\t\\n\\\"\\\\\\b\n", "a|-|b|c\t\n\"\\\b" },
	{ "[a]\nb-1 = c\n", "a|-|b-1|c" },
	{ "[core]\n\tx = 1\n[a \"b\"] [c] d = e", "c|-|d|e" },
	{ "[a]\n[b]\n[a]\nb=1 [c]\n", "a|-|b|1 [c]" },
	{ "", "" },
	{ "\n\n; x\n", "" },
	{ "b = c\n", NULL },
	{ "[a\n", NULL },
	{ "[a b]\n", NULL },
	{ "[a \"b\n\"]\n", NULL },
	{ "[a \"b]\n", NULL },
	{ "[a \"b\" ]\n", NULL },
	{ "[a.b \"c\"]\n", NULL },
	{ "[a_b]\n", NULL },
	{ "[a]\n1b = c\n", NULL },
	{ "[a]\nb c\n", NULL },
	{ "[a]\nb_ = c\n", NULL },
	{ "[a]\nb = \"c\n", NULL },
	{ "[a]\nb = c\\x\n", NULL },
	{ "[a]\nb = c\\", NULL },
	{ "[a]\nb = c\rd\n", NULL },
	{ "[a]\n\xff = c\n", NULL },
	{ "]\n", NULL },
};

static void describe(const struct gitconfig *g, char *buf, size_t size)
{
	const struct gitconfig_entry *e = g->n ? &g->entries[g->n - 1] : NULL;

	buf[0] = '\0';
	if (e)
		snprintf(buf, size, "%s|%s|%s|%s", e->section, e->subsection ? e->subsection : "-", e->name,
			 e->value ? e->value : "-");
}

START_TEST(test_grammar)
{
	const char *text = grammar[_i].text, *want = grammar[_i].want;
	struct gitconfig g;
	unsigned line;
	char got[256];
	int r = gitconfig_parse(text, strlen(text), &g, &line);

	ck_assert_msg((r == 0) == (want != NULL), "%s: %d", text, r);
	if (!want) {
		ck_assert_int_eq(r, -EINVAL);
		ck_assert_uint_gt(line, 0);
		return;
	}
	describe(&g, got, sizeof(got));
	ck_assert_str_eq(got, want);
	gitconfig_done(&g);
}
END_TEST

START_TEST(test_limits)
{
	char *big = malloc(GITCONFIG_MAX + 1);
	struct gitconfig g;
	unsigned line;

	ck_assert_ptr_nonnull(big);
	memset(big, '\n', GITCONFIG_MAX + 1);
	ck_assert_int_eq(gitconfig_parse(big, GITCONFIG_MAX + 1, &g, &line), -E2BIG);
	ck_assert_int_eq(gitconfig_parse(big, GITCONFIG_MAX, &g, &line), 0);
	gitconfig_done(&g);
	ck_assert_int_eq(gitconfig_parse("[a]\nb=\0c\n", 9, &g, &line), -EINVAL);
	ck_assert_int_eq(line, 2);
	gitconfig_done(&g);
	gitconfig_done(&g);
	free(big);
}
END_TEST

/* --- keys --- */

static const char *const harmless[] = {
	"[core]\nbare = false\nfilemode = true\nrepositoryformatversion = 0\n",
	"[core]\nfsmonitor = false\n",
	"[core]\nignorecase\n",
	"[core]\nworktree = ..\n",
	"[remote \"origin\"]\nurl = git@github.com:x/y.git\nfetch = +refs/heads/*:refs/remotes/origin/*\n",
	"[remote \"o\"]\nurl = ../x\npushurl = https://h/x y\n",
	"[remote \"o\"]\nurl = ssh://git@h:22/x\n",
	"[branch \"a/b\"]\nremote = .\nmerge = refs/heads/x\nrebase = true\n",
	"[user]\nname = A \"B\" <x>; `c`\n",
	"[filter \"lfs\"]\nclean = git-lfs clean -- %f\nprocess = git-lfs filter-process\nrequired = true\n",
	"[lfs \"https://h/x\"]\naccess = basic\n",
	"[submodule \"x\"]\nurl = ./y\nactive = true\nupdate = rebase\n",
	"[alias]\nst = status -s\nlg = log --oneline --graph -n 5\n",
	"[gc]\nauto = 0\npruneExpire = 2.weeks.ago\n",
	"[color \"status\"]\nadded = green bold\n",
	"[extensions]\nworktreeConfig = true\nobjectformat = sha256\n",
	"[core]\nautocrlf = $(x)\ncommentString = ;;\n[format]\npretty = %h\n[protocol]\nversion = 2\n",
	"[feature]\nmanyFiles\n[index]\nskipHash\n[commitGraph]\nmaxNewFilters = "
	"1\n[repack]\ncruftWindow=1\n",
	"[versionsort]\nsuffix = -rc\n[log]\ndiffMerges = on\n[merge]\nrenormalize\n[diff]\nwordRegex = "
	"[a-z]+|.\n",
	"[pull]\noctopus = octopus\ntwohead = ort\n[branch]\nsort = -committerdate\n[help]\nautocorrect = "
	"1\n",
	"[interactive]\nsingleKey\n[fsck]\nbadDate = ignore\n[receive \"fsck\"]\nbadDate = warn\n[pretty]\nx "
	"= %h\n",
	"[extensions]\nrefStorage = reftable\n[gitflow \"path\"]\nhooks = " DIR "/hooks\n",
	"[alias]\nlg = log --pretty=format:'%h %s' --since='2 days ago'\nbr = \"branch "
	"--format=\\\"%(refname) x\\\"\"\n",
	"[gpg]\nformat = ssh\n[gpg]\nformat = \"openpgp\" ; as it was\n[GPG]\nFormat = "
	"x509\n[user]\nsigningKey = /k\n",
};

static const char *const harmful[] = {
	"[core]\nfsmonitor = x\n",
	"[core]\nfsmonitor\n",
	"[CORE]\nhooksPath = x\n",
	"[core]\nsshCommand=x\n",
	"[core]\nworktree = ../..\n",
	"[core]\nworktree = /\n",
	"[core]\nworktree = hooks\n",
	"[core]\nworktree = .\n",
	"[core]\nworktree = ../sub\n",
	/* What is a blank to C is none to git, and those before a continued line stay: neither is a false. */
	"[core]\nfsmonitor = 0\f\n",
	"[core]\nfsmonitor = \v\n",
	"[core]\nfsmonitor = off \\\n\n",
	"[core \"x\"]\nbare = true\n",
	"[remote \"o\"]\nurl = ext::x\n",
	"[remote \"o\"]\nurl = x://y\n",
	"[remote \"o\"]\nurl = --upload-pack=x\n",
	"[remote \"o\"]\nurl = ssh://-oProxyCommand=x/y\n",
	"[remote \"o\"]\nuploadpack = x\n",
	"[remote]\nurl = x\n",
	"[branch \"m\"]\nremote = ext::x\n",
	"[filter \"lfs\"]\nclean = \"git-lfs clean -- %f; x\"\n",
	"[filter \"x\"]\nclean = git-lfs clean -- %f\n",
	"[lfs \"customtransfer.x\"]\npath = x\n",
	"[submodule \"x\"]\nupdate = !x\n",
	"[alias]\nst = !x\n",
	"[alias]\nst = -c core.pager=x log\n",
	"[alias]\nst = log --output=x\n",
	"[alias]\nst = difftool -x y\n",
	"[alias]\nst\n",
	"[alias]\nst = stat\n",
	"[alias \"x\"]\ncommand = status\n",
	"[gc]\nrecentObjectsHook = x\n",
	"[include]\npath = x\n",
	"[includeIf \"onbranch:main\"]\npath = x\n",
	"[extensions]\nrefStorage = reftable:///x\n",
	"[extensions]\nsubmodulePathConfig\n",
	"[submodule \"x\"]\ngitdir = /x\n",
	"[remote]\npushDefault = ext::x\n",
	"[extensions]\npartialClone = ext::x\n",
	"[remotes]\nx = ext::y\n",
	"[pull]\ntwohead = evil\n",
	"[branch \"m\"]\nmergeOptions = -s evil\n",
	"[rebase]\ninstructionFormat = %nexec x\n",
	"[merge]\ntool = ../x\n",
	"[mergetool \"vimdiff\"]\nlayout = x\n",
	"[gitflow \"path\"]\nhooks = /w/hooks\n",
	"[fetch \"fsck\"]\nskipList = /x\n",
	"[hook \"x\"]\ncommand = y\n",
	"[format]\noutputDirectory = /x\n",
	"[core]\neverNew = x\n",
	"[alias]\nst = log '--output'=x\n",
	"[alias]\nst = \"log \\\"--o\\\"utput=x\"\n",
	"[alias]\nst = diff --e\\\\xt-diff\n",
	"[alias]\nst = \"show\\t--textconv\"\n",
	"[alias]\nst = \"log\\t--oneline\"\n",
	"[alias]\nst = 'log'\n",
	"[pager]\nlog = x\n",
	"[http]\nproxy = x\n",
	"[url \"x\"]\ninsteadOf = y\n",
	"[nobody]\nknows = x\n",
	"[gpg]\nformat = evil\n",
	"[gpg]\nformat\n",
	"[gpg]\nformat =\n",
	"[gpg]\nformat = SSH\n",
	"[gpg]\nformat = ssh x509\n",
	"[gpg]\nformat = ./ssh\n",
	"[gpg]\nformat = \"ssh\\n\"\n",
	"[gpg]\nformat = \"ssh \"\n",
	"[gpg]\nformat = ssh\nformat = evil\n",
	"[gpg \"ssh\"]\nformat = ssh\n",
	"[gpg]\nprogram = ssh\n",
	"[gpg]\nformat = ssh\nprogram = x\n",
	"[gpg]\nformat = ssh [gpg.ssh] program = x\n[gpg.ssh]\nprogram = x\n",
	"[gpg \"openpgp\"]\nprogram = x\n",
	"[gpg \"x509\"]\nprogram = x\n",
	"[gpg \"ssh\"]\ndefaultKeyCommand = x\n",
	"[gpg \"ssh\"]\nallowedSignersFile = x\n",
};

#define WORKSPACE "/home/a/w"

static bool may(const char *before, const char *now, const char *dir)
{
	struct gitconfig old, new;
	unsigned line;
	bool ok;

	ck_assert_int_eq(gitconfig_parse(before, strlen(before), &old, &line), 0);
	ck_assert_int_eq(gitconfig_parse(now, strlen(now), &new, &line), 0);
	ok = !gitconfig_forbidden(&old, &new, dir, WORKSPACE);
	gitconfig_done(&old);
	gitconfig_done(&new);
	return ok;
}

START_TEST(test_harmless)
{
	ck_assert_msg(may("", harmless[_i], DIR), "%s", harmless[_i]);
}
END_TEST

START_TEST(test_harmful)
{
	ck_assert_msg(!may("", harmful[_i], DIR), "%s", harmful[_i]);
	ck_assert_msg(may(harmful[_i], harmful[_i], DIR), "unchanged: %s", harmful[_i]);
}
END_TEST

/* KEY as git documents it: <name> and * stand for any. */
static void split_key(char *key, struct gitconfig_entry *e)
{
	char *first = strchr(key, '.'), *last = strrchr(key, '.');

	ck_assert_msg(first != NULL, "%s", key);
	*first = *last = '\0';
	*e = (struct gitconfig_entry){ .section = key,
				       .subsection = first < last ? first + 1 : NULL,
				       .name = last + 1 };
	for (char *p = key; p <= first; p++)
		*p = (char)tolower(*p);
	for (char *p = e->name; *p; p++)
		*p = (char)tolower(*p);
}

/* The table has a row for each key that the installed git documents.  This test names the keys that a newer
 * git has and the table lacks: pale refuses these. */
START_TEST(test_documented)
{
	FILE *f = popen("git help --config 2>/dev/null", "r");
	char line[256], key[256], unknown[4096] = "";
	struct gitconfig_entry e;
	size_t n = 0;

	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		if (!strchr(line, '.') || strchr(line, ' ') || strcmp(line, "feature.*") == 0)
			continue;
		n++;
		strcpy(key, line);
		split_key(key, &e);
		if (!gitconfig_is_known(&e) && strlen(unknown) < sizeof(unknown) - 300)
			strcat(strcat(unknown, " "), line);
	}
	pclose(f);
	ck_assert_msg(!*unknown, "no row in gitkeys.def:%s", unknown);
	ck_assert(n == 0 || n > 500);
}
END_TEST

START_TEST(test_changes)
{
	/* another value, another subsection, another number of them */
	ck_assert(!may("[core]\neditor = a\n", "[core]\neditor = b\n", DIR));
	ck_assert(!may("[diff \"a\"]\ncommand = x\n", "[diff \"b\"]\ncommand = x\n", DIR));
	ck_assert(may("[core]\neditor = a\n", "", DIR));
	ck_assert(may("[core]\neditor = a\n", "[core]\nbare = true\nEDITOR = a\n", DIR));
	/* a submodule's own directory */
	ck_assert(may("", "[core]\nworktree = ../../../a/b\n", "/w/.git/modules/b"));
	ck_assert(!may("", "[core]\nworktree = ../../../../a\n", "/w/.git/modules/b"));
	ck_assert(!may("", "[core]\nworktree = ../../hooks\n", "/w/.git/modules/b"));
	ck_assert(!may("", "[core]\nworktree = ../../../a/.git/hooks\n", "/w/.git/modules/b"));
	ck_assert(!may("", "[core]\nworktree = ../a\n", "/w/bare.git"));
	/* The workspace's snapshots, as agents keep them. */
	ck_assert(may("", "[core]\nworktree = /home/a/w\n", "/home/a/.local/share/x/snapshot/1"));
	ck_assert(may("", "[core]\nworktree = ../../w/\n", "/home/a/.x/1"));
	ck_assert(!may("", "[core]\nworktree = /home/a\n", "/home/a/.local/share/x/snapshot/1"));
	ck_assert(!may("", "[core]\nworktree = /home/a/w/link\n", "/home/a/.local/share/x/snapshot/1"));
}
END_TEST

#define SHARED                                                                                               \
	"[core]\nbare = false\n[remote \"o\"]\nurl = x\n[branch \"main\"]\nremote = o\nmerge = "             \
	"refs/heads/main\n"                                                                                  \
	"[branch \"a\"]\nremote = https://h/x\nmerge = refs/heads/a\n"

static bool keeps_main(const void *ctx, const char *branch)
{
	return strcmp(branch, ctx) == 0;
}

START_TEST(test_branches_alone)
{
	static const struct {
		const char *now;
		bool may;
	} rows[] = {
		{ SHARED, true },
		{ "", false },
		{ "; gone\n", false },
		{ SHARED "[branch \"b\"]\nremote = o\nmerge = refs/heads/x\npushremote = .\n", true },
		{ SHARED "[branch \"a\"]\ndescription = x\n", true },
		/* renamed, copied, gone */
		{ "[core]\nbare = false\n[remote \"o\"]\nurl = x\n[branch \"main\"]\nremote = o\nmerge = "
		  "refs/heads/main\n"
		  "[branch \"b\"]\nremote = https://h/x\nmerge = refs/heads/a\n",
		  true },
		{ SHARED "[branch \"b\"]\nremote = https://h/x\n", true },
		{ "[branch \"b\"]\nrebase = true\n[core]\nbare = false\n[remote \"o\"]\nurl = x\n[branch "
		  "\"main\"]\nremote = o\n"
		  "merge = refs/heads/main\n",
		  true },
		/* where it leads */
		{ SHARED "[branch \"b\"]\nremote = https://h/y\n", false },
		{ SHARED "[branch \"b\"]\npushremote = p\n", false },
		{ SHARED "[branch \"b\"]\nremote\n", false },
		{ SHARED "[remote \"p\"]\nurl = y\n[branch \"b\"]\nremote = p\n", false },
		/* what others see */
		{ SHARED "[user]\nname = x\n", false },
		{ SHARED "[branch]\nautosetuprebase = always\n", false },
		{ SHARED "[core]\nbare = false\n", false },
		{ SHARED "[branch \"main\"]\nremote = .\n", false },
		{ SHARED "[branch \"main\"]\ndescription = x\n", false },
		{ SHARED "[branch.main]\nrebase = true\n", false },
		{ "[remote \"o\"]\nurl = x\n[core]\nbare = false\n[branch \"main\"]\nremote = o\nmerge = "
		  "refs/heads/main\n",
		  false },
		{ "[core]\nbare = false\n[remote \"o\"]\nurl = x\n[branch \"c\"]\nremote = o\nmerge = "
		  "refs/heads/main\n",
		  false },
	};

	for (size_t i = 0; i < NELEM(rows); i++) {
		struct gitconfig old, new;
		unsigned line;

		ck_assert_int_eq(gitconfig_parse(SHARED, strlen(SHARED), &old, &line), 0);
		ck_assert_int_eq(gitconfig_parse(rows[i].now, strlen(rows[i].now), &new, &line), 0);
		ck_assert_msg(!gitconfig_beyond_branches(&old, &new, keeps_main, "main") == rows[i].may, "%s",
			      rows[i].now);
		gitconfig_done(&old);
		gitconfig_done(&new);
	}
}
END_TEST

#define LFS_HOOK                                                                                             \
	"#!/bin/sh\ncommand -v git-lfs >/dev/null 2>&1 || { echo >&2 \"\\nThis repository is configured "    \
	"for Git LFS "                                                                                       \
	"but 'git-lfs' was not found on your path. If you no longer wish to use Git LFS, remove this hook "  \
	"by "                                                                                                \
	"deleting '.git/hooks/pre-push'.\\n\"; exit 2; }\ngit lfs pre-push \"$@\""

START_TEST(test_hooks_of_lfs)
{
	static const struct {
		const char *name, *text;
		bool own;
	} rows[] = {
		{ "pre-push", LFS_HOOK, true },
		{ "pre-push", LFS_HOOK "\n", true },
		{ "pre-push", LFS_HOOK "\n\n", false },
		{ "pre-push", LFS_HOOK "\nevil\n", false },
		{ "pre-push", "#!/bin/sh\nevil\n" LFS_HOOK, false },
		{ "pre-push", "", false },
		{ "post-merge", LFS_HOOK, false },
		{ "pre-commit", LFS_HOOK, false },
		{ "post-merge", "#!/bin/sh\ngit lfs post-merge \"$@\"\n", true },
		{ "post-merge", "#!/bin/sh\ngit lfs post-merge \"$@\"; x\n", false },
		{ "pre-commit", "#!/bin/sh\ngit lfs pre-commit \"$@\"\n", false },
		{ "post-%", "#!/bin/sh\ngit lfs post-% \"$@\"\n", false },
	};

	for (size_t i = 0; i < NELEM(rows); i++)
		ck_assert_msg(githook_is_lfs(rows[i].name, rows[i].text, strlen(rows[i].text)) == rows[i].own,
			      "%s: %s", rows[i].name, rows[i].text);
	for (size_t n = 0; n < strlen(LFS_HOOK); n++)
		ck_assert(!githook_is_lfs("pre-push", LFS_HOOK, n));
}
END_TEST

Suite *suite_gitconfig(void)
{
	Suite *s = suite_create("gitconfig");
	TCase *t = tcase_create("gitconfig");

	tcase_add_loop_test(t, test_grammar, 0, NELEM(grammar));
	tcase_add_test(t, test_limits);
	tcase_add_loop_test(t, test_harmless, 0, NELEM(harmless));
	tcase_add_loop_test(t, test_harmful, 0, NELEM(harmful));
	tcase_add_test(t, test_documented);
	tcase_add_test(t, test_changes);
	tcase_add_test(t, test_branches_alone);
	tcase_add_test(t, test_hooks_of_lfs);
	suite_add_tcase(s, t);
	return s;
}
