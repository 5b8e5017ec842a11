/* Secrets go, by shape and by value; what only looks like one stays. */
#include <check.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "helper/ledger/mask.c"

#include "policy/base/util.h"

Suite *suite_mask(void);

static struct mask mask;

static void learn(const char *values, size_t len)
{
	int fd = memfd_create("values", 0);

	ck_assert_int_eq(write(fd, values, len), (ssize_t)len);
	mask_init(&mask);
	ck_assert_int_eq(mask_learn(&mask, fd), 0);
	close(fd);
}

static const char *masked(const char *text)
{
	static char buf[8192];
	size_t len = strlen(text);

	memcpy(buf, text, len + 1);
	buf[mask_text(&mask, buf, len)] = '\0';
	ck_assert_int_eq(mask_is_clean(&mask, text, len), strcmp(buf, text) == 0);
	return buf;
}

static const struct {
	const char *in, *out;
} secrets[] = {
	{ "ghp_abcdefghijklmnopqrstuvwxyz0123456789", "ghp_***" },
	{ "x --token=ghp_abcdefghijklmnopqrstuvwxyz0123456789 y", "x --token=*** y" },
	{ "github_pat_11ABCDEFG0abcdefghijkl_mnopqrstuvwxyz", "github_pat_***" },
	{ "glpat-abcdefghij0123456789", "glpat-***" },
	{ "sk-ant-api03-abcdefghijk_lmnop-qrst", "sk-ant-***" },
	{ "sk-proj-abcdefghijklmnop_qrst", "sk-proj-***" },
	{ "sk-abcdefghijklmnopqrstuvwxyz0123456789", "sk-***" },
	{ "AKIAIOSFODNN7EXAMPLE", "AKIA***" },
	{ "ASIAIOSFODNN7EXAMPLE ", "ASIA*** " },
	{ "xoxb-123456789012-abcdefghijkl", "xoxb-***" },
	{ "AIzaSyA1234567890abcdefghijklmnopqrstuv", "AIza***" },
	{ "npm_abcdefghijklmnopqrstuvwxyz0123456789", "npm_***" },
	{ "pypi-AgEIcHlwaS5vcmcCJDEyMzQ1Njc4LTEyMzQt", "pypi-AgE***" },
	{ "hf_abcdefghijklmnopqrstuvwxyz01234567", "hf_***" },
	{ "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.abc-_def", "eyJ***" },
	{ "curl -H 'Authorization: token abcdefgh' https://example.org",
	  "curl -H 'Authorization: ***' https://example.org" },
	{ "curl -H 'authorization: Basic YTpi'", "curl -H 'authorization: ***'" },
	{ "curl -H 'X-Api-Key: abcd'", "curl -H 'X-Api-Key: ***'" },
	{ "http Bearer abcdefgh12", "http Bearer ***" },
	{ "git clone https://ana:hunter2@example.org/x", "git clone https://ana:***@example.org/x" },
	{ "git clone https://0123abcd@example.org/x", "git clone https://***@example.org/x" },
	{ "http://0123abcd@example.org", "http://***@example.org" },
	{ "curl -u ana:hunter2 https://example.org", "curl -u ana:*** https://example.org" },
	{ "curl --user ana:hunter2 x", "curl --user ana:*** x" },
	{ "mysql --password=geheim db", "mysql --password=*** db" },
	{ "x --password hunter2hunter2", "x --password ***" },
	{ "x --PASSWORD 'two words' y", "x --PASSWORD '*** words' y" },
	{ "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMIK7MDENG/bPxRfiCY make", "AWS_SECRET_ACCESS_KEY=*** make" },
	{ "DB_PASS=a1b x", "DB_PASS=*** x" },
	{ "//registry.npmjs.org/:_authToken=abc", "//registry.npmjs.org/:_authToken=***" },
	{ "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc\n-----END RSA PRIVATE KEY-----",
	  "-----BEGIN RSA PRIVATE KEY***-----END RSA PRIVATE KEY-----" },
	{ "two ghp_abcdefghijklmnopqrstuv and AKIAIOSFODNN7EXAMPLE.", "two ghp_*** and AKIA***." },
};

static const char *const harmless[] = {
	"",
	"a",
	"git show 3b18e512dba79e4c8300dd08aeb37f8e728b8dad",
	"sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
	"8f14e45fceea167a5a36dedd4bea2543",
	"123e4567-e89b-12d3-a456-426614174000",
	"/usr/lib/python3/dist-packages/sk-learn-compatible-2024-models/x",
	"/home/ana/ask-me-anything-about-the-weather-tomorrow",
	"risk-management-abcdefghijklmnopqrstuvwxyz",
	"hf_transformers_models_cache_directory",
	"npm_config_registry",
	"npm_lifecycle_event_of_the_package",
	"npm run build --workspace=packages/tokenizer",
	"https://example.org:8443/path?a=b",
	"ssh://git@example.org/x.git",
	/* where it leads stays to be read */
	"./tool https://evil.example:443?@github.com",
	"./tool https://evil.example:#@github.com",
	"./tool https://evil.example?a=b@github.com",
	"./tool https://evil.example:4\\@github.com",
	"git@example.org:x/y.git",
	"docker run -u 1000:1000 image",
	"chown --user 0:0 x",
	"SG.svg",
	"ls -u",
	"-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----",
	"pypi-mirror-configuration-of-the-organisation",
	"eyJ",
	"/nix/store/7rjmbbf3ivb0xqz9hbshw7vcdjgmlhq1-glibc-2.38",
	"sha512-abcdEFGH0123456789+/abcdEFGH0123456789+/abcdEFGH0123456789+/abcdEFGH0123456789+/ab==",
	"akia is a word",
	"the password is asked",
	"/srv/secrets/tokens/list.txt",
};

