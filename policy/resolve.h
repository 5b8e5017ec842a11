/*
 * The one resolver: which file does (dirfd, path) really name?
 *
 * It walks the path as the kernel would and ends holding the parent directory (an O_PATH fd) and
 * one last component, so that what was judged is what is acted on: *at(parent, name).  The
 * system calls come in by a table, so that the same source serves the preload (raw system calls)
 * and later the supervisor (calls on behalf of another process).  No allocation, async-signal-
 * safe, vfork-safe as far as the table is.
 */
#ifndef PALE_RESOLVE_H
#define PALE_RESOLVE_H

#include "op.h"

/* Each returns the result or -errno.  open_path opens O_PATH|O_CLOEXEC with the given openat2 resolve flags. */
struct resolve_sys {
	int (*open_path)(int dirfd, const char *path, bool directory, bool no_symlinks, bool nofollow);
	int (*readlinkat)(int dirfd, const char *path, char *buf, size_t size);
	int (*fd_path)(int fd, char *buf, size_t size); /* real path of an open directory, NUL-terminated */
	int (*cwd_path)(char *buf, size_t size);
	int (*close)(int fd);
	int (*is_magic)(int dirfd); /* 1 if the directory lies on procfs */
};

enum resolve_follow { RESOLVE_NOFOLLOW_LAST, RESOLVE_FOLLOW_LAST };

struct resolved {
	int parent;      /* O_PATH fd, caller closes where parent_owned; or AT_FDCWD or the caller's dirfd */
	bool parent_owned;
	bool exists_unknown;
	char name[256];  /* last component, "." where the path is a directory itself ("/", "..") */
	char path[LIMIT_PATH];  /* real path */
	char given[LIMIT_PATH]; /* lexical path */
	bool same;       /* given equals path */
};

/*
 * 0 or -errno as the kernel would give it (ENOENT, ENOTDIR, ELOOP after 40 links, ENAMETOOLONG...).
 * The last component need not exist.  A dangling or followed last symlink ends at its target's name.
 */
int resolve(const struct resolve_sys *sys, int dirfd, const char *path, enum resolve_follow follow,
	    struct resolved *ret);
void resolved_done(const struct resolve_sys *sys, struct resolved *r);

#endif
