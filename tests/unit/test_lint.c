/*
 * What lint says of a policy: each check fires on the mistake it is for and is silent on its
 * neighbour.
 */
#include "policy/lint/lint.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "parse_fixture.h"

Suite *suite_lint(void);

static bool exists(const char *path, void *ctx)
{
	(void)ctx;
	return strcmp(path, "/missing") != 0;
}

static bool by_others(const char *path, void *ctx)
{
	(void)ctx;
	return strcmp(path, "/shared/policy.ini") == 0;
}

static bool suffix(const char *domain, void *ctx)
{
	(void)ctx;
	return strcmp(domain, "github.io") == 0 || strcmp(domain, "co.uk") == 0;
}

static void lint(const char *path, const char *text)
{
	const struct lint_world world = { exists, by_others, suffix, NULL };
	struct image img;
	uint8_t *bytes;
	size_t size;

	if (text)
		ck_assert_int_eq(bundle_add_source(&b, SOURCE_USER, path, text, strlen(text)), 0);
	ck_assert_int_eq(policy_parse(&b, &p, &d), 0);
	ck_assert_int_eq(image_compile(&p, NULL, &d, &bytes, &size), 0);
	ck_assert_int_eq(image_open_checked(&img, bytes, size), 0);
	ck_assert_int_eq(policy_lint(&p, &b, &img, &world, &d), 0);
	free(bytes);
}

