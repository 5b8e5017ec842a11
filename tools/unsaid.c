/*
 * What was not said while a program had the screen, said after it.
 */
#include "unsaid.h"

#include <stdlib.h>
#include <string.h>

#include "policy/buf.h"

#include "tools.h"

#define TOLD_MAX  16
#define LINE_SIZE 4096
#define DENY	  "\"deny\""

/* Takes it from the set; false where it is not there. */
static bool take(struct unsaid *u, unsigned long id)
{
	const uint64_t bit = (uint64_t)1 << id % 64;

	return id < WIRE_SAY_NO_ID && atomic_fetch_and(&u->ids[id / 64], ~bit) & bit;
}

static size_t count(const struct unsaid *u)
{
	size_t n = 0;

	for (size_t i = 0; i < UNSAID_WORDS; i++)
		n += (size_t)__builtin_popcountll(atomic_load(&u->ids[i]));
	return n;
}

/* As the process would have said it: what a record holds is escaped its own way. */
static void tell_record(const struct record *r, unsigned long id)
{
	_cleanup_free_ char *target = text_unescape(r->target);
	_cleanup_free_ char *rule = text_unescape(r->rule);
	char line[LINE_SIZE];
	struct out o = out_of(line, sizeof(line));

	if (!target || !rule)
		return;
	text_escaped(&o, target, strnlen(target, LINE_SIZE / 8));
	text_end(&o);
	talk("denied %s %s (%s) id=%04lx; see: pale explain %04lx", r->op, line, rule, id, id);
}

static bool tell_line(struct unsaid *u, const char *line, size_t len)
{
	struct record_owned rec;
	const char *err, *id;
	bool told = false;

	if (!memmem(line, len, DENY, strlen(DENY)) || record_from_line(line, len, &rec, &err) < 0)
		return false;
	id = strcmp(rec.r.verdict, "deny") == 0 ? strstr(rec.r.detail, "id=") : NULL;
	if (id && take(u, strtoul(id + 3, NULL, 16))) {
		tell_record(&rec.r, strtoul(id + 3, NULL, 16));
		told = true;
	}
	record_done(&rec);
	return told;
}

void unsaid_tell(struct unsaid *u, const char *dir, const char *session)
{
	size_t n = count(u), told = 0, len;
	struct line_reader r;
	char path[PATH_MAX];
	const char *line;

	if (n == 0)
		return;
	talk("%zu %s not said while a program had the screen:", n, n == 1 ? "denial was" : "denials were");
	if (path_join(path, sizeof(path), dir, LEDGER_NAME) == 0 && line_reader_open(&r, path) == 0) {
		while (told < n && told < TOLD_MAX && line_reader_next(&r, &line, &len) == 1)
			told += tell_line(u, line, len);
		line_reader_close(&r);
	}
	if (told < n)
		talk("%s%zu more; see: pale log --session %s --verdict deny", told ? "and " : "", n - told,
		     session);
	memset(u->ids, 0, sizeof(u->ids));
}
