/*
 * Files that git obeys: configuration, hooks and the index; and where a push goes.
 *
 * A configuration file of git: what it says, and whether somebody may have written that who is not to
 * make git run anything.
 *
 * The grammar is git's own (config.c): sections with subsections, continued lines, quotes, comments, a
 * byte order mark.  What git would refuse is refused, and so is what could be read in two ways.
 * Allocates; nothing here runs in the preload.
 */
#ifndef PALE_GITCONFIG_H
#define PALE_GITCONFIG_H

#include <stdbool.h>
#include <stddef.h>

#define GITCONFIG_MAX (1024 * 1024) /* bytes of one file: more is refused */

struct gitconfig_entry {
	char *section;	  /* lower case */
	char *subsection; /* as written, NULL: none */
	char *name;	  /* lower case */
	char *value;	  /* NULL: the name alone, which git takes for true */
	unsigned line;
};

struct gitconfig {
	struct gitconfig_entry *entries;
	size_t n;
};

/*
 * Reads len bytes of text.  0: the caller owns *ret and gives it back by gitconfig_done().  -EINVAL with
 * the line in *ret_line where git, or we, cannot read it; -E2BIG; -ENOMEM; *ret is empty then.
 */
int gitconfig_parse(const char *text, size_t len, struct gitconfig *ret, unsigned *ret_line);
/* Harmless twice. */
void gitconfig_done(struct gitconfig *g);

/* The table of keys has a row for it, whatever that says of it. */
bool gitconfig_is_known(const struct gitconfig_entry *e);

/*
 * The first entry of `now` that is neither in `before` (NULL: nothing was there) nor one that anybody may
 * write; NULL where there is none.  dir is the real path of the directory that the file is in: a work tree
 * must be what its .git is in, of a repository in there lie below that, or be `workspace` (NULL: there is
 * none) itself, as that of a repository of snapshots is.  Borrowed from now.
 */
const struct gitconfig_entry *gitconfig_forbidden(const struct gitconfig *before, const struct gitconfig *now,
						  const char *dir, const char *workspace);

/*
 * The first entry, of now or of before, by which the two differ in more than what they say of branches that
 * `keeps` does not name; a remote that such a branch newly has must be there by name, with a URL.  NULL where
 * there is none.  Borrowed.
 */
const struct gitconfig_entry *gitconfig_beyond_branches(const struct gitconfig *before,
							const struct gitconfig *now,
							bool (*keeps)(const void *ctx, const char *branch),
							const void *ctx);

/* --- gitconfig_trunk.c: what the operator's own fetch, pull and push would do later --- */

/* Which branches are protected. */
struct gitconfig_trunk {
	bool (*is)(const void *ctx, const char *branch);
	const void *ctx;
};

/* A file's part: of a repository's configuration, or what one of its worktrees has besides. */
enum gitconfig_part { GITCONFIG_WHOLE, GITCONFIG_BESIDES };

/*
 * The first entry, of now or of first, by which a plain fetch, pull or push would reach a protected branch,
 * or another repository, otherwise than by `before`, or by `first`, which is what stood there as the session
 * began; NULL where there is none.  A remote of those stays where it is, as does what a protected branch
 * follows; a new one may lead anywhere, and brings nothing to a branch.  Borrowed.
 */
const struct gitconfig_entry *gitconfig_moves(const struct gitconfig *first, const struct gitconfig *before,
					      const struct gitconfig *now, const struct gitconfig_trunk *t,
					      enum gitconfig_part part);

/* The entry is of that key; no subsection is NULL. */
bool gitconfig_is_key(const struct gitconfig_entry *e, const char *section, const char *subsection,
		      const char *name);
/* The last value of a key, "" for one that has none, or NULL. */
const char *gitconfig_value(const struct gitconfig *g, const char *section, const char *subsection,
			    const char *name);
/* Two that say the same. */
bool gitconfig_same(const struct gitconfig_entry *a, const struct gitconfig_entry *b);
/* As git reads a truth value that stands there. */
bool gitconfig_is_off(const char *value);

#endif