START_TEST(shapes_go)
{
	mask_init(&mask);
	for (size_t i = 0; i < NELEM(secrets); i++)
		ck_assert_str_eq(masked(secrets[i].in), secrets[i].out);
}
END_TEST

START_TEST(harmless_stays)
{
	mask_init(&mask);
	for (size_t i = 0; i < NELEM(harmless); i++)
		ck_assert_str_eq(masked(harmless[i]), harmless[i]);
}
END_TEST

START_TEST(values_go)
{
	static const char values[] =
		"correct horse\0correct horse battery\0short\0\xff\xfe quite binary\0p4ssw0rd";

	learn(values, sizeof(values));
	ck_assert_str_eq(masked("say 'correct horse' twice: correct horse"), "say '***' twice: ***");
	ck_assert_str_eq(masked("xcorrect horse batteryx"), "x***x");
	ck_assert_str_eq(masked("short"), "short");
	ck_assert_str_eq(masked("\xff\xfe quite binary"), "***");
	ck_assert_str_eq(masked("/p4ssw0rd/x"), "/***/x");
	/* Cut off with the text. */
	ck_assert_str_eq(masked("echo correct hor"), "echo ***");
	ck_assert_str_eq(masked("echo corr"), "echo corr");
	mask_done(&mask);
	ck_assert_str_eq(masked("p4ssw0rd"), "p4ssw0rd");
}
END_TEST

/* Where a command goes stays readable, whatever it is called. */
START_TEST(targets_stay)
{
	static const char values[] = "p4ssw0rd";
	static const struct {
		const char *in, *out;
	} rows[] = {
		{ "PWD=/w", "PWD=/w" },
		{ "K=/ws/token=production", "K=/ws/token=production" },
		{ "C=TOKEN=/tmp/x; $TOKEN", "C=TOKEN=/tmp/x; $TOKEN" },
		{ "C=ssh --password /tmp/x", "C=ssh --password /tmp/x" },
		{ "C=ssh -u a:/tmp/x", "C=ssh -u a:/tmp/x" },
		{ "K=/ws/ghp_abcdefghijklmnopqrstuvwxyz0123456789",
		  "K=/ws/ghp_abcdefghijklmnopqrstuvwxyz0123456789" },
		{ "C=http://x;/tmp/x", "C=http://x;/tmp/x" },
		{ "C=http://;sh<x@", "C=http://;sh<x@" },
		{ "C=a://b:`x`@", "C=a://b:`x`@" },
		{ "R=https://u:hunter2@h/x", "R=https://u:***@h/x" },
		{ "R=https://0123abcd@h/x", "R=https://***@h/x" },
		{ "R=/x/p4ssw0rd/y", "R=/x/***/y" },
	};

	learn(values, sizeof(values));
	for (size_t i = 0; i < NELEM(rows); i++) {
		char buf[128];

		strcpy(buf, rows[i].in);
		buf[mask_target(&mask, buf, strlen(buf))] = '\0';
		ck_assert_str_eq(buf, rows[i].out);
	}
	mask_done(&mask);
}
END_TEST

/* Whatever stands around it, a value does not survive; nothing grows. */
START_TEST(values_anywhere)
{
	static const char values[] = "s3cr3t-Value", alphabet[] = "a -'\"=:/@_.s3k\n";
	char text[128];

	learn(values, sizeof(values));
	srandom(7);
	for (int round = 0; round < 20000; round++) {
		size_t len = (size_t)random() % 60, at = (size_t)random() % (len + 1), end;

		for (size_t i = 0; i < len; i++)
			text[i] = alphabet[(size_t)random() % (sizeof(alphabet) - 1)];
		memmove(text + at + sizeof(values) - 1, text + at, len - at);
		memcpy(text + at, values, sizeof(values) - 1);
		len += sizeof(values) - 1;
		end = mask_text(&mask, text, len);
		ck_assert_uint_le(end, len);
		ck_assert_ptr_null(memmem(text, end, values, sizeof(values) - 1));
	}
	mask_done(&mask);
}
END_TEST

START_TEST(values_of_hostile_files)
{
	int fd = memfd_create("values", 0);

	mask_init(&mask);
	ck_assert_int_eq(mask_learn(&mask, fd), -EINVAL);
	ck_assert_int_eq(write(fd, "not ended by a NUL", 18), 18);
	ck_assert_int_eq(mask_learn(&mask, fd), -EINVAL);
	mask_done(&mask);
	ck_assert_int_eq(ftruncate(fd, VALUES_MAX + 1), 0);
	ck_assert_int_eq(mask_learn(&mask, fd), -EINVAL);
	close(fd);
}
END_TEST

Suite *suite_mask(void)
{
	Suite *s = suite_create("mask");
	TCase *t = tcase_create("mask");

	tcase_add_test(t, shapes_go);
	tcase_add_test(t, harmless_stays);
	tcase_add_test(t, values_go);
	tcase_add_test(t, targets_stay);
	tcase_add_test(t, values_anywhere);
	tcase_add_test(t, values_of_hostile_files);
	suite_add_tcase(s, t);
	return s;
}
