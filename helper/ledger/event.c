/*
 * An event's line in the ledger.  This code runs for every record: it allocates memory only for a text that
 * is longer than all before it, and a text that repeats in the next record is escaped only once.
 */
#include "event.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "policy/base/util.h"
#include "policy/system/system.h"

#include "helper/base/images.h"
#include "helper/base/stamp.h"

#include "ledger.h"
#include "mask.h"

/* Escaping makes a text at most four times as long. */
#define TEXT_MOST (RECORD_LINE_MAX / 4)
#define BUF_STEP  (256u << 10)

static size_t text_len(const char *s, size_t len)
{
	size_t n = s ? (len ? len : strlen(s)) : 0;

	return n < TEXT_MOST ? n : TEXT_MOST;
}

/* Makes room for need bytes at *buf, and keeps the content. */
static bool grow(char **buf, size_t *cap, size_t need)
{
	char *grown;

	if (need <= *cap)
		return true;
	need += need / 2 + 256;
	grown = realloc(*buf, need);
	if (!grown)
		return false;
	*buf = grown;
	*cap = need;
	return true;
}

/* The text without secrets, and escaped.  Borrowed until the memo's next use; NULL on ENOMEM. */
static const char *remember(const struct mask *mask, struct text_memo *m, const char *s)
{
	size_t len = text_len(s, 0);

	if (m->escaped && len == m->len && memcmp(m->raw, s ? s : "", len) == 0)
		return m->escaped;
	m->len = SIZE_MAX; /* in case of a failure below */
	if (len + 1 > m->cap || !m->escaped) {
		size_t cap = len + 256;
		char *raw = realloc(m->raw, cap), *escaped;

		if (!raw)
			return NULL;
		m->raw = raw;
		escaped = realloc(m->escaped, 4 * cap + 1);
		if (!escaped)
			return NULL;
		m->escaped = escaped;
		m->cap = cap;
	}
	memcpy(m->raw, s ? s : "", len);
	m->raw[len] = '\0';
	m->len = len;
	if (mask_is_clean(mask, m->raw, len)) {
		record_escape_to(m->escaped, m->raw, len);
	} else {
		/*
		 * Masked at the end of the buffer, where the escaped text arrives only after this was read;
		 * raw keeps the original, for comparison.
		 */
		char *at = m->escaped + 3 * m->cap;

		memcpy(at, m->raw, len);
		record_escape_to(m->escaped, at, mask_text(mask, at, len));
	}
	return m->escaped;
}

/* The same for a text that rarely repeats, into `to` (room for 5 * len + 1 bytes).  Returns its end. */
static char *write_text(const struct mask *mask, char *to, const char *s, size_t len)
{
	char *at = to + 4 * len + 1;

	if (len == 0 || mask_is_clean(mask, s, len))
		return record_escape_to(to, len ? s : "", len);
	memcpy(at, s, len);
	return record_escape_to(to, at, mask_text(mask, at, len));
}

int line_add(struct ledger *l, const struct event *e)
{
	size_t target = text_len(e->target, e->target_len), detail = text_len(e->detail, 0), room;
	struct record r = { .seq = l->seq + 1,
			    .session = l->session,
			    .turn = l->turn,
			    .agent = l->agent,
			    .pid = e->pid,
			    .ppid = e->ppid,
			    .exe = remember(l->mask, &l->exe, e->exe),
			    .op = e->op,
			    .access = e->access,
			    .verdict = e->verdict,
			    .rule = remember(l->mask, &l->rule, e->rule),
			    .via = e->via,
			    .level = l->level,
			    .approval = e->approval,
			    .count = e->count ? e->count : 1 };
	char *end;

	if (!r.exe || !r.rule || !grow(&l->scratch, &l->scratch_cap, 5 * (target + detail) + 2))
		return -ENOMEM;
	r.target = l->scratch;
	end = write_text(l->mask, l->scratch, e->target, target);
	r.detail = end + 1;
	write_text(l->mask, end + 1, e->detail, detail);
	time_format(e->time_ns ? e->time_ns : clock_real_ns(), r.time);
	memcpy(r.prev, l->prev, sizeof(r.prev));
	room = record_room(&r);
	if (room == 0)
		return -EMSGSIZE;
	if (l->len + room > l->cap && !grow(&l->buf, &l->cap, l->len + room + BUF_STEP))
		return -ENOMEM;
	end = record_finish(&r, l->buf + l->len);
	if (!end || end - (l->buf + l->len) > (ptrdiff_t)RECORD_LINE_MAX)
		return -EMSGSIZE;
	l->len = (size_t)(end - l->buf);
	l->buffered++;
	l->seq = r.seq;
	memcpy(l->prev, r.hash, sizeof(r.hash));
	return 0;
}

void line_done(struct ledger *l)
{
	char **const owned[] = { &l->exe.raw,	   &l->exe.escaped, &l->rule.raw,
				 &l->rule.escaped, &l->scratch,	    &l->buf };

	for (size_t i = 0; i < NELEM(owned); i++) {
		free(*owned[i]);
		*owned[i] = NULL;
	}
}
