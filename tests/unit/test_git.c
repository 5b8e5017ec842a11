/* Which git commands touch a protected branch; main, master and release/star are protected. */
#include "policy/command/git.h"
#include "test_cmd.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))

Suite *suite_git(void);

/* Commands that must be stopped wherever HEAD is. */
static const char *const denied[] = {
	"git push origin main",
	"git push origin HEAD:main",
	"git push origin +HEAD:refs/heads/main",
	"git push -f origin main",
	"git push origin :main",
	"git push --delete origin main",
	"git push -d origin main",
	"git push origin x y z:main",
	"git push --all",
	"git push --branches origin",
	"git push --mirror",
	"git push --mir",
	"git push --prune origin x",
	"git push origin :",
	"git push origin +:",
	"git push origin 'refs/heads/*:refs/heads/*'",
	"git push origin '*'",
	"git push origin 'refs/*:refs/*'",
	"git push origin x:heads/main",
	"git push origin release/1.2",
	"git push origin x:HEAD",
	"git push origin @{-1}",
	"git -C d push origin +HEAD:refs/heads/main",
	"git -c push.default=matching push",
	"git -c push.default=current push origin",
	"git -c remote.origin.push=x:main push origin x",
	"git -c push.default=upstream -c branch.x.merge=refs/heads/main push origin x",
	"git -c push.default=upstream push origin x",
	"git --config-env=branch.x.merge=X push origin x",
	"git --config-env=remote.origin.mirror=X push origin x",
	"git -c Include.path=/tmp/x push origin x",
	"git send-pack ../r x:main",
	"git send-pack --all ../r",
	"git send-pack ../r",
	"/usr/lib/git-core/git-push origin main",
	"env git push origin main",
	"git -c alias.p=push p origin main",
	"git -c 'alias.p=push origin' p main",
	"git push --repo x origin main",
	"git push -o ci.skip origin main",
	"git checkout main",
	"git checkout -f main",
	"git checkout main --",
	"git checkout -B main x",
	"git checkout -b main",
	"git checkout -Bmain",
	"git checkout --orphan main",
	"git checkout --orph main",
	"git checkout -t origin/main",
	"git checkout --track refs/remotes/origin/main",
	"git switch main",
	"git switch -C main",
	"git switch -c main x",
	"git switch --force-create main",
	"git switch --create=main",
	"git switch -t origin/main",
	"git branch -f main x",
	"git branch --force main",
	"git branch -D main",
	"git branch -d x main",
	"git branch --delete main",
	"git branch -m main x",
	"git branch -M x main",
	"git branch -C x main",
	"git update-ref refs/heads/main HEAD",
	"git update-ref -d refs/heads/main",
	"git update-ref -m why refs/heads/main HEAD",
	"git symbolic-ref HEAD refs/heads/main",
	"git symbolic-ref -m why HEAD refs/heads/main",
	"git fetch origin x:main",
	"git fetch --stdin origin",
	"git fetch . +x:refs/heads/main",
	"git fetch origin 'refs/heads/*:refs/heads/*'",
	"git pull origin x:main",
	"git worktree add ../w main",
	"git worktree add ../main",
	"git worktree add -B main ../w",
	"git rebase x main",
	"git worktree add -fB main ../w x",
	"git worktree add -qb main ../w",
	"git switch -qC main x",
	"git checkout -qB main x",
	"git branch -qM x main",
	"git branch -M main",
	"git symbolic-ref --short HEAD refs/heads/main",
	"git update-ref --no-deref -d refs/heads/main",
	"git fetch --all --refmap=refs/heads/*:refs/heads/*",
	"git fetch origin +refs/heads/x:refs/heads/main",
	"git pull --ff-only origin x:refs/heads/main",
	"git rebase --autostash x main",
	"git rebase --root --onto x main",
	/* the children of stash branch, bisect reset, filter-branch and subtree split */
	"git checkout -b main stash@{0}",
	"git checkout --ignore-other-worktrees main --",
	"git update-ref -m 'filter-branch: rewrite' refs/heads/main x y",
	"git update-ref -m 'subtree split' refs/heads/main x",
	"git -C d checkout main",
	"git -C a -C b checkout main",
	"git --git-dir=x/.git checkout main",
	"git --git-dir x/.git --work-tree x checkout main",
	"git -c a.b=c --no-pager checkout main",
	"git -p checkout main",
	"git --literal-pathspecs checkout main",
	"git checkout heads/main",
	"git checkout refs/heads/main",
	"git checkout -q -f main",
	"git checkout -qf main",
	"git checkout -m main",
	"git checkout --merge main",
	"git checkout --force main",
	"git checkout --ignore-other-worktrees main",
	"git checkout --recurse-submodules main",
	"git checkout --no-progress main",
	"git checkout -fB main",
	"git checkout -l -b main",
	"git checkout release/2",
	"git switch -f main",
	"git switch --discard-changes main",
	"git switch --ignore-other main",
	"git switch heads/main",
	"git switch --orphan main",
	"git switch --force-c main",
	"git switch -Cmain",
	"git branch -f heads/main x",
	"git branch -qf main x",
	"git branch --forc main x",
	"git branch -Dq main",
	"git branch --del main",
	"git branch --move main x",
	"git branch --copy x main",
	"git branch -cf x main",
	"git push origin +main",
	"git push origin HEAD:heads/main",
	"git push origin x:refs/heads/release/9",
	"git push origin --delete main",
	"git push origin -d heads/main",
	"git push --forc origin main",
	"git push --porcelain -v origin main",
	"git push --no-verify origin x:main",
	"git push --atomic origin a b main",
	"git push --repo=origin --all",
	"git push ../x.git 'HEAD:refs/heads/ma*'",
	"git push origin 'refs/heads/*'",
	"git push --signed=no origin main",
	"git push -4 origin main",
	"git push --tags origin main",
	"git push --recurse-submodules=no origin main",
	"git fetch --update-head-ok origin main:main",
	"git fetch -f origin +x:heads/main",
	"git fetch -u . x:main",
	"git pull --rebase origin x:main",
	"git worktree add -f ../w main",
	"git worktree add -b main ../w",
	"git rebase --onto a b main",
	"git rebase --root main",
	"git rebase -i x main",
	"git update-ref --no-deref refs/heads/main x",
	"git update-ref --create-reflog refs/heads/main x y",
	"git symbolic-ref refs/heads/main refs/heads/x",
	"git symbolic-ref -d refs/heads/main",
	"nice -n 5 git checkout main",
	"timeout 5 git push origin main",
	"busybox env git push origin main",
	"xargs git push origin main",
	"env GIT_DIR=x git checkout main",
	"/usr/bin/git push origin main",
	"git -c alias.x='checkout main' x",
};

