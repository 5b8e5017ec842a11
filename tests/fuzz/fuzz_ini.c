/*
 * Policy text: any bytes are read or refused, and what is read compiles or is refused in words.
 *
 * Also: an error and a refusal are the same thing, a finding stands inside its file, and the bundle
 * that carries the text comes back the same.  Input: one byte that chooses the layer, then a file.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "policy/judge/eval.h"
#include "policy/parse/parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REQUIRE(x)                                                                                           \
	do {                                                                                                 \
		if (!(x))                                                                                    \
			abort();                                                                             \
	} while (0)

static void check_findings(const struct diags *d, const char *text, size_t len)
{
	unsigned lines = 1;

	for (size_t i = 0; i < len; i++)
		lines += text[i] == '\n';
	for (size_t i = 0; i < d->n; i++) {
		REQUIRE(d->list[i].code && d->list[i].text && d->list[i].file);
		REQUIRE(strcmp(d->list[i].file, "policy.ini") != 0 || d->list[i].line <= lines);
	}
}

static void check_image(const struct policy *p, struct diags *d)
{
	const char *argv[] = { "git", "push", "origin", "main", NULL };
	struct request reqs[] = {
		{ .op = OP_WRITE, .access = ACCESS_WRITE, .path = "/ws/a/.env" },
		{ .op = OP_EXEC, .access = ACCESS_READ, .path = "/usr/bin/git", .argv = argv, .argc = 4 },
		{ .op = OP_CONNECT, .host = "a.example.org", .port = 443 },
	};
	struct image img;
	uint8_t *bytes;
	size_t len;
	int r = image_compile(p, NULL, d, &bytes, &len);

	REQUIRE(r == 0 || d->n_errors > 0 || r == -E2BIG);
	if (r < 0)
		return;
	REQUIRE(image_open_checked(&img, bytes, len) == 0);
	for (size_t i = 0; i < sizeof(reqs) / sizeof(reqs[0]); i++)
		REQUIRE((unsigned)eval(&img, &reqs[i]).verdict <= VERDICT_DENY);
	free(bytes);
}

static void check_travel(const struct bundle *b)
{
	struct bundle copy;
	char *one, *two;
	size_t n_one, n_two;

	REQUIRE(bundle_encode(b, &one, &n_one) == 0);
	REQUIRE(bundle_decode(one, n_one, &copy) == 0);
	REQUIRE(copy.n_sources == 1 && copy.sources[0].len == b->sources[0].len);
	REQUIRE(memcmp(copy.sources[0].text, b->sources[0].text, b->sources[0].len) == 0);
	REQUIRE(bundle_encode(&copy, &two, &n_two) == 0);
	REQUIRE(n_one == n_two && memcmp(one, two, n_one) == 0);
	bundle_done(&copy);
	free(one);
	free(two);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data + 1;
	struct bundle b;
	struct policy p;
	struct diags d;
	int r;

	if (size == 0)
		return 0;
	bundle_init(&b);
	policy_init(&p);
	diags_init(&d);
	b.home = strdup("/h");
	b.workspace = strdup("/ws");
	b.cwd = strdup("/ws");
	b.agent = strdup("a");
	b.preset = strdup("review");
	REQUIRE(bundle_add_real(&b, "/h/x", "/real") == 0);
	REQUIRE(bundle_add_source(&b, (enum source_layer)(data[0] % 5), "policy.ini", text, size - 1) == 0);
	r = policy_parse(&b, &p, &d);
	REQUIRE(r == (d.n_errors ? -EBADMSG : 0));
	check_findings(&d, text, size - 1);
	check_travel(&b);
	if (r == 0)
		check_image(&p, &d);
	diags_done(&d);
	policy_done(&p);
	bundle_done(&b);
	return 0;
}
