/*
 * What belongs to one process alone: a page that the kernel wipes on fork (MADV_WIPEONFORK, Linux 4.14), so
 * that a child starts without its parent's pid and marks of reported denials, and with empty caches.  A
 * vfork child shares the page, which is harmless: nothing in it is wrong for the parent.
 */
#ifndef PALE_PROCESS_H
#define PALE_PROCESS_H

#include "policy/judge/eval.h"

#define CWD_NS	       50000000u /* how long a cached working directory is valid: 50 ms */
#define DIR_CACHE_WAYS 8
#define DIR_CACHE_PATH 320
#define SAID_SLOTS     64

/*
 * The working directory's path, valid while no working directory of the session has changed and nothing was
 * renamed (the ring's counts).  Renames by processes outside the session are not counted, so the kernel is
 * asked again after CWD_NS.  Only the process itself stores the path: a vfork child, whose directory may
 * differ, has another pid.
 */
struct cwd_entry {
	uint32_t seq; /* odd while the entry is written */
	uint32_t len; /* 0: none */
	uint64_t moved, wandered;
	uint64_t asked_ns;
	char path[DIR_CACHE_PATH];
	bool off; /* changed before the pid was known, perhaps in a vfork child: do not cache */
};

/* A directory descriptor and its path, valid while the descriptor is still that directory (device, inode,
 * birth) and no directory of the session has moved.  seq is odd while the entry is written. */
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
	uint32_t said_exec; /* mark of the last denied exec */
	struct dir_entry dirs[DIR_CACHE_WAYS];
};

/* NULL if the page could not be allocated: then nothing is cached. */
extern struct process *process;

#endif
