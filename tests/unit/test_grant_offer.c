/* What is offered to be granted. */
#include "grant_fixture.h"

Suite *suite_grant_offer(void);

static const struct {
	const char *preset, *policy, *path, *line;
	const char *offers[GRANT_OFFERS + 1];
} offered[] = {
	{ "agent",
	  "",
	  NULL,
	  "git push origin feature/x",
	  { "allow = git push origin feature/x $", "allow = git push origin feature/*" } },
	{ "agent",
	  "",
	  NULL,
	  "git push -u origin feature/x",
	  { "allow = git push -u origin feature/x $", "allow = git push origin feature/*" } },
	{ "agent", "", NULL, "git push origin topic", { "allow = git push origin topic $" } },
	{ "agent",
	  "",
	  NULL,
	  "git push --force origin feature/x",
	  { "allow = git push --force origin feature/x $" } },
	{ "agent",
	  "",
	  NULL,
	  "git push origin feature/x:staging",
	  { "allow = git push origin feature/x:staging $" } },
	{ "agent",
	  "",
	  NULL,
	  "timeout 60 git push origin feature/x",
	  { "allow = git push origin feature/x $", "allow = git push origin feature/*" } },
	{ "agent", "", NULL, "npm publish --tag beta", { "allow = npm publish --tag beta $" } },
	{ "agent", "", "/usr/share/nodejs/npm/bin/npm-cli.js", "npm publish", { "allow = npm publish $" } },
	{ "agent",
	  "",
	  NULL,
	  "docker push ghcr.io/me/app:1.2",
	  { "allow = docker push ghcr.io/me/app:1.2 $", "allow = docker push ghcr.io/me/app:*" } },
	{ "agent",
	  "",
	  NULL,
	  "gh pr create --title A_(b)_* --body it's",
	  { "allow = gh pr create --title \"A (b) *\" --body \"it's\" $", "allow = gh pr create" } },
	{ "agent", "", NULL, "gh pr merge 7", { "allow = gh pr merge 7 $" } },
	{ "agent", "", NULL, "gh pr comment --body it's_\"so\"", { "allow = gh pr comment" } },
	{ "agent",
	  "[commands]\ndefault = ask\n",
	  NULL,
	  "npm run build",
	  { "allow = npm run build $", "allow = npm run build" } },
	{ "agent", "[commands]\ndefault = ask\n", NULL, "make test", { "allow = make test $" } },
	{ "agent", "[commands]\ndefault = ask\n", NULL, "deploy", { "allow = deploy $" } },
	{ "agent",
	  "[commands]\ndefault = ask\n",
	  "/ws/deploy.sh",
	  "./deploy.sh prod",
	  { "allow = /ws/deploy.sh prod $" } },
	{ "agent",
	  "[commands]\ndefault = ask\n",
	  "/home/u/bin/deploy",
	  "deploy prod",
	  { "allow = deploy prod $" } },
	{ "agent",
	  "",
	  "/tmp/git",
	  "git push origin feature/x",
	  { "allow = /tmp/git push origin feature/x $", "allow = /tmp/git push origin feature/*" } },
};

START_TEST(offers_are_what_a_person_wants)
{
	struct grant_offers o;
	struct words w;

	take(offered[_i].preset, offered[_i].policy);
	ck_assert_int_eq(grant_offer(&fx.img, words(&w, offered[_i].path, offered[_i].line), &o), 0);
	for (size_t i = 0; i <= GRANT_OFFERS; i++) {
		if (!offered[_i].offers[i]) {
			ck_assert_msg(o.n == i, "%s: also %s", offered[_i].line,
				      o.n > i ? o.line[i] : "nothing");
			break;
		}
		ck_assert_msg(o.n > i, "%s: no %s (%s)", offered[_i].line, offered[_i].offers[i],
			      o.why_none ? o.why_none : "");
		ck_assert_str_eq(o.line[i], offered[_i].offers[i]);
	}
	ck_assert_str_eq(o.section, "commands");
	grant_offers_done(&o);
}
END_TEST

