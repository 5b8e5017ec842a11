/* How much harm a yes could do: a reviewer's list of questions and what each comes to. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "policy/question/risk.h"

Suite *suite_risk(void);

#define WORDS 12

struct row {
	const char *words; /* of the command, blank-separated */
	enum risk_level level;
	const char *branch; /* HEAD's */
};

static const struct row commands[] = {
	{ "git push origin feature/x", RISK_MEDIUM, "feature/x" },
	{ "git push -u origin feature/x", RISK_MEDIUM, "feature/x" },
	{ "git push", RISK_MEDIUM, "feature/x" },
	{ "git push", RISK_HIGH, NULL },
	{ "git push", RISK_MEDIUM, "main" },
	{ "git push origin main", RISK_MEDIUM, "feature/x" },
	{ "git push origin HEAD", RISK_MEDIUM, "master" },
	{ "git push origin HEAD", RISK_MEDIUM, "topic" },
	{ "git push origin +HEAD:refs/heads/topic", RISK_CRITICAL, "topic" },
	{ "git push origin :topic", RISK_CRITICAL, "topic" },
	{ "git http-push https://h/r topic", RISK_HIGH, "topic" },
	{ "git http-push -D https://h/r topic", RISK_CRITICAL, "topic" },
	{ "git push --delete origin topic", RISK_CRITICAL, "topic" },
	{ "git push -f origin topic", RISK_CRITICAL, "topic" },
	{ "git push --force-with-lease origin topic", RISK_CRITICAL, "topic" },
	{ "git push --forc origin topic", RISK_CRITICAL, "topic" },
	{ "git push origin topic --force", RISK_CRITICAL, "topic" },
	{ "git push -uf origin topic", RISK_CRITICAL, "topic" },
	{ "git push --mirror", RISK_CRITICAL, "topic" },
	{ "git push --all", RISK_CRITICAL, "topic" },
	{ "git push --tags origin topic", RISK_HIGH, "topic" },
	{ "git -C d push -f origin main", RISK_CRITICAL, "topic" },
	{ "git-push --mirror origin", RISK_CRITICAL, "topic" },
	{ "env GIT_TRACE=1 git push origin :main", RISK_CRITICAL, "topic" },
	{ "timeout 5 git push -f origin topic", RISK_CRITICAL, "topic" },
	{ "git push origin mainline", RISK_MEDIUM, "topic" },
	{ "git status", RISK_LOW, "topic" },
	{ "git commit -m push", RISK_LOW, "topic" },
	{ "git clean -fdx", RISK_HIGH, NULL },
	{ "git reset --hard HEAD~3", RISK_MEDIUM, NULL },
	{ "git reset HEAD", RISK_LOW, NULL },
	{ "git clone https://example.org/x", RISK_MEDIUM, NULL },
	{ "git config --global core.pager less", RISK_HIGH, NULL },
	{ "npm publish", RISK_CRITICAL, NULL },
	{ "npm --tag next publish", RISK_CRITICAL, NULL },
	{ "npm pub", RISK_CRITICAL, NULL },
	{ "npm install left-pad", RISK_MEDIUM, NULL },
	{ "npm test", RISK_LOW, NULL },
	{ "cargo publish", RISK_CRITICAL, NULL },
	{ "cargo build", RISK_LOW, NULL },
	{ "twine upload dist/x", RISK_CRITICAL, NULL },
	{ "python3 -m twine upload dist/x", RISK_CRITICAL, NULL },
	{ "docker push x/y", RISK_CRITICAL, NULL },
	{ "docker image push x/y", RISK_CRITICAL, NULL },
	{ "gh pr create --title x", RISK_MEDIUM, NULL },
	{ "gh pr merge 7", RISK_HIGH, NULL },
	{ "gh repo delete x/y", RISK_CRITICAL, NULL },
	{ "gh release create v1", RISK_CRITICAL, NULL },
	{ "gh secret set X", RISK_CRITICAL, NULL },
	{ "gh api repos/x", RISK_MEDIUM, NULL },
	{ "gh api -X DELETE repos/x", RISK_HIGH, NULL },
	{ "terraform plan", RISK_MEDIUM, NULL },
	{ "terraform apply", RISK_CRITICAL, NULL },
	{ "terraform destroy", RISK_CRITICAL, NULL },
	{ "kubectl get pods", RISK_MEDIUM, NULL },
	{ "kubectl get secret x", RISK_CRITICAL, NULL },
	{ "kubectl delete pod x", RISK_CRITICAL, NULL },
	{ "rm file", RISK_MEDIUM, NULL },
	{ "rm -rf build", RISK_HIGH, NULL },
	{ "rm -fr /", RISK_CRITICAL, NULL },
	{ "rm -r --force /home/ana", RISK_CRITICAL, NULL },
	{ "rm -rf ../x", RISK_HIGH, NULL },
	{ "busybox rm -rf build", RISK_HIGH, NULL },
	{ "nice -n 5 rm -rf build", RISK_HIGH, NULL },
	{ "find . -delete", RISK_HIGH, NULL },
	{ "dd if=x of=/dev/sda", RISK_CRITICAL, NULL },
	{ "dd if=x of=y", RISK_LOW, NULL },
	{ "mkfs.ext4 /dev/sdb", RISK_CRITICAL, NULL },
	{ "sudo true", RISK_CRITICAL, NULL },
	{ "curl https://example.org", RISK_MEDIUM, NULL },
	{ "curl -d @file https://example.org", RISK_HIGH, NULL },
	{ "curl -T file https://example.org", RISK_HIGH, NULL },
	{ "curl -XPOST https://example.org", RISK_HIGH, NULL },
	{ "wget --post-file=x https://example.org", RISK_HIGH, NULL },
	{ "ssh host true", RISK_HIGH, NULL },
	{ "scp file host:", RISK_HIGH, NULL },
	{ "rsync -a a b", RISK_LOW, NULL },
	{ "nc host 80", RISK_HIGH, NULL },
	{ "crontab -e", RISK_HIGH, NULL },
	{ "bash -c x", RISK_MEDIUM, NULL },
	{ "python3 -c x", RISK_MEDIUM, NULL },
	{ "python3.11 -c x", RISK_MEDIUM, NULL },
	{ "ls -l", RISK_LOW, NULL },
	{ "make", RISK_LOW, NULL },
	{ "touch a", RISK_LOW, NULL },
};