/* code and line of what must be found; NULL where the policy is clean. */
static const struct {
	const char *text, *code;
	unsigned line;
} cases[] = {
	{ "[files]\nwrite = /\n", "too-broad", 2 },
	{ "[files]\nwrite = ~\n", "too-broad", 2 },
	{ "[files]\nwrite = /home\n", "too-broad", 2 },
	{ "[files]\nwrite = ..\n", "too-broad", 2 },
	{ "[files]\nwrite = /srv/data\n", NULL, 0 },
	{ "[files]\nwrite = .\n", NULL, 0 },
	{ "[files]\nwrite = ~/.config\n", "sensitive-inside", 2 },
	{ "[files]\nread = /missing\n", "missing-path", 2 },
	{ "[files]\nread = /mis\\sing\n", "missing-path", 2 },
	{ "[files]\ndeny = br\\[a].txt\n", NULL, 0 },
	{ "[files]\ndeny = *.{pem,key}\n", "braces", 2 },
	{ "[files]\ndeny = {a,b}/x\n", "braces", 2 },
	{ "[files]\ndeny = *.\\{pem,key}\n", NULL, 0 },
	{ "[files]\ndeny = *.{pem}\n", NULL, 0 },
	{ "[files]\ndeny = /d\nwrite = /d\n", "tied", 3 },
	{ "[files]\nwrite = /d\nask = /d\n", "tied", 2 },
	{ "[files]\nwrite = /d\nkeep = /d\n", NULL, 0 },
	{ "[files]\nread = /d\nreadonly = /d\n", NULL, 0 },
	{ "[files]\ndeny = /d\ndeny = /d/\n", "duplicate", 3 },
	{ "[files]\nwrite = /d\ndeny = /d/e\n", NULL, 0 },
	{ "[files]\nwrite = ~/.ssh/sub\n", "unreachable", 2 },
	{ "[files]\nread = ~/.aws\n", "unreachable", 2 },
	{ "[commands]\nallow = *\n", "too-broad", 2 },
	{ "[commands]\nallow = ...\n", "too-broad", 2 },
	{ "[commands]\nallow = sudo apt\n", "denylisted-allow", 2 },
	{ "[commands]\nask = (reboot|halt)\n", "denylisted-allow", 2 },
	{ "[commands]\nask = (reboot|ls)\n", NULL, 0 },
	{ "[commands]\nallow = make\ndeny = make\n", "tied", 2 },
	{ "[commands]\ndefault = deny\nallow = find\n", NULL, 0 },
	{ "[commands]\ndefault = deny\nallow = find -exec\n", "escape", 3 },
	{ "[commands]\ndefault = deny\nallow = find\ndeny = find (-exec|-delete)\n", NULL, 0 },
	{ "[commands]\ndefault = ask\nallow = tar --to-command\n", "escape", 3 },
	{ "[commands]\ndefault = ask\nallow = git status\n", NULL, 0 },
	{ "[commands]\ndefault = ask\nallow = git -c\n", "escape", 3 },
	{ "[commands]\ndefault = ask\nallow = deploytool\n", "options", 3 },
	{ "[commands]\ndeny = */tac\n", "program-below", 2 },
	{ "[commands]\nask = */bin/tac x\n", "program-below", 2 },
	{ "[commands]\ndeny = tac */x\ndeny = ./tic\ndeny = /usr/*/toc\n", NULL, 0 },
	{ "[commands]\ndefault = ask\nallow = (ls|awk)\n", "interpreter", 3 },
	{ "[commands]\ndefault = ask\nallow = python3\n", "interpreter", 3 },
	{ "[commands]\ndefault = ask\nallow = python3 *\n", "interpreter", 3 },
	{ "[commands]\ndefault = ask\nallow = python3 ...\n", "interpreter", 3 },
	{ "[commands]\ndefault = ask\nallow = python3 tools/gen.py\n", NULL, 0 },
	{ "[commands]\ndefault = ask\nallow = python3 -c \"print(1)\" $\n", NULL, 0 },
	{ "[commands]\ndefault = allow\nallow = python3\n", NULL, 0 },
	{ "[commands]\nask = git push\n", NULL, 0 },
	{ "[commands]\nallow = git push origin main\n", "unreachable", 2 },
	{ "[network]\nallow = *.corp\n", "too-broad", 2 },
	{ "[network]\nudp = *:123\n", "too-broad", 2 },
	{ "[network]\nallow = *.s3.amazonaws.com\n", "user-content", 2 },
	{ "[network]\nask = *.githubusercontent.com:443\n", "user-content", 2 },
	{ "[network]\nallow = Gist.GitHub.com.:443\n", "user-content", 2 },
	{ "[network]\nallow = mine.s3.amazonaws.com\n", NULL, 0 },
	{ "[network]\ndeny = *.pastebin.com\n", NULL, 0 },
	{ "[network]\nallow = 93.184.216.34:443\n", "raw-address", 2 },
	{ "[network]\nallow = [2a00:1450::1]:443\n", "raw-address", 2 },
	{ "[network]\nallow = 93.184.0.0/16\n", "raw-address", 2 },
	{ "[network]\nallow = 10.0.0.0/8\n", NULL, 0 },
	{ "[network]\nallow = 0.0.0.0:80\n", "unreachable", 2 },
	{ "[network]\nudp = 0.0.0.0:5353\n", NULL, 0 },
	{ "[network]\nallow = [::]:80\n", "unreachable", 2 },
	{ "[network]\nallow = dns.google\n", "resolver", 2 },
	{ "[network]\nallow = *.cloudflare-dns.com:443\n", "resolver", 2 },
	{ "[network]\nallow = 1.1.1.1:443\n", "resolver", 2 },
	{ "[network]\nallow = ns.example:853\n", "resolver", 2 },
	{ "[network]\nudp = ns.example:53\n", "dns-port", 2 },
	{ "[network]\nallow = ns.example:53\n", "dns-port", 2 },
	{ "[network]\nallow = ns.example:1-65535\n", NULL, 0 },
	{ "[network]\nmode = off\nallow = a.example\n", "silent", 3 },
	{ "[network]\nmode = off\nbind = 8080\n", "silent", 3 },
	{ "[network]\nmode = strict\nask = a.example\n", "silent", 3 },
	{ "[network]\nmode = strict\nudp = a.example:5\n", "silent", 3 },
	{ "[network]\nmode = strict\nbind = 8080\ndeny = a.example\n", NULL, 0 },
	{ "[network]\nallow = a.example:443\ndeny = a.example:400-500\n", "unreachable", 2 },
	{ "[network]\nallow = a.example:443\nask = a.example\n", NULL, 0 },
	{ "[network]\nallow = a.example:443\nudp = a.example:443\n", NULL, 0 },
	{ "[network]\nallow = *\n", "too-broad", 2 },
	{ "[network]\nallow = 0.0.0.0/0\n", "too-broad", 2 },
	{ "[network]\nallow = *.github.io\n", "public-suffix", 2 },
	{ "[network]\nallow = *.me.github.io\n", NULL, 0 },
	{ "[network]\ndeny = *.github.io\n", NULL, 0 },
	{ "[network]\nallow = x.org\ndeny = x.org\n", "tied", 2 },
	{ "[network]\nunix = /run/*\n", "too-broad", 2 },
};