/* Each of these is asked about here, and never offered. */
static const char *const never[] = {
	"bash -c ls",
	"sh deploy.sh",
	"dash x",
	"python3 -c pass",
	"python3.11 setup.py",
	"python x.py",
	"node -e 1",
	"node build.js",
	"perl -e 1",
	"ruby x.rb",
	"php -r 1",
	"awk {print}",
	"gawk {print}",
	"sed -n p",
	"env",
	"env A=b deploy",
	"xargs deploy",
	"nice deploy",
	"timeout 5 deploy",
	"find . -exec deploy",
	"tar -xf a --to-command=deploy",
	"git -c core.pager=x log",
	"rg --pre x y",
	"npx deploy",
	"npm exec deploy",
	"docker run image",
	"busybox sh",
	"ssh host ls",
	"make -f x",
	"make SHELL=x",
	"make --eval=x",
	"vim x",
	"less x",
	"gdb x",
	"tmux new",
	"watch deploy",
	"script -c deploy",
	"go run x.go",
	"cargo run",
	"gh api /user",
	"flock /tmp/x deploy",
	"parallel deploy",
};

START_TEST(what_runs_its_arguments_is_never_offered)
{
	struct grant_offers o;
	struct words w;

	take("agent", "[commands]\ndefault = ask\nask = (sudo|ssh|find|env|xargs|nice|timeout)\n");
	words(&w, NULL, never[_i]);
	if (eval(&fx.img, &w.req).verdict != VERDICT_ASK)
		return;
	ck_assert_int_eq(grant_offer(&fx.img, &w.req, &o), 0);
	ck_assert_msg(o.n == 0, "%s: %s", never[_i], o.n ? o.line[0] : "");
	ck_assert_ptr_nonnull(o.why_none);
	grant_offers_done(&o);
}
END_TEST

static const struct {
	enum op op;
	unsigned access;
	const char *path, *section;
	const char *offers[GRANT_OFFERS + 1];
} places[] = {
	{ OP_READ,
	  ACCESS_READ,
	  "/home/u/Documents/a.txt",
	  "files",
	  { "read = /home/u/Documents/a.txt", "read = /home/u/Documents" } },
	{ OP_WRITE,
	  ACCESS_WRITE,
	  "/home/u/Documents/a.txt",
	  "files",
	  { "write = /home/u/Documents/a.txt", "write = /home/u/Documents" } },
	{ OP_READ,
	  ACCESS_READ,
	  "/home/u/Documents/a*[b].txt",
	  "files",
	  { "read = /home/u/Documents/a\\*\\[b\\].txt", "read = /home/u/Documents" } },
	/* not the workspace as a whole */
	{ OP_WRITE, ACCESS_WRITE, "/ws/.npmrc", "files", { "write = /ws/.npmrc" } },
	/* a name that no line can say: not its directory instead */
	{ OP_WRITE, ACCESS_WRITE, "/home/u/Documents/x ;y", "files", { NULL } },
	{ OP_WRITE, ACCESS_WRITE, "/home/u/Documents/x\ny", "files", { NULL } },
	/* nor a home, nor what holds sensitive roots */
	{ OP_READ, ACCESS_READ, "/home/u/notes", "files", { "read = /home/u/notes" } },
	{ OP_READ, ACCESS_READ, "/home/u/.config/x", "files", { "read = /home/u/.config/x" } },
	/* what git writes is not written twice: its repository */
	{ OP_WRITE,
	  ACCESS_WRITE,
	  "/home/u/Documents/r.git/objects/tmp_objdir-incoming-0fQUG7",
	  "files",
	  { "write = /home/u/Documents/r.git" } },
	{ OP_WRITE,
	  ACCESS_WRITE,
	  "/home/u/Documents/r/.git/refs/heads/a.lock",
	  "files",
	  { "write = /home/u/Documents/r/.git" } },
	{ OP_LINK,
	  ACCESS_WRITE,
	  "/home/u/Documents/bare/objects/7a/b",
	  "files",
	  { "write = /home/u/Documents/bare" } },
	{ OP_WRITE,
	  ACCESS_WRITE,
	  "/home/u/Documents/r.git/hooks/update",
	  "files",
	  { "write = /home/u/Documents/r.git/hooks/update", "write = /home/u/Documents/r.git/hooks" } },
	{ OP_WRITE,
	  ACCESS_WRITE,
	  "/home/u/Documents/objects/x",
	  "files",
	  { "write = /home/u/Documents/objects/x", "write = /home/u/Documents/objects" } },
	/* the lock of what is closed */
	{ OP_WRITE, ACCESS_WRITE, "/home/u/Documents/closed.lock", "files", { NULL } },
	{ OP_UNIX, 0, "/home/u/Documents/s.sock", "network", { "unix = /home/u/Documents/s.sock" } },
};

