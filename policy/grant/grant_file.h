/*
 * The file that keeps grants beyond a session: lines of the policy language, each with a comment of its own.
 * Pure; allocates.
 *
 *   # ID  AGENT  WORKSPACE  UNTIL  BY  MADE  BINDING  BOUND          (tabs between them)
 *   [commands]
 *   allow = git push origin feature/x $
 *
 * Strings are as the ledger writes them (record_escape()), but for the policy line itself.  The grants of a
 * session are the same in its helper's memory, with "session" for UNTIL.
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
#define GRANT_ID_PREFIX 4

/* One grant; borrowed. */
struct grant_entry {
	const char *id, *agent, *workspace; /* workspace "": everywhere */
	const char *until, *by, *made;	    /* until "": until it is revoked, or its session ends */
	/* Of a command: a digest of where, which program and with which variables; and that for people. */
	const char *binding, *bound;
	const char *section, *line;
	enum grant_scope scope;
};

struct grant_list {
	char *text; /* the strings of the entries */
	struct grant_entry *list;
	size_t n;
};

/* Takes text over.  0; -ENOMEM, also where text is NULL; -EBADMSG: a text that is not wholly understood has
 * no grant.  Where it fails ret is empty and *ret_why is a static sentence. */
int grant_list_parse(char *text, struct grant_list *ret, const char **ret_why);
void grant_list_done(struct grant_list *l);
/*
 * The text of l without the one of this id (NULL: all of it) and with one more (NULL: none), but for what has
 * been over for 30 days at now_s (seconds since 1970).  The caller frees; NULL where memory is out.
 */
char *grant_list_text(const struct grant_list *l, const char *without, const struct grant_entry *with,
		      uint64_t now_s);
/* The one of this id, or NULL. */
const struct grant_entry *grant_list_find(const struct grant_list *l, const char *id);

/* {id, scope, section, line, agent, workspace, made, until, by, bound}: a new reference, or NULL. */
json_t *grant_entry_json(const struct grant_entry *e);
/*
 * Why e does not hold for this agent (NULL: whichever) in this workspace at that time: a static fragment,
 * "over", ...; NULL where it holds.
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
