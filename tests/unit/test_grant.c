/* Grants: what a line covers, what is none, and that none is ever above a deny. */
#include "grant_fixture.h"

Suite *suite_grant(void);

START_TEST(scopes_have_names)
{
	for (unsigned i = 0; i < GRANT_SCOPES; i++)
		ck_assert_uint_eq(grant_scope_by_name(grant_scope_name((enum grant_scope)i)), i);
	ck_assert_uint_eq(grant_scope_by_name("forever"), GRANT_SCOPES);
	ck_assert_uint_eq(grant_scope_by_name(NULL), GRANT_SCOPES);
	ck_assert_str_eq(grant_scope_name(GRANT_SCOPES), "?");
}
END_TEST

static const struct {
	const char *rule, *path, *line;
	bool yes;
} covered[] = {
	{ "git push origin feature/*", NULL, "git push origin feature/y", true },
	{ "git push origin feature/*", NULL, "git push -u origin feature/y", true },
	{ "git push origin feature/*", NULL, "timeout 9 git push origin feature/y", true },
	{ "git push origin feature/*", "/usr/lib/git-core/git-push", "git-push origin feature/y", true },
	{ "git push origin feature/*", NULL, "git push origin main", false },
	{ "git push origin feature/*", NULL, "git push origin feature/y main", false },
	{ "git push origin feature/*", NULL, "git push origin feature/y staging", false },
	{ "git push origin feature/*", NULL, "git push origin feature/y:staging", false },
	{ "git push origin feature/*", NULL, "git push origin +feature/y", false },
	{ "git push origin feature/*", NULL, "git push --force origin feature/y", false },
	{ "git push origin feature/*", NULL, "git push -f origin feature/y", false },
	{ "git push origin feature/*", NULL, "git push --receive-pack=x origin feature/y", false },
	{ "git push origin feature/*", NULL, "git push upstream feature/y", false },
	{ "git push origin feature/*", NULL, "git -c remote.origin.url=x push origin feature/y", false },
	{ "git push origin feature/*", "/tmp/git", "git push origin feature/y", false },
	{ "git push origin feature/*", "/ws/git", "git push origin feature/y", false },
	{ "git push origin feature/*", "/tmp/git-push", "git-push origin feature/y", false },
	{ "/tmp/git push origin feature/*", "/tmp/git", "git push origin feature/y", true },
	{ "git push --force origin feature/*", NULL, "git push --force origin feature/y", true },
	{ "git push origin feature/*:staging", NULL, "git push origin feature/y:staging", true },
	{ "git push origin feature/*:staging", NULL, "git push origin feature/y:production", false },
	{ "git push origin ...", NULL, "git push origin a b c", true },
	{ "git push origin ...", NULL, "git push origin a:b", false },
	{ "npm publish $", NULL, "npm publish", true },
	{ "npm publish $", NULL, "npm publish --tag x", false },
	{ "npm publish $", NULL, "npm publish x", false },
	{ "npm publish --tag a $", NULL, "npm publish --tag a", true },
	{ "npm publish --tag a $", NULL, "npm publish --tag b --tag a", false },
	/* these words and no others: in this order, too */
	{ "aws cp --from a --to b $", NULL, "aws cp --from a --to b", true },
	{ "aws cp --from a --to b $", NULL, "aws cp --to a --from b", false },
	{ "aws cp --from a --to b $", NULL, "aws cp a --from b --to", false },
	{ "aws -ab -b $", NULL, "aws -ab --", false },
	{ "npm publish (--tag|--access) b $", NULL, "npm publish --tag b", true },
	{ "gh pr create", NULL, "gh pr create --title x --body y", true },
	{ "gh pr create", NULL, "gh pr merge 7", false },
	/* what calls itself git and is an interpreter */
	{ "git push origin feature/*", "/usr/bin/python3.11", "git push origin feature/y", false },
	{ "git push origin feature/*", "/bin/bash", "git push origin feature/y", false },
	/* who is asked about besides */
	{ "npm publish $", NULL, "kubectl npm publish", false },
};

