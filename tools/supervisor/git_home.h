/*
 * Where the workspace's own repository lies, as the session began: real paths.
 */
#ifndef PALE_SUPERVISOR_GIT_HOME_H
#define PALE_SUPERVISOR_GIT_HOME_H

struct git_home {
	const char *workspace;
	const char *own; /* the workspace's git directory, NULL: `.git` in it, if there is one */
	const char
		*common; /* the one that has its branches, another where it is a linked worktree; NULL: own */
};

#endif
