/*
 * Grants: what a human allowed beyond one question, as rules that answer later ones (policy/grant.h).
 *
 *   grants        those of this session and those that are kept, as one image
 *   grants_order  what a human orders: made, revoked, listed, tried on examples
 *   grants_store  the file of those that are kept, shared with other sessions of the same user
 *
 * The file is looked at again whenever it has changed, so that what is granted or revoked in one session
 * holds in all.  A file that cannot be understood is put aside and grants nothing; that is recorded and said.
 */
#ifndef PALE_HELPER_GRANTS_H
#define PALE_HELPER_GRANTS_H

#include <sys/stat.h>

#include "policy/grant_file.h"

#define GRANTS_SESSION	256 /* that hold for one session */
#define GRANTS_DAYS	30  /* how long one for a project holds where nobody says */
#define GRANTS_DAYS_MAX 366
#define GRANTS_SEEN	64 /* questions that are kept as examples */

struct helper;
struct approval;

/* One that is known, whether it holds here or not.  Owns its strings. */
struct granted {
	char id[GRANT_ID_HEX];
	enum grant_scope scope;
	char *section, *line, *agent, *workspace, *made, *until, *by, *bound, *binding; /* as in the file */
	const char *off;	  /* why it does not hold in this session (static), or NULL */
	uint64_t used, unwritten; /* uses; of them not counted in the file yet */
};

struct grants {
	struct granted *list;
	size_t n, cap;
	size_t *active; /* of the image's grant i: its place in list */
	size_t n_active;
	uint8_t *bytes;
	struct image image;			  /* of those that hold; .h is NULL where none does */
	char key[65];				  /* for which command; "": of all */
	struct stat store;			  /* the file when it was read */
	bool read;				  /* it was, once */
	const char *trouble;			  /* why nothing is kept (static), or NULL */
	uint64_t looked_s, next_end_s, written_s; /* CLOCK_REALTIME, seconds */
	struct approval *seen[GRANTS_SEEN];	  /* questions of this session, for examples; a ring */
	size_t n_seen;
};

/* Once in the loop: what is over is recorded, uses are counted in the file. */
void grants_tick(struct helper *h);
void grants_done(struct helper *h);

/*
 * Is req, which the image of that number asks about, granted?  The id of the grant goes to ret_id; the use is
 * recorded.  What needs a second proof is never answered so.  Only what the session's own policy asks is
 * answered so: what a nested run's policy alone asks is not.
 */
bool grants_cover(struct helper *h, uint32_t image, const struct request *req, pid_t pid,
		  char ret_id[GRANT_ID_HEX]);
/* What may be granted for a question, which is kept as an example; 0 or -ENOMEM.  grant_offers_done() in each
 * case. */
int grants_offer(struct helper *h, uint32_t image, const struct request *req, struct grant_offers *ret);

/* What a human orders. */
struct grant_order {
	enum grant_scope scope; /* beyond once */
	const char *line;	/* NULL: the first that was offered */
	const char *until;	/* of a project's: "YYYY-MM-DD", NULL: GRANTS_DAYS from now */
	const char *by;
	pid_t pid;
};

/*
 * Makes a grant out of the answer to ap: in the ledger, and kept, when this returns 0 with its id.  Else
 * -errno and a sentence in why, and nothing is granted.
 */
int grants_add(struct helper *h, const struct approval *ap, const struct grant_order *o,
	       char ret_id[GRANT_ID_HEX], char *why, size_t size);
/* Takes one back, by a unique prefix of its id: 0 with the whole id, or -errno and a sentence. */
int grants_revoke(struct helper *h, const char *prefix, const char *by, pid_t pid, char ret_id[GRANT_ID_HEX],
		  char *why, size_t size);
/* May this line be granted as the answer to ap?  0, or -errno and a sentence. */
int grants_check(struct helper *h, const struct approval *ap, const char *line, char *why, size_t size);

/* {"grants": [{id, scope, section, line, agent, workspace, made, until, by, used, holds, why?}], "trouble"?}
 */
json_t *grants_json(struct helper *h);

/*
 * {"match": [...], "not_match": [...]}: targets of this session's questions that the line would answer, and
 * the nearest to ap's that it would not; at most five of each, escaped.
 */
json_t *grants_examples(struct helper *h, const struct approval *ap, const char *line);

/* --- shared by the parts --- */

/* Reads the file again where it has changed, and judges anew which hold. */
void grants_refresh(struct helper *h);
/* The image of those that hold; 0 or -errno, and then nothing is granted. */
int grants_rebuild(struct helper *h);
/* The same of those alone that were given for such a command; NULL: of all. */
int grants_focus(struct helper *h, const struct request *req);

/* --- grants_bound.c: of a command, what a grant is bound to besides its line --- */

/* A digest of it: directory, program and variables. */
void grants_binding(const char *id, const struct request *req, char binding[65]);
/* What was granted for one may answer the other. */
bool grants_bound_alike(const struct request *a, const struct request *b);
/* The same in words (caller frees) and as a digest; "" for what is no command.  0 or -ENOMEM. */
int grants_bind(struct helper *h, const struct approval *ap, const char *id, char **ret_bound,
		char binding[65]);
int grants_append(struct grants *g, const struct grant_entry *e);
void grants_remove(struct grants *g, size_t i);
/* As it stands in the file; all text is borrowed. */
struct grant_entry granted_entry(const struct granted *g);
/* A durable record about one; more begins with a blank or is "".  0 or -errno. */
int grants_record(struct helper *h, const char *op, const struct grant_entry *g, const char *more, pid_t pid);

/* --- grants_store.c; dir is places_open_user() --- */

/* Locks the file against other sessions for 50 ms at most: a descriptor to close, or -errno. */
int store_lock(int dir);
/* True where the file is another one than *known. */
bool store_changed(int dir, const struct stat *known);
/* The file's value (new reference) and what it is now; NULL with -errno, -EBADMSG with why for what is no
 * such file. */
json_t *store_read(int dir, struct stat *ret, int *ret_err, const char **ret_why);
/* Replaces it, durable when this returns 0. */
int store_write(int dir, const json_t *file, mode_t mode, struct stat *ret);
/* Puts a file aside that nobody understands; its new name, or NULL. */
const char *store_aside(int dir, char *buf, size_t size);

#endif
