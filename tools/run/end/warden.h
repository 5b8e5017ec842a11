/* The process that ends a session whose `pale run` was killed: see warden.c. */
#ifndef PALE_WARDEN_H
#define PALE_WARDEN_H

#include <stdbool.h>
#include <sys/types.h>

struct warden {
	int fd;	   /* our end of the socket pair; -1: no warden runs */
	pid_t pid; /* the warden's parent, which exits at once; 0 once it is reaped */
};

/*
 * Forks a warden, which watches over no session yet: 0 or -errno.  Call it before there are threads, and
 * early, since a small process is copied faster.
 */
int warden_start(struct warden *w);
/* Tells the warden which session to watch over: 0 or -errno. */
int warden_watch(const struct warden *w, const char *session);
/* Puts the session's mark on this process and on all that it starts; not walled: the mark of level hooks. */
void warden_mark(const char *session, bool walled);
/* Reaps the warden's parent, so that the warden is a child of init.  Call it before this process becomes a
 * subreaper. */
void warden_settle(struct warden *w);
/* Tells the warden that the session is over, so it ends. */
void warden_done(struct warden *w);

#endif
