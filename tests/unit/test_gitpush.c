/* Where a push goes, by its words and a configuration. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "policy/base/util.h"
#include "policy/gitfiles/gitpush.h"

Suite *suite_gitpush(void);

#define URL(x) "[remote \"o\"]\nurl = " x "\n"

static const struct {
	const char *words, *config, *urls; /* NULL: not known */
} rows[] = {
	{ "git push o x", URL("https://h/a"), "https://h/a" },
	{ "git push o x", URL("a") URL("h:b"), "a\nh:b" },
	{ "git push o x", URL("a") "pushurl = b\npushurl = c\n", "b\nc" },
	{ "git push O x", URL("a"), "O" },
	{ "git push ../x.git", URL("a"), "../x.git" },
	{ "git push /o x", "[remote \"/o\"]\nurl = a\n", "/o" },
	{ "git push -o o p x", URL("a"), "p" },
	{ "git push --push-o o p x", URL("a"), "p" },
	{ "git push --recurse-submodules no p x", URL("a"), "p" },
	{ "git push -- -x", "", "-x" },
	{ "git push --rep o", URL("a"), "a" },
	{ "git push --repo=p --repo o", URL("a"), "a" },
	{ "git push --repo=p o x", URL("a"), "a" },
	{ "git push", URL("a"), NULL },
	{ "git push", URL("a") "[branch \"topic\"]\nremote = o\n", "a" },
	{ "git push", URL("a") "[branch \"topic\"]\nremote = o\n[remote]\npushDefault = p\n", "p" },
	{ "git push", "[branch \"topic\"]\npushRemote = q\n[remote]\npushDefault = p\n", "q" },
	{ "git push", "[branch \"topic\"]\nremote\n", NULL },
	{ "git push", "[branch \"other\"]\nremote = o\n", NULL },
	{ "git -c user.name=x -C y push o", URL("a"), "a" },
	/* rewritten */
	{ "git push o", URL("g:a") "[url \"h:\"]\ninsteadOf = g:\n", "h:a" },
	{ "git push g:a", "[url \"h:\"]\ninsteadOf = g:\n", "h:a" },
	{ "git push g:a", "[url \"h:\"]\ninsteadOf = g\n[url \"k:\"]\ninsteadOf = g:\n", "k:a" },
	{ "git push g:a", "[url \"k:\"]\ninsteadOf = g:\n[url \"h:\"]\ninsteadOf = g\n", "k:a" },
	{ "git push g:a", "[url \"k:\"]\ninsteadOf = g:\n[url \"h:\"]\ninsteadOf = g:\n", NULL },
	{ "git push g:a", "[url \"k:\"]\ninsteadOf = g:\ninsteadOf = g:\n", "k:a" },
	{ "git push g:a", "[url \"h/\"]\ninsteadOf = g:\npushInsteadOf = g\n", "h/:a" },
	{ "git push o", URL("g:a") URL("b") "[url \"h:\"]\npushInsteadOf = g:\n", "h:a" },
	{ "git push o", URL("g:a") "pushurl = g:b\n[url \"h:\"]\npushInsteadOf = g:\n", "g:b" },
	{ "git push o", URL("g:a") "pushurl = g:b\n[url \"h:\"]\ninsteadOf = g:\n", "h:b" },
	{ "git push a", "[url \"h:\"]\ninsteadOf =\n", "h:a" },
	{ "git push a", "[url \"ext::\"]\ninsteadOf = a\n", NULL },
	/* nobody can tell */
	{ "git push o", URL(""), NULL },
	{ "git push o", URL("a") "pushurl =\n", NULL },
	{ "git push o", "[remote \"o\"]\npushurl = a\n", NULL },
	{ "git push o", URL("a") "vcs = x\n", NULL },
	{ "git push o", URL("a\\nb"), NULL },
	{ "git push o", URL("a") "[include]\npath = x\n", NULL },
	{ "git push o", URL("a") "[includeIf \"x\"]\npath = x\n", NULL },
	{ "git push o", URL("a") "[remotes]\nx = o\n", NULL },
	{ "git -c remote.o.url=b push o", URL("a"), NULL },
	{ "git -c URL.b.insteadof=a push o", URL("a"), NULL },
	{ "git -c branch.topic.remote=b push", URL("a"), NULL },
	{ "git -c include.path=b push o", URL("a"), NULL },
	{ "git -c extensions.worktreeConfig push o", URL("a"), NULL },
	{ "git --config-env remote.o.url=b push o", URL("a"), NULL },
	{ "git --config-env=remote.o.url=b push o", URL("a"), NULL },
	{ "git -c core.sshCommand=b push o", URL("a"), NULL },
	{ "git -c Core.gitProxy=b push o", URL("a"), NULL },
	{ "git -c http.proxy=b push o", URL("a"), NULL },
	{ "git -c http.https://h/.proxy=b push o", URL("a"), NULL },
	{ "git -c remote.o.proxy=b push o", URL("a"), NULL },
	{ "git -c remote.o.receivepack=b push o", URL("a"), NULL },
	{ "git -c protocol.ext.allow=always push o", URL("a"), NULL },
	{ "git -c ssh.variant=simple push o", URL("a"), NULL },
	{ "git --exec-path=b push o", URL("a"), NULL },
	{ "git push --receive-pack=b o", URL("a"), NULL },
	{ "git push --exec b o", URL("a"), NULL },
	{ "git push o --rece=b", URL("a"), NULL },
	{ "git push --repo=o --no-repo", URL("a"), NULL },
	{ "env git push o", URL("a"), NULL },
	{ "git send-pack o", URL("a"), NULL },
	{ "git -c alias.p=push p o", URL("a"), NULL },
};

