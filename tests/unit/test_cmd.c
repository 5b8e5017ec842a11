/* Command rules: what a rule matches, which rule wins, what wrappers hide; one row each. */
#include <errno.h>
#include <stdio.h>

#include "test_cmd.h"

Suite *suite_cmd(void);
TCase *tcase_cmd_modes(void);

static const struct {
	const char *rule, *command;
	bool matches;
} matching[] = {
	{ "git push", "git push", true },
	{ "git push", "git push origin main", true },
	{ "git push", "git pushall", false },
	{ "git push", "git -p push", true },
	{ "git push", "git -C dir push", true },
	{ "git push", "git -C push status", false },
	{ "git push", "git --git-dir=x --work-tree y push", true },
	{ "git push", "git /tmp push", false },
	{ "git push", "git stash push", false },
	{ "git push", "git -- push", true },
	{ "git push", "gitpush", false },
	{ "rm -rf", "rm -rf", true },
	{ "rm -rf", "rm -fr x", true },
	{ "rm -rf", "rm -r x -f", true },
	{ "rm -rf", "rm -vrf x", true },
	{ "rm -rf", "rm -r x", false },
	{ "rm -f", "rm -- -f", false },
	{ "git push --force", "git push --force", true },
	{ "git push --force", "git push origin --forc", true },
	{ "git push --force", "git push --follow-tags", false },
	{ "tar --to-command", "tar xf a --to-command=sh", true },
	{ "tar --to-command", "tar xf a --to-comm sh", true },
	{ "dd if=", "dd if=/dev/zero", true },
	{ "dd if=", "dd of=/tmp/file if=/dev/zero", true },
	{ "dd if=", "dd if /dev/zero", false },
	{ "dd if=", "dd iflag=direct", false },
	{ "find -exec", "find . -name x -exec rm ;", true },
	{ "find -exec", "find . -executable -cmin 3", false },
	{ "find -delete", "find . -type d -links 2 -maxdepth 3", false },
	{ "git push origin (main|master)", "git push origin master", true },
	{ "git push origin (main|master)", "git push origin dev", false },
	{ "(bash|sh)", "sh -c x", true },
	{ "mkfs.*", "mkfs.ext4 /dev/sda", true },
	{ "mkfs.(ext4|xfs)", "mkfs.xfs", true },
	{ "git push origin feature/*", "git push origin feature/x", true },
	{ "git push origin feature/*", "git push origin main", false },
	{ "git * origin", "git push origin", true },
	{ "git * origin", "git push upstream", false },
	{ "git ... main", "git push origin main", true },
	{ "git ... main", "git push origin dev", false },
	{ "git ... a b", "git x a a b", true },
	{ "ls $", "ls", true },
	{ "ls $", "ls x", false },
	{ "cat <relative> $", "cat a/b", true },
	{ "cat <relative> $", "cat /etc/passwd", false },
	{ "cat <relative> $", "cat ../x", false },
	{ "cat <relative> $", "cat a b", false },
	{ "git commit -m \"hello world\"", "git commit -m 'hello world'", true },
	{ "git commit -m \"hello world\"", "git commit -am 'hello world'", true },
	{ "git commit -m \"hello world\"", "git commit -m other", false },
	{ "git commit -n", "git commit -m -n", false },
	{ "git commit -n", "git commit -n -m x", true },
	{ "git commit --no-verify", "git commit --no-verify", true },
	{ "git log --no-verify", "git log -- --no-verify", false },
	{ "git -c core.hooksPath=*", "git -c a.b=c -c core.hooksPath=/tmp/h commit", true },
	{ "git -c core.hooksPath=*", "git -c core.pager=x commit", false },
	{ "git checkout --", "git checkout -- file", true },
	{ "git checkout --", "git checkout file", false },
	{ "docker run --privileged", "docker --context prod run --privileged", true },
	{ "docker run --privileged", "docker foo run --privileged", false },
	{ "docker run -v /:*", "docker run --rm -v /:/host alpine", true },
	{ "npm publish", "npm --prefix x publish", true },
	{ "npm --registry=*", "npm publish --registry=http://x", true },
	{ "kubectl delete", "kubectl -n prod delete pod x", true },
	{ "cargo publish", "cargo +nightly publish", true },
	{ "systemctl (poweroff|reboot)", "systemctl -H host reboot", true },
	{ "python3", "python3.11 x.py", true },
	{ "python", "python3.11 x.py", true },
	{ "python3", "python2 x.py", false },
	{ "/usr/bin/git push", "git push origin", true },
	{ "/opt/git push", "git push origin", false },
	{ "/usr/bin/git -C x push", "git -C x push", true },
	{ "/usr/bin/git -C x push", "git -C y push", false },
	{ "git push a b c d", "git -p push -f a b --x c d e", true },
	{ "git push a b c d", "git push a b c e", false },
	{ "./tool", "/ws/tool x", true },
	{ "/usr/*/git", "git status", true },
	{ "'a b' c", "'a b' c", true },
	{ "echo \"*\"", "echo x", false },
	{ "echo \"*\"", "echo '*'", true },
	{ "cmd -c*", "cmd -cfoo", true },
	{ "* --version", "anything --version", true },
};