START_TEST(places_are_offered_narrowly)
{
	struct request req = { .op = places[_i].op, .access = places[_i].access, .path = places[_i].path };
	struct grant_offers o;

	take("agent",
	     "[files]\nreadonly = ~/Documents/closed\nask = ~/Documents\nask = ~/notes\nask = ~/.config/x\n");
	ck_assert_uint_eq(eval(&fx.img, &req).verdict, VERDICT_ASK);
	ck_assert_int_eq(grant_offer(&fx.img, &req, &o), 0);
	ck_assert_str_eq(o.section, places[_i].section);
	for (size_t i = 0; i <= GRANT_OFFERS && (places[_i].offers[i] || o.n > i); i++) {
		ck_assert_msg(o.n > i && places[_i].offers[i], "%s: %s", places[_i].path,
			      o.n > i ? o.line[i] : "too few");
		ck_assert_str_eq(o.line[i], places[_i].offers[i]);
	}
	grant_offers_done(&o);
}
END_TEST

static const struct {
	enum op op;
	const char *host;
	uint8_t addr[16];
	bool has_addr, is_datagram;
	uint16_t port;
	const char *offers[GRANT_OFFERS + 1];
} hosts[] = {
	{ OP_RESOLVE,
	  "api.example.org",
	  { 0 },
	  false,
	  false,
	  0,
	  { "allow = api.example.org:443", "allow = *.example.org:443" } },
	{ OP_CONNECT,
	  "api.example.org",
	  { 0 },
	  false,
	  false,
	  8443,
	  { "allow = api.example.org:8443", "allow = *.example.org:8443" } },
	{ OP_CONNECT, "example.co.uk", { 0 }, false, false, 443, { "allow = example.co.uk:443" } },
	{ OP_CONNECT, "me.github.io", { 0 }, false, false, 443, { "allow = me.github.io:443" } },
	{ OP_CONNECT, "example.org", { 0 }, false, false, 443, { "allow = example.org:443" } },
	{ OP_CONNECT,
	  NULL,
	  { [10] = 0xff, [11] = 0xff, 93, 184, 216, 34 },
	  true,
	  false,
	  443,
	  { "allow = 93.184.216.34:443" } },
	{ OP_CONNECT, NULL, { 0x26, 0x06, [15] = 1 }, true, false, 443, { "allow = [2606::1]:443" } },
	{ OP_CONNECT,
	  "ntp.example.org",
	  { 0 },
	  false,
	  true,
	  123,
	  { "udp = ntp.example.org:123", "udp = *.example.org:123" } },
};

START_TEST(hosts_are_offered_narrowly)
{
	struct request req = { .op = hosts[_i].op,
			       .host = hosts[_i].host,
			       .has_addr = hosts[_i].has_addr,
			       .is_datagram = hosts[_i].is_datagram,
			       .port = hosts[_i].port };
	struct grant_offers o;

	memcpy(req.addr, hosts[_i].addr, 16);
	take("agent", "[network]\ndefault = ask\nask = ntp.example.org\n");
	ck_assert_uint_eq(eval(&fx.img, &req).verdict, VERDICT_ASK);
	ck_assert_int_eq(grant_offer(&fx.img, &req, &o), 0);
	ck_assert_str_eq(o.section, "network");
	for (size_t i = 0; i <= GRANT_OFFERS && (hosts[_i].offers[i] || o.n > i); i++) {
		ck_assert_msg(o.n > i && hosts[_i].offers[i], "%d: %s", _i, o.n > i ? o.line[i] : "too few");
		ck_assert_str_eq(o.line[i], hosts[_i].offers[i]);
	}
	grant_offers_done(&o);
}
END_TEST

Suite *suite_grant_offer(void)
{
	Suite *s = suite_create("grant_offer");
	TCase *tc = tcase_create("grant_offer");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 30);
	tcase_add_loop_test(tc, offers_are_what_a_person_wants, 0, sizeof(offered) / sizeof(offered[0]));
	tcase_add_loop_test(tc, what_runs_its_arguments_is_never_offered, 0,
			    sizeof(never) / sizeof(never[0]));
	tcase_add_loop_test(tc, places_are_offered_narrowly, 0, sizeof(places) / sizeof(places[0]));
	tcase_add_loop_test(tc, hosts_are_offered_narrowly, 0, sizeof(hosts) / sizeof(hosts[0]));
	suite_add_tcase(s, tc);
	return s;
}
