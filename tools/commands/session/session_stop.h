/* A running session, ended. */
#ifndef PALE_SESSION_STOP_H
#define PALE_SESSION_STOP_H

struct options;

/* Ends a running session and waits for its end.  Exit code. */
int session_stop(const struct options *o, const char *id);

#endif
