/*
 * The file that keeps grants beyond a session: lines of the policy language, each with a comment before it.
 * No I/O; allocates.
 *
 *   # ID  AGENT  WORKSPACE  UNTIL  BY  MADE  BINDING  BOUND          (tabs between them)
 *   [commands]
 *   allow = git push origin feature/x $
 *
 * Strings are escaped as in the ledger (record_escape()), except for the policy line.  UNTIL is a time as
 * until_end() takes it, alone for a project; with "always " before it for a grant that holds everywhere until
 * then; empty for one without an end.  The helper keeps the grants of a session in memory in the same form,
 * with "session" for UNTIL, and the time after it if there is one.
 */
#ifndef PALE_GRANT_FILE_H
#define PALE_GRANT_FILE_H

#include <jansson.h>

#include "grant.h"

#define GRANT_FILE	"grants.ini"
#define GRANT_LOCK	"grants.lock"
#define GRANT_FILE_MAX	(1u << 20)
#define GRANT_ENTRIES	1024
#define GRANT_ID_HEX	33
#define GRANT_DAY	11 /* "2026-12-01" with its NUL */
#define GRANT_UNTIL	21 /* "2026-12-01T14:00:00Z" with its NUL */
#define GRANT_ID_PREFIX 4

/* One grant; borrowed. */
struct grant_entry {
	const char *id, *agent, *workspace; /* workspace "": everywhere */
	const char *until, *by, *made;	    /* until "": until it is revoked, or its session ends */
	/* Of a command: a digest of its directory, program and variables; and the same as text to show. */
	const char *binding, *bound;
	const char *section, *line;
	enum grant_scope scope;
};

struct grant_list {
	char *text; /* the strings of the entries */
	struct grant_entry *list;
	size_t n;
};

/* Takes ownership of text.  0; -ENOMEM, also if text is NULL; -EBADMSG if a part of text cannot be read.
 * On an error ret is empty and *ret_why is a static sentence. */
int grant_list_parse(char *text, struct grant_list *ret, const char **ret_why);
void grant_list_done(struct grant_list *l);
/*
 * The text of l without the grant of this id (NULL: all are kept) and with one more grant (NULL: no more).
 * Grants that ended more than 30 days before now_s (seconds since 1970) are left out, and a session's grants
 * as soon as they end.  The caller must free the text; NULL if out of memory.
 */
char *grant_list_text(const struct grant_list *l, const char *without, const struct grant_entry *with,
		      uint64_t now_s);
/* The grant of this id, or NULL. */
const struct grant_entry *grant_list_find(const struct grant_list *l, const char *id);

/* {id, scope, section, line, agent, workspace, made, until, by, bound}: a new reference, or NULL if out of
 * memory. */
json_t *grant_entry_json(const struct grant_entry *e);
/*
 * Why e does not hold for this agent (NULL: any agent) in this workspace at that time: a static sentence
 * fragment, such as "over"; NULL if it holds.
 */
const char *grant_entry_off(const struct grant_entry *e, const char *agent, const char *workspace,
			    uint64_t now_s);

/*
 * When a grant is over: at a second, "2026-12-01T14:00:00Z", or at the end of a day, "2026-12-01", in UTC.
 * until_end() gives that moment in seconds since 1970: 0, or -EINVAL where the text is no such time
 * between 2000 and 2099.
 */
int until_end(const char *until, uint64_t *ret_s);
/* The day, or the second, of s as such a text. */
void until_day(uint64_t s, char day[GRANT_DAY]);
void until_second(uint64_t s, char until[GRANT_UNTIL]);

#endif
