/*
 * Step-up: what cannot be taken back is approved by more than a connection that passed the taint check.
 *
 * The passphrase's hash lies in the user's state directory and is compared in a thread of its own, for
 * Argon2id takes 64 MiB and some 0.2 s; the poll loop hears of it by a descriptor.  One check at a time, and
 * after three wrong ones none for a while, whatever session they came by (tries.c).  Secrets are copied into
 * locked memory and wiped with the check; nobody writes them down.
 */
#ifndef PALE_HELPER_STEPUP_H
#define PALE_HELPER_STEPUP_H

#include "policy/risk.h"

#include "helper.h"

#define STEPUP_TRIES 3

/* What an approval needs besides. */
enum stepup_by { STEPUP_BY_NOTHING, STEPUP_BY_PASSPHRASE, STEPUP_BY_PAM };

/* For a question of so much risk under that image (image_of()). */
enum stepup_by stepup_by(const struct helper *h, uint32_t image, enum risk_level level);
/* A policy with that mode wants more than its own word for what cannot be taken back. */
bool stepup_proves(const struct helper *h, enum stepup mode);
/* "", "passphrase", "pam" */
const char *stepup_by_name(enum stepup_by by);

enum stepup_what { STEPUP_CHECK, STEPUP_SET, STEPUP_REMOVE };

/* How it ended: 0, -EACCES (wrong), or another -errno.  Called from the loop. */
typedef void stepup_done_fn(struct helper *h, void *arg, int result);

/* A check and what follows from it.  All is borrowed until stepup_begin() returns. */
struct stepup_task {
	enum stepup_what what;
	const char *secret;	    /* the passphrase that is set; "" for the first STEPUP_SET */
	const char *fresh, *phrase; /* STEPUP_SET */
	const char *approval;	    /* the card's id for records, or NULL */
	pid_t pid;		    /* who asks */
	stepup_done_fn *done;
	void *arg;
};

/*
 * Begins a check: 0, and done(h, arg, result) follows; or -errno with a static sentence and no call:
 * -ENOKEY no passphrase is set, -EBUSY another is being checked, -EAGAIN too many were wrong, -EINVAL.
 */
int stepup_begin(struct helper *h, const struct stepup_task *t, const char **ret_err);
/* For poll(): readable when a check is done; -1 where none runs. */
int stepup_fd(const struct helper *h);
void stepup_ready(struct helper *h);
/* Waits for a check that runs; its done() gets -ECANCELED. */
void stepup_end(struct helper *h);
/* A passphrase is set, or something that is none stands in its place (then nothing can be checked). */
bool stepup_is_set(const struct helper *h);
/* ["passphrase"], ["pam"] or []: how a critical approval is confirmed in this session (new reference). */
json_t *stepup_ways(const struct helper *h);
/* {"set", "phrase", "left", "busy"}: what the operator is shown before he types; left: tries. */
json_t *stepup_status(struct helper *h);
/* A sentence for a result of done(). */
const char *stepup_sentence(int result);

/* --- tries.c --- */

/* One more try counts as wrong until it is settled: 0, -EAGAIN with the seconds to wait, or -errno. */
int tries_charge(const struct helper *h, unsigned *ret_wait_s);
/* What came of it: 0 right, -EACCES wrong, anything else: it was not judged. */
void tries_settle(const struct helper *h, int result);
/* So many are looked at before the next wait. */
unsigned tries_left(const struct helper *h);

#endif
