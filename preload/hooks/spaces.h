/* New name spaces: flags of unshare and clone (of which the last is a bit of the signal). */
#ifndef PALE_SPACES_H
#define PALE_SPACES_H

#include <sched.h>

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80
#endif

#define NEW_SPACES                                                                                           \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID |        \
	 CLONE_NEWNET | CLONE_NEWTIME)

/* EPERM, told once in a program: an agent's own sandbox fails without a word that helps. */
int refuse_spaces(void);

#endif
