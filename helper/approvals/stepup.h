/*
 * Step-up: what cannot be taken back is approved by more than a connection that passed the taint check.
 *
 * The hash of the passphrase lies in the user's state directory.  A passphrase is checked in the loop, where
 * nothing else is answered for about a tenth of a second.  Three wrong ones, whatever session they came by,
 * are followed by a wait of a minute at least (tries.c), and one helper makes at most four hashes in ten
 * seconds, also of right ones: so nobody holds the session's decisions up for long.  No secret is written
 * down.
 */
#ifndef PALE_HELPER_STEPUP_H
#define PALE_HELPER_STEPUP_H

#include "policy/question/risk.h"

#include "helper/base/helper.h"

#define STEPUP_TRIES  3
#define STEPUP_HASHES 4 /* in ten seconds */

/* What an approval needs besides. */
enum stepup_by { STEPUP_BY_NOTHING, STEPUP_BY_PASSPHRASE, STEPUP_BY_PAM };

/* For a question of so much risk under that image (image_of()). */
enum stepup_by stepup_by(const struct helper *h, uint32_t image, enum risk_level level);
/* A policy with that mode wants more than its own word for what cannot be taken back. */
bool stepup_proves(const struct helper *h, enum stepup mode);
/* "", "passphrase", "pam" */
const char *stepup_by_name(enum stepup_by by);

enum stepup_what { STEPUP_CHECK, STEPUP_SET, STEPUP_REMOVE };

/* A check and what follows from it.  All is borrowed. */
struct stepup_task {
	enum stepup_what what;
	const char *secret;	    /* the passphrase that is set; "" for the first STEPUP_SET */
	const char *fresh, *phrase; /* STEPUP_SET */
	const char *approval;	    /* the card's id for records, or NULL */
	pid_t pid;		    /* who asks */
};

/*
 * 0, or -errno with a sentence that holds until the next call: -EACCES the passphrase is wrong, -ENOKEY none
 * is set, -EBADMSG it is damaged, -EAGAIN too many were wrong or looked at, -EINVAL.
 */
int stepup_run(struct helper *h, const struct stepup_task *t, const char **ret_err);
/* A passphrase is set, or something that is none stands in its place (then nothing can be checked). */
bool stepup_is_set(const struct helper *h);
/* ["passphrase"], ["pam"] or []: how a critical approval is confirmed in this session (new reference). */
json_t *stepup_ways(const struct helper *h);
/* {"set", "phrase", "left"}: what the operator is shown before he types; left: tries. */
json_t *stepup_status(struct helper *h);

/* --- tries.c --- */

/* One more try counts as wrong until it is settled: 0, -EAGAIN with the seconds to wait, or -errno. */
int tries_charge(const struct helper *h, unsigned *ret_wait_s);
/* What came of it: 0 right, -EACCES wrong, anything else: it was not judged. */
void tries_settle(const struct helper *h, int result);
/* So many are looked at before the next wait. */
unsigned tries_left(const struct helper *h);

#endif
