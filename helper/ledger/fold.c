/*
 * The first of several equal decisions is recorded at once; its repeats within two seconds become one more
 * record.  A queue holds the decisions of these seconds, oldest first, with buckets by key.  The caller's
 * key is a keyed hash, so that no process of the session can make different decisions look equal.
 */
#include "fold.h"

#include <stdlib.h>
#include <string.h>

#include "policy/system/system.h"

#include "helper/base/images.h"

#include "event.h"
#include "ledger.h"

#define NS_WINDOW (2 * NS_S)

static struct fold_entry *entry_at(struct fold *f, uint64_t pos)
{
	return &f->ring[pos % FOLD_MAX];
}

static struct fold_entry *find(struct fold *f, uint64_t key)
{
	uint32_t at = f->bucket[key % FOLD_MAX];

	for (; at != 0; at = f->ring[at - 1].chain)
		if (f->ring[at - 1].key == key)
			return &f->ring[at - 1];
	return NULL;
}

bool fold_repeat(struct fold *f, uint64_t key)
{
	struct fold_entry *e = find(f, key);

	if (e) {
		e->e.count++;
		f->repeats++;
	}
	return e != NULL;
}

/* Removes the oldest entry and records its repeats, if there were any. */
static void flush_oldest(struct fold *f)
{
	struct fold_entry *e = entry_at(f, f->first);
	uint32_t self = (uint32_t)(f->first % FOLD_MAX) + 1;
	uint32_t *link = &f->bucket[e->key % FOLD_MAX];

	while (*link != self)
		link = &f->ring[*link - 1].chain;
	*link = e->chain;
	f->first++;
	f->repeats -= e->e.count;
	if (e->e.count > 0)
		(void)ledger_append(f->ledger, &e->e);
	free(e->strings);
	e->strings = NULL;
}

static char *copy_text(char **at, const char *s, size_t len)
{
	char *to = *at;

	memcpy(to, s, len);
	to[len] = '\0';
	*at += len + 1;
	return to;
}

static size_t text_len(const char *s)
{
	return s ? strlen(s) : 0;
}

/* A copy of the event whose strings are the entry's own. */
static bool entry_keep(struct fold_entry *entry, const struct event *e)
{
	size_t target = e->target_len ? e->target_len : text_len(e->target);
	size_t exe = text_len(e->exe), rule = text_len(e->rule);
	size_t approval = text_len(e->approval), detail = text_len(e->detail);
	char *at = malloc(target + exe + rule + approval + detail + 5);

	if (!at)
		return false;
	entry->strings = at;
	entry->e = *e;
	entry->e.target = copy_text(&at, e->target ?: "", target);
	entry->e.target_len = target;
	entry->e.exe = copy_text(&at, e->exe ?: "", exe);
	entry->e.rule = copy_text(&at, e->rule ?: "", rule);
	entry->e.approval = copy_text(&at, e->approval ?: "", approval);
	entry->e.detail = copy_text(&at, e->detail ?: "", detail);
	return true;
}

void fold_add(struct fold *f, uint64_t key, const struct event *e, uint64_t now_ns)
{
	struct fold_entry *entry;

	if (fold_repeat(f, key))
		return;
	if (f->next - f->first == FOLD_MAX)
		flush_oldest(f);
	entry = entry_at(f, f->next);
	(void)ledger_append(f->ledger, e);
	if (!entry_keep(entry, e))
		return;
	entry->e.count = 0;
	entry->key = key;
	entry->deadline_ns = now_ns + NS_WINDOW;
	entry->chain = f->bucket[key % FOLD_MAX];
	f->bucket[key % FOLD_MAX] = (uint32_t)(f->next % FOLD_MAX) + 1;
	f->next++;
}

void fold_flush(struct fold *f, enum fold_urgency urgency, uint64_t now_ns)
{
	while (f->first != f->next && (urgency == FOLD_NOW || entry_at(f, f->first)->deadline_ns <= now_ns))
		flush_oldest(f);
}
