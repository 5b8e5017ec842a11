/* Records in the session's ring. */
#ifndef PALE_PRELOAD_LOG_H
#define PALE_PRELOAD_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/judge/eval.h"
#include "policy/wire/ring.h"

void log_decision(const struct request *req, const char *target, const struct decision *d,
		  const char *approval);
/* Records a denial and returns its id, 0 if it has none.  Sets *is_quiet if it must not be reported now. */
uint32_t log_denied(const struct request *req, const char *target, const struct decision *d,
		    const char *approval, const char *why, bool *is_quiet);
/* Starts the record before an act, and ring_end() completes it afterwards: if the process is killed in
 * between, the decision is still recorded. */
void log_begin(const struct request *req, const char *target, const struct decision *d, const char *approval,
	       struct ring_hold *ret);
/* Puts rec, with the present time, into the ring, like log_begin(). */
void log_record(struct ring_record *rec, struct ring_hold *ret);
/* Records that the hooks are in this process. */
void log_attach(void);

#endif
