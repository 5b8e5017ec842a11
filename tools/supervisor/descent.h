/* Which image holds in a process, by its descent, and which processes it may reach. */
#ifndef PALE_DESCENT_H
#define PALE_DESCENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct caller;
struct supervisor;

/* A nested run: its first process, with the start time, since a pid is used again. */
struct tag {
	pid_t pid;
	uint64_t start;
	uint32_t image;
	uint32_t around; /* the image that held before */
	int launcher;	 /* its /proc/PID/environ; -1 once it is known to have executed another program */
};
#define TAGS_MAX     256
#define ADOPTERS_MAX 64

/* True where pid belongs to the session and, if the caller is in a nested run, to that run: a nested run
 * reaches nothing around it.  An orphan reaches only its descendants. */
bool caller_reaches(struct caller *c, pid_t pid);
/*
 * Finds the image that applies to the caller: the session's, or a nested run's by descent.  In a session with
 * nested images, all of them apply to an orphan whose descent is unknown.  A program that the launcher of a
 * nested run executes is the command that was typed in the outer session, so the image of the outer session
 * judges it.
 */
void caller_find_image(struct caller *c);

/* True where pid is or was a subreaper: orphans among its descendants become its children. */
bool supervisor_adopts(struct supervisor *s, pid_t pid);
/* The helper reports that image `number` holds in process pid from now on.  0 or -errno. */
int supervisor_narrowed(struct supervisor *s, pid_t pid, uint32_t number);
void descent_done(struct supervisor *s);

#endif
