/*
 * Which file a path names, and what kind of program that file is.
 *
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

#include "policy/base/op.h"

/* Each returns the result or -errno.  open_path opens O_PATH|O_CLOEXEC with the given openat2 resolve flags.
 */
struct resolve_sys {
	int (*open_path)(int dirfd, const char *path, bool directory, bool no_symlinks, bool nofollow);
	int (*readlinkat)(int dirfd, const char *path, char *buf, size_t size);
	int (*fd_path)(int fd, char *buf, size_t size); /* real path of an open directory, NUL-terminated */
	int (*cwd_path)(char *buf, size_t size);
	int (*close)(int fd);
	int (*is_magic)(int dirfd); /* 1 if the directory lies on procfs */
	int (*own_pid)(void);	    /* pid of the process whose path it is; NULL: magic_fd is never told */
};

/*
 * What the operation does with a last component that is a symbolic link.
 *   NOFOLLOW: looks at the link itself (lchown, O_NOFOLLOW); behind a trailing slash it follows, as
 *             the kernel does.
 *   FOLLOW:   looks at what it points to (open, chmod).
 *   ENTRY:    works on the directory entry (mkdir, mknod, unlink, rmdir, both ends of rename, new
 *             name of link and symlink): never followed, and a trailing slash stays in `name`, so
 *             that the kernel answers for it (rmdir("link/") is ENOTDIR, mkdir("new/") works).
 */
enum resolve_follow { RESOLVE_NOFOLLOW_LAST, RESOLVE_FOLLOW_LAST, RESOLVE_ENTRY_LAST };

struct resolved {
	int parent; /* O_PATH fd, caller closes where parent_owned; or AT_FDCWD or the caller's dirfd */
	bool parent_owned;
	bool exists_unknown;	/* nobody looked whether the last component exists */
	char name[260];		/* last component, "." where the path is a directory itself ("/", "..") */
	char path[LIMIT_PATH];	/* real path */
	char given[LIMIT_PATH]; /* lexical path */
	char work[LIMIT_PATH];	/* the walk's own: not on the stack, which may be a signal's */
	char words[LIMIT_PATH]; /* the caller's path as it was first seen */
	bool same;		/* given equals path */
	/*
	 * The path ended in a slash.  FOLLOW and NOFOLLOW: the last component is a directory, or
	 * nothing is there and the caller must not create a file by it (open with O_CREAT: EISDIR).
	 */
	bool trailing_slash;
	/*
	 * FOLLOW only: the last component is a procfs magic link (/proc/self/fd/3, /proc/self/exe,
	 * /dev/stdin).  parent and name are the link itself: let the kernel follow it (no O_NOFOLLOW)
	 * and it reaches the very object.  path is the link's text: a path, perhaps with " (deleted)"
	 * behind it, or "pipe:[1]", "socket:[1]", "anon_inode:[x]", "/memfd:x (deleted)".
	 */
	bool magic;
	int magic_fd; /* where that link is /proc/PID/fd/N of own_pid: N, else -1 */
};

/*
 * 0 or -errno as the kernel would give it (ENOENT, ENOTDIR, ELOOP after 40 links, ENAMETOOLONG...);
 * EMFILE and ENFILE are told as such.  "" is ENOENT.  Whatever grows beyond LIMIT_PATH on the way is
 * ENAMETOOLONG, which is stricter than the kernel.
 * The last component need not exist.  A dangling or followed last symlink ends at its target's name.
 * On 0 the caller owns *ret and gives it back by resolved_done(); on failure nothing is held.
 * Two descriptors are open at most.  Where parent is AT_FDCWD or the caller's dirfd, `path` is what
 * that directory was called during the call: a chdir or dup2 in another thread is the caller's race;
 * who must not have it passes a dirfd that nobody else can change.
 */
int resolve(const struct resolve_sys *sys, int dirfd, const char *path, enum resolve_follow follow,
	    struct resolved *ret);
/* Closes what *r holds; harmless twice and after a failure. */
void resolved_done(const struct resolve_sys *sys, struct resolved *r);

/* The text says so of a file or directory that was removed (or is really called that way). */
bool resolve_says_deleted(const char *path);

#endif
