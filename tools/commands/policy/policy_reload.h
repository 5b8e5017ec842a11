/* Policies of running sessions, loaded again. */
#ifndef PALE_POLICY_RELOAD_H
#define PALE_POLICY_RELOAD_H

struct options;

/* Makes the running sessions (or o->session) load their policy files again.  Exit code. */
int policy_reload(const struct options *o);

#endif