/* Splits the words at blanks, in place. */
static size_t split(char *text, const char **argv)
{
	size_t n = 0;

	for (char *at, *w = strtok_r(text, " ", &at); w; w = strtok_r(NULL, " ", &at))
		argv[n++] = w;
	argv[n] = NULL;
	return n;
}

START_TEST(a_push_goes)
{
	struct request req = { .op = OP_EXEC, .path = "/usr/bin/git" };
	char *words = strdup(rows[_i].words), buf[256] = "";
	const char *argv[16], *repo = NULL, *why;
	struct out o = out_of(buf, sizeof(buf));
	struct gitconfig g;
	unsigned line;

	req.argc = split(words, argv);
	req.argv = argv;
	ck_assert_int_eq(gitconfig_parse(rows[_i].config, strlen(rows[_i].config), &g, &line), 0);
	why = gitpush_words(&req, &repo);
	if (!why)
		why = gitpush_urls(&g, repo, "topic", &o);
	if (rows[_i].urls)
		ck_assert_msg(!why && strcmp(buf, rows[_i].urls) == 0, "%s: %s: %s", rows[_i].words, buf,
			      why);
	else
		ck_assert_msg(why != NULL, "%s: %s", rows[_i].words, buf);
	gitconfig_done(&g);
	free(words);
}
END_TEST

START_TEST(one_that_is_too_long_is_not_known)
{
	static const char text[] = URL("aaaaaaaaaaaaaaaaaaaa");
	char buf[16];
	struct out o = out_of(buf, sizeof(buf));
	struct gitconfig g;
	unsigned line;

	ck_assert_int_eq(gitconfig_parse(text, strlen(text), &g, &line), 0);
	ck_assert_ptr_nonnull(gitpush_urls(&g, "o", NULL, &o));
	gitconfig_done(&g);
}
END_TEST

/* NULL for the host: nobody can tell; "": this machine. */
static const struct {
	const char *url, *host;
} urls[] = {
	{ "https://h.example/a", "h.example" },
	{ "https://token@h.example:443/a", "h.example" },
	{ "https://u:p@h/a", "h" },
	{ "https://good.example:x@h/a", "h" },
	{ "https://h?@good.example", "h" },
	{ "https://h#@good.example", "h" },
	{ "https://h/@good.example:x", "h" },
	{ "ssh://git@h:22/a", "h" },
	{ "ssh://git:p@h/a", "h" },
	{ "git+ssh://git@h/a", "h" },
	{ "git://h/a", "h" },
	{ "git@h:a/b", "h" },
	{ "h:a@b:c", "h" },
	{ "u:p@h:x", "u" },
	{ "../a", "" },
	{ "/a:b", "" },
	{ "./h:a", "" },
	{ "file:///a", "" },
	{ "a b", "" },
	{ "ext::sh -c x", NULL },
	{ "a.b::c", NULL },
	{ "odd://h/a", NULL },
	{ "HTTPS://h/a", NULL },
	{ "https://a@b@c/x", NULL },
	{ "https://a\\@b/x", NULL },
	{ "https://a%2f@b/x", NULL },
	{ "https://[::1]/x", NULL },
	{ "https:///x", NULL },
	{ "https://@/x", NULL },
	{ "https://h\t.example/x", NULL },
	{ "https://h\xc3\xa9/x", NULL },
	{ "ssh://-oProxyCommand=x/y", NULL },
	{ "ssh://u@-x/y", NULL },
	{ "-x:y", NULL },
	{ "[h:22]:x", NULL },
	{ ":x", NULL },
	{ "", NULL },
	{ "a\nb", NULL },
};

START_TEST(a_url_leads)
{
	const char *url = urls[_i].url, *want = urls[_i].host, *host;
	size_t len;

	ck_assert_msg(giturl_host(url, &host, &len) == (want != NULL), "%s", url);
	if (want)
		ck_assert_msg(len == strlen(want) && strncmp(host, want, len) == 0, "%s: %.*s", url, (int)len,
			      host);
}
END_TEST

Suite *suite_gitpush(void)
{
	Suite *s = suite_create("gitpush");
	TCase *tc = tcase_create("gitpush");

	tcase_add_loop_test(tc, a_push_goes, 0, (int)NELEM(rows));
	tcase_add_test(tc, one_that_is_too_long_is_not_known);
	tcase_add_loop_test(tc, a_url_leads, 0, (int)NELEM(urls));
	suite_add_tcase(s, tc);
	return s;
}
