/* What a change changes, as the real git computes it in the gate's repository. */
#ifndef PALE_VIEW_H
#define PALE_VIEW_H

#include "change.h"
#include "plumbing.h"

struct view_file {
	char status; /* A, D, M, R, C, T; H: an earlier version, which leaves with the history alone */
	unsigned old_mode, new_mode;
	char old_oid[GIT_HEX], new_oid[GIT_HEX];
	char *path, *from;   /* from: the path before a rename or copy, or NULL */
	unsigned hides;	     /* the line of .gitattributes by which git hides or changes files, or 0 */
	const char *runner;  /* what runs or obeys it later, or NULL */
	long added, deleted; /* lines; -1: git takes it for binary */
};

struct view {
	struct depot depot;
	bool is_whole;		 /* there is no base: the history begins with the change */
	char base[GIT_HEX];	 /* the commit or tree that is compared with */
	struct view_file *files; /* what runs later first, then by path; the earlier versions last */
	size_t n_files, n_later, n_earlier;
	char **commits; /* names, the oldest first */
	size_t n_commits;
	unsigned long added, deleted;
};

/* 0 or -errno; view_done() in any case. */
int view_make(const struct change *c, const char *git, struct view *ret);
void view_done(struct view *v);
/* What is special about the file: "link", "submodule", "newly executable" and such, "" if nothing is. */
const char *view_kind(const struct view_file *f);
/* The words with which git compares: those of diff-tree, and those that log has, too. */
#define VIEW_PLAIN                                                                                           \
	"--no-ext-diff", "--no-textconv", "--no-color", "--no-relative", "--full-index",                     \
		"--ignore-submodules=none", "--submodule=short", "--diff-algorithm=myers"
#define VIEW_DIFF "-r", "-M", "-l2000", VIEW_PLAIN
/* The same for `log`, which compares each commit with all its parents at once. */
#define VIEW_LOG "--root", "-c", "--no-show-signature", "--no-notes", "--no-decorate", "--no-mailmap"

#endif