START_TEST(test_matching)
{
	struct fixture f;

	fixture_init(&f);
	fixture_rule(&f, RULE_CMD_DENY, matching[_i].rule);
	fixture_compile(&f);
	ck_assert_msg((judge(&f, matching[_i].command).verdict == VERDICT_DENY) == matching[_i].matches,
		      "%s / %s", matching[_i].rule, matching[_i].command);
	fixture_done(&f);
}
END_TEST

/* With `deny = git push`: what wrappers look like from outside. */
static const char *const wrapped[] = {
	"nice git push",
	"nice -n 10 git push",
	"nice -19 git push",
	"nohup git push",
	"nohup --help git push",
	"env -i FOO=1 -u X git push",
	"env -iu X git push",
	"env -S 'git push'",
	"env -S 'git push' origin",
	"env -iS 'FOO=1 git' push",
	"env --split-string='git push'",
	"env -S'git push'",
	"env -u X '--split-string=git push'",
	"/usr/bin/env -- git push",
	"timeout -k 5 10 git push",
	"timeout --kill-after=5 10 git push",
	"xargs -n1 -I{} git push",
	"xargs -0 -P 4 git push",
	"sudo -u x git push",
	"sudo -Hu x FOO=1 -- git push",
	"doas git push",
	"busybox git push",
	"/lib64/ld-linux-x86-64.so.2 --preload x --library-path y /usr/bin/git push",
	"stdbuf -oL git push",
	"stdbuf -o L git push",
	"setsid -w git push",
	"command -p git push",
	"time -p git push",
	"time -o file git push",
	"ionice -c2 -n7 git push",
	"chrt -f 10 git push",
	"taskset -c 0,1 git push",
	"setarch x86_64 -R git push",
	"setarch -R git push",
	"linux64 -R git push",
	"choom -n 5 git push",
	"choom --adjust 5 -- git push",
	"nice nohup env timeout 3 git push",
	"/usr/lib/git-core/git-push origin",
	"git-push",
	"env git-push",
	"git -c alias.p=push p origin x",
	"git -c Alias.p='push origin' p",
	"env -S 'nice git push'",
	"flock /tmp/l git push",
	"coreutils --coreutils-prog=git push",
	"runuser -u x -- git push",
	"env -S 'env -S git' push",
	"nice nice nice nice nice nice nice nice nice nice ls",
};

START_TEST(test_wrapped)
{
	struct fixture f;

	fixture_init(&f);
	fixture_rule(&f, RULE_CMD_DENY, "git push");
	fixture_compile(&f);
	ck_assert_msg(judge(&f, wrapped[_i]).verdict == VERDICT_DENY, "%s", wrapped[_i]);
	fixture_done(&f);
}
END_TEST

static const char *const innocent[] = {
	"command -v git",
	"echo git push",
	"env -i FOO=1",
	"nice",
	"xargs",
	"timeout 10",
	"busybox",
	"sudo -l",
	"ionice -p 12",
	"git status",
	"git -c alias.p=status p",
	"git -c alias.p='!git push' p",
	"env FOO='git push' ls",
	"chrt -p 10 12",
	"taskset -p 3 12",
	"choom -n 5 -p 12",
	"setarch git push", /* git is no architecture */
	"runuser -c 'git push' x",
	"bash -c 'git push'",
	"env",
	"git",
};

