/*
 * Opening for another process.  Private to open*.c, terminals.c and held.c.
 *
 *   open       what is asked; the near way; the answer
 *   open_pass  left to the kernel
 *   open_far   hold, judge, open what is held
 *   open_how   the constraints of openat2(2)
 *   open_act   the act itself: regular files, FIFOs, devices
 *   terminals  which terminals are the session's
 */
#ifndef PALE_OPEN_H
#define PALE_OPEN_H

#include <fcntl.h>
#include <linux/openat2.h>

#include "policy/base/fileop.h"
#include "tools/supervisor/supervisor.h"

/* One open, its flags and mode as the kernel itself understands them. */
struct opening {
	int dirfd;
	uint64_t path; /* address in the caller */
	int flags;
	unsigned mode;
	uint64_t resolve; /* openat2's, without RESOLVE_CACHED */
};

/* Where the act takes place: *at(dirfd, name), following nothing that `resolve` forbids. */
struct spot {
	int dirfd;
	const char *name;
	uint64_t resolve;
	const struct stat *st; /* what was seen there (st_mode 0: nothing) */
};

/* What is at path depends on who looks, or on more than a path. */
bool open_is_odd(const char *path);
/* The kernel may perform it, where the caller may: an open for reading whose real path the floor grants. */
bool open_passes(struct caller *c, const struct opening *o, const char *real);
/* Judges and records an open that the kernel may perform.  False: not this way, and nothing was done. */
bool open_pass(struct caller *c, struct place *p, const struct opening *o, struct answer *ret);
/* A FIFO or a device: what opening does depends on who opens and may take its time. */
bool open_is_special(const struct stat *st);
/* One that nevertheless opens at once. */
bool open_is_quick(const struct opening *o, const struct stat *st);
/* Looks what is there, into *st, which must outlive *at.  0, or -errno where even that cannot be told. */
int spot_look(struct spot *at, struct stat *st);
/*
 * Opens what is neither, without waiting for anybody; a new file gets the caller's umask.  The
 * descriptor, with O_NONBLOCK, or -errno.
 *
 * That it is neither was seen before, not after: what a process can put in its place meanwhile is a
 * file, a directory, a link or a FIFO, never a device.
 */
int open_ordinary(struct caller *c, const struct opening *o, const struct spot *at);
/* The same, and waits: for the holder of a lease, for the other end of a FIFO.  Passes the lead on. */
int open_waiting(struct caller *c, const struct opening *o, const struct spot *at);
/* Opens at once, with the caller's own O_NONBLOCK or none. */
int open_plain(const struct opening *o, const struct spot *at);
/* Makes fd's flags those that the caller asked for.  fd, or -errno with fd closed. */
int open_settle(int fd, const struct opening *o);
/* The caller's error for one of our own: its descriptors are not exhausted, ours are. */
int open_error(int e);

/* The far way: held, judged, done. */
struct answer open_far(struct caller *c, struct place *p, const struct opening *o);
/* Resolves p under openat2's constraints, as place_resolve() does without.  0 or -errno. */
int open_constrained(struct caller *c, struct place *p, const struct opening *o);
/* What a last symbolic link means to this open. */
enum resolve_follow open_follow(const struct opening *o);
/*
 * "x/" with O_CREAT: open(2) never creates a directory, so it is EISDIR whatever is there.  Not so "/" and
 * "./", which are directories already.
 */
bool open_creates_directory(const struct place *p, const struct opening *o);

/* --- terminals.c --- */

/* A terminal that somebody may sit at: a pty, a virtual console, "/dev/tty". */
bool terminal_is(dev_t rdev);
/* "/dev/tty": whichever terminal controls the process that opens it. */
bool terminal_is_mine(dev_t rdev);
/*
 * It is the agent's own, which pale run was started on, or a pty whose master is held inside the
 * session.  May look through every process of the user.
 */
bool terminal_is_sessions(struct caller *c, dev_t rdev);
/* Opens the caller's controlling terminal.  The descriptor, -ENXIO where it has none. */
int terminal_open_controlling(struct caller *c, const struct opening *o);

#endif
