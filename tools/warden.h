/* Who ends a session whose pale was killed. */
#ifndef PALE_WARDEN_H
#define PALE_WARDEN_H

#include <sys/types.h>

struct warden {
	int fd;	   /* -1: there is none */
	pid_t pid; /* its parent, which goes at once; 0 once that is buried */
};

/*
 * A warden that is told later what over: 0 or -errno.  There may be no threads yet, and the less memory there
 * is, the less is copied.
 */
int warden_start(struct warden *w);
/* Begins to watch over this session: 0 or -errno. */
int warden_watch(const struct warden *w, const char *session);
/* Puts the session's mark on this process, for it and all that it starts. */
void warden_mark(const char *session);
/* Before this process becomes a subreaper: the warden is nobody's child from here on. */
void warden_settle(struct warden *w);
/* The session is over. */
void warden_done(struct warden *w);

#endif
