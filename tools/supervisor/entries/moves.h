/*
 * Entries of directories: made, removed, renamed, linked and looked at.
 *
 * One rename(2) at a time, also among the sessions of one user, who may share a workspace.
 *
 * A directory is looked through before it moves.  What moves meanwhile may be in it by then, or around it. So
 * moves are counted, and a directory that was looked through before another move is looked through again.
 */
#ifndef PALE_MOVES_H
#define PALE_MOVES_H

#include "tools/supervisor/supervisor.h"

/*
 * Opens the file of all sessions in the operator's state directory, which no session can reach.  0: it cannot
 * be had, and only the session's own moves are counted.
 */
int moves_open(const char *state_dir);
/* How many moves there were, before a directory is looked through. */
uint64_t moves_count(const struct supervisor *s);
/*
 * Nothing else moves until moves_end().  1: something has moved since `seen` was counted; 0: nothing has.
 * -EBUSY: another session moves something and does not come to an end; moves_end() must not be called.
 */
int moves_begin(const struct supervisor *s, uint64_t seen);
/* moved: the rename was done, and counts. */
void moves_end(const struct supervisor *s, bool moved);

#endif
