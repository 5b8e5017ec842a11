/* System V IPC of a session: what is left of it at the end. */
#ifndef PALE_SYSV_H
#define PALE_SYSV_H

struct supervisor;

/* Removes the objects that the session made and left.  No call is served any more. */
void ipc_done(struct supervisor *s);

#endif