START_TEST(a_line_covers_what_it_says)
{
	char line[256];
	struct words w;

	take("agent", "[commands]\nask = python3 push\nask = bash push\n");
	snprintf(line, sizeof(line), "allow = %s", covered[_i].rule);
	ck_assert_msg(allows("commands", line, words(&w, covered[_i].path, covered[_i].line)) ==
			      covered[_i].yes,
		      "%s: %s", line, covered[_i].line);
}
END_TEST

/* Each command that is asked about needs a grant of its own. */
START_TEST(a_wrapper_that_is_asked_about_is_not_covered)
{
	struct words w;

	take("agent", "[commands]\nask = timeout\n");
	ck_assert(allows("commands", "allow = git push origin topic $",
			 words(&w, NULL, "git push origin topic")));
	ck_assert(!allows("commands", "allow = git push origin topic $",
			  words(&w, NULL, "timeout 5 git push origin topic")));
	ck_assert(!allows("commands", "allow = timeout 5 git push origin topic $",
			  words(&w, NULL, "timeout 5 git push origin topic")));
}
END_TEST

START_TEST(the_file_of_a_program_is_asked_about_too)
{
	struct request req;
	struct grant_offers o;
	struct words w;

	take("agent", "[files]\nask = /opt/tools\n");
	req = *words(&w, "/opt/tools/deploy", "deploy prod");
	ck_assert_uint_eq(eval(&fx.img, &req).verdict, VERDICT_ASK);
	ck_assert(!allows("commands", "allow = deploy prod $", &req));
	ck_assert(allows("files", "read = /opt/tools/deploy", &req));
	ck_assert_int_eq(grant_offer(&fx.img, &req, &o), 0);
	ck_assert_uint_ge(o.n, 1);
	ck_assert_str_eq(o.section, "files");
	ck_assert_str_eq(o.line[0], "read = /opt/tools/deploy");
	grant_offers_done(&o);
}
END_TEST

/* --- what is no grant --- */

static const struct {
	const char *section, *line;
} refused[] = {
	{ "commands", "deny = git push" },
	{ "commands", "ask = git push" },
	{ "commands", "denylist = git push" },
	{ "commands", "default = allow" },
	{ "commands", "message = x" },
	{ "commands", "# allow = git push" },
	{ "commands", "allow = git push origin feature/x $\nallow = rm x" },
	{ "commands", "allow = *" },
	{ "commands", "allow = * push" },
	{ "commands", "allow = g* push origin feature/x" },
	{ "commands", "allow = git" },
	{ "commands", "allow = git *" },
	{ "commands", "allow = git ..." },
	{ "commands", "allow = (sh|git) push origin feature/x" },
	{ "commands", "allow = bash" },
	{ "commands", "allow = env git push origin feature/x" },
	{ "commands", "allow = git (push" },
	{ "commands] x", "allow = git push origin feature/x" },
	{ "session", "mode = danger" },
	{ "environment", "pass = TOKEN" },
	{ "git", "protect = x" },
	{ "nowhere", "allow = git push" },
	{ "files", "write = /" },
	{ "files", "write = /**" },
	{ "files", "write = ~" },
	{ "files", "write = ~/*" },
	{ "files", "write = /home" },
	{ "files", "write = /home/*" },
	{ "files", "write = .." },
	{ "files", "deny = /x" },
	{ "files", "sensitive = /x" },
	{ "network", "allow = *" },
	{ "network", "allow = *.org" },
	{ "network", "allow = *.co.uk" },
	{ "network", "allow = *.github.io" },
	{ "network", "allow = 10.0.0.0/8" },
	{ "network", "mode = open" },
	{ "network", "unix = /run/*/docker.sock" },
	{ "network", "unix = @*" },
};

START_TEST(some_lines_are_no_grant)
{
	take("agent", "");
	ck_assert_msg(check(refused[_i].section, refused[_i].line, NULL) == -EINVAL, "[%s] %s",
		      refused[_i].section, refused[_i].line);
}
END_TEST

