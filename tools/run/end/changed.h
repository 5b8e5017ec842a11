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

/* Before the agent starts; changed_report() afterwards. */
void changed_begin(struct changed_mark *m, const char *workspace, const char *home);
/*
 * After it ended: a line on standard error for each file of the workspace, or of an agent's in the home, that
 * changed since and runs later, bounded in lines and in time; what was not looked at is said.
 */
void changed_report(const struct changed_mark *m);

/* changed_home.c: calls fn for each place of the home that the next start of an agent runs or obeys, there or
 * not: name below dir, and as people write it. */
typedef void changed_fn(void *ctx, int dir, const char *name, const char *path, const char *runner);
void changed_home(const char *home, changed_fn *fn, void *ctx);

/* changed_names.c: who runs or obeys the file at path, below the workspace, as "make"; NULL: nobody is known
 * to. */
const char *changed_runner(const char *path);
/* path, below the workspace, lies where the presets let agents keep their state: nobody else runs what is
 * there. */
bool changed_is_state(const char *path);
/* Those of a set of absolute paths that somebody does, each with who: a new object. */
json_t *changed_runners(json_t *paths, const char *workspace);

#endif
