/*
 * Shows a question while the agent has the terminal: in a tmux popup over it, else as a desktop notice.
 *
 * `pale run` starts it when the helper reports a question: one child at a time, the oldest question first.
 * A surface only displays: the popup's program is a child of the operator's tmux server and answers over
 * the control socket as any `pale watch` does; a notice says which command to run.  Nothing is written to
 * the agent's terminal.  The agent's text reaches a command line only as the escaped body of a notice; no
 * shell is run.
 *
 * All functions run in the thread that waits for the agent, and none blocks.
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

/* The surfaces that the word names: tmux, desktop, none; NULL: tmux or the desktop.  0, or -EINVAL after a
 * message. */
int surfaces_find(const char *word, unsigned *ret);
/* 0 or -errno.  Where this environment has no surface, *ret is NULL, which all these functions accept. */
int surfaces_start(const struct surface_setup *setup, struct surfaces **ret);
/* The descriptor to poll for reading, or -1; when it is ready, call surfaces_ready(). */
int surfaces_fd(const struct surfaces *s);
void surfaces_ready(struct surfaces *s);
/* Takes a message of the helper: {"type": "asked" | "answered", "id", ...}; any other is ignored. */
void surfaces_told(struct surfaces *s, const json_t *message);
/* Closes what is open. */
void surfaces_stop(struct surfaces *s);

#endif