/* As the answer to a question a line has to be one about it. */
START_TEST(a_line_must_cover_the_question)
{
	struct words w;
	const struct request *req;

	take("agent", "");
	req = words(&w, NULL, "git push origin feature/x");
	ck_assert_int_eq(check("commands", "allow = git push origin feature/x $", req), 0);
	ck_assert_int_eq(check("commands", "allow = git commit", req), -EINVAL);
	ck_assert_int_eq(check("commands", "allow = git commit", NULL), 0);
	ck_assert_int_eq(check("commands", "allow = \"git\" push origin other", req), -EINVAL);
	/* nor is there an answer where nothing is asked */
	req = words(&w, NULL, "git commit");
	ck_assert_int_eq(check("commands", "allow = git commit", req), -EINVAL);
}
END_TEST

START_TEST(words_and_file_need_both)
{
	const struct grant_line list[] = { { "commands", "allow = /opt/tools/deploy prod $" },
					   { "files", "read = /opt/tools/deploy" } };
	uint8_t *bytes = NULL;
	struct image img;
	struct diags d;
	struct words w;
	size_t size, i;

	take("agent", "[files]\nask = /opt/tools\n[commands]\nask = deploy\n");
	words(&w, "/opt/tools/deploy", "deploy prod");
	ck_assert(!allows(list[0].section, list[0].line, &w.req));
	ck_assert(!allows(list[1].section, list[1].line, &w.req));
	diags_init(&d);
	ck_assert_int_eq(grants_compile(&fx.img, list, 2, &d, &bytes, &size), 0);
	ck_assert_int_eq(image_open_checked(&img, bytes, size), 0);
	ck_assert(grants_allow(&img, &fx.img, &w.req, &i));
	free(bytes);
	diags_done(&d);
}
END_TEST

/* Who listens at a socket acts outside the fence: a directory that may be written is no word about that. */
START_TEST(a_socket_needs_its_own_line)
{
	const struct request req = { .op = OP_UNIX, .path = "/home/u/Documents/s.sock" };

	take("agent", "[files]\nask = ~/Documents\n");
	ck_assert_uint_eq(eval(&fx.img, &req).verdict, VERDICT_ASK);
	ck_assert(!allows("files", "write = /home/u/Documents", &req));
	ck_assert(allows("network", "unix = /home/u/Documents/s.sock", &req));
}
END_TEST

START_TEST(a_bad_grant_is_told_by_its_number)
{
	const struct grant_line list[] = { { "commands", "allow = git push $" },
					   { "commands", "deny = git push" },
					   { "files", "write = /home/u/x" } };
	uint8_t *bytes = NULL;
	struct diags d;
	size_t size;

	take("agent", "");
	diags_init(&d);
	ck_assert_int_eq(grants_compile(&fx.img, list, 3, &d, &bytes, &size), -EBADMSG);
	ck_assert_ptr_null(bytes);
	ck_assert_uint_ge(d.n, 1);
	ck_assert_uint_eq(d.list[0].line, 2);
	diags_done(&d);
}
END_TEST

START_TEST(the_grant_that_covers_is_told)
{
	const struct grant_line list[] = { { "files", "write = /home/u/Documents" },
					   { "commands", "allow = npm publish $" },
					   { "network", "allow = a.example:443" } };
	struct request file = { .op = OP_WRITE, .access = ACCESS_WRITE, .path = "/home/u/Documents/a" };
	struct request host = { .op = OP_CONNECT, .host = "a.example", .port = 443 };
	uint8_t *bytes = NULL;
	struct image img;
	struct diags d;
	struct words w;
	size_t size, i = 99;

	take("agent", "[files]\nask = ~/Documents\n[network]\nask = a.example\n");
	diags_init(&d);
	ck_assert_int_eq(grants_compile(&fx.img, list, 3, &d, &bytes, &size), 0);
	ck_assert_int_eq(image_open_checked(&img, bytes, size), 0);
	ck_assert(grants_allow(&img, &fx.img, &file, &i) && i == 0);
	ck_assert(grants_allow(&img, &fx.img, words(&w, NULL, "npm publish"), &i) && i == 1);
	ck_assert(grants_allow(&img, &fx.img, &host, &i) && i == 2);
	/* the workspace is nobody's grant, nor is what may be read anyway */
	file.path = "/ws/a";
	ck_assert(!grants_allow(&img, &fx.img, &file, &i));
	file = (struct request){ .op = OP_READ, .access = ACCESS_READ, .path = "/etc/hostname" };
	ck_assert(!grants_allow(&img, &fx.img, &file, &i));
	free(bytes);
	diags_done(&d);
}
END_TEST

