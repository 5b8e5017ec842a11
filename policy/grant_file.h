/*
 * The file that keeps grants beyond a session, as a value: JSON text in, entries out.  Pure; allocates.
 *
 *   {"version": 1, "grants": [{"id", "scope", "section", "line", "agent", "workspace", "made", "until", "by",
 *                              "bound", "binding", "used"}, ...]}
 *
 * What else stands in it is kept.  Strings are as the ledger writes them (record_escape()), but for `line`,
 * which is the policy line itself.
 */
#ifndef PALE_GRANT_FILE_H
#define PALE_GRANT_FILE_H

#include <jansson.h>

#include "grant.h"

#define GRANT_FILE	"grants.json"
#define GRANT_LOCK	"grants.lock"
#define GRANT_FILE_MAX	(1u << 20)
#define GRANT_ENTRIES	1024
#define GRANT_ID_HEX	33
#define GRANT_DAY	11 /* "2026-12-01" with its NUL */
#define GRANT_ID_PREFIX 4

/* One grant of the file; borrowed from it. */
struct grant_entry {
	const char *id, *section, *line, *agent, *workspace; /* workspace "": everywhere */
	const char *made, *until, *by;			     /* until "": until it is revoked */
	/* Of a command: where, which program and with which variables, for people; and a digest of that. */
	const char *bound, *binding;
	enum grant_scope scope; /* project or always */
	uint64_t used;
};

/* The file's value (new reference), of no grants where len is 0; NULL with a static sentence where it is
 * none. */
json_t *grant_file_parse(const char *text, size_t len, const char **ret_why);
size_t grant_file_count(const json_t *file);
/* Entry i; false behind the end. */
bool grant_file_get(const json_t *file, size_t i, struct grant_entry *ret);
/* Appends one: 0, -ENOMEM, -ENOSPC. */
int grant_file_add(json_t *file, const struct grant_entry *e);
/* The entry whose id begins so: 0 and its index, -ENOENT, -EEXIST where it is not the only one. */
int grant_file_find(const json_t *file, const char *prefix, size_t *ret_index);
int grant_file_remove(json_t *file, size_t i);
/* Counts n more uses of the grant id, if it is there. */
void grant_file_used(json_t *file, const char *id, uint64_t n);
/* Takes out what has been over for 30 days at now_s (seconds since 1970). */
void grant_file_prune(json_t *file, uint64_t now_s);
/* Its text (caller frees), or NULL where memory is out. */
char *grant_file_text(const json_t *file);

/*
 * Why e does not hold for this agent in this workspace (escaped as in the file) at that time: a static
 * fragment, "it is over", ...; NULL where it holds.
 */
const char *grant_entry_off(const struct grant_entry *e, const char *agent, const char *workspace,
			    uint64_t now_s);

/*
 * Days as grants have them: they are over with the end of the day in UTC.  day_end() gives that moment, in
 * seconds since 1970: 0, or -EINVAL for what is no day of this century.
 */
int day_end(const char *day, uint64_t *ret_s);
void day_of(uint64_t s, char day[GRANT_DAY]);

#endif
