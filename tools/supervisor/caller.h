/*
 * One carried call and the process that made it: its memory, directories, descriptors, umask and image.
 *
 * Nothing that is read through a caller's pointer is read twice: a handler copies it once into the request
 * that it judges and performs.
 */
#ifndef PALE_CALLER_H
#define PALE_CALLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "policy/base/op.h"
#include "policy/image/image.h"
#include "policy/wire/ring.h"

struct approved;
struct git_at;
struct proc; /* what is remembered of the task from one call to the next: procs.h */
struct supervisor;
struct waiting;
struct worker; /* the thread that serves it: worker.h */

/* One carried call, from receipt to answer. */
struct caller {
	struct supervisor *sup;
	uint64_t id;
	pid_t tid;
	int nr;
	uint64_t arg[6];
	pid_t tgid;	    /* 0: not looked up yet */
	struct image image; /* the image that holds in that process */
	uint32_t image_number;
	bool is_orphan;	  /* every image holds, image_number is 0 */
	bool is_stand_in; /* no call waits: something is done later in the name of a process (asker.h) */
	int err;	  /* its standard error, borrowed, if it may be closed by now; 0: ask the process */
	enum ring_note note; /* for the next record */
	struct worker *worker;
	struct proc *proc;	   /* NULL: not looked up yet */
	struct waiting *resumed;   /* set where the call was served before and has waited, else NULL */
	struct approved *approved; /* what the operator approved: call_record.c; NULL: nothing was asked */
	const struct git_at *at;   /* what is held of the name that is judged now; NULL: nothing */
	bool git_turn;		   /* this call holds the lock for changes of files that git obeys: git.c */
	bool git_late;		   /* judged when it has been written, by git_late_rule: git_late.c */
	bool git_late_new;	   /* and the file does not exist yet */
	uint32_t git_late_rule;
	char git_why[256]; /* the reason from git_move() */
};

/* Every reading function checks afterwards that the call still waits, so what was read is the caller's
 * own. */

/* Reads len bytes at addr.  0, -EFAULT, -ESRCH (the caller is gone), -EPERM (its memory cannot be read: a
 * program without read permission is not dumpable). */
int caller_read(struct caller *c, uint64_t addr, void *buf, size_t len);
/* Reads a string: its length, -ENAMETOOLONG (not terminated within size), or as caller_read(). */
int caller_string(struct caller *c, uint64_t addr, char *buf, size_t size);
/* Opens its working directory (AT_FDCWD) or its directory descriptor as O_PATH; must be closed.  -EBADF,
 * -ENOTDIR, -ESRCH. */
int caller_dir(struct caller *c, int dirfd);
/* A duplicate of its descriptor (pidfd_getfd, Linux 5.6), which shares the open file; must be closed.
 * -EBADF. */
int caller_fd(struct caller *c, int fd);
pid_t caller_tgid(struct caller *c);
/* /proc/TID held as O_PATH, borrowed for the length of the call: it never becomes the directory of another
 * task.  -errno. */
int caller_proc(struct caller *c);
/* The path of the program that it executes, and the first words of its command line as in
 * /proc/PID/cmdline, with a NUL at the end.  The number of bytes of these words, or -errno. */
int caller_program(struct caller *c, char exe[LIMIT_PATH], char *words, size_t size);
/* Its umask, or -errno. */
int caller_umask(struct caller *c);
/* The device number of its controlling terminal, or 0. */
dev_t caller_tty(struct caller *c);
/* True where the hooks are loaded in the caller: its maps name libpale.so.  This reads /proc, so it is used
 * for denials only. */
bool caller_is_hooked(struct caller *c);

#endif
