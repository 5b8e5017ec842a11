/* Requests about hosts and what is expected of them. */
#ifndef PALE_TEST_HOST_EXPECT_H
#define PALE_TEST_HOST_EXPECT_H

#include "image_fixture.h"
#include "policy/base/addr.h"

#define A VERDICT_ALLOW
#define D VERDICT_DENY
#define Q VERDICT_ASK

struct want {
	const char *host, *addr;
	uint16_t port;
	enum verdict verdict;
	enum reason reason;
	unsigned line;
};

static struct fixture fx;

static inline void setup(void)
{
	fixture_init(&fx);
}

static inline void teardown(void)
{
	fixture_done(&fx);
}

enum transport { STREAM, DATAGRAM };

static inline struct decision judge_by(enum transport by, enum op op, const char *host, const char *addr,
				       uint16_t port)
{
	struct request req = {
		.op = op, .host = host, .port = port, .has_addr = addr != NULL, .is_datagram = by == DATAGRAM
	};

	if (addr)
		ck_assert(addr_parse(addr, strlen(addr), req.addr));
	return eval(&fx.img, &req);
}

static inline struct decision judge(enum op op, const char *host, const char *addr, uint16_t port)
{
	return judge_by(STREAM, op, host, addr, port);
}

static inline void expect(enum transport by, enum op op, const struct want *w, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct decision d = judge_by(by, op, w[i].host, w[i].addr, w[i].port);
		const struct image_rule *r = image_rule(&fx.img, d.rule);

		ck_assert_msg(d.verdict == w[i].verdict && d.reason == w[i].reason &&
				      (r ? r->line : 0) == w[i].line,
			      "%s %s %s:%u: %s (%s)", op_name(op), w[i].host ? w[i].host : "-",
			      w[i].addr ? w[i].addr : "-", w[i].port, verdict_name(d.verdict),
			      fixture_describe(&fx, &d));
	}
}

#define EXPECT(op, list)     expect(STREAM, op, list, sizeof(list) / sizeof((list)[0]))
#define EXPECT_UDP(op, list) expect(DATAGRAM, op, list, sizeof(list) / sizeof((list)[0]))

#endif