START_TEST(of_a_command)
{
	const struct row *row = &commands[_i];
	const char *argv[WORDS + 1] = { NULL };
	char text[256];
	struct request req = { .op = OP_EXEC, .argv = argv, .cwd = "/w", .git_branch = row->branch };
	struct risk r;

	snprintf(text, sizeof(text), "%s", row->words);
	for (char *w = strtok(text, " "); w && req.argc < WORDS; w = strtok(NULL, " "))
		argv[req.argc++] = w;
	r = risk_of(&req);
	ck_assert_msg(r.level == row->level, "%s: %s", row->words, risk_name(r.level));
	ck_assert(r.level == RISK_LOW || r.n > 0);
	for (size_t i = 1; i < r.n; i++)
		ck_assert_int_le(r.of[i], r.of[i - 1]);
}
END_TEST

static const struct {
	const char *path;
	enum op op;
	unsigned access;
	enum risk_level level;
} files[] = {
	{ "/home/a/.ssh/id_rsa", OP_READ, ACCESS_READ, RISK_CRITICAL },
	{ "/home/a/.ssh/x.pub", OP_READ, ACCESS_READ, RISK_LOW },
	{ "/home/a/.ssh/authorized_keys", OP_WRITE, ACCESS_WRITE, RISK_CRITICAL },
	{ "/home/a/.aws/credentials", OP_READ, ACCESS_READ, RISK_CRITICAL },
	{ "/w/.env", OP_READ, ACCESS_READ, RISK_CRITICAL },
	{ "/w/.env.local", OP_READ, ACCESS_READ, RISK_CRITICAL },
	{ "/w/.env.example", OP_READ, ACCESS_READ, RISK_LOW },
	{ "/w/.envrc", OP_WRITE, ACCESS_WRITE, RISK_HIGH },
	{ "/w/.pale/policy.ini", OP_WRITE, ACCESS_WRITE, RISK_CRITICAL },
	{ "/w/.pale/policy.ini", OP_READ, ACCESS_READ, RISK_LOW },
	{ "/home/a/.config/pale/policy.ini", OP_WRITE, ACCESS_WRITE, RISK_CRITICAL },
	{ "/etc/pale/policy.ini", OP_WRITE, ACCESS_WRITE, RISK_CRITICAL },
	{ "/home/a/.bashrc", OP_WRITE, ACCESS_WRITE, RISK_HIGH },
	{ "/home/a/.bashrc", OP_READ, ACCESS_READ, RISK_LOW },
	{ "/w/.git/hooks/pre-push", OP_WRITE, ACCESS_WRITE, RISK_HIGH },
	{ "/w/.github/workflows/ci.yml", OP_WRITE, ACCESS_WRITE, RISK_HIGH },
	{ "/w/package.json", OP_WRITE, ACCESS_WRITE, RISK_MEDIUM },
	{ "/etc/hosts", OP_WRITE, ACCESS_WRITE, RISK_HIGH },
	{ "/etc/hosts", OP_READ, ACCESS_READ, RISK_LOW },
	{ "/etc/shadow", OP_READ, ACCESS_READ, RISK_CRITICAL },
	{ "/home/a/Documents/x", OP_READ, ACCESS_READ, RISK_LOW },
	{ "/home/a/Documents/x", OP_DELETE, ACCESS_DELETE, RISK_MEDIUM },
	{ "/home/a/etc/x", OP_WRITE, ACCESS_WRITE, RISK_LOW },
	{ "/home/a/x.sshx/y", OP_READ, ACCESS_READ, RISK_LOW },
	{ "/run/docker.sock", OP_UNIX, 0, RISK_CRITICAL },
	{ "/run/user/1000/bus", OP_UNIX, 0, RISK_CRITICAL },
	{ "/w/my.sock", OP_UNIX, 0, RISK_MEDIUM },
};