START_TEST(test_innocent)
{
	struct fixture f;

	fixture_init(&f);
	fixture_rule(&f, RULE_CMD_DENY, "git push");
	fixture_compile(&f);
	ck_assert_msg(judge(&f, innocent[_i]).verdict == VERDICT_ALLOW, "%s", innocent[_i]);
	fixture_done(&f);
}
END_TEST

static const struct {
	const char *rules; /* a|d|D(enylist)|? then the rule; joined by newlines */
	const char *command;
	enum verdict verdict;
} winning[] = {
	{ "dgit push\nagit push origin docs", "git push origin docs", VERDICT_ALLOW },
	{ "dgit push\nagit push origin docs", "git push origin docs --force", VERDICT_DENY },
	{ "dgit push\nagit push origin docs --force", "git push origin docs --force", VERDICT_ALLOW },
	{ "dgit push\nagit push origin docs $", "git push origin docs --force", VERDICT_DENY },
	{ "dgit push\nagit push origin docs", "git push", VERDICT_DENY },
	{ "agit push\ndgit push", "git push", VERDICT_DENY },
	{ "agit push\n?git push", "git push", VERDICT_ASK },
	{ "agit\ndgit push", "git push", VERDICT_DENY },
	{ "a*\ndgit", "git x", VERDICT_DENY },
	{ "dgit *\nagit status", "git status", VERDICT_ALLOW },
	{ "Dcurl\nacurl https://x", "curl https://x", VERDICT_DENY },
	{ "alocal -a $", "local -ab", VERDICT_ALLOW /* the default */ },
	{ "d*\nals -l $", "ls -l", VERDICT_ALLOW },
	{ "d*\nals -l $", "ls -la", VERDICT_DENY },
	{ "d*\nals -la $", "ls -al", VERDICT_ALLOW },
	{ "d*\nagit push --force-with-lease", "git push --force", VERDICT_DENY },
	{ "d/usr/bin/git\nagit", "git x", VERDICT_DENY },
	{ "denv\nagit", "env git", VERDICT_DENY },
	{ "?git\naenv", "env git", VERDICT_ASK },
	/* the names of one subcommand: a deny of one is a deny of each, an allow is not */
	{ "dnpm install", "npm i x", VERDICT_DENY },
	{ "dnpm i", "npm install x", VERDICT_DENY },
	{ "dnpm i", "npm --silent isntall x", VERDICT_DENY },
	{ "dnpm install", "npm install-test", VERDICT_ALLOW },
	{ "dnpm run deploy", "npm run-script deploy", VERDICT_DENY },
	{ "dnpm run deploy", "npm run-script test", VERDICT_ALLOW },
	{ "?npm publish", "npm publi", VERDICT_ASK },
	{ "ddocker run", "docker container run x", VERDICT_DENY },
	{ "ddocker container run -v", "docker run -v a:b x", VERDICT_DENY },
	{ "ddocker (ps|rm) x", "docker container remove x", VERDICT_DENY },
	{ "Ddocker run", "podman container run x", VERDICT_ALLOW },
	{ "dterraform destroy", "terraform apply -destroy", VERDICT_DENY },
	{ "dterraform destroy", "terraform apply", VERDICT_ALLOW },
	{ "dcargo \"test\"", "cargo t", VERDICT_ALLOW },
	{ "dcargo publish", "cargo --config alias.x=1 x", VERDICT_DENY },
	{ "dcargo publish", "cargo --config net.offline=true build", VERDICT_ALLOW },
	{ "dhg push", "hg --config=alias.x=push x", VERDICT_DENY },
	{ "dpip install", "pip3 install x", VERDICT_DENY },
	{ "d*\nanpm install", "npm i x", VERDICT_DENY },
	{ "d*\nadocker run", "docker container run x", VERDICT_DENY },
	{ "d*\namake", "make  SHELL=x", VERDICT_DENY },
	{ "d*\nagcc", "gcc @f", VERDICT_DENY },
	{ "d*\nagcc ... @f", "gcc @f", VERDICT_ALLOW },
};

