/* New namespaces: flags of unshare and clone (for clone, the last one is a bit of the signal). */
#ifndef PALE_SPACES_H
#define PALE_SPACES_H

#include <sched.h>

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80
#endif

#define NEW_SPACES                                                                                           \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID |        \
	 CLONE_NEWNET | CLONE_NEWTIME)

/* Fails with EPERM, and reports it once in a program, since an agent's own sandbox does not explain such a
 * failure. */
int refuse_spaces(void);

#endif
