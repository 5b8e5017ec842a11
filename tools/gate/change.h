/*
 * Changes: what a session pushed to the gate, kept until a person decided, and afterwards.
 *
 * STATE/gate/changes/N.json says what is known of change N; the numbers are the user's, whatever the
 * repository. refs/changes/N/head and refs/changes/N/base in the gate's repository keep its commits.  No
 * session can write either place.
 */
#ifndef PALE_CHANGE_H
#define PALE_CHANGE_H

#include <jansson.h>
#include <stddef.h>
#include <time.h>

#define GIT_HEX 65 /* an object's name as text: SHA-1 or SHA-256, and the NUL */

enum change_state { CHANGE_OPEN, CHANGE_PUSHED, CHANGE_DENIED, CHANGE_FAILED };

struct change {
	unsigned number;
	char *repository; /* path of the gate's repository */
	char *url, *session, *agent;
	char *asked;	       /* the ref that the agent named, such as refs/heads/topic */
	char *ref;	       /* the ref that it becomes at the remote */
	char old_oid[GIT_HEX]; /* what ref is at the remote, by the mirror; "": it does not exist */
	char new_oid[GIT_HEX]; /* the pushed commit */
	char base[GIT_HEX];    /* what the review compares with; "": the empty tree */
	enum change_state state;
	time_t made;
	char *text; /* what was said last: the person's reason, or the server's refusal */
};

/* "open", "pushed", "denied", "failed". */
const char *change_state_name(enum change_state s);
/*
 * Takes the next number, finds the base (with c->base "" on entry), writes refs/changes/N/ by the git at this
 * path, and N.json, durably.  The caller fills repository, url, session, agent, asked, ref, old_oid and
 * new_oid; number, base, state and made are set here.  0 or -errno: then there is no change N.
 */
int change_make(const char *state_dir, const char *git, struct change *c);
/* Reads change n.  0; -ENOENT; -EBADMSG where its file is damaged.  change_done() in any case. */
int change_load(const char *state_dir, unsigned n, struct change *ret);
/* The number of the newest change, 0 without any; or -errno. */
int change_last(const char *state_dir, unsigned *ret);
/* Writes the new state and text (may be NULL) durably, to the file and to c; what is pushed stays pushed.  0
 * or -errno. */
int change_settle(const char *state_dir, struct change *c, enum change_state s, const char *text);
/* All of it as a new object. */
json_t *change_facts(const struct change *c);
/* Frees the strings. */
void change_done(struct change *c);

/*
 * The card of a question: counts, what runs later, what else a person should know.  A few lines of ASCII, all
 * that the agent wrote escaped.  The caller frees it.  NULL where it could not be made: then there is no
 * question.
 */
char *change_card(const struct change *c, const char *git);

#endif
