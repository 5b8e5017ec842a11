/*
 * The workspace's own repository, as the session began: real paths.
 */
#ifndef PALE_SUPERVISOR_GIT_HOME_H
#define PALE_SUPERVISOR_GIT_HOME_H

struct environment;

struct git_home {
	const char *workspace;
	const char *own; /* the workspace's git directory, NULL: `.git` in it, if there is one */
	const char
		*common; /* the one that has its branches, another where it is a linked worktree; NULL: own */
	const char *head;	 /* the protected branch that the workspace is on, NULL: it is on none */
	const char *stood;	 /* its commit, "": it says none itself */
	const char *config_home; /* the XDG_CONFIG_HOME that the session starts with, NULL: none */
	const struct environment *first; /* what the session starts with */
	const char *program; /* the operator's git, NULL: none that the session could not have written */
};

#endif
