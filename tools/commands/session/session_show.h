/* One session, printed. */
#ifndef PALE_SESSION_SHOW_H
#define PALE_SESSION_SHOW_H

struct options;

/* Prints one session; id is NULL for the newest.  Exit code. */
int session_show(const struct options *o, const char *id);

#endif