/* Commands that pass while HEAD is on `feature`. */
static const char *const passed[] = {
	"git push origin feature",
	"git push",
	"git push origin",
	"git push --tags",
	"git push origin HEAD",
	"git push origin @",
	"git push origin feature:feature",
	"git push origin v1.0:refs/tags/main",
	"git push origin tag main",
	"git push origin refs/tags/main",
	"git push origin refs/heads/feature/x:refs/heads/feature/x",
	"git push origin 'refs/heads/feature/*:refs/heads/feature/*'",
	"git push -u origin feature",
	"git push --force-with-lease origin feature",
	"git push main feature",
	"git -c push.default=current push origin feature",
	"git -c user.name=x push origin feature",
	"git checkout feature",
	"git checkout -b feature main",
	"git checkout main -- file",
	"git checkout -- main",
	"git checkout main file",
	"git checkout --detach main",
	"git checkout origin/main",
	"git checkout main~1",
	"git checkout -p main",
	"git checkout",
	"git checkout -",
	"git checkout @{-1}",
	"git switch -",
	"git branch -d topic@{u}",
	"git branch -f @{-1}",
	/* whatever they write, the files of protected branches are held */
	"git update-ref --stdin",
	"git update-ref -z --stdin",
	"git fast-import -h",
	"git fast-import --quiet --force",
	"git reflog delete --updateref topic@{1}",
	"git switch feature",
	"git switch -c feature main",
	"git switch --detach main",
	"git branch",
	"git branch feature main",
	"git branch -f feature main",
	"git branch -D feature",
	"git branch -r -d origin/main",
	"git branch -u origin/main",
	"git branch --contains main",
	"git branch -m feature2",
	"git reflog",
	"git reflog main",
	"git reflog show main@{0}",
	"git reflog delete main@{0}",
	"git reflog expire --expire=now --all",
	"git replace",
	"git replace feature x",
	"git stash branch feature2",
	"git fetch",
	"git fetch origin main",
	"git fetch origin main:refs/remotes/origin/main",
	"git pull origin main",
	"git update-ref refs/tags/main HEAD",
	"git symbolic-ref HEAD",
	"git symbolic-ref HEAD refs/heads/feature",
	"git worktree add ../w feature",
	"git worktree add -b feature ../w main",
	"git worktree add --detach ../w main",
	"git worktree list",
	"git rebase main",
	"git merge main",
	"git commit -m main",
	"git log main",
	"git reset --hard main",
	"git diff main",
	"git status",
	"git update-ref HEAD x",
	"git send-pack --stateless-rpc --helper-status --thin --progress https://x/y.git/ --stdin",
	"git fetch-pack --stateless-rpc --stdin --lock-pack --thin https://x/y.git/",
	"git -c fetch.negotiationAlgorithm=noop fetch origin --no-tags --no-write-fetch-head "
	"--recurse-submodules=no --filter=blob:none --stdin",
	"echo git push origin main",
	"git -C main checkout feature",
	"git --git-dir=main/.git checkout feature",
	"git checkout -- .",
	"git checkout HEAD -- main",
	"git checkout main2",
	"git checkout feature/main",
	"git checkout mainline",
	"git checkout -b main-fix",
	"git switch -c main-fix main",
	"git switch feature/main",
	"git branch main-fix",
	"git branch -d main-fix",
	"git branch -m feature main-fix",
	"git branch --list main",
	"git branch -a",
	"git push origin main-fix",
	"git push origin feature:main-fix",
	"git push origin refs/tags/v1",
	"git push origin :feature",
	"git fetch origin main:refs/remotes/x/main",
	"git fetch origin main:main2",
	"git pull --rebase origin main",
	"git worktree add -b main2 ../w main",
	"git worktree remove main",
	"git rebase --onto main x feature",
	"git rebase -i main",
	"git merge origin/main",
	"git cherry-pick main",
	"git stash push -m main",
	"git tag main",
	"git show main:file",
	"git restore --source main file",
	"git commit --amend",
	"git reset --hard HEAD~1",
	"git bisect start HEAD main",
	"git config branch.main.remote origin",
	"git log --branches main",
	"git grep -e main",
};

