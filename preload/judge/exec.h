/*
 * Programs: which file would really run, would the preload be in it, may it.
 * Shared by exec*, posix_spawn*, system and popen; private to preload/.
 */
#ifndef PALE_PRELOAD_EXEC_H
#define PALE_PRELOAD_EXEC_H

#include "preload/process/gate.h"

/* A program about to be started. */
struct exec_query {
	int dirfd; /* path is relative to it, as execveat has it */
	const char *path;
	int flags;	 /* AT_EMPTY_PATH, AT_SYMLINK_NOFOLLOW */
	int cwd;	 /* where the program will start: AT_FDCWD or a directory */
	const char *raw; /* path as the program wrote it, NULL where PATH found it */
	char *const *argv;
	char *const *envp;
	void *room; /* EXEC_ROOM bytes to judge in, aligned as malloc's; NULL: scratch memory is had */
};
#define EXEC_ROOM ((size_t)16 * 1024)

enum {
	EXEC_ALLOWED = 0,
	EXEC_DENIED = 1,
	EXEC_PLAIN = 2, /* the last word is the supervisor's, who records it too */
};

/*
 * Judges it.  EXEC_ALLOWED, recorded, for nothing comes after an exec; EXEC_DENIED (recorded and said:
 * EACCES); EXEC_PLAIN; or -errno where the kernel would refuse it anyway
 * (nothing there, not executable, no format it knows: nothing is recorded but what the policy had to
 * say).  async-signal-safe, vfork-safe, errno kept.
 */
int exec_check(const struct exec_query *q);
/* The same where libc starts the program by itself: 0 or -errno. */
int exec_check_only(const struct exec_query *q);

/* exec_caller.c: git itself starts this remote helper (git_starts_helper()); room for its words. */
bool exec_is_by_git(const struct request *req, char *room, size_t size);

/* Judges and executes: -errno, or EXEC_DENIED.  async-signal-safe, vfork-safe. */
int exec_judged(const struct exec_query *q);

/* What execvp does with a file that the kernel takes for none (the shell reads it) and posix_spawnp does not.
 */
enum exec_noexec { NOEXEC_FAILS, NOEXEC_IS_SCRIPT };
/* The same with the first candidate of PATH that can be executed; q->path is not looked at.  -errno. */
int exec_searched(struct exec_query *q, const char *file, enum exec_noexec how);

/* argv as the evaluator wants it; the kernel's and libc's prototypes only lack the const. */
static inline const char *const *exec_words(char *const argv[])
{
	return (const char *const *)argv;
}

/* A walk through PATH for a name without slash; the rules of glibc's execvpe. */
struct exec_search {
	const char *file;
	size_t len;
	const char *dirs; /* what is left of PATH, NULL at the end */
	bool eacces;	  /* something was there, but not for us */
	int error;	  /* of the last candidate */
};

void exec_search_start(struct exec_search *s, const char *file);
/* The next candidate into buf (LIMIT_PATH bytes): 0, or the error to give up with.  A file with a slash is
 * its own only candidate. */
int exec_search_next(struct exec_search *s, char *buf);
/* Is -err of a candidate a reason to look further?  Remembers it. */
bool exec_search_goes_on(struct exec_search *s, int err);

#endif
