/*
 * Where a question appears while the agent has the terminal: a popup of tmux over it, else a notice of the
 * desktop.
 *
 * `pale run` starts it when the helper says that somebody has to be asked: one child at a time, the oldest
 * question first.  Both are only ways to look: the popup's program is a child of the tmux server, which is
 * the operator's, and answers over the control socket as any `pale watch` does; a notice says what to run.
 * Nothing is written to the agent's terminal.  No text of the agent's reaches a command line but, escaped,
 * the body of a notice; no shell is run.
 *
 * Everything here runs in the thread that waits for the agent, and blocks nowhere.
 */
#ifndef PALE_SURFACE_H
#define PALE_SURFACE_H

#include <jansson.h>
#include <stdbool.h>

enum surface { SURFACE_TMUX = 1, SURFACE_DESKTOP = 2 };

struct image;
struct surfaces;

struct surface_setup {
	unsigned which;		   /* enum surface */
	const char *self;	   /* this program's file, borrowed */
	const char *session;	   /* borrowed */
	const struct image *image; /* the session's policy, borrowed while surfaces_start() runs */
};

/* Which surfaces the word means: tmux, desktop, none; NULL: tmux or the desktop.  0, or -EINVAL after
 * telling. */
int surfaces_find(const char *word, unsigned *ret);
/* 0 or -errno; where this environment has none of them *ret is NULL, which every function here takes. */
int surfaces_start(const struct surface_setup *setup, struct surfaces **ret);
/* To be polled for reading, -1 where there is nothing; then surfaces_ready(). */
int surfaces_fd(const struct surfaces *s);
void surfaces_ready(struct surfaces *s);
/* What the helper says: {"type": "asked" | "answered", "id", ...}; anything else is not looked at. */
void surfaces_told(struct surfaces *s, const json_t *message);
/* Ends what is open. */
void surfaces_stop(struct surfaces *s);

#endif
