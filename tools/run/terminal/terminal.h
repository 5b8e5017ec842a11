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

#define RELAY_GROUP 0x7061 /* value of a signal that the operator's terminal sent to its whole group */

/* Messages from the front to the back.  The back sends the number of the signal that stopped the agent. */
enum relay_word {
	RELAY_FRONT = 'F', /* go on, with the terminal */
	RELAY_BACK = 'B',  /* go on, in the background */
	RELAY_GONE = 'G',  /* the operator's terminal is gone, and the pty with it */
};

/* The back's side. */
struct terminal {
	bool is;	      /* the agent has a terminal; else the other members are unset */
	bool fore;	      /* the front reads keys for us: the agent's group may have the terminal */
	bool gone;	      /* the front hung up on purpose, and still runs */
	int fd;		      /* the pty's slave; -1 once it is hung up */
	int link;	      /* to the front; -1 once that is gone */
	int theirs;	      /* the operator's terminal: only to restore it if the front is killed */
	struct termios modes; /* the operator's, as they were at the start */
};

enum relay_side { RELAY_NONE, RELAY_IS_BACK, RELAY_OVER };

struct relay_end {
	int code, signal; /* as struct agent_end */
};

/*
 * relay_split.c: splits this process in two where there is a terminal.  RELAY_NONE: no terminal, nothing
 * was done.  RELAY_IS_BACK: we are the new child, *t is ours.  RELAY_OVER: we were the front, the back has
 * ended as *end says, and the terminal is as it was; or no pty could be made, after a message.  Call it
 * once, early, with one thread.
 */
enum relay_side relay_split(struct terminal *t, struct relay_end *end);

/* relay_tty.c: the device number of the terminal that fd refers to ("/dev/tty" is resolved), 0 if it is no
 * terminal. */
dev_t tty_number(int fd);

/* terminal.c, the back's side; nothing is done where !t->is. */

/* Gives the pty to a process group.  SIGTTOU is blocked or ignored meanwhile. */
void terminal_hand(const struct terminal *t, pid_t group);
/* The pty is ours: neither the agent's group nor a job of its shell has it. */
bool terminal_is_ours(const struct terminal *t);
/* Tells the front that sig stopped the agent: the front stops too. */
void terminal_stopped(const struct terminal *t, int sig);
/* The next enum relay_word, 0 if none is pending; notes when the front is gone, and then restores the
 * operator's terminal if no other process did. */
int terminal_hear(struct terminal *t);
/* Takes the pty and sets modes for our own messages, whatever the agent left: line mode, output not
 * stopped, ^C for us. */
void terminal_end(const struct terminal *t);
/* As terminal_end(), when all of the agent's processes are gone; also notes if the front was killed. */
void terminal_done(struct terminal *t);

#endif
