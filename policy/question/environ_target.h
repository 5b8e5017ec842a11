/*
 * Which variables of the environment a question about a command shows: those that may make it do something
 * else than its words say.  Any program may read any variable, so all variables are shown that differ from
 * the environment at the session's start.  A variable that a table (environ_targets.def) lists for the
 * command is always shown.
 */
#ifndef PALE_ENVIRON_TARGET_H
#define PALE_ENVIRON_TARGET_H

#include "policy/base/op.h"

/* Whether the entry "NAME=VALUE" was in the environment when the session began. */
enum environ_was { WAS_SAME, WAS_OTHER };

/*
 * True where this entry is shown for req.  An entry without `=` is the name of a variable that was set when
 * the session began and is unset now.
 */
bool environ_is_shown(const struct request *req, const char *entry, enum environ_was was);

/*
 * True where the value of that variable decides what some program does, and is no secret: a table lists the
 * name, or pale knows it (PATH, HOME, NODE_OPTIONS).
 */
bool environ_is_target(const char *name);

/*
 * The rows of the table that the commands of req obey, one bit per row; 0: no variable in the table changes
 * what they do.
 */
uint64_t environ_rows(const struct request *req);
/*
 * The first entry of env with which a command of these rows does something else than with `first`, the
 * environment at the session's start; or the entry of `first` that is missing from env.  NULL: not found.
 */
const char *environ_change(uint64_t rows, const char *const *env, const char *const *first);

#define ENVIRON_PRINT 33
/* The digest of an entry, to compare two; 0, or -EINVAL where it has no `=`. */
int environ_print(const char *entry, char print[ENVIRON_PRINT]);

#endif
