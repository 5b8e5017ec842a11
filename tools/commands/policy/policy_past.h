/* What a change of the policy would mean for what was decided before. */
#ifndef PALE_POLICY_PAST_H
#define PALE_POLICY_PAST_H

struct loaded;

/* Prints which decisions recorded in this workspace's newest ledgers would be different. */
void past_report(const struct loaded *before, const struct loaded *after);

#endif
