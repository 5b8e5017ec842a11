/* The start of a session, and its end in memory. */
#ifndef PALE_HELPER_START_H
#define PALE_HELPER_START_H

struct helper;

/*
 * Receives the start message and makes the session.  0, or an exit code after the launcher got the error;
 * then no file of the session is left on the disk.
 */
int session_start(struct helper *h);
/* With all that the rooms keep with it; NULL where memory is out. */
struct helper *session_new(void);
/* Frees h and what it owns; NULL is fine. */
void session_free(struct helper *h);

#endif