START_TEST(of_a_file)
{
	const struct request req = { .op = files[_i].op, .access = files[_i].access, .path = files[_i].path };
	struct risk r = risk_of(&req);

	ck_assert_msg(r.level == files[_i].level, "%s: %s", req.path, risk_name(r.level));
}
END_TEST

static const struct {
	const char *host;
	uint8_t v4[4];
	uint16_t port;
	bool udp;
	enum risk_level level;
} hosts[] = {
	{ "example.org", { 93, 184, 216, 34 }, 443, false, RISK_MEDIUM },
	{ NULL, { 93, 184, 216, 34 }, 443, false, RISK_HIGH },
	{ "x.pastebin.com", { 93, 184, 216, 34 }, 443, false, RISK_HIGH },
	{ "notpastebin.com", { 93, 184, 216, 34 }, 443, false, RISK_MEDIUM },
	{ NULL, { 169, 254, 169, 254 }, 80, false, RISK_CRITICAL },
	{ NULL, { 192, 168, 1, 1 }, 443, false, RISK_HIGH },
	{ NULL, { 127, 0, 0, 1 }, 3000, false, RISK_MEDIUM },
	{ NULL, { 127, 0, 0, 1 }, 2375, false, RISK_CRITICAL },
	{ "example.org", { 93, 184, 216, 34 }, 22, false, RISK_HIGH },
	{ "example.org", { 93, 184, 216, 34 }, 123, true, RISK_HIGH },
};

START_TEST(of_a_host)
{
	struct request req = { .op = OP_CONNECT,
			       .host = hosts[_i].host,
			       .has_addr = true,
			       .addr = { [10] = 0xff, [11] = 0xff },
			       .is_datagram = hosts[_i].udp,
			       .port = hosts[_i].port };
	struct risk r;

	memcpy(req.addr + 12, hosts[_i].v4, 4);
	r = risk_of(&req);
	ck_assert_msg(r.level == hosts[_i].level, "%d: %s", _i, risk_name(r.level));
}
END_TEST

START_TEST(names_have_words)
{
	for (int i = 0; i < RISK_LEVELS; i++)
		ck_assert_str_ne(risk_name((enum risk_level)i), "?");
	ck_assert_str_eq(risk_name(RISK_LEVELS), "?");
}
END_TEST

/* More reasons than there is room for: the worst stay, and stand first. */
START_TEST(the_worst_stay)
{
	static const char *const argv[] = { "git",    "push",	"-f",	 "--delete", "--all",
					    "--tags", "origin", "+main", ":x",	     NULL };
	const struct request req = { .op = OP_EXEC, .argv = argv, .argc = 9, .cwd = "/w" };
	struct risk r = risk_of(&req);

	ck_assert_int_eq(r.level, RISK_CRITICAL);
	ck_assert_uint_le(r.n, RISK_REASONS);
	ck_assert_uint_ge(r.n, 4);
	for (size_t i = 1; i < r.n; i++)
		ck_assert_int_le(r.of[i], r.of[i - 1]);
}
END_TEST

#define NROWS(a) (int)(sizeof(a) / sizeof((a)[0]))

Suite *suite_risk(void)
{
	Suite *s = suite_create("risk");
	TCase *t = tcase_create("risk");

	tcase_add_loop_test(t, of_a_command, 0, NROWS(commands));
	tcase_add_loop_test(t, of_a_file, 0, NROWS(files));
	tcase_add_loop_test(t, of_a_host, 0, NROWS(hosts));
	tcase_add_test(t, names_have_words);
	tcase_add_test(t, the_worst_stay);
	suite_add_tcase(s, t);
	return s;
}
