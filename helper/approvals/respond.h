/* A human's answer. */
#ifndef PALE_HELPER_RESPOND_H
#define PALE_HELPER_RESPOND_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "policy/grant/grant_file.h"
#include "policy/wire/wire.h"

#include "approval.h"

struct helper;

struct broker_reply {
	enum approval_state said; /* approved or denied */
	enum grant_scope scope;
	const char *rule;  /* the policy line that is granted; NULL: the narrowest one offered */
	const char *until; /* when the grant is over, as until_end() takes it; or NULL */
	const char *reason, *by;
	const char *confirmed; /* "", "passphrase", or "pam" (the client's claim) */
	size_t seen;	       /* number of asking processes that were shown: a yes is only for these */
	bool group;	       /* also answers similar pending cards */
	const json_t *with;    /* for a yes to a group: digests of the cards that were shown; NULL: none */
	pid_t pid;
};

struct broker_result {
	unsigned waiters; /* number of processes that got the answer */
	bool late;
	char grant[GRANT_ID_HEX];		   /* id of the grant that was made, or "" */
	char also[LIMIT_PENDING][APPROVAL_ID_HEX]; /* other cards that were answered */
	size_t n_also;
	char err[256]; /* on failure: one sentence */
};
/* Applies a human's answer.  0, and the caller must not use ap afterwards; or -errno with ret->err. */
int broker_respond(struct helper *h, struct approval *ap, const struct broker_reply *reply,
		   struct broker_result *ret);

#endif