START_TEST(test_winning)
{
	const char *s = winning[_i].rules;
	struct fixture f;

	fixture_init(&f);
	while (*s) {
		char text[128];
		size_t n = strcspn(s, "\n");
		enum rule_kind kind = *s == 'a'	  ? RULE_CMD_ALLOW
				      : *s == '?' ? RULE_CMD_ASK
				      : *s == 'D' ? RULE_CMD_DENYLIST
						  : RULE_CMD_DENY;

		(void)snprintf(text, sizeof(text), "%.*s", (int)(n - 1), s + 1);
		fixture_rule(&f, kind, text);
		s += n + (s[n] == '\n');
	}
	fixture_compile(&f);
	ck_assert_msg(judge(&f, winning[_i].command).verdict == winning[_i].verdict, "%s / %s",
		      winning[_i].rules, winning[_i].command);
	fixture_done(&f);
}
END_TEST

static const char *const malformed[] = {
	"",	      "   ",	     "$",
	"git (a",     "git a)",	     "git \"x",
	"git 'x'y",   "-rf",	     "a|b x",
	"git (a|) x", "git (a b|c)", "ls $ x",
	"git ()",     "\"\" x",	     "x (a|b|c|d) (a|b|c|d) (a|b|c|d) (a|b|c|d) (a|b|c|d) (a|b|c|d)",
};

START_TEST(test_malformed)
{
	struct fixture f;

	fixture_init(&f);
	fixture_rule(&f, RULE_CMD_DENY, malformed[_i]);
	ck_assert_msg(fixture_try(&f, NULL) == -EBADMSG, "%s", malformed[_i]);
	ck_assert_uint_gt(f.d.n_errors, 0);
	fixture_done(&f);
}
END_TEST

START_TEST(test_layers)
{
	struct fixture f;

	fixture_init(&f);
	f.p.s.cmd_default = VERDICT_ASK;
	fixture_rule(&f, RULE_CMD_ALLOW, "make")->layer = LAYER_PROJECT;
	fixture_rule(&f, RULE_CMD_ALLOW, "ls")->layer = LAYER_USER;
	fixture_rule(&f, RULE_CMD_DENY, "ls -l")->layer = LAYER_PROJECT;
	fixture_rule(&f, RULE_CMD_ALLOW, "rm")->layer = LAYER_USER;
	fixture_rule(&f, RULE_CMD_DENY, "*")->layer = LAYER_FLOOR;
	f.p.n_rules--; /* the floor's rule is tried below */
	fixture_compile(&f);
	ck_assert_int_eq(judge(&f, "make").verdict, VERDICT_ASK);
	ck_assert_int_eq(judge(&f, "ls").verdict, VERDICT_ALLOW);
	ck_assert_int_eq(judge(&f, "ls -l").verdict, VERDICT_DENY);
	free(f.bytes);
	f.p.n_rules++;
	fixture_compile(&f);
	ck_assert_int_eq(judge(&f, "rm").verdict, VERDICT_DENY);
	fixture_done(&f);
}
END_TEST

Suite *suite_cmd(void)
{
	Suite *s = suite_create("cmd");
	TCase *t = tcase_create("rules");

	tcase_add_loop_test(t, test_matching, 0, sizeof(matching) / sizeof(matching[0]));
	tcase_add_loop_test(t, test_wrapped, 0, sizeof(wrapped) / sizeof(wrapped[0]));
	tcase_add_loop_test(t, test_innocent, 0, sizeof(innocent) / sizeof(innocent[0]));
	tcase_add_loop_test(t, test_winning, 0, sizeof(winning) / sizeof(winning[0]));
	tcase_add_loop_test(t, test_malformed, 0, sizeof(malformed) / sizeof(malformed[0]));
	tcase_add_test(t, test_layers);
	suite_add_tcase(s, t);
	suite_add_tcase(s, tcase_cmd_modes());
	return s;
}
