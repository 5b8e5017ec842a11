/*
 * A grant: what a human allowed beyond one question, as a rule of the policy language.
 *
 * Grants form an image of their own, whose rules can do one thing: turn an ask into an allow.  Who
 * judges looks there only where the policy's own answer is ask, so that no grant is ever above a deny
 * or a hard rule.  Rules are the lines that would stand in a policy file ("allow = npm publish $" in
 * [commands]), so that a grant can be read, edited, explained and carried over.
 *
 * They are taken more narrowly than a policy's: every command that the policy asks about (a wrapper and what
 * it wraps) needs a grant; no grant speaks of a program that runs what its arguments say, nor by its mere
 * name of one that the session may write; `$` counts the words; and git's pushes are covered refspec by
 * refspec, with the options that are named.
 *
 * `img` is the policy's image that req is judged by.  Allocates; not for the preload.
 */
#ifndef PALE_GRANT_H
#define PALE_GRANT_H

#include "policy/image/image.h"
#include "policy/parse/parse.h"

/* How long and how far an answer holds. */
enum grant_scope {
	GRANT_ONCE,    /* this question, with all who wait for it */
	GRANT_SESSION, /* this rule until the session ends */
	GRANT_PROJECT, /* this rule for this agent in this workspace, until a date */
	GRANT_ALWAYS,  /* this rule for this agent everywhere, until it is revoked */
	GRANT_SCOPES
};

/* "once", "session", ... ("?" for what is none); the inverse gives GRANT_SCOPES for what is none, NULL too.
 */
const char *grant_scope_name(enum grant_scope scope);
enum grant_scope grant_scope_by_name(const char *name);

#define GRANT_OFFERS 2
/* Bytes of a line with its NUL: INI_LINE_MAX and no more. */
#define GRANT_LINE 191

/* What may be offered for a question: the narrowest policy line, and a wider one. */
struct grant_offers {
	const char *section;	  /* static: "commands", "files", "network" */
	char *line[GRANT_OFFERS]; /* "allow = git push origin feature/x $"; owned */
	size_t n;
	const char *why_none; /* static sentence where n is 0 */
};

/*
 * The lines that may be offered for req, which the policy asks about; each passes grant_check().  Never a
 * program that runs what its arguments say (interpreters, shells, wrappers), never `*` as a whole, never a
 * public suffix, never a home or a root.  0 or -ENOMEM; grant_offers_done() in each case.
 */
int grant_offer(const struct image *img, const struct request *req, struct grant_offers *ret);
void grant_offers_done(struct grant_offers *o);

/*
 * May `line` of that section be granted as the answer to req?  It must parse, be one rule that allows, cover
 * req itself, and not be one that gives away more than anybody would want.  0, -ENOMEM, or -EINVAL with a
 * sentence in why.  req may be NULL: then all but the covering is checked.
 */
int grant_check(const struct image *img, const char *section, const char *line, const struct request *req,
		char *why, size_t size);

/* One granted rule, borrowed. */
struct grant_line {
	const char *section, *line;
};

/*
 * Compiles grants into an image: base gives home and workspace (its settings and rules are not taken).  The
 * caller frees *ret_bytes.  0, -EBADMSG with findings whose `line` is the index of the grant + 1, -ENOMEM.
 */
int grants_compile(const struct image *base, const struct grant_line *list, size_t n, struct diags *d,
		   uint8_t **ret_bytes, size_t *ret_size);
/* The same as an image, which lives as long as *ret_bytes; the findings are dropped.  0 or -errno. */
int grants_open(const struct image *base, const struct grant_line *list, size_t n, uint8_t **ret_bytes,
		struct image *ret);
/*
 * The policy asks about req, and the grants cover all that it asks: true with the index of a grant that does.
 * False for what the policy denies or allows by itself.
 */
bool grants_allow(const struct image *grants, const struct image *img, const struct request *req,
		  size_t *ret_index);

#endif
