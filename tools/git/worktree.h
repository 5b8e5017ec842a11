/* The repository of a linked worktree or a submodule. */
#ifndef PALE_WORKTREE_H
#define PALE_WORKTREE_H

struct bundle;

/* Where the workspace is a linked worktree or a submodule, adds to b the files of its
 * repository that git writes.  0 or -errno. */
int worktree_gather(struct bundle *b);

#endif
