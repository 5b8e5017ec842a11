/* The store of changes, the base of a review, and the card. */
#include "tools/gate/change.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

Suite *suite_gate_changes(void);

#define GIT "/usr/bin/git"

static char dir[64], state[96], gate[96];

/* A gate whose main has two commits; $D/w is a clone of it. */
static void begin(void)
{
	strcpy(dir, "/tmp/pale-changes-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(state, sizeof(state), "%s/state", dir);
	snprintf(gate, sizeof(gate), "%s/state/gate/0a.git", dir);
	ck_assert_int_eq(setenv("D", dir, 1), 0);
	ck_assert_int_eq(system("set -e; export GIT_CONFIG_GLOBAL=/dev/null HOME=/nonexistent; cd $D; mkdir "
				"-p state/gate; chmod 700 state\n"
				"git init -q -b main w; cd w; git config user.name Tess; git config "
				"user.email t@example.org\n"
				"echo 1 >a; printf 'all:\\n' >Makefile; git add .; git commit -qm 1; git tag "
				"start; echo 2 >a; git commit -qam 2\n"
				"git clone -q --bare . ../state/gate/0a.git"),
			 0);
}

static void end(void)
{
	ck_assert_int_eq(system("rm -rf \"$D\""), 0);
}

/* Runs a script in the clone; ret: the commit that it leaves, which is in the gate then. */
static void commit(const char *script, char ret[GIT_HEX])
{
	char line[4096], file[96];
	FILE *f;

	snprintf(line, sizeof(line),
		 "set -e; export GIT_CONFIG_GLOBAL=/dev/null HOME=/nonexistent; cd $D/w; %s\n"
		 "git push -q ../state/gate/0a.git +HEAD:refs/tmp/x; git rev-parse HEAD >$D/new",
		 script);
	ck_assert_int_eq(system(line), 0);
	snprintf(file, sizeof(file), "%s/new", dir);
	f = fopen(file, "r");
	ck_assert_ptr_nonnull(f);
	ck_assert_ptr_nonnull(fgets(ret, GIT_HEX, f));
	ret[strcspn(ret, "\n")] = '\0';
	fclose(f);
}

static struct change fresh(const char *new, const char *old)
{
	struct change c = { .repository = strdup(gate),
			    .url = strdup("https://joe:hunter2@host.example/a/b.git"),
			    .session = strdup("abcd1234"),
			    .agent = strdup("opencode"),
			    .asked = strdup("refs/heads/topic"),
			    .ref = strdup("refs/heads/session/abcd1234/topic") };

	strcpy(c.new_oid, new);
	strcpy(c.old_oid, old);
	return c;
}

START_TEST(test_store)
{
	char new[GIT_HEX], line[256];
	struct change c, d;
	unsigned last = 7;

	begin();
	ck_assert_int_eq(change_last(state, &last), 0);
	ck_assert_uint_eq(last, 0);
	commit("git checkout -qb topic; echo 3 >a; git commit -qam 3", new);
	for (unsigned n = 1; n <= 3; n++) {
		c = fresh(new, "");
		ck_assert_int_eq(change_make(state, GIT, &c), 0);
		ck_assert_uint_eq(c.number, n);
		ck_assert_int_eq(c.state, CHANGE_OPEN);
		snprintf(line, sizeof(line), "[ $(git -C %s rev-parse refs/changes/%u/head) = %s ]", gate, n,
			 new);
		ck_assert_int_eq(system(line), 0);
		snprintf(line, sizeof(line), "[ $(git -C %s rev-parse refs/changes/%u/base) = %s ]", gate, n,
			 c.base);
		ck_assert_int_eq(system(line), 0);
		change_done(&c);
	}
	ck_assert_int_eq(change_load(state, 2, &c), 0);
	ck_assert_str_eq(c.new_oid, new);
	ck_assert_str_eq(c.ref, "refs/heads/session/abcd1234/topic");
	ck_assert_int_eq(change_settle(state, &c, CHANGE_DENIED, "no\033[1m\xff"), 0);
	ck_assert_int_eq(change_load(state, 2, &d), 0);
	ck_assert_int_eq(d.state, CHANGE_DENIED);
	ck_assert_ptr_nonnull(strstr(d.text, "no"));
	ck_assert_str_eq(d.base, c.base);
	change_done(&d);
	/* What is pushed stays pushed, though a question about it ends later. */
	ck_assert_int_eq(change_settle(state, &c, CHANGE_PUSHED, ""), 0);
	ck_assert_int_eq(change_settle(state, &c, CHANGE_DENIED, "too late"), 0);
	ck_assert_int_eq(c.state, CHANGE_PUSHED);
	ck_assert_int_eq(change_load(state, 2, &d), 0);
	ck_assert_int_eq(d.state, CHANGE_PUSHED);
	change_done(&c);
	change_done(&d);
	ck_assert_int_eq(change_last(state, &last), 0);
	ck_assert_uint_eq(last, 3);
	ck_assert_int_eq(change_load(state, 4, &c), -ENOENT);
	change_done(&c);
	end();
}
END_TEST

/* What stands in the file is not believed where it is no change. */
START_TEST(test_damaged)
{
	static const char *const edits[] = { "s/\"new\": \"../\"new\": \"--/",
					     "s/\"new\": \"[0-9a-f]*/\"new\": \"/",
					     "s/\"state\": \"open/\"state\": \"opened/",
					     "s/\"number\": 1/\"number\": 2/",
					     "s/\"url\"/\"uri\"/",
					     "1d",
					     "s/\"base\": \"./\"base\": \"/" };
	char new[GIT_HEX], line[512];
	struct change c;

	begin();
	commit("git checkout -qb topic; echo 3 >a; git commit -qam 3", new);
	for (size_t i = 0; i < sizeof(edits) / sizeof(edits[0]); i++) {
		c = fresh(new, "");
		ck_assert_int_eq(system("rm -f $D/state/gate/changes/1.json"), 0);
		ck_assert_int_eq(change_make(state, GIT, &c), 0);
		change_done(&c);
		snprintf(line, sizeof(line), "sed -i '%s' $D/state/gate/changes/1.json", edits[i]);
		ck_assert_int_eq(system(line), 0);
		ck_assert_msg(change_load(state, 1, &c) == -EBADMSG, "%s", edits[i]);
		change_done(&c);
	}
	/* Without its commits there is no change. */
	c = fresh("1111111111111111111111111111111111111111", "");
	ck_assert_int_lt(change_make(state, GIT, &c), 0);
	change_done(&c);
	ck_assert_int_ne(system("[ -e $D/state/gate/changes/2.json ]"), 0);
	end();
}
END_TEST

static const struct {
	const char *name, *script, *old, *base; /* revisions in the clone; base "": everything is new */
} bases[] = {
	{ "new branch", "git checkout -qb t main; echo 3 >a; git commit -qam 3", NULL, "main" },
	{ "from an old commit", "git checkout -qb t start; echo 3 >b; git add b; git commit -qm 3", NULL,
	  "start" },
	{ "moved on", "git checkout -qb t main; echo 3 >a; git commit -qam 3; echo 4 >a; git commit -qam 4",
	  "HEAD~", "HEAD~" },
	{ "rewound",
	  "git checkout -qb t main; echo 3 >a; git commit -qam 3; git tag old; git reset -q --hard start;"
	  "echo 4 >b; git add b; git commit -qm 4",
	  "old", "start" },
	{ "main was merged",
	  "git checkout -qb t start; echo 3 >b; git add b; git commit -qm 3; git merge -q -m m main", NULL,
	  "main" },
	{ "no history in common", "git checkout -q --orphan t; git commit -qm 3", NULL, "" },
};

START_TEST(test_base)
{
	char new[GIT_HEX], want[GIT_HEX] = "", old[GIT_HEX] = "", script[512];
	struct change c;

	begin();
	commit(bases[_i].script, new);
	if (bases[_i].old) {
		snprintf(script, sizeof(script), "git checkout -q %s", bases[_i].old);
		commit(script, old);
	}
	if (*bases[_i].base) {
		snprintf(script, sizeof(script), "git checkout -q %s; git checkout -q $(git rev-parse %s)",
			 new, bases[_i].base);
		commit(script, want);
	}
	c = fresh(new, old);
	ck_assert_int_eq(change_make(state, GIT, &c), 0);
	ck_assert_msg(strcmp(c.base, want) == 0, "%s: %s, not %s", bases[_i].name, c.base, want);
	change_done(&c);
	end();
}
END_TEST

START_TEST(test_card)
{
	static const char *const lines[] = {
		"change 1: 3 commits, 8 files, +8 -1 lines, to refs/heads/session/abcd1234/topic of "
		"https://host.example/a/b.git\n",
		"runs later: .gitattributes (git), .github/workflows/ci.yml (continuous integration), "
		"Makefile (make)\n",
		"\nspecial: ",
		"a\\x1b[1mb (newly executable)",
		"l (link)",
		"bin (binary)",
		"\nremoved: a (removed)\n",
		"\nattributes that hide or change files, not obeyed here: .gitattributes (line 1)\n",
		"\nearlier versions in the history: 1\n",
		"\nto see it: pale review 1\n"
	};
	char new[GIT_HEX], *card;
	struct change c;

	begin();
	commit("git checkout -qb t; mkdir -p .github/workflows; echo x >.github/workflows/ci.yml; echo '* "
	       "-diff' >.gitattributes;"
	       "printf 'all:\\n\\tid\\n' >Makefile; n=$(printf 'a\\033[1mb'); echo 1 >\"$n\"; chmod +x "
	       "\"$n\"; ln -s b l;"
	       "head -c 99 /dev/zero >bin; seq 3 >b; git rm -q a; echo s >s; git add .; git commit -qm 1; "
	       "git rm -q s;"
	       "git commit -qm 2; git commit -q --allow-empty -m 3",
	       new);
	c = fresh(new, "");
	ck_assert_int_eq(change_make(state, GIT, &c), 0);
	card = change_card(&c, GIT);
	ck_assert_ptr_nonnull(card);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		ck_assert_msg(strstr(card, lines[i]), "lacks %s\n%s", lines[i], card);
	for (const char *p = card; *p; p++)
		ck_assert((*p >= ' ' && *p < 0x7f) || *p == '\n');
	free(card);
	/* Without its objects there is no card. */
	ck_assert_int_eq(system("rm -rf $D/state/gate/0a.git/objects/*"), 0);
	ck_assert_ptr_null(change_card(&c, GIT));
	change_done(&c);
	end();
}
END_TEST

Suite *suite_gate_changes(void)
{
	Suite *s = suite_create("gate_changes");
	TCase *tc = tcase_create("gate_changes");

	tcase_set_timeout(tc, 20);
	tcase_add_test(tc, test_store);
	tcase_add_test(tc, test_damaged);
	tcase_add_loop_test(tc, test_base, 0, (int)(sizeof(bases) / sizeof(bases[0])));
	tcase_add_test(tc, test_card);
	suite_add_tcase(s, tc);
	return s;
}
