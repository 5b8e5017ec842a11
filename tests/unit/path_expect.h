/* Requests about paths and what is expected of them. */
#ifndef PALE_TEST_PATH_EXPECT_H
#define PALE_TEST_PATH_EXPECT_H

#include "image_fixture.h"

#define A VERDICT_ALLOW
#define D VERDICT_DENY
#define Q VERDICT_ASK

struct want {
	enum op op;
	const char *path;
	enum verdict verdict;
	enum reason reason;
	unsigned line; /* of the rule that decides, 0 = none */
};

static struct fixture fx;

static inline void setup(void)
{
	fixture_init(&fx);
	fixture_workspace(&fx);
}

static inline void teardown(void)
{
	fixture_done(&fx);
}

static inline unsigned line_of(const struct decision *d)
{
	const struct image_rule *r = image_rule(&fx.img, d->rule);

	return r ? r->line : 0;
}

static inline void expect(const struct request *req, const struct want *w)
{
	struct decision d = eval(&fx.img, req);

	ck_assert_msg(d.verdict == w->verdict && d.reason == w->reason && line_of(&d) == w->line,
		      "%s %s: %s (%s)", op_name(req->op), req->path, verdict_name(d.verdict),
		      fixture_describe(&fx, &d));
}

static inline void expect_all(const struct want *w, size_t n)
{
	fixture_compile(&fx);
	for (size_t i = 0; i < n; i++) {
		const struct request req = { .op = w[i].op, .path = w[i].path };

		expect(&req, &w[i]);
	}
}

#define EXPECT_ALL(list) expect_all(list, sizeof(list) / sizeof((list)[0]))

#endif