/* --- properties --- */

static uint32_t seed;

static uint32_t rnd(uint32_t n)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % n;
}

static void random_word(char *buf, size_t size)
{
	static const char *const pieces[] = { "a", "b",	  "/",	"*",	      "?",	  "[",	"]", "(",
					      ")", "|",	  "$",	"...",	      "\"",	  "'",	" ", "\\",
					      "-", "--x", "=",	"<relative>", "feature/", "..", ":", ";",
					      "#", "~",	  "\t", "\xc3\xa9",   "\x01",	  "+" };
	size_t n = 0, parts = 1 + rnd(4);

	buf[0] = '\0';
	while (parts-- > 0) {
		const char *piece = pieces[rnd(sizeof(pieces) / sizeof(pieces[0]))];

		if (n + strlen(piece) + 1 > size)
			break;
		strcpy(buf + n, piece);
		n += strlen(piece);
	}
}

static const char *const programs[] = { "git", "npm", "gh", "docker", "deploy", "kubectl", "make" };
static const char *const subs[] = { "push", "publish", "pr", "run", "create", "build", "get" };

static void random_argv(struct words *w, char store[][32])
{
	size_t n = 2 + rnd(5);

	w->argv[0] = programs[rnd(7)];
	w->argv[1] = subs[rnd(7)];
	for (size_t i = 2; i < n; i++) {
		random_word(store[i], sizeof(store[0]));
		w->argv[i] = store[i];
	}
	w->argv[n] = NULL;
	snprintf(w->path, sizeof(w->path), "/usr/bin/%s", w->argv[0]);
	w->req = (struct request){ .op = OP_EXEC, .path = w->path, .argv = w->argv, .argc = n, .cwd = "/ws" };
}

/* Whatever the words: what is offered covers them, and the first line covers no others. */
START_TEST(random_words_are_never_patterns)
{
	char store[8][32], other[32];
	struct grant_offers o;
	struct words w;
	unsigned offers = 0, changed = 0;

	seed = (uint32_t)_i + 1;
	take("agent", "[commands]\ndefault = ask\n");
	for (unsigned round = 0; round < 300; round++) {
		random_argv(&w, store);
		ck_assert_int_eq(grant_offer(&fx.img, &w.req, &o), 0);
		for (size_t i = 0; i < o.n; i++)
			ck_assert(allows("commands", o.line[i], &w.req));
		offers += o.n > 0;
		if (o.n > 0 && strcmp(o.line[0] + strlen(o.line[0]) - 2, " $") == 0) {
			size_t at = 1 + rnd((uint32_t)w.req.argc - 1);
			const char *was = w.argv[at];

			random_word(other, sizeof(other));
			w.argv[at] = other;
			/* an option may stand elsewhere, and have its value behind `=` */
			if (strcmp(was, other) != 0 && was[0] != '-' && other[0] != '-') {
				ck_assert_msg(!allows("commands", o.line[0], &w.req), "%s covers %s for %s",
					      o.line[0], other, was);
				changed++;
			}
		}
		grant_offers_done(&o);
	}
	ck_assert_uint_gt(offers, 50);
	ck_assert_uint_gt(changed, 20);
}
END_TEST

