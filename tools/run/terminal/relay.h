/*
 * The front's inside.  Private to relay*.c.
 *
 *   relay_split  two processes of one, and the pty between them
 *   relay_tty    modes, size and foreground of the operator's terminal
 *   relay_pump   bytes, each read written on at once
 *   relay_job    stopping and going on with the agent
 *   relay        the loop
 */
#ifndef PALE_RELAY_H
#define PALE_RELAY_H

#include <signal.h>
#include <stddef.h>

#include "outputs.h"
#include "terminal.h"

#define RELAY_BUFFER (64 * 1024)

/* Bytes on their way. */
struct pump {
	char buf[RELAY_BUFFER];
	size_t at, len;
};

struct front {
	int tty; /* the operator's terminal: a description of our own, so that O_NONBLOCK is nobody else's */
	int master; /* -1 once hung up */
	int link, sigfd;
	pid_t back;
	struct termios modes; /* the operator's, as they were before we made them raw */
	struct termios given; /* what the pty had from us last */
	bool raw;	      /* we have the operator's terminal, and read it */
	bool keen; /* the agent began with the terminal, or asked for it: not so in most pipelines */
	bool gone; /* it was closed */
	bool resized, ended;
	int status; /* the back's, once ended */
	sigset_t old_mask;
	struct pump keys, screen; /* to the agent, from it */
};

/* --- relay_tty.c --- */

/* The operator's terminal: a descriptor of our own, or -1 where there is none. */
int tty_find(void);
/* We may read it: our group is in the foreground, or nobody's is. */
bool tty_is_ours(int tty);
/* Raw mode, the size told to the pty.  false where it is gone. */
bool tty_take(struct front *f);
void tty_give_back(struct front *f);
void tty_pass_size(const struct front *f);
/* It was hung up. */
bool tty_is_gone(int tty);

/* --- relay_pump.c: 0, -EIO (the end of what is read), -EPIPE (nobody takes it) --- */

/* Keys that have come, to the pty. */
int pump_keys(struct front *f);
/* What the agent wrote, to the operator; bounded, so that nothing else waits long. */
int pump_screen(struct front *f);
/* All that the agent wrote until now is on the operator's terminal afterwards, however long that takes, or a
 * signal came that ends us. */
void pump_drain(struct front *f);

/* --- relay_job.c --- */

/* A word to the back. */
void job_tell(const struct front *f, enum relay_word word);
/* The agent stopped by sig. */
void job_stopped(struct front *f, int sig);
/* We were told to go on. */
void job_continued(struct front *f);

/* --- relay.c --- */

/* Relays until the back has ended; the terminal is as it was then. */
void relay_run(struct front *f);
/* The operator's terminal is gone, or nobody could ever give it to us: so is the agent's. */
void relay_hang_up(struct front *f);

#endif