START_TEST(finds)
{
	bool found = false;

	lint("policy.ini", cases[_i].text);
	for (size_t i = 0; i < d.n; i++) {
		ck_assert_int_ne(d.list[i].severity, SEVERITY_ERROR);
		ck_assert_str_eq(d.list[i].file, "policy.ini");
		if (cases[_i].code && strcmp(d.list[i].code, cases[_i].code) == 0 &&
		    d.list[i].line == cases[_i].line)
			found = true;
	}
	if (cases[_i].code)
		ck_assert_msg(found, "%s: no %s", cases[_i].text, cases[_i].code);
	else
		ck_assert_msg(d.n == 0, "%s: %s [%s]", cases[_i].text, d.list[0].text, d.list[0].code);
}
END_TEST

static bool has(const char *code)
{
	for (size_t i = 0; i < d.n; i++)
		if (strcmp(d.list[i].code, code) == 0)
			return true;
	return false;
}

START_TEST(policy_in_reach)
{
	lint("/home/u/ws/policy.ini", "[git]\nprotect = x\n");
	ck_assert(has("policy-writable") && !has("policy-others"));
}
END_TEST

START_TEST(policy_of_others)
{
	lint("/shared/policy.ini", "[git]\nprotect = x\n");
	ck_assert(has("policy-others") && !has("policy-writable"));
}
END_TEST

START_TEST(policy_out_of_reach)
{
	b.self_write = calloc(1, sizeof(char *));
	b.self_write[b.n_self_write++] = strdup("/home/u/ws/policy.ini");
	lint("/home/u/ws/policy.ini", "[git]\nprotect = x\n");
	ck_assert_uint_eq(d.n, 0);
}
END_TEST

START_TEST(workspace_holds_secrets)
{
	free(b.workspace);
	b.workspace = strdup("/home/u");
	lint("policy.ini", "[git]\nprotect = x\n");
	ck_assert(has("sensitive-inside"));
}
END_TEST

/* Findings about a preset come only when it is looked at by itself; none is an error. */
START_TEST(presets)
{
	b.preset = strdup(preset_name((size_t)_i));
	lint(NULL, NULL);
	ck_assert_uint_eq(d.n_errors, 0);
	ck_assert(!has("tied") && !has("duplicate") && !has("unreachable") && !has("denylisted-allow"));
	ck_assert(!has("too-broad"));
}
END_TEST

START_TEST(presets_below_a_policy)
{
	b.preset = strdup(preset_name((size_t)_i));
	lint("policy.ini", "[git]\nprotect = x\n");
	ck_assert_uint_eq(d.n, 0);
}
END_TEST

/* Without an image, without eyes: what can be told is told, nothing crashes. */
START_TEST(blind)
{
	const struct lint_world world = { 0 };
	const char *text = "[files]\nwrite = /\n[network]\nallow = *.github.io\n";

	ck_assert_int_eq(bundle_add_source(&b, SOURCE_USER, "/p", text, strlen(text)), 0);
	ck_assert_int_eq(policy_parse(&b, &p, &d), 0);
	ck_assert_int_eq(policy_lint(&p, &b, NULL, &world, &d), 0);
	ck_assert(has("too-broad") && !has("public-suffix"));
}
END_TEST

Suite *suite_lint(void)
{
	Suite *s = suite_create("lint");
	TCase *tc = tcase_create("lint");
	int n_presets = 0;

	while (preset_name((size_t)n_presets))
		n_presets++;
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, finds, 0, (int)(sizeof(cases) / sizeof(cases[0])));
	tcase_add_test(tc, policy_in_reach);
	tcase_add_test(tc, policy_of_others);
	tcase_add_test(tc, policy_out_of_reach);
	tcase_add_test(tc, workspace_holds_secrets);
	tcase_add_loop_test(tc, presets, 0, n_presets);
	tcase_add_loop_test(tc, presets_below_a_policy, 0, n_presets);
	tcase_add_test(tc, blind);
	suite_add_tcase(s, tc);
	return s;
}
