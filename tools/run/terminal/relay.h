/*
 * Internal declarations of the front.  Private to relay*.c.
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

/* Bytes that were read and not yet written. */
struct pump {
	char buf[RELAY_BUFFER];
	size_t at, len;
};

struct front {
	int tty;    /* the operator's terminal: our own file description, since it has O_NONBLOCK */
	int master; /* -1 once hung up */
	int link, sigfd;
	pid_t back;
	struct termios modes; /* the operator's, as they were before we made them raw */
	struct termios given; /* the modes that we set on the pty last */
	bool raw;	      /* we have the operator's terminal, and read it */
	bool keen; /* the agent started with the terminal, or wanted it since: not so in most pipelines */
	bool gone; /* it was closed */
	bool resized, ended;
	int status; /* the back's, once ended */
	sigset_t old_mask;
	struct pump keys, screen; /* to the agent, from it */
};

/* --- relay_tty.c --- */

/* Opens the operator's terminal: our own descriptor, or -1 if there is no terminal. */
int tty_find(void);
/* We may read it: our group is in the foreground, or the terminal is not our controlling terminal. */
bool tty_is_ours(int tty);
/* Sets raw mode and passes the size to the pty.  False where the terminal is gone. */
bool tty_take(struct front *f);
void tty_give_back(struct front *f);
void tty_pass_size(const struct front *f);
/* It was hung up. */
bool tty_is_gone(int tty);

/* --- relay_pump.c: 0, -EIO (end of the input), -EPIPE (the output is closed) --- */

/* Copies typed keys to the pty. */
int pump_keys(struct front *f);
/* Copies the agent's output to the operator; bounded, so that nothing else waits long. */
int pump_screen(struct front *f);
/* Copies all of the agent's output so far to the operator's terminal, however long that takes, or until a
 * signal comes that ends us. */
void pump_drain(struct front *f);

/* --- relay_job.c --- */

/* Sends a word to the back. */
void job_tell(const struct front *f, enum relay_word word);
/* The agent was stopped by sig. */
void job_stopped(struct front *f, int sig);
/* We were continued. */
void job_continued(struct front *f);

/* --- relay.c --- */

/* Relays until the back has ended; then the terminal is as it was. */
void relay_run(struct front *f);
/* Hangs up the agent's terminal, since the operator's is gone or can never become ours. */
void relay_hang_up(struct front *f);

#endif
