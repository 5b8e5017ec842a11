/*
 * The end of a session: its clock, the processes that it leaves, and what it changed.
 *
 * What a session changed that runs later, outside the fence: build files, files of packages, tasks of
 * editors, instructions of agents, hooks and configuration of git.
 */
#ifndef PALE_CHANGED_H
#define PALE_CHANGED_H

#include <jansson.h>
#include <stdbool.h>
#include <time.h>

struct changed_mark {
	const char *workspace; /* borrowed; NULL: nothing is reported */
	const char *home;      /* borrowed */
	struct timespec since;
};

/* Call it before the agent starts, and changed_report() after the agent's end. */
void changed_begin(struct changed_mark *m, const char *workspace, const char *home);
/*
 * After the agent ended: prints on standard error a line for each changed file that runs later, in the
 * workspace or among the agents' files in the home.  Lines and time are bounded; what was not looked at is
 * reported.
 */
void changed_report(const struct changed_mark *m);

/* changed_home.c: calls fn for each path in the home that the next start of an agent runs or obeys, whether
 * it exists or not: as name below dir, and as path, for display. */
typedef void changed_fn(void *ctx, int dir, const char *name, const char *path, const char *runner);
void changed_home(const char *home, changed_fn *fn, void *ctx);

/* changed_names.c: the program that runs or obeys the file at path (below the workspace), such as "make";
 * NULL if none is known. */
const char *changed_runner(const char *path);
/* path, below the workspace or absolute outside it, lies where the presets let agents keep their state: no
 * other program runs files there. */
bool changed_is_state(const char *path);
/* The paths of a set of absolute paths for which changed_runner() knows a program, each with it: a new
 * object. */
json_t *changed_runners(json_t *paths, const char *workspace);

#endif
