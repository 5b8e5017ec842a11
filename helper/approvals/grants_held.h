/*
 * Grants: rules by which a human's answer to one question also answers later ones (policy/grant/grant.h).
 *
 *   grants_held        the grants of this session and those in the file, as one image
 *   grants_bound  what a grant of a command is bound to besides its line
 *   grants_order  a human's orders: make, revoke, list
 *   grants_store  the file of grants that outlive a session; all sessions of a user share it
 *
 * The file is read again whenever it has changed, so that a grant made or revoked in one session counts in
 * all.  A file that cannot be parsed grants nothing, and nothing is added to it; that is recorded and
 * reported.
 */
#ifndef PALE_HELPER_GRANTS_H
#define PALE_HELPER_GRANTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "policy/grant/grant_file.h"
#include "policy/image/image.h"
#include "policy/judge/eval.h"

#define GRANTS_SESSION	256 /* most grants that hold for one session */
#define GRANTS_DAYS	30  /* days that a grant for a project holds where the human gives no last day */
#define GRANTS_DAYS_MAX 366 /* the most of any grant with an end */

struct helper;
struct approval;

struct grants {
	struct grant_list kept, session; /* those of the file, and those of this session only */
	struct stat store;		 /* the file when it was read */
	/* The grants that hold for the last question; .h is NULL where there are no such grants. */
	struct image image;
	uint8_t *bytes;
	const struct grant_entry **active; /* [i]: the image's grant i */
	char key[65];			   /* what that question is bound to; "": it is not a command */
	uint64_t end_s;			   /* when the first of them is over; 0: it must be made again */
};

void grants_done(struct helper *h);

/*
 * True where a grant allows req, which the image of that number asks about; ret_id is the grant's id, and the
 * use is recorded.  A grant never answers a question that needs a second proof, or one that only the policy
 * of a nested run asks.
 */
bool grants_cover(struct helper *h, uint32_t image, const struct request *req, pid_t pid,
		  char ret_id[GRANT_ID_HEX]);
/*
 * The grant that covers what img asks, or NULL.  A grant for a command must be bound as `bound` is, unless
 * that is NULL.  Borrowed until the next call.
 */
const struct grant_entry *grants_find(struct helper *h, const struct image *img, const struct request *req,
				      const struct request *bound);
/* The grants that are offered with a question.  0 or -ENOMEM.  Call grant_offers_done(ret) in any case. */
int grants_offer(struct helper *h, uint32_t image, const struct request *req, struct grant_offers *ret);

/* Why req, which the image of that number asks about, may be allowed only once, whatever a rule says; NULL: a
 * grant is possible. */
const char *grants_why_once(struct helper *h, uint32_t image, const struct request *req);

/* A human's order to make a grant.  Borrows its strings. */
struct grant_order {
	enum grant_scope scope; /* not GRANT_ONCE */
	const char *line;	/* NULL: the first one offered */
	const char *until;	/* as until_end() takes it; NULL: GRANTS_DAYS for a project, else no end */
	const char *by;
	pid_t pid;
};

/*
 * Makes a grant of the answer to ap.  0 with its id, once it is in the ledger and, for a project, in the
 * file.  Else -errno and a sentence in why, and nothing is granted.
 */
int grants_add(struct helper *h, const struct approval *ap, const struct grant_order *o,
	       char ret_id[GRANT_ID_HEX], char *why, size_t size);
/* Revokes the grant of this id: 0, or -errno (-ENOENT: not found) and a sentence in why. */
int grants_revoke(struct helper *h, const char *id, const char *by, pid_t pid, char *why, size_t size);
/* Whether this line may be granted as the answer to ap: 0, or -errno and a sentence in why. */
int grants_check(struct helper *h, const struct approval *ap, const char *line, char *why, size_t size);

/* {"grants": [{as grant_entry_json(), holds, why?}]} */
json_t *grants_json(struct helper *h);

/* --- shared by the parts --- */

/* Reads the file again if it has changed. */
void grants_refresh(struct helper *h);
/*
 * Removes the grant of this id (NULL: none) and adds another (NULL: none), in the session's list or the
 * file.  0, or -errno with a static sentence.
 */
int grants_change(struct helper *h, enum grant_scope scope, const char *without,
		  const struct grant_entry *with, const char **ret_err);
/* Grant i, first those of the file and then those of the session; NULL after the last. */
const struct grant_entry *grants_at(const struct grants *g, size_t i);
/* Why the grant does not hold in this session (static), or NULL. */
const char *grants_off(struct helper *h, const struct grant_entry *e);
/* Writes a durable record about a grant; more begins with a blank or is "".  0 or -errno. */
int grants_record(struct helper *h, const char *op, const struct grant_entry *g, const char *more, pid_t pid);

/* --- grants_bound.c --- */

/* The digest of what a grant is bound to: the directory, program and variables of req, and the grant's id. */
void grants_binding(const char *id, const struct request *req, char binding[65]);
/* The binding of a grant in words (caller frees) and as a digest; "" where ap is not a command.  0 or
 * -ENOMEM. */
int grants_bind(struct helper *h, const struct approval *ap, const char *id, char **ret_bound,
		char binding[65]);

/* --- grants_store.c; dir is places_open_user() --- */

/* True where the file has changed since *known, which is then updated. */
bool store_changed(int dir, struct stat *known);
/*
 * Reads the file: 0 (also where there is no file), -EBADMSG with a static reason where it is not valid, or
 * -errno.  After an error ret is empty.
 */
int store_read(int dir, struct grant_list *ret, const char **ret_why);

#endif
