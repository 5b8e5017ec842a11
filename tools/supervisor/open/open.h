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
#include <sys/types.h>

#include "policy/base/fileop.h"
#include "policy/file/resolve.h"

#include "tools/supervisor/answer.h"

struct place;

/* One open, its flags and mode as the kernel itself understands them. */
struct opening {
	int dirfd;
	uint64_t path; /* address in the caller */
	int flags;
	unsigned mode;
	uint64_t resolve; /* openat2's, without RESOLVE_CACHED */
};

/* Where the file is opened: *at(dirfd, name), following nothing that `resolve` forbids. */
struct spot {
	int dirfd;
	const char *name;
	uint64_t resolve;
	const struct stat *st; /* what was found there (st_mode 0: not found) */
};

/* True where the object at path depends on the process that looks, or on more than the path. */
bool open_is_odd(const char *path);
/* True where the kernel may perform the open if the caller may: it is for reading, and the floor grants its
 * real path. */
bool open_passes(struct caller *c, const struct opening *o, const char *real);
/* Judges and records an open that the kernel may perform.  False: use another way; nothing was done. */
bool open_pass(struct caller *c, struct place *p, const struct opening *o, struct answer *ret);
/* True for a FIFO or a device: opening it depends on the process that opens, and may take time. */
bool open_is_special(const struct stat *st);
/* True for one of these that nevertheless opens at once. */
bool open_is_quick(const struct opening *o, const struct stat *st);
/* Looks up the object at *at into *st, which must outlive *at.  0, or -errno where it cannot be looked
 * up. */
int spot_look(struct spot *at, struct stat *st);
/*
 * Opens a file that is neither FIFO nor device, without waiting; a new file gets the caller's umask.  The
 * descriptor, with O_NONBLOCK, or -errno.
 *
 * The kind of file must be checked before this call; a process can replace it meanwhile by a file, a
 * directory, a link or a FIFO, never by a device.
 */
int open_ordinary(struct caller *c, const struct opening *o, const struct spot *at);
/* The same, and waits: for the holder of a lease, for the other end of a FIFO.  Passes the lead on. */
int open_waiting(struct caller *c, const struct opening *o, const struct spot *at);
/* Opens at once, with the caller's own O_NONBLOCK or none. */
int open_plain(const struct opening *o, const struct spot *at);
/* Sets fd's flags to those that the caller requested.  fd, or -errno with fd closed. */
int open_settle(int fd, const struct opening *o);
/* The caller's error for an error of the supervisor: the descriptors of the supervisor are exhausted, not
 * those of the caller. */
int open_error(int e);

/* The far way: holds, judges and opens. */
struct answer open_far(struct caller *c, struct place *p, const struct opening *o);
/* Resolves p under openat2's constraints, as place_resolve() does without any.  0 or -errno. */
int open_constrained(struct caller *c, struct place *p, const struct opening *o);
/* How this open treats a last symbolic link. */
enum resolve_follow open_follow(const struct opening *o);
/*
 * True for "x/" with O_CREAT: open(2) never creates a directory, so the error is EISDIR whatever is there.
 * False for "/" and "./", which are directories already.
 */
bool open_creates_directory(const struct place *p, const struct opening *o);

/* --- terminals.c --- */

/* True for a terminal at which a person may work: a pty, a virtual console, "/dev/tty". */
bool terminal_is(dev_t rdev);
/* True for "/dev/tty", which means the controlling terminal of the process that opens it. */
bool terminal_is_mine(dev_t rdev);
/*
 * True for the agent's own terminal, on which pale run was started, and for a pty whose master is held
 * inside the session.  May look through every process of the user.
 */
bool terminal_is_sessions(struct caller *c, dev_t rdev);
/* Opens the caller's controlling terminal.  The descriptor, -ENXIO where it has none. */
int terminal_open_controlling(struct caller *c, const struct opening *o);

#endif
