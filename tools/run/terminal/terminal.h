/*
 * The agent's terminal, and what it writes there and to its logs.
 *
 * The agent's own terminal: pale run as two processes, where it has a terminal at all.
 *
 *   front   is what the shell started.  It alone keeps the operator's terminal, which it puts into raw
 *           mode, and carries bytes, sizes, signals and job control to and from a pty (relay*.c).
 *   back    leads a session of its own, whose controlling terminal that pty is, and is all the rest of
 *           pale run: what it says goes to the pty too.  The agent is its child, in a group of its own.
 *
 * Where neither a standard descriptor nor the process has a terminal there is one process, as ever.
 *
 * Between them is a socket pair, one byte a message.  Signals for the agent go by kill(2) to the back,
 * by sigqueue(3) with RELAY_GROUP where the whole group is meant.
 */
#ifndef PALE_TERMINAL_H
#define PALE_TERMINAL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <termios.h>

#define RELAY_GROUP 0x7061 /* the value of a signal that the operator's terminal sent to all of its group */

/* Front to back.  What the back tells is the number of the signal that stopped the agent. */
enum relay_word {
	RELAY_FRONT = 'F', /* go on, with the terminal */
	RELAY_BACK = 'B',  /* go on, in the background */
	RELAY_GONE = 'G',  /* the operator's terminal is gone, and the pty with it */
};

/* The back's side. */
struct terminal {
	bool is;    /* there is one; the rest holds only then */
	bool fore;  /* the front reads keys for us: the agent's group may have the terminal */
	bool gone;  /* the front hung up by its own will, and lives */
	int fd;	    /* the pty's slave; -1 once it is hung up */
	int link;   /* to the front; -1 once that is gone */
	int theirs; /* the operator's terminal: only to put it in order should the front be killed */
	struct termios modes; /* as the operator's were when we began */
};

enum relay_side { RELAY_NONE, RELAY_IS_BACK, RELAY_OVER };

struct relay_end {
	int code, signal; /* as struct agent_end */
};

/*
 * relay_split.c: makes two processes of this one where there is a terminal.  RELAY_NONE: there is none,
 * nothing was done.  RELAY_IS_BACK: we are the new child, *t is ours.  RELAY_OVER: we were the front, the
 * back has ended as *end says, and the terminal is as it was; or there was no pty to be had, and that is
 * told. Once, early, with one thread.
 */
enum relay_side relay_split(struct terminal *t, struct relay_end *end);

/* relay_tty.c: the number of the terminal that fd leads to, 0 where it is none ("/dev/tty" says which it is).
 */
dev_t tty_number(int fd);

/* terminal.c, the back's side; nothing is done where !t->is. */

/* Gives the pty to a process group.  SIGTTOU is blocked or ignored meanwhile. */
void terminal_hand(const struct terminal *t, pid_t group);
/* The pty is nobody's but ours: the agent's group does not have it, nor a job of its shell. */
bool terminal_is_ours(const struct terminal *t);
/* The agent was stopped by sig: the front is to stop too. */
void terminal_stopped(const struct terminal *t, int sig);
/* The next enum relay_word, 0 where there is none now; notes that the front is gone, and puts the operator's
 * terminal in order then if nobody else did. */
int terminal_hear(struct terminal *t);
/* It is ours, and whatever modes the agent left, our lines are lines there, they come, and ^C is for us. */
void terminal_end(const struct terminal *t);
/* The same when all of the agent's processes are gone, too; and where the front was killed, that was heard.
 */
void terminal_done(struct terminal *t);

#endif
