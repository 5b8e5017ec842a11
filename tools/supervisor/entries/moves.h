/*
 * Entries of directories: made, removed, renamed, linked and looked at.
 *
 * One rename(2) at a time, also among the sessions of one user, who may share a workspace.
 *
 * A directory is looked through before it moves.  Another move meanwhile may change its content or its
 * place.  So moves are counted, and a directory that was looked through before another move is looked
 * through again.
 */
#ifndef PALE_MOVES_H
#define PALE_MOVES_H

#include <stdbool.h>
#include <stdint.h>

struct supervisor;

/*
 * Opens the file for all sessions in the operator's state directory, which no session can reach.  0: not
 * available, and only the session's own moves are counted.
 */
int moves_open(const char *state_dir);
/* The number of moves so far; read before a directory is looked through. */
uint64_t moves_count(const struct supervisor *s);
/*
 * Blocks other moves until moves_end().  1: something has moved since `seen` was counted; 0: nothing has.
 * -EBUSY: another session moves something and does not finish; moves_end() must not be called then.
 */
int moves_begin(const struct supervisor *s, uint64_t seen);
/* Ends moves_begin(); moved: the rename was done, and is counted. */
void moves_end(const struct supervisor *s, bool moved);

#endif
