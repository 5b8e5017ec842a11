/*
 * A program that a surface runs: its end as an event of an epoll.  Included by surface*.c
 * alone.
 */
#ifndef PALE_SURFACE_CHILD_H
#define PALE_SURFACE_CHILD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct surface_child {
	pid_t pid;
	int pidfd; /* -1 where there is no child */
	uint64_t began_ns;
};

void child_init(struct surface_child *c);
bool child_runs(const struct surface_child *c);
/*
 * Runs that file with this environment: in a session of its own, so without a terminal, in the root
 * directory, with no descriptor of ours.  Its end is told at `epoll` under `tag`.  0 or -errno.
 */
int child_start(struct surface_child *c, const char *file, const char *const *argv, int epoll, uint64_t tag);
/* True once it has ended, and is buried. */
bool child_take(struct surface_child *c);
/* Asks it to end by sig; nothing where it does not run. */
void child_signal(const struct surface_child *c, int sig);
/* Ends it for good. */
void child_stop(struct surface_child *c);

#endif