/* Denied, and only because of HEAD: on main, or unknown. */
static const char *const by_head[] = {
	"git push",
	"git push origin",
	"git push --tags",
	"git push origin HEAD",
	"git push origin @",
	"git push --dry-run",
	"git push --recurse-submodules no origin",
	"git push --rep x origin",
	"git update-ref -d HEAD",
	"git branch -m feature2",
	"nice git push",
	"env -S 'git push'",
	"git-push",
	"git -c alias.p=push p",
};

static void trunk_init(struct fixture *f)
{
	fixture_init(f);
	fixture_rule(f, RULE_BRANCH, "main");
	fixture_rule(f, RULE_BRANCH, "master");
	fixture_rule(f, RULE_BRANCH, "release/*");
	fixture_compile(f);
}

static struct decision on_branch(const struct fixture *f, const char *command, const char *head)
{
	struct request req = { .op = OP_EXEC, .git_branch = head };
	struct decision d;
	struct line l;

	line_split(&l, command);
	req.path = l.path;
	req.argv = l.argv;
	req.argc = l.n;
	eval_command(&f->img, &req, &d, NULL);
	return d;
}

static unsigned wants_of(const char *command)
{
	struct request req = { .op = OP_EXEC };
	struct line l;

	line_split(&l, command);
	req.path = l.path;
	req.argv = l.argv;
	req.argc = l.n;
	return command_wants_branch(&req);
}

