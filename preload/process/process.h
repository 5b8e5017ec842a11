/*
 * What belongs to one process alone: a page that the kernel wipes on fork (MADV_WIPEONFORK,
 * Linux 4.14), so that a child starts without its parent's pid, without its parent's "already
 * said" marks and with an empty directory cache.  A vfork child shares it, which is harmless:
 * nothing in it is wrong for the parent.
 */
#ifndef PALE_PROCESS_H
#define PALE_PROCESS_H

#include "policy/judge/eval.h"

#define CWD_NS	       50000000u /* how long a remembered working directory is believed: 50 ms */
#define DIR_CACHE_WAYS 8
#define DIR_CACHE_PATH 320
#define SAID_SLOTS     64

/*
 * The working directory's path, true while no working directory of the session has changed and nothing
 * was renamed (the ring's counts).  What processes outside the session rename nobody counts: it is
 * asked again after CWD_NS.  Only the process itself leaves it here: a vfork child, whose directory may
 * be another, has another pid.
 */
struct cwd_entry {
	uint32_t seq; /* odd while it is written */
	uint32_t len; /* 0: none */
	uint64_t moved, wandered;
	uint64_t asked_ns;
	char path[DIR_CACHE_PATH];
	bool off; /* changed before the pid was known: perhaps in a vfork child */
};

/* A directory descriptor and its path, valid while the descriptor still is that directory (device,
 * inode, birth) and no directory of the session has moved.  seq is odd while it is written. */
struct dir_entry {
	uint32_t seq;
	uint32_t len;
	uint64_t moved;
	uint64_t ino, birth;
	uint64_t dev;
	int32_t fd;
	char path[DIR_CACHE_PATH];
};

struct process {
	int32_t pid;
	struct cwd_entry cwd;
	struct eval_memo memos[MEMO_WAYS];
	uint32_t said[SAID_SLOTS];
	uint32_t said_exec; /* the exec that was told last */
	struct dir_entry dirs[DIR_CACHE_WAYS];
};

/* NULL where the page could not be had: then nothing is cached. */
extern struct process *process;

#endif
