/*
 * A grant: what a human allowed beyond one question, as a rule of the policy language.
 *
 * Grants form an image of their own, whose rules can only turn an ask into an allow.  They are used only if
 * the policy's own verdict is ask, so no grant overrides a deny or a hard rule.  A grant is written
 * like a line of a policy file ("allow = npm publish $" in [commands]), so that it can be read, edited,
 * explained and copied to a policy.
 *
 * A grant matches less than the same rule of a policy.  Every command that the policy asks about (a wrapper
 * and the command in it) needs a grant.  No grant covers a program that runs what its arguments say, and a
 * bare name does not cover a program that the session may write.  `$` also fixes the number of words.  A
 * git push needs a grant for each refspec, with the options that the grant names.
 *
 * `img` is the policy's image that judges req.  Allocates; not for the preload.
 */
#ifndef PALE_GRANT_H
#define PALE_GRANT_H

#include "policy/image/image.h"
#include "policy/parse/parse.h"

/* How long and how far an answer holds. */
enum grant_scope {
	GRANT_ONCE,    /* this question, for all calls that wait for it */
	GRANT_SESSION, /* this rule until the session ends */
	GRANT_PROJECT, /* this rule for this agent in this workspace, until a date */
	GRANT_ALWAYS,  /* this rule for this agent everywhere, until it is revoked */
	GRANT_SCOPES
};

/* "once", "session", ..., or "?" for a bad value; the inverse gives GRANT_SCOPES for a bad name or NULL. */
const char *grant_scope_name(enum grant_scope scope);
enum grant_scope grant_scope_by_name(const char *name);

#define GRANT_OFFERS 2
/* Bytes of a line with its NUL: INI_LINE_MAX + 1. */
#define GRANT_LINE 191

/* The lines that may be offered for a question: the narrowest one, and a wider one. */
struct grant_offers {
	const char *section;	  /* static: "commands", "files", "network" */
	char *line[GRANT_OFFERS]; /* "allow = git push origin feature/x $"; owned */
	size_t n;
	const char *why_none; /* a static sentence if n is 0 */
};

/*
 * The lines that may be offered for req, which the policy asks about; each passes grant_check().  No line
 * is about a program that runs what its arguments say (interpreters, shells, wrappers), a bare `*`, a
 * public suffix, a home or a directory of the root.  0 or -ENOMEM; the caller must call grant_offers_done()
 * in both cases.
 */
int grant_offer(const struct image *img, const struct request *req, struct grant_offers *ret);
void grant_offers_done(struct grant_offers *o);

/*
 * How much of path a rule for it names: of what git writes in a git directory, the repository, because the
 * names in there are not written twice.  By the words of path alone; else all of it.
 */
size_t grant_place(const char *path);
/* True if a lock file is asked about, and a rule closes what it locks: *ret is the decision about that. */
bool grant_lock_is_closed(const struct image *img, const struct request *req, struct decision *ret);

/*
 * Checks that `line` of that section may be granted as the answer to req: it must parse, be one rule that
 * allows, cover req, and not be too broad.  0, -ENOMEM, or -EINVAL with a sentence in why.  If req is NULL,
 * the line does not have to cover anything.
 */
int grant_check(const struct image *img, const char *section, const char *line, const struct request *req,
		char *why, size_t size);

/* One granted rule, borrowed. */
struct grant_line {
	const char *section, *line;
};

/*
 * Compiles grants into an image: base gives home and workspace (its settings and rules are not used).  The
 * caller must free *ret_bytes.  0, -EBADMSG with findings whose `line` is the index of the grant + 1,
 * -ENOMEM.
 */
int grants_compile(const struct image *base, const struct grant_line *list, size_t n, struct diags *d,
		   uint8_t **ret_bytes, size_t *ret_size);
/* Like grants_compile(), but opens the image, which borrows *ret_bytes; drops findings.  0 or -errno. */
int grants_open(const struct image *base, const struct grant_line *list, size_t n, uint8_t **ret_bytes,
		struct image *ret);
/*
 * True if the policy asks about req and the grants cover everything that it asks about; *ret_index is then
 * the index of one of these grants.  False for a request that the policy itself denies or allows.
 */
bool grants_allow(const struct image *grants, const struct image *img, const struct request *req,
		  size_t *ret_index);

#endif
