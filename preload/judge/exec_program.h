/*
 * Programs: which file would really run, whether the preload would be loaded in it, and whether it may run.
 * Shared by exec*, posix_spawn*, system and popen; private to preload/.
 */
#ifndef PALE_PRELOAD_EXEC_PROGRAM_H
#define PALE_PRELOAD_EXEC_PROGRAM_H

#include "preload/process/gate.h"

/* A program about to be started. */
struct exec_query {
	int dirfd; /* path is relative to it, as in execveat */
	const char *path;
	int flags;	 /* AT_EMPTY_PATH, AT_SYMLINK_NOFOLLOW */
	int cwd;	 /* where the program will start: AT_FDCWD or a directory */
	const char *raw; /* path as the caller wrote it, NULL if it was found in PATH */
	char *const *argv;
	char *const *envp;
	void *room; /* EXEC_ROOM bytes to use, aligned as by malloc; NULL: scratch memory is used */
};
#define EXEC_ROOM ((size_t)16 * 1024)

enum {
	EXEC_ALLOWED = 0,
	EXEC_DENIED = 1,
	EXEC_PLAIN = 2, /* make the plain call: the supervisor decides and records it */
};

/*
 * Judges a program.  EXEC_ALLOWED: allowed, and recorded already, since after an exec nothing can be.
 * EXEC_DENIED: denied (EACCES), recorded and reported.  EXEC_PLAIN: left to the supervisor.  -errno: the
 * kernel would refuse it anyway (not found, not executable, unknown format); only a denial by the policy is
 * recorded.  async-signal-safe, vfork-safe, errno kept.
 */
int exec_check(const struct exec_query *q);
/* The same for a program that libc itself starts: 0 or -errno. */
int exec_check_only(const struct exec_query *q);

/* True if this process is a git that starts the remote helper of req for itself (git_starts_helper()).
 * room holds the process's command line. */
bool exec_is_by_git(const struct request *req, char *room, size_t size);

/* Judges and executes.  Returns only on failure: -errno, or EXEC_DENIED.  async-signal-safe, vfork-safe. */
int exec_judged(const struct exec_query *q);

/* What to do with a file that the kernel does not know as a program: execvp lets the shell read it,
 * posix_spawnp fails. */
enum exec_noexec { NOEXEC_FAILS, NOEXEC_IS_SCRIPT };
/* Like exec_judged(), for the first candidate in PATH that can be executed; q->path is not used.  Returns
 * -errno or EXEC_DENIED. */
int exec_searched(struct exec_query *q, const char *file, enum exec_noexec how);

/* argv in the evaluator's type; the prototypes of the kernel and of libc only lack the const. */
static inline const char *const *exec_words(char *const argv[])
{
	return (const char *const *)argv;
}

/* A search through PATH for a name without a slash, by the rules of glibc's execvpe. */
struct exec_search {
	const char *file;
	size_t len;
	const char *dirs; /* what is left of PATH, NULL at the end */
	bool eacces;	  /* a candidate exists but may not be executed */
	int error;	  /* -errno of the last candidate */
};

void exec_search_start(struct exec_search *s, const char *file);
/* Writes the next candidate to buf (LIMIT_PATH bytes).  Returns 0, or the -errno to give up with.  A file
 * with a slash is its own only candidate. */
int exec_search_next(struct exec_search *s, char *buf);
/* True if the search goes on after err, the -errno of a candidate.  The error is remembered. */
bool exec_search_goes_on(struct exec_search *s, int err);

#endif
