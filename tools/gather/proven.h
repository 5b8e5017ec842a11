/* Real paths that a session could have led elsewhere. */
#ifndef PALE_PROVEN_H
#define PALE_PROVEN_H

struct bundle;
struct diags;
struct policy;

/*
 * Marks as unproven, in b, those real paths that lead through a link which the policy of b lets a
 * session make.  p: its rules, for the warnings.  first: the bundle that the running session began with, or
 * NULL; where it is given, a link that leads elsewhere than at the beginning is proven only where no
 * process of this user could have made it.  0 or -ENOMEM.
 */
int reals_prove(struct bundle *b, const struct policy *p, const struct bundle *first, struct diags *d);

#endif
