/* Processes whose program is not proven to be the one that was judged. */
#ifndef PALE_EXEC_UNPROVEN_H
#define PALE_EXEC_UNPROVEN_H

struct caller;
struct supervisor;

int unproven_new(struct supervisor *s);
void unproven_done(struct supervisor *s);
/* 0: the program that runs in the caller is the one that was judged.  -EPERM: the process was killed;
 * -ESRCH: it is gone; -EAGAIN. */
int exec_proven(struct caller *c);
/* From the main thread: settles the notes of processes that have finished their exec and make no call. */
void exec_tick(struct supervisor *s);

#endif