/* Over every preset, and every line that was offered anywhere: a deny stays one, and so does an allow. */
START_TEST(no_grant_is_above_a_deny)
{
	static const char *const lines[] = { "git push origin main",
					     "git push origin feature/x",
					     "git push --force origin main",
					     "curl http://x",
					     "rm -rf x",
					     "sudo ls",
					     "npm publish",
					     "git -C d push origin HEAD:main",
					     "shutdown now",
					     "docker push x/y:1" };
	struct grant_line list[64];
	struct grant_offers kept[64];
	uint8_t *bytes = NULL;
	struct image img;
	struct diags d;
	struct words w;
	size_t size, n = 0, index, denied = 0;

	take("agent", "[commands]\ndefault = ask\nask = git push\n");
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		ck_assert_int_eq(grant_offer(&fx.img, words(&w, NULL, lines[i]), &kept[i]), 0);
		for (size_t k = 0; k < kept[i].n; k++)
			list[n++] = (struct grant_line){ kept[i].section, kept[i].line[k] };
	}
	list[n++] = (struct grant_line){ "commands", "allow = git push ..." };
	list[n++] = (struct grant_line){ "files", "write = /home/u/.ssh/x" };
	list[n++] = (struct grant_line){ "files", "write = /etc/ssh" };
	list[n++] = (struct grant_line){ "network", "allow = 169.254.169.254" };
	for (const char *const *name = (const char *const[]){ "agent", "security-v0", "review", "ci", NULL };
	     *name; name++) {
		struct request places_denied[] = {
			{ .op = OP_READ, .access = ACCESS_READ, .path = "/home/u/.ssh/x" },
			{ .op = OP_WRITE, .access = ACCESS_WRITE, .path = "/etc/ssh/x" },
			{ .op = OP_CONNECT,
			  .has_addr = true,
			  .port = 80,
			  .addr = { [10] = 0xff, [11] = 0xff, 169, 254, 169, 254 } },
		};

		take(*name, "");
		diags_init(&d);
		ck_assert_int_eq(grants_compile(&fx.img, list, n, &d, &bytes, &size), 0);
		ck_assert_int_eq(image_open_checked(&img, bytes, size), 0);
		for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
			bool asked = eval(&fx.img, words(&w, NULL, lines[i])).verdict == VERDICT_ASK;

			ck_assert(asked || !grants_allow(&img, &fx.img, &w.req, &index));
			denied += !asked;
		}
		for (size_t i = 0; i < 3; i++) {
			ck_assert_uint_eq(eval(&fx.img, &places_denied[i]).verdict, VERDICT_DENY);
			ck_assert(!grants_allow(&img, &fx.img, &places_denied[i], &index));
		}
		free(bytes);
		diags_done(&d);
	}
	ck_assert_uint_gt(denied, 10);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		grant_offers_done(&kept[i]);
}
END_TEST

Suite *suite_grant(void)
{
	Suite *s = suite_create("grant");
	TCase *tc = tcase_create("grant");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 30);
	tcase_add_test(tc, scopes_have_names);
	tcase_add_loop_test(tc, a_line_covers_what_it_says, 0, sizeof(covered) / sizeof(covered[0]));
	tcase_add_test(tc, a_wrapper_that_is_asked_about_is_not_covered);
	tcase_add_test(tc, the_file_of_a_program_is_asked_about_too);
	tcase_add_loop_test(tc, some_lines_are_no_grant, 0, sizeof(refused) / sizeof(refused[0]));
	tcase_add_test(tc, a_line_must_cover_the_question);
	tcase_add_test(tc, words_and_file_need_both);
	tcase_add_test(tc, a_socket_needs_its_own_line);
	tcase_add_test(tc, a_bad_grant_is_told_by_its_number);
	tcase_add_test(tc, the_grant_that_covers_is_told);
	tcase_add_loop_test(tc, random_words_are_never_patterns, 0, 4);
	tcase_add_test(tc, no_grant_is_above_a_deny);
	suite_add_tcase(s, tc);
	return s;
}
