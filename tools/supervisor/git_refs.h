/*
 * The workspace's own repository as directories, and the refs in it: private to git_refs.c, which says what
 * may be, git_where.c and git_values.c.
 */
#ifndef PALE_SUPERVISOR_GIT_REFS_H
#define PALE_SUPERVISOR_GIT_REFS_H

#include "tools/supervisor/git.h"

#define GIT_REF_MAX    1024 /* bytes of a ref's name, and of what its file says: more is refused */
#define GIT_PACKED_MAX (64u << 20)
#define GIT_HEADS      "refs/heads/"

/* --- git_where.c: what a path is --- */

enum ref_kind {
	REF_NONE,
	REF_TOP,       /* `.git` of the workspace */
	REF_COMMONDIR, /* of the workspace's git directory */
	REF_HEAD,      /* of the workspace or of a linked worktree */
	REF_PACKED,
	REF_DIR,    /* refs, refs/heads */
	REF_NAMED,  /* below refs; a lock is judged once it is put in place */
	REF_PSEUDO, /* ORIG_HEAD and its like, which git moves as it moves a branch */
	REF_STATE,  /* branches that a rebase moves at its end */
	REF_PLACE,  /* a directory that git fills itself, as a linked worktree's own */
	REF_OLD,    /* what git still reads, and no longer writes */
	REF_INDEX,  /* what a later checkout writes, and where */
	REF_SHADOW, /* a file that git finds first when it looks for a protected branch by its name */
};

struct git_ref {
	enum ref_kind kind;
	const char *name; /* below its git directory: refs/heads/topic */
};

/* img says which names are protected. */
struct git_ref git_ref_of(const struct git_home *home, const struct image *img, const char *path);

/* A repository's directories, held: of a linked worktree they are two. */
struct git_store {
	int own;      /* HEAD, and what each worktree has for itself */
	int common;   /* refs, packed-refs */
	int opened;   /* the one of them that is to be closed, or -1 */
	bool is_home; /* own is the workspace's */
};

/* The repository of a ref in dir, which is borrowed.  What cannot be held has no values. */
struct git_store git_store_of(const struct git_home *home, const struct git_ref *ref, const char *path,
			      int dir);
void git_store_done(const struct git_store *s, int dir);

/* --- git_values.c: what is there --- */

/* Ends the text of a ref's file as git reads it: its first line, without blanks at the end or behind `ref:`.
 */
void git_end_line(char *buf);
/* What a symbolic ref's line, of git_end_line(), names; NULL: it is none. */
const char *git_line_target(const char *line);
/* The branch that a ref's whole name is, or NULL. */
const char *git_branch_of(const char *ref);
/* What its file says, or packed-refs alone, or the first of them that has it; false: nothing. */
bool git_value_loose(const struct git_store *s, const char *ref, char buf[GIT_REF_MAX]);
bool git_value_packed(const struct git_store *s, const char *ref, char buf[GIT_REF_MAX]);
bool git_value_of(const struct git_store *s, const char *ref, char buf[GIT_REF_MAX]);

enum git_chain { GIT_CHAIN_FREE, GIT_CHAIN_TRUNK, GIT_CHAIN_LOST };
/*
 * Follows symbolic refs from ref, a whole name, on.  TRUNK: it comes by a protected branch, which stands in
 * ref then; LOST: what git would make of it cannot be told.
 */
enum git_chain git_chain(const struct image *img, const struct git_store *s, char ref[GIT_REF_MAX]);
/* HEAD, followed as far as it leads, names the branch. */
bool git_is_checked_out(const struct git_store *s, const char *branch);
/* The protected branch that HEAD names in the end, or by the way; false: none. */
bool git_head_trunk(const struct image *img, const struct git_store *s, char ref[GIT_REF_MAX]);

/* --- git_rules.c: what may be; false with the reason in why --- */

bool git_say(char *why, size_t size, const char *text);
/* branch is one, and protected. */
bool git_is_protected(const struct image *img, const char *branch);
/* refs/heads/NAME is there. */
bool git_has_branch(const struct git_store *s, const char *name);
/* A protected branch that is there has this ref below it, where git wants a directory. */
bool git_is_under_trunk(const struct image *img, const struct git_store *s, const char *ref);
/* May a protected branch's file be written, or go? */
bool git_may_touch_trunk(const struct git_store *s, const char *ref, bool goes, char *why, size_t size);
/* May a ref of this whole name come to be, whatever it says? */
bool git_may_be_called(const struct image *img, const struct git_store *s, const char *ref, char *why,
		       size_t size);
/* The same of a file of that name in the git directory itself. */
bool git_may_be_found(const struct image *img, const struct git_store *s, const char *name, char *why,
		      size_t size);
/* May a rebase move the branches, each on a line of its own, at its end? */
bool git_may_be_moved(const struct image *img, const struct git_store *s, const char *names, char *why,
		      size_t size);
/* May a ref say that, or HEAD, a line of git_end_line(); or packed-refs? */
bool git_may_say(const struct image *img, const struct git_store *s, const char *ref, const char *line,
		 char *why, size_t size);
bool git_may_be_head(const struct image *img, const struct git_store *s, const char *now, char *why,
		     size_t size);
bool git_may_pack(const struct image *img, const struct git_store *s, const char *now, size_t len, char *why,
		  size_t size);

#endif
