/* Denials, reported on standard error. */
#ifndef PALE_PRELOAD_SAY_H
#define PALE_PRELOAD_SAY_H

#include "policy/judge/eval.h"

/* Remembers which file stderr is.  Called once, by the constructor. */
void say_init(void);
/* Writes text as a line where a denial would be reported. */
void say_text(const char *text);
/* Records a denial and reports it: one line on stderr, once per rule and target in this process (for an
 * exec, unless it repeats the last one).  why is the operator's answer, or more about the reason. */
void deny(const struct request *req, const char *target, const struct decision *d, const char *approval,
	  const char *why);

/* Tells the agent that the operator is being asked. */
void say_asking(const struct request *req, const char *target);

#endif
