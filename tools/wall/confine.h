/*
 * What holds the agent from the kernel's side, made before it starts: the floor (Landlock), the
 * filter (seccomp), and what this kernel has of both.
 *
 *   probe    what this kernel can do         floor    the paths that Landlock grants, from the policy
 *   filter   the seccomp program             landlock the kernel's interface, by our own constants
 *   confine  puts all of it on, in the child
 */
#ifndef PALE_CONFINE_H
#define PALE_CONFINE_H

#include <linux/filter.h>
#include <stdbool.h>
#include <sys/types.h>

#include "policy/image/image.h"

/* --- probe.c ------------------------------------------------------------------------------------- */

#define ABI_MAX 10 /* the newest Landlock ABI that pale knows (Linux 7.2) */

struct kernel {
	int landlock_abi;   /* 0: no Landlock; at most ABI_MAX and --abi-max */
	bool listener;	    /* this process tree can still get a notify listener */
	bool addfd_send;    /* Linux 5.14 */
	bool wait_killable; /* Linux 5.19 */
	bool sync_wake_up;  /* Linux 6.6 */
	bool pidfd_getfd;   /* Linux 5.6 */
	int listener_error; /* why no listener: EBUSY taken, EINVAL or ENOSYS too old, EPERM forbidden */
	int yama;	    /* ptrace_scope; -1 without Yama */
};

/*
 * Finds out what the kernel can do by its calls, never by its version; a short-lived child takes a
 * listener.  abi_max: ABI_MAX, or the limit of --abi-max.  0 or -errno.  It reads no PALE_TEST_* variables:
 * tests use --abi-max and real conditions.
 */
int kernel_probe(int abi_max, struct kernel *ret);
/* True where unprivileged user namespaces work.  Forks; for doctor alone. */
bool kernel_has_userns(void);
/* What frees a taken seccomp listener on a kernel of this release, or NULL where that is not known. */
const char *listener_advice(const char *release);
/* A sentence: what `level` lacks here and how to get it; "" where this kernel reaches the level. */
const char *kernel_lacks(const struct kernel *k, enum level level, char *buf, size_t size);
/* The highest level that this kernel reaches. */
enum level kernel_level(const struct kernel *k);

/* --- filter.c, bpf.c -------------------------------------------------------------------------------- */

#define OWN_PIDS_MAX 4

struct filter_setup {
	enum level level;
	uint64_t pass;	  /* in args[5] it lets a GATED call through; 0: no hook can do that */
	enum reads reads; /* READS_FLOOR: Landlock alone judges read-only opens */
	int landlock_abi;
	pid_t own[OWN_PIDS_MAX]; /* pale's processes: calls from the session may not target them */
	size_t n_own;
};

/* Builds the program; the caller must free ret->filter.  0, -EINVAL (a level without a filter, a pid below
 * 1), -ENOMEM, -E2BIG. */
int filter_build(const struct filter_setup *s, struct sock_fprog *ret);

/* --- floor.c, landlock.c ------------------------------------------------------------------------------ */

/* What a rule grants on its path and everything below. */
#define FLOOR_READ  1u
#define FLOOR_WRITE 2u /* read, write, create, remove, truncate, rename in and out */
#define FLOOR_RMDIR 4u /* remove directories and move them: no floor of a session has this */

struct floor_rule {
	char *path;
	unsigned grants;
	/* The object of the rule in the kernel, which keeps it alive; set by landlock_ruleset(). */
	bool holds, is_dir;
	dev_t dev;
	ino_t ino;
};

/* A place that must not be read and did not exist when the floor was planned.  The last component of path
 * may be a pattern of names. */
struct floor_gap {
	char *path;
};

/* Owns its rules, sorted by path, and its gaps. */
struct floor {
	struct floor_rule *list;
	size_t n;
	struct floor_gap *gaps;
	size_t n_gaps;
	bool holds_reads; /* floor_holds_reads() of the plan */
};

/*
 * Plans what Landlock must grant, from the policy and the file system as it is now: reading of everything
 * except what the policy denies by a literal path (the siblings of such a path's ancestors are granted one
 * by one), and writing of the literal writable roots.  A root above a denied path is granted by its
 * children in the same way.  Only the supervisor enforces denials by pattern, `readonly` and `keep`.
 * Missing writable directories are left out.  0, -ENOMEM, -errno.  The caller must call floor_done() in
 * each case.
 */
int floor_plan(const struct image *img, struct floor *ret);
/*
 * Adds the image in dir, the session's directory in pale's runtime directory, for reading.  0 or -ENOMEM.
 */
int floor_add_session(struct floor *f, const char *dir);
void floor_done(struct floor *f);
/* What the floor grants on a real path: FLOOR_READ | FLOOR_WRITE. */
unsigned floor_grants(const struct floor *f, const char *path);
/*
 * True where the floor grants no reading that the policy denies, as long as nothing appears in the gaps.
 * Then a process that makes the kernel open another path than the judged one for reading gets only what it
 * may read anyway.  Depends on the image and the plan alone, not on the file system.
 */
bool floor_holds_reads(const struct image *img, const struct floor *f);
/* Calls fn for each entry that matches path's last component, in the directory before it, until fn returns
 * other than 0.  Returns that, 0, or FLOOR_NO_LIST where the directory cannot be listed. */
#define FLOOR_NO_LIST 1
int floor_each_match(const char *path, int (*fn)(const char *full, void *arg), void *arg);
/*
 * True where the floor lets the kernel itself open path for reading: a rule on it or above it grants that,
 * and the object of the rule still has the rule's path.  Looks at the file system, except for directories
 * in the root.
 */
bool floor_lets_read(const struct floor *f, const char *path);
/* The Landlock ABI of this kernel, 0 without Landlock. */
int landlock_abi(void);
/* Makes a ruleset that handles every right, scope and port right of that ABI and has f's rules.  A
 * descriptor or -errno.  Notes in each rule which object it holds. */
int landlock_ruleset(struct floor *f, int abi);
/* Adds those of f's rules that hold no object yet to a ruleset that has the others.  0 or -errno. */
int landlock_add(int ruleset, struct floor *f, int abi);
/* Puts the ruleset on this thread, where no_new_privs must be set.  0 or -errno.  async-signal-safe. */
int landlock_restrict(int ruleset);
/* Adds a layer that restricts no files: a process in it may not trace, see the memory of, or, from ABI 6 on,
 * signal a process outside.  0 or -errno. */
int landlock_layer(int abi);
/* What a negative errno of these two means, as text for the operator; -E2BIG is one layer too many. */
const char *landlock_why(int error);

/* --- confine.c ------------------------------------------------------------------------------------------ */

struct confine {
	int ruleset; /* -1: no ruleset */
	struct sock_fprog filter;
	unsigned flags; /* of seccomp(2) */
};

/* Runs in the parent.  ret->ruleset is -1, or has some of f's rules already.  0 or -errno; the caller must
 * call confine_done() in each case. */
int confine_make(const struct kernel *k, const struct filter_setup *s, struct floor *f, struct confine *ret);
void confine_done(struct confine *c);
/* Runs in the child of a fork: closes what it inherited except 0 to 2 and pipes, sets no_new_privs, the
 * parent-death signal, Landlock and the filter.  The notify listener or -errno.  async-signal-safe. */
int confine_self(const struct confine *c);

#endif