START_TEST(test_denied)
{
	struct decision d;
	struct fixture f;

	trunk_init(&f);
	d = on_branch(&f, denied[_i], "feature");
	ck_assert_msg(d.verdict == VERDICT_DENY && d.reason == REASON_TRUNK, "%s", denied[_i]);
	ck_assert_uint_lt(d.rule, 3);
	fixture_done(&f);
}
END_TEST

START_TEST(test_passed)
{
	struct fixture f;

	trunk_init(&f);
	ck_assert_msg(on_branch(&f, passed[_i], "feature").verdict == VERDICT_ALLOW, "%s", passed[_i]);
	fixture_done(&f);
}
END_TEST

/* The branch that the session began on may be gone back to, and no more. */
START_TEST(test_began_on)
{
	static const char *const back[] = { "git checkout main", "git switch main",
					    "git -C d checkout -q main" };
	static const char *const not_back[] = {
		"git checkout master",	   "git switch release/1",
		"git checkout -B main x",  "git switch -C main",
		"git branch -f main x",	   "git branch -D main",
		"git branch -m main x",	   "git update-ref refs/heads/main x",
		"git worktree add w main", "git symbolic-ref HEAD refs/heads/main",
		"git push origin main",	   "git checkout -t origin/main"
	};
	struct fixture f;

	fixture_init(&f);
	fixture_rule(&f, RULE_BRANCH, "main");
	fixture_rule(&f, RULE_BRANCH, "master");
	fixture_rule(&f, RULE_BRANCH, "release/*");
	f.p.git_head = strdup("main");
	fixture_compile(&f);
	for (size_t i = 0; i < NELEM(back); i++)
		ck_assert_msg(on_branch(&f, back[i], "x").verdict == VERDICT_ALLOW, "%s", back[i]);
	for (size_t i = 0; i < NELEM(not_back); i++)
		ck_assert_msg(on_branch(&f, not_back[i], "x").reason == REASON_TRUNK, "%s", not_back[i]);
	fixture_done(&f);
}
END_TEST

/* In a repository of the session's own a branch may be made and moved, but not pushed or fetched over. */
START_TEST(test_new)
{
	static const char *const local[] = {
		"git branch -M main",	     "git branch -m main master",
		"git checkout -b main",	     "git checkout -B main x",
		"git checkout main",	     "git switch -c main",
		"git switch master",	     "git branch -D main",
		"git branch -f main x",	     "git update-ref refs/heads/main x",
		"git worktree add w main",   "git rebase x main",
		"git update-ref -d HEAD",    "git symbolic-ref HEAD refs/heads/main",
		"git checkout --orphan main"
	};
	static const char *const online[] = { "git push",	    "git push x main",
					      "git push x HEAD",    "git fetch x y:main",
					      "git remote-https x", "git send-pack x main",
					      "git pull x y:main" };
	struct fixture f;

	trunk_init(&f);
	for (size_t i = 0; i < NELEM(local); i++) {
		ck_assert_msg(on_branch(&f, local[i], GIT_NEW).verdict == VERDICT_ALLOW, "%s", local[i]);
		ck_assert_msg(wants_of(local[i]) & GIT_WANTS_NEW, "%s", local[i]);
	}
	for (size_t i = 0; i < NELEM(online); i++) {
		ck_assert_msg(on_branch(&f, online[i], GIT_NEW).reason == REASON_TRUNK, "%s", online[i]);
		ck_assert_msg(!(wants_of(online[i]) & GIT_WANTS_NEW), "%s", online[i]);
	}
	ck_assert_uint_eq(wants_of("git branch"), 0);
	ck_assert_uint_eq(wants_of("git checkout -- file"), 0);
	fixture_done(&f);
}
END_TEST

