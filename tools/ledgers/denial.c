/*
 * Denials and questions by the id that people were shown (`id=0215ab3c`).
 *
 * At levels full and strict the supervisor makes the ids, and an id names one denial of its session.  At
 * level hooks, and in different sessions, several denials may have the same id: all are listed, so that none
 * hides another.
 */
#include "denial.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "policy/base/util.h"
#include "policy/system/cleanup.h"
#include "policy/wire/ring.h"

#include "ledgers.h"

/* The processes of a session at level hooks choose their own ids, so only the newest are kept. */
#define DENIALS_MAX 1000

uint32_t denial_id(const struct record *r)
{
	const char *id = r->detail;
	char *end;
	unsigned long n;

	if ((strcmp(r->verdict, "deny") != 0 && strcmp(r->verdict, "ask") != 0) ||
	    op_by_name(r->op) == OP_NONE || strncmp(id, "id=", 3) != 0)
		return 0;
	n = strtoul(id + 3, &end, 16);
	return strchr(" ;", *end) && n <= UINT32_MAX ? (uint32_t)n : 0;
}

static bool is_same_denial(const struct past_denial *d, const struct record *r)
{
	const struct record *s = &d->rec.r;

	return strcmp(s->session, r->session) == 0 && strcmp(s->op, r->op) == 0 &&
	       strcmp(s->target, r->target) == 0 && strcmp(s->verdict, r->verdict) == 0 &&
	       strcmp(s->rule, r->rule) == 0 && strcmp(s->via, r->via) == 0 && strcmp(s->exe, r->exe) == 0;
}

static void forget_denial(struct past_denial *d)
{
	record_done(&d->rec);
	free(d->dir);
}

/* Consumes rec. */
static int add_denial(struct past_denials *all, struct record_owned *rec, const char *dir)
{
	struct past_denial *room, new = { *rec, strdup(dir), rec->r.count };

	for (size_t i = 0; i < all->n; i++)
		if (is_same_denial(&all->list[i], &rec->r)) {
			all->list[i].times += rec->r.count;
			forget_denial(&new);
			return 0;
		}
	room = new.dir ? LIST_NEW(all->list, all->n) : NULL;
	if (!room) {
		forget_denial(&new);
		return -ENOMEM;
	}
	*room = new;
	all->n++;
	if (all->n <= DENIALS_MAX)
		return 0;
	forget_denial(&all->list[0]);
	memmove(all->list, all->list + 1, --all->n * sizeof(*all->list));
	all->more++;
	return 0;
}

struct search {
	struct past_denials *all;
	const char *dir;
	uint32_t id;
};

static int take_denial(void *ctx, struct record_owned *rec)
{
	const struct search *s = ctx;
	struct record_owned taken = *rec;

	if (denial_id(&rec->r) != s->id)
		return 0;
	rec->owner = NULL;
	return add_denial(s->all, &taken, s->dir);
}

/* RFC 3339 in UTC sorts as text. */
static int by_time(const void *a, const void *b)
{
	const struct past_denial *x = a, *y = b;

	return strcmp(y->rec.r.time, x->rec.r.time);
}

int denials_find(uint32_t id, const char *session, struct past_denials *ret)
{
	_cleanup_free_ struct ledger_ref *refs = NULL;
	size_t n = 0;
	int r = ledgers_list(session, &refs, &n);

	*ret = (struct past_denials){ 0 };
	if (r == 0 && n == 0 && session)
		return -ENOENT;
	for (size_t i = 0; r == 0 && i < n; i++)
		/* Every denial contains this text, and searching for it costs much less than parsing each
		 * record.  A ledger that cannot be read counts as empty. */
		if (ledger_each(refs[i].dir, "id=", take_denial, &(struct search){ ret, refs[i].dir, id }) ==
		    -ENOMEM)
			r = -ENOMEM;
	if (ret->n > 1)
		qsort(ret->list, ret->n, sizeof(*ret->list), by_time);
	return r;
}

/* As the helper counts: reason_is_quiet(). */
bool denial_is_quiet(const struct record *r)
{
	static const enum reason absent[] = { REASON_HOME, REASON_ABSENT };

	if (strcmp(r->verdict, "deny") != 0)
		return false;
	if (strstr(r->detail, NOTE_ANYWAY_TEXT))
		return true;
	if (op_by_name(r->op) != OP_READ)
		return false;
	for (size_t i = 0; i < NELEM(absent); i++)
		if (strstr(r->rule, reason_text(absent[i])))
			return true;
	return strncmp(r->target, "/proc/", 6) == 0 && strcmp(r->rule, reason_text(REASON_PROCESS)) == 0;
}

void denials_done(struct past_denials *d)
{
	for (size_t i = 0; i < d->n; i++)
		forget_denial(&d->list[i]);
	free(d->list);
}
