/*
 * The repository around the workspace: its branches, refs and worktrees, and protected branches as files.
 *
 * HEAD's branch, as far as it can be told before git runs.
 */
#ifndef PALE_GITBRANCH_H
#define PALE_GITBRANCH_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "policy/judge/eval.h"

#define GIT_ENV_WORD 512 /* of an entry: one that is cut there is understood as such */

struct environment;
struct loaded;
struct options;

/* What the environment of a git says of its repository and its configuration.  Zeroed but for home: nothing.
 */
struct git_env {
	const char *home;		 /* the operator's; borrowed */
	const char *first_config_home;	 /* XDG_CONFIG_HOME as the session started, "": none, NULL: nobody
					    knows; borrowed */
	const struct environment *first; /* as the session started, NULL: nobody knows; borrowed */
	bool elsewhere;	    /* something directs it to another repository than the one around its directory */
	bool config;	    /* or to other configuration than its own files */
	bool carried;	    /* another program or a proxy than the session began with carries a push */
	bool no_global;	    /* and to none of the operator's */
	bool no_system;	    /* nor of the machine's */
	uint64_t began;	    /* when the session began, as in the header of an image; 0: unknown */
	const char *unborn; /* the workspace, where its `.git` had no branch then; else NULL; borrowed */
	char config_home[GIT_ENV_WORD]; /* XDG_CONFIG_HOME, "": none */
};

/* gitenv.c.  The git_env of a session with this image, whose strings are borrowed. */
struct git_env git_env_of(const struct image *img);
/* NAME=VALUE, as the environment has it. */
void git_env_note(struct git_env *e, const char *entry);
/* All that env gives. */
void git_env_gather(struct git_env *e, const struct environment *env);
/* explain_git.c: what a session of this policy would give, or what this one did where we are in one. */
void git_env_foresee(struct git_env *e, const struct options *o, const struct loaded *l);
/*
 * Sets req->git_branch, where req is a git that is judged by it: borrowed from buf, or as
 * policy/command/git.h says. -C and --git-dir are followed.
 */
void git_branch_note(struct request *req, const struct git_env *env, char *buf, size_t size);

/* gitref.c: the text of a ref's file is that of a symbolic ref: the name it leads to, "" where it says none.
 */
bool git_symbolic_ref(const char *text, char name[LIMIT_PATH]);
/*
 * The word, as git finds a ref by it, is a symbolic ref that leads to a branch, or one of which that cannot
 * be told. common has the branches: git_dir, but for a linked worktree.
 */
bool git_ref_leads(const char *git_dir, const char *common, const char *word);
/* HEAD's branch there, in buf; NULL where it is none. */
const char *git_read_head(const char *git_dir, char *buf, size_t size);
#define GIT_HEX (64 + 1) /* an object's name, in hexadecimal */
/* The commit that a ref's own file says, or else packed-refs; false where neither says one. */
bool git_read_ref(const char *common, const char *ref, char hex[GIT_HEX]);
/* A word of req is such a ref, without the place where a push would put it. */
bool git_names_link(const struct request *req, const char *git_dir, const char *common);

/* What a push sends, by the names of commits; old is "" where that is not known. */
struct git_push {
	char common[PATH_MAX];
	char now[GIT_HEX], old[GIT_HEX];
};

#define GIT_AIM_URLS 2048
#define GIT_AIM	     (GIT_AIM_URLS + 1024)
/* Sets req->aim, where req is a push: in buf, NULL for anything else. */
void git_aim_note(struct request *req, const struct git_env *env, char buf[GIT_AIM], struct git_push *ret);
/* The directory with the branches: a worktree's directory names it, any other is its own.  False: unknown. */
bool git_common_of(const char *git_dir, char common[PATH_MAX]);

/* gitplain.c */
#define GIT_CONF_MAX (64 * 1024)
bool git_is_missing(const char *dir, const char *name);
/* True where the directory is missing or empty.  Remotes that are files are not read. */
bool git_is_empty(const char *dir, const char *name);
/* No configuration sends a push elsewhere; git_dir "": there is no repository. */
bool git_goes_to_its_own(const struct git_env *env, const char *git_dir);
/*
 * The session made the repository, or it had no branch when the session began; and it has no remote now.  So
 * none of its branches was there before, and none of them is protected.  False where that cannot be told.
 */
bool git_is_new(const struct git_env *env, const char *git_dir, const char *common);
/* It has neither a branch nor a remote. */
bool git_is_unborn(const struct git_env *env, const char *common);

struct gitconfig;
/* Reads the configuration NAME of that directory, of max bytes at most.  0, and the caller calls
 * gitconfig_done(); -EINVAL: it cannot be parsed; else as file_read(). */
int git_config_read(const char *dir, const char *name, size_t max, struct gitconfig *ret);
/*
 * The repository keeps its branches in a reftable: they are not files, and HEAD does not name one.  Its
 * configuration says so, which no session can change; a directory of that name says nothing.
 */
bool git_is_reftable(const char *common);

#endif
