/* The programs of processes: pid -> program, as each of the rings reports them. */
#ifndef PALE_HELPER_PROGRAMS_H
#define PALE_HELPER_PROGRAMS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Where records come from.  Records of the hooks are claims of the processes; the supervisor's are what it
 * saw and did itself, in a ring that no process of the session can reach.
 */
enum feed_id { FEED_HOOK, FEED_KERNEL, FEEDS };

#define PROCS_MAX 4096

struct helper;

struct proc {
	int32_t pid, ppid;
	char *exe; /* raw bytes */
	uint64_t used;
	bool attached; /* reported by its hooks or the supervisor, not looked up */
};

/* Bounded map from pid to program, filled by the attach records, otherwise from /proc. */
struct procs {
	struct proc slot[PROCS_MAX];
	uint64_t clock;
	bool inherits; /* a process that cannot be looked up has its parent's program: a claim */
};

/* True where this process was not reported before. */
bool procs_attach(struct procs *p, int32_t pid, int32_t ppid, const char *exe);
/* The supervisor's report, before the first record of each program of a process. */
void procs_tell(struct procs *p, int32_t pid, int32_t ppid, const char *exe);
/* Never NULL; the exe is "" where it is not known.  Borrowed until the next call. */
const struct proc *procs_find(struct procs *p, int32_t pid);
/* The same of the table that knows best: the supervisor's, where there is one. */
const struct proc *program_of(struct helper *h, int32_t pid);
void procs_done(struct procs *p);
/* As procs_find(), but looks nothing up: NULL where the program is not known. */
const struct proc *procs_known(struct procs *p, int32_t pid);
/* The process becomes another program, which is looked up again. */
void procs_outdate(struct procs *p, int32_t pid);

#endif
