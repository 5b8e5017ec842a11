/*
 * Which variables of its caller's environment a question about a command shows: those that could make it
 * another command than the words say.  What a deployment script reads nobody can know, so these are all that
 * differ from the environment that the session began with, and of a table (environ_targets.def) those that
 * say where a known program goes, wherever they are set.
 */
#ifndef PALE_ENVIRON_TARGET_H
#define PALE_ENVIRON_TARGET_H

#include "op.h"

/* What the entry "NAME=VALUE" was when the session began. */
enum environ_was { WAS_SAME, WAS_OTHER };

/*
 * Is this entry shown for req?  So is a name alone: a variable of the session's beginning that is not there
 * any more.
 */
bool environ_is_shown(const struct request *req, const char *entry, enum environ_was was);

#define ENVIRON_PRINT 33
/* A digest of an entry, by which two are told to be the same; 0, or -EINVAL where it has no name. */
int environ_print(const char *entry, char print[ENVIRON_PRINT]);

#endif
