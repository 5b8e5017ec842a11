/*
 * Grants: rules by which a human's answer to one question also answers later ones (policy/grant.h).
 *
 *   grants        the grants of this session and those in the file, as one image
 *   grants_order  a human's orders: make, revoke, list
 *   grants_store  the file of grants that outlive a session; all sessions of a user share it
 *
 * The file is read again whenever it has changed, so that a grant made or revoked in one session counts in
 * all.  A file that cannot be parsed is set aside and grants nothing; that is recorded and reported.
 */
#ifndef PALE_HELPER_GRANTS_H
#define PALE_HELPER_GRANTS_H

#include <sys/stat.h>

#include "policy/grant_file.h"

#define GRANTS_SESSION	256 /* most grants that hold for one session */
#define GRANTS_DAYS	30  /* how long a grant for a project holds where the human does not say */
#define GRANTS_DAYS_MAX 366

struct helper;
struct approval;

/* A grant, whether it holds in this session or not.  Owns its strings. */
struct granted {
	char id[GRANT_ID_HEX];
	enum grant_scope scope;
	char *section, *line, *agent, *workspace, *made, *until, *by, *bound, *binding; /* as in the file */
	const char *off;	  /* why it does not hold in this session (static), or NULL */
	uint64_t used, unwritten; /* number of uses; how many of them the file does not count yet */
};

struct grants {
	struct granted *list;
	size_t n, cap;
	size_t *active; /* [i]: index in list of the image's grant i */
	size_t n_active;
	uint8_t *bytes;
	struct image image;			  /* of the grants that hold; .h is NULL where none does */
	char key[65];				  /* the command that image is made for; "": for all */
	struct stat store;			  /* the file when it was read */
	bool read;				  /* the file was read once */
	const char *trouble;			  /* why no grant can be kept in the file (static), or NULL */
	uint64_t looked_s, next_end_s, written_s; /* CLOCK_REALTIME, seconds */
};

/* Called in each round of the loop: records grants that expired, and counts uses in the file. */
void grants_tick(struct helper *h);
void grants_done(struct helper *h);

/*
 * True where a grant allows req, which the image of that number asks about; ret_id is the grant's id, and the
 * use is recorded.  A grant never answers a question that needs a second proof, or one that only the policy
 * of a nested run asks.
 */
bool grants_cover(struct helper *h, uint32_t image, const struct request *req, pid_t pid,
		  char ret_id[GRANT_ID_HEX]);
/* The grants that are offered with a question.  0 or -ENOMEM.  Call grant_offers_done(ret) in any case. */
int grants_offer(struct helper *h, uint32_t image, const struct request *req, struct grant_offers *ret);

/* Why what is asked may be allowed once only, whatever a rule says; NULL: it may last. */
const char *grants_why_once(const struct request *req);

/* A human's order to make a grant.  Borrows its strings. */
struct grant_order {
	enum grant_scope scope; /* not GRANT_ONCE */
	const char *line;	/* NULL: the first one offered */
	const char *until;	/* for a project: "YYYY-MM-DD", NULL: GRANTS_DAYS from now */
	const char *by;
	pid_t pid;
};

/*
 * Makes a grant of the answer to ap.  0 with its id, once it is in the ledger and, for a project, in the
 * file.  Else -errno and a sentence in why, and nothing is granted.
 */
int grants_add(struct helper *h, const struct approval *ap, const struct grant_order *o,
	       char ret_id[GRANT_ID_HEX], char *why, size_t size);
/* Revokes a grant, by a unique prefix of its id: 0 with the whole id, or -errno and a sentence in why. */
int grants_revoke(struct helper *h, const char *prefix, const char *by, pid_t pid, char ret_id[GRANT_ID_HEX],
		  char *why, size_t size);
/* Whether this line may be granted as the answer to ap: 0, or -errno and a sentence in why. */
int grants_check(struct helper *h, const struct approval *ap, const char *line, char *why, size_t size);

/* {"grants": [{id, scope, section, line, agent, workspace, made, until, by, used, holds, why?}], "trouble"?}
 */
json_t *grants_json(struct helper *h);

/* --- shared by the parts --- */

/* Reads the file again if it has changed, and determines which grants hold. */
void grants_refresh(struct helper *h);
/* Makes the image of all grants that hold; 0 or -errno, and then no grant holds. */
int grants_rebuild(struct helper *h);
/* The same with only the grants that are bound as req is (grants_binding()); NULL: with all. */
int grants_focus(struct helper *h, const struct request *req);

/* --- grants_bound.c: what a grant of a command is bound to besides its line --- */

/* The digest of what a grant is bound to: the directory, program and variables of req, and the grant's id. */
void grants_binding(const char *id, const struct request *req, char binding[65]);
/* The binding of a grant in words (caller frees) and as a digest; "" where ap is not a command.  0 or
 * -ENOMEM. */
int grants_bind(struct helper *h, const struct approval *ap, const char *id, char **ret_bound,
		char binding[65]);
/* grants.c, too. */
int grants_append(struct grants *g, const struct grant_entry *e);
void grants_remove(struct grants *g, size_t i);
/* The grant as an entry of the file; all text is borrowed. */
struct grant_entry granted_entry(const struct granted *g);
/* Writes a durable record about a grant; more begins with a blank or is "".  0 or -errno. */
int grants_record(struct helper *h, const char *op, const struct grant_entry *g, const char *more, pid_t pid);

/* --- grants_store.c; dir is places_open_user() --- */

/* Locks the file against other sessions for 50 ms at most: a descriptor to close, or -errno. */
int store_lock(int dir);
/* True where the file has changed since *known. */
bool store_changed(int dir, const struct stat *known);
/* Reads the file: its value (new reference) and its status; NULL with -errno, -EBADMSG with a reason where it
 * cannot be parsed. */
json_t *store_read(int dir, struct stat *ret, int *ret_err, const char **ret_why);
/* Replaces the file; it is on the disk when this returns 0. */
int store_write(int dir, const json_t *file, mode_t mode, struct stat *ret);
/* Renames a file that cannot be parsed; its new name, or NULL. */
const char *store_aside(int dir, char *buf, size_t size);

#endif
