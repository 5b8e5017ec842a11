/*
 * res_*: direct DNS queries.  The name is judged, wherever it is: in one argument, in two, or in the
 * question of a packet.  Older programs import the names with two underscores.
 */
#include "policy/base/buf.h"

#include "preload/judge/destination.h"
#include "preload/process/real.h"
#include "preload/process/session.h"

#include "hooks.h"

#define DNS_HEADER 12

/* Sets the error of res_* for a query that is not sent, and returns -1. */
static int res_refused(void)
{
	h_errno = NO_RECOVERY;
	return -1;
}

/* Judges name.domain, which res_querydomain looks up. */
static int check_two(const char *name, const char *domain)
{
	char both[2 * LIMIT_HOST];
	struct out o = out_of(both, sizeof both);

	if (!in_session() || !name || !domain)
		return resolve_name_check(name);
	text_str(&o, name);
	text_str(&o, ".");
	text_str(&o, domain);
	text_end(&o);
	return o.failed ? -ENAMETOOLONG : resolve_name_check(both);
}

/*
 * Writes the question of a DNS packet as text.  A byte in a label that would read as another name (a dot)
 * or end it (NUL) is an error, so that the judged name is the one that is looked up; so is more than one
 * question.  0 or -EPROTO.
 */
static int question_name(const unsigned char *msg, int len, char name[LIMIT_HOST])
{
	struct cursor c = cursor_of(msg, len > 0 ? (size_t)len : 0);
	struct out o = out_of(name, LIMIT_HOST);
	const uint8_t *h = get_bytes(&c, DNS_HEADER);

	if (!h || h[4] != 0 || h[5] != 1)
		return -EPROTO;
	for (;;) {
		uint8_t n = get_u8(&c);
		const uint8_t *label = n && n < 64 ? get_bytes(&c, n) : NULL;

		if (c.failed || n >= 64)
			return -EPROTO;
		if (n == 0)
			break;
		if (memchr(label, '.', n) || memchr(label, '\0', n))
			return -EPROTO;
		text_str(&o, o.len ? "." : "");
		put_bytes(&o, label, n);
	}
	text_end(&o);
	return o.failed ? -EPROTO : 0;
}

static int check_packet(const unsigned char *msg, int len)
{
	char name[LIMIT_HOST];

	if (!in_session())
		return resolve_name_check(NULL);
	if (!msg || question_name(msg, len, name) < 0)
		return -EPROTO;
	return name[0] ? resolve_name_check(name) : 0;
}

#define RES_NAME(hook, to)                                                                                   \
	int hook(const char *name, int class, int type, unsigned char *answer, int len)                      \
	{                                                                                                    \
		if (resolve_name_check(name) < 0)                                                            \
			return res_refused();                                                                \
		return real.to(name, class, type, answer, len);                                              \
	}

RES_NAME(res_query, res_query)
RES_NAME(__res_query, res_query)
RES_NAME(res_search, res_search)
RES_NAME(__res_search, res_search)

#define RES_STATE_NAME(hook, to)                                                                             \
	int hook(res_state st, const char *name, int class, int type, unsigned char *answer, int len)        \
	{                                                                                                    \
		if (resolve_name_check(name) < 0)                                                            \
			return res_refused();                                                                \
		return real.to(st, name, class, type, answer, len);                                          \
	}

RES_STATE_NAME(res_nquery, res_nquery)
RES_STATE_NAME(__res_nquery, res_nquery)
RES_STATE_NAME(res_nsearch, res_nsearch)
RES_STATE_NAME(__res_nsearch, res_nsearch)

#define RES_TWO(hook)                                                                                        \
	int hook(const char *name, const char *domain, int class, int type, unsigned char *answer, int len)  \
	{                                                                                                    \
		if (check_two(name, domain) < 0)                                                             \
			return res_refused();                                                                \
		return real.res_querydomain(name, domain, class, type, answer, len);                         \
	}

RES_TWO(res_querydomain)
RES_TWO(__res_querydomain)

#define RES_STATE_TWO(hook)                                                                                  \
	int hook(res_state st, const char *name, const char *domain, int class, int type,                    \
		 unsigned char *answer, int len)                                                             \
	{                                                                                                    \
		if (check_two(name, domain) < 0)                                                             \
			return res_refused();                                                                \
		return real.res_nquerydomain(st, name, domain, class, type, answer, len);                    \
	}

RES_STATE_TWO(res_nquerydomain)
RES_STATE_TWO(__res_nquerydomain)

#define RES_SEND(hook)                                                                                       \
	int hook(const unsigned char *msg, int msglen, unsigned char *answer, int anslen)                    \
	{                                                                                                    \
		if (check_packet(msg, msglen) < 0)                                                           \
			return res_refused();                                                                \
		return real.res_send(msg, msglen, answer, anslen);                                           \
	}

RES_SEND(res_send)
RES_SEND(__res_send)

#define RES_STATE_SEND(hook)                                                                                 \
	int hook(res_state st, const unsigned char *msg, int msglen, unsigned char *answer, int anslen)      \
	{                                                                                                    \
		if (check_packet(msg, msglen) < 0)                                                           \
			return res_refused();                                                                \
		return real.res_nsend(st, msg, msglen, answer, anslen);                                      \
	}

RES_STATE_SEND(res_nsend)
RES_STATE_SEND(__res_nsend)
