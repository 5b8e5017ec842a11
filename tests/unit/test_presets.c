/* The presets' network: what each reaches in each mode, beside rules of the operator's own. */
#include "host_expect.h"

Suite *suite_presets(void);

/* Compiles a preset with a user's file over it. */
static void take(const char *preset, const char *text)
{
	struct bundle b;

	bundle_init(&b);
	b.home = strdup("/home/u");
	b.workspace = strdup("/ws");
	b.preset = strdup(preset);
	policy_done(&fx.p);
	policy_init(&fx.p);
	ck_assert_int_eq(bundle_add_source(&b, SOURCE_USER, "policy.ini", text, strlen(text)), 0);
	ck_assert_int_eq(policy_parse(&b, &fx.p, &fx.d), 0);
	bundle_done(&b);
	fixture_compile(&fx);
}

static const struct reach {
	const char *preset, *text, *host, *addr;
	uint16_t port;
	enum verdict verdict;
} reaches[] = {
#define STRICT	"[network]\nmode = strict\nallow = own.example\ndeny = pypi.org\n"
#define MERGE	"[network]\nallow = own.example\n"
#define REPLACE "[network]\nmode = replace\nallow = own.example\n"
#define OPEN	"[network]\nmode = open\ndeny = bad.example\n"
	{ "agent", STRICT, "github.com", NULL, 443, A },
	{ "agent", STRICT, "api.github.com", NULL, 443, A },
	{ "agent", STRICT, "codeload.github.com", NULL, 443, A },
	{ "agent", STRICT, "www.google.com", NULL, 443, A },
	{ "agent", STRICT, "en.wikipedia.org", NULL, 443, A },
	{ "agent", STRICT, "registry.npmjs.org", NULL, 443, A },
	{ "agent", STRICT, "files.pythonhosted.org", NULL, 443, A },
	{ "agent", STRICT, "api.anthropic.com", NULL, 443, A },
	{ "agent", STRICT, "pypi.org", NULL, 443, D }, /* the operator's own deny speaks */
	{ "agent", STRICT, "own.example", NULL, 443, D },
	{ "agent", STRICT, "gitlab.com", NULL, 443, D },
	{ "agent", STRICT, "static.crates.io", NULL, 443, D },
	{ "agent", STRICT, "deb.debian.org", NULL, 80, D },
	{ "agent", STRICT, "docs.python.org", NULL, 443, D },
	{ "agent", STRICT, "localhost", "127.0.0.1", 3000, Q },
	{ "agent", STRICT, "localhost", "127.0.0.1", 2375, Q },
	{ "agent", STRICT, "github.com", NULL, 80, D },
	{ "agent", MERGE, "github.com", NULL, 443, A },
	{ "agent", MERGE, "static.crates.io", NULL, 443, A },
	{ "agent", MERGE, "own.example", NULL, 443, A },
	{ "agent", MERGE, "other.example", NULL, 443, D },
	{ "agent", MERGE, "metadata.google.internal", NULL, 80, D },
	{ "agent", MERGE, NULL, "169.254.169.254", 80, D },
	{ "agent", MERGE, "dns.google", NULL, 443, D },
	{ "agent", REPLACE, "own.example", NULL, 443, A },
	{ "agent", REPLACE, "github.com", NULL, 443, D },
	{ "agent", REPLACE, "api.anthropic.com", NULL, 443, D },
	{ "agent", REPLACE, "static.crates.io", NULL, 443, D },
	{ "agent", REPLACE, "localhost", "::1", 3000, Q },
	{ "agent", REPLACE, NULL, "127.0.0.1", 9222, Q },
	{ "agent", OPEN, "other.example", NULL, 443, A },
	{ "agent", OPEN, "bad.example", NULL, 443, D },
	{ "agent", OPEN, "other.example", "10.0.0.1", 443, D },
	{ "agent", OPEN, NULL, "10.0.0.1", 443, D },
	{ "agent", OPEN, NULL, "93.184.216.34", 443, A },
	{ "agent", OPEN, NULL, "169.254.169.254", 80, D },
	{ "agent", OPEN, NULL, "fd20:ce::254", 80, D },
	{ "agent", OPEN, "o.example", "169.254.169.254", 80, D },
	{ "agent", OPEN, "metadata.google.internal", NULL, 80, D },
	{ "agent", OPEN, "mozilla.cloudflare-dns.com", NULL, 443, D },
	{ "agent", OPEN, NULL, "8.8.8.8", 443, D },
	{ "agent", OPEN, NULL, "1.1.1.1", 853, D },
	{ "agent", OPEN, "localhost", "127.0.0.1", 5173, Q },
	{ "ci", "", "github.com", NULL, 443, A },
	{ "ci", "", "crates.io", NULL, 443, D },
	{ "ci", "[network]\nmode = merge\n", "crates.io", NULL, 443, A },
	{ "review", MERGE, "github.com", NULL, 443, D },
	{ "review", MERGE, "own.example", NULL, 443, D },
	{ "review", "", "localhost", "127.0.0.1", 3000, D },
	{ "security-v0", MERGE, "own.example", NULL, 443, D },
	{ "security-v0", REPLACE, "own.example", NULL, 443, A },
};

START_TEST(test_reach)
{
	const struct reach *r = &reaches[_i];
	struct decision d;

	take(r->preset, r->text);
	d = judge(OP_CONNECT, r->host, r->addr, r->port);
	ck_assert_msg(d.verdict == r->verdict, "%s, %s, %s:%u: %s (%s)", r->preset, r->text,
		      r->host ? r->host : r->addr, r->port, verdict_name(d.verdict),
		      fixture_describe(&fx, &d));
	/* No preset lets a datagram out. */
	if (fx.img.h->network != NETWORK_OPEN)
		ck_assert(judge_by(DATAGRAM, OP_CONNECT, r->host, r->addr, r->port).verdict != A);
}
END_TEST

Suite *suite_presets(void)
{
	Suite *s = suite_create("presets");
	TCase *t = tcase_create("network");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, test_reach, 0, (int)(sizeof(reaches) / sizeof(reaches[0])));
	suite_add_tcase(s, t);
	return s;
}
