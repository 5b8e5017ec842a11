/*
 * Step-up: what cannot be taken back is approved by more than a connection that passed the taint check.
 *
 * The hash of the passphrase is kept in the user's state directory.  A passphrase is checked in the loop,
 * which answers nothing else for about a tenth of a second.  After three wrong ones, in whatever session, a
 * wait of at least a minute follows (tries.c), and a helper computes at most four hashes in ten seconds,
 * also for right ones: so no client can delay the session's decisions for long.  No secret is recorded.
 */
#ifndef PALE_HELPER_STEPUP_H
#define PALE_HELPER_STEPUP_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "policy/question/risk.h"
#include "policy/rules/rule.h"

#define STEPUP_TRIES  3
#define STEPUP_HASHES 4 /* in ten seconds */

struct helper;

/* Only stepup_check.c sets it. */
struct stepup_state {
	uint64_t since_ns; /* CLOCK_BOOTTIME: when the span of `hashes` began */
	unsigned hashes;
	char err[96]; /* why nothing was checked */
};

/* The confirmation that an approval needs. */
enum stepup_by { STEPUP_BY_NOTHING, STEPUP_BY_PASSPHRASE, STEPUP_BY_PAM };

/* For a question of this risk under that image (image_of()). */
enum stepup_by stepup_by(const struct helper *h, uint32_t image, enum risk_level level);
/* True where a policy with this mode demands a confirmation of what cannot be taken back. */
bool stepup_proves(const struct helper *h, enum stepup mode);
/* "", "passphrase", "pam" */
const char *stepup_by_name(enum stepup_by by);

enum stepup_what { STEPUP_CHECK, STEPUP_SET, STEPUP_REMOVE };

/* A check and its effect.  Borrows all it points to. */
struct stepup_task {
	enum stepup_what what;
	const char *secret;	    /* the passphrase that is set; "" for the first STEPUP_SET */
	const char *fresh, *phrase; /* STEPUP_SET */
	const char *approval;	    /* the card's id for records, or NULL */
	pid_t pid;		    /* the client */
};

/*
 * 0, or -errno with a sentence that is valid until the next call: -EACCES the passphrase is wrong, -ENOKEY
 * no passphrase is set, -EBADMSG it is damaged, -EAGAIN there were too many wrong ones or too many checks,
 * -EINVAL.
 */
int stepup_run(struct helper *h, const struct stepup_task *t, const char **ret_err);
/*
 * True where a passphrase is set, or its file's name is taken by something else (then nothing can be
 * checked).
 */
bool stepup_is_set(const struct helper *h);
/* ["passphrase"], ["pam"] or []: how a critical approval is confirmed in this session (new reference). */
json_t *stepup_ways(const struct helper *h);
/* {"set", "phrase", "left"}: what the operator is shown before the passphrase is typed; left: tries. */
json_t *stepup_status(struct helper *h);

/* --- tries.c --- */

/* Counts one more try as wrong, until it is settled: 0, -EAGAIN with the seconds to wait, or -errno. */
int tries_charge(const struct helper *h, unsigned *ret_wait_s);
/* The result of the try: 0 right, -EACCES wrong, anything else: it was not checked. */
void tries_settle(const struct helper *h, int result);
/* The number of tries before the next wait. */
unsigned tries_left(const struct helper *h);

#endif
