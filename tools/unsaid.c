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
static bool take(struct unsaid *u, uint32_t id)
{
	for (size_t i = 0; id && i < UNSAID_MAX; i++)
		if (atomic_load(&u->ids[i]) == id) {
			atomic_store(&u->ids[i], 0);
			return true;
		}
	return false;
}

static size_t count(const struct unsaid *u)
{
	size_t n = atomic_load(&u->beyond);

	for (size_t i = 0; i < UNSAID_MAX; i++)
		n += atomic_load(&u->ids[i]) != 0;
	return n;
}

/* As the process would have said it: what a record holds is escaped its own way. */
static void tell_record(const struct record *r, uint32_t id)
{
	_cleanup_free_ char *target = text_unescape(r->target);
	_cleanup_free_ char *reason = text_unescape(r->rule);
	const struct denial s = { .op = op_by_name(r->op), .target = target, .reason = reason, .id = id };
	char line[LINE_SIZE];
	struct out o = out_of(line, sizeof(line));

	if (!target || !reason)
		return;
	denial_sentence(&o, &s);
	talk("%s", text_end(&o));
}

static bool tell_line(struct unsaid *u, const char *line, size_t len)
{
	struct record_owned rec;
	const char *err;
	bool told;
	uint32_t id;

	if (!memmem(line, len, DENY, strlen(DENY)) || record_from_line(line, len, &rec, &err) < 0)
		return false;
	id = strcmp(rec.r.verdict, "deny") == 0 ? denial_id(&rec.r) : 0;
	told = take(u, id);
	if (told)
		tell_record(&rec.r, id);
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
	u->beyond = 0;
}
