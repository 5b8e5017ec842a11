/*
 * Which file a path names, and what kind of program that file is.
 *
 * The one resolver: which file does (dirfd, path) really name?
 *
 * It walks the path as the kernel would.  At the end it holds the parent directory (an O_PATH fd) and one
 * last component, so that the act *at(parent, name) reaches what was judged.  The system calls come from a
 * table, so that the same source serves the preload (raw system calls) and the supervisor (calls on behalf
 * of another process).  No allocation; async-signal-safe and vfork-safe where the table's calls are.
 */
#ifndef PALE_RESOLVE_H
#define PALE_RESOLVE_H

#include "policy/base/op.h"

/* Each returns the result or -errno.  open_path: O_PATH|O_CLOEXEC, with the given openat2 resolve flags. */
struct resolve_sys {
	int (*open_path)(int dirfd, const char *path, bool directory, bool no_symlinks, bool nofollow);
	int (*readlinkat)(int dirfd, const char *path, char *buf, size_t size);
	int (*fd_path)(int fd, char *buf, size_t size); /* real path of an open directory, NUL-terminated */
	int (*cwd_path)(char *buf, size_t size);
	int (*close)(int fd);
	int (*is_magic)(int dirfd); /* 1 if the directory lies on procfs */
	int (*own_pid)(void);	    /* pid of the process whose path it is; NULL: magic_fd is always -1 */
};

/*
 * What the operation does with a last component that is a symbolic link.
 *   NOFOLLOW: uses the link itself (lchown, O_NOFOLLOW); with a trailing slash it is followed, as the
 *             kernel does.
 *   FOLLOW:   uses what it points to (open, chmod).
 *   ENTRY:    works on the directory entry (mkdir, mknod, unlink, rmdir, both ends of rename, new
 *             name of link and symlink): never followed, and a trailing slash stays in `name`, so
 *             that the kernel answers for it (rmdir("link/") is ENOTDIR, mkdir("new/") works).
 */
enum resolve_follow { RESOLVE_NOFOLLOW_LAST, RESOLVE_FOLLOW_LAST, RESOLVE_ENTRY_LAST };

struct resolved {
	int parent; /* O_PATH fd, caller closes where parent_owned; or AT_FDCWD or the caller's dirfd */
	bool parent_owned;
	bool exists_unknown;	/* it was not looked up whether the last component exists */
	char name[260];		/* last component, "." where the path itself is a directory ("/", "..") */
	char path[LIMIT_PATH];	/* real path */
	char given[LIMIT_PATH]; /* lexical path */
	char work[LIMIT_PATH];	/* for the walk: not on the stack, which may be a small signal stack */
	char words[LIMIT_PATH]; /* a copy of the caller's path, which another thread may change */
	bool same;		/* given equals path */
	/*
	 * The path ended in a slash.  FOLLOW and NOFOLLOW: the last component is a directory; or it does
	 * not exist, and the caller must not create a file there (open with O_CREAT: EISDIR).
	 */
	bool trailing_slash;
	/*
	 * FOLLOW only: the last component is a procfs magic link (/proc/self/fd/3, /proc/self/exe,
	 * /dev/stdin).  parent and name are the link itself: the kernel reaches the same object when it
	 * follows the link (no O_NOFOLLOW).  path is the link's text: a path, perhaps with " (deleted)"
	 * after it, or "pipe:[1]", "socket:[1]", "anon_inode:[x]", "/memfd:x (deleted)".
	 */
	bool magic;
	int magic_fd; /* where that link is /proc/PID/fd/N of own_pid: N, else -1 */
};

/*
 * 0 or -errno as the kernel would give it (ENOENT, ENOTDIR, ELOOP after 40 links, ENAMETOOLONG...);
 * EMFILE and ENFILE are returned, too.  "" is ENOENT.  A path that grows beyond LIMIT_PATH on the way is
 * ENAMETOOLONG, which is stricter than the kernel.
 * The last component need not exist.  A dangling or followed last symlink ends at its target's name.
 * On 0 the caller must release *ret with resolved_done(); on failure nothing is held.
 * Two descriptors are open at most.  Where parent is AT_FDCWD or the caller's dirfd, `path` is the name of
 * that directory during the call.  A chdir or dup2 in another thread can race with it; a caller that must
 * exclude this passes a dirfd that no other thread can change.
 */
int resolve(const struct resolve_sys *sys, int dirfd, const char *path, enum resolve_follow follow,
	    struct resolved *ret);
/* Closes what *r holds.  It may be called twice, and after a failure. */
void resolved_done(const struct resolve_sys *sys, struct resolved *r);

/* True where path ends in " (deleted)": the file was removed, or its name really ends so. */
bool resolve_says_deleted(const char *path);

#endif