/* Configuration may send a branch that is named alone to another one. */
START_TEST(test_by_config)
{
	static const char *const alone[] = { "git push origin x", "git push -u origin +refs/heads/x",
					     "git push o x y:z" };
	static const char *const told[] = { "git push origin x:x", "git push origin HEAD:x :y",
					    "git branch -m x y" };
	struct fixture f;

	trunk_init(&f);
	for (size_t i = 0; i < sizeof(alone) / sizeof(alone[0]); i++) {
		ck_assert_msg(on_branch(&f, alone[i], "").reason == REASON_TRUNK, "%s", alone[i]);
		ck_assert_msg(on_branch(&f, alone[i], NULL).verdict == VERDICT_ALLOW, "%s", alone[i]);
	}
	for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++)
		ck_assert_msg(on_branch(&f, told[i], "").verdict == VERDICT_ALLOW, "%s", told[i]);
	fixture_done(&f);
}
END_TEST

START_TEST(test_by_head)
{
	struct request req = { .op = OP_EXEC };
	struct fixture f;
	struct line l;

	trunk_init(&f);
	ck_assert_msg(on_branch(&f, by_head[_i], "feature").verdict == VERDICT_ALLOW, "%s", by_head[_i]);
	ck_assert_msg(on_branch(&f, by_head[_i], "main").reason == REASON_TRUNK, "%s", by_head[_i]);
	ck_assert_msg(on_branch(&f, by_head[_i], NULL).reason == REASON_TRUNK, "%s", by_head[_i]);
	line_split(&l, by_head[_i]);
	req.path = l.path;
	req.argv = l.argv;
	req.argc = l.n;
	ck_assert_msg(command_wants_branch(&req), "%s", by_head[_i]);
	fixture_done(&f);
}
END_TEST

START_TEST(test_details)
{
	struct fixture f;
	struct decision d;

	trunk_init(&f);
	d = on_branch(&f, "git push origin release/2", "feature");
	ck_assert_uint_eq(d.rule, 2);
	/* the branch told is that of the repository git works on */
	ck_assert_int_ne(on_branch(&f, "git -C ../other push", "feature").reason, REASON_TRUNK);
	ck_assert_int_eq(on_branch(&f, "git -C ../other push", NULL).reason, REASON_TRUNK);
	ck_assert_int_eq(on_branch(&f, "git --git-dir=x push", NULL).reason, REASON_TRUNK);
	ck_assert_int_eq(on_branch(&f, "git --namespace=x push", "feature").reason, REASON_TRUNK);
	fixture_done(&f);

	fixture_init(&f);
	fixture_compile(&f);
	ck_assert_int_eq(on_branch(&f, "git push origin main", NULL).verdict, VERDICT_ALLOW);
	fixture_done(&f);

	fixture_init(&f);
	fixture_rule(&f, RULE_BRANCH, "a b");
	ck_assert_int_lt(fixture_try(&f, NULL), 0);
	fixture_done(&f);
}
END_TEST

static const struct {
	const char *command;
	bool online;
} lines[] = {
	{ "git clone x", true },       { "git -C d fetch", true }, { "git submodule update --init", true },
	{ "git remote update", true }, { "git remote -v", false }, { "git commit", false },
	{ "git lfs pull", true },      { "git submodule", false }, { "git ls-remote", true },
};

START_TEST(test_online)
{
	struct fixture f;
	struct decision d;

	fixture_init(&f);
	f.p.s.network = NETWORK_OFF;
	fixture_compile(&f);
	d = on_branch(&f, lines[_i].command, NULL);
	ck_assert_msg((d.reason == REASON_OFFLINE) == lines[_i].online, "%s", lines[_i].command);
	fixture_done(&f);
}
END_TEST

Suite *suite_git(void)
{
	Suite *s = suite_create("git");
	TCase *t = tcase_create("trunk");

	tcase_add_loop_test(t, test_denied, 0, NELEM(denied));
	tcase_add_loop_test(t, test_passed, 0, NELEM(passed));
	tcase_add_test(t, test_by_config);
	tcase_add_test(t, test_began_on);
	tcase_add_test(t, test_new);
	tcase_add_loop_test(t, test_by_head, 0, NELEM(by_head));
	tcase_add_loop_test(t, test_online, 0, NELEM(lines));
	tcase_add_test(t, test_details);
	suite_add_tcase(s, t);
	return s;
}
