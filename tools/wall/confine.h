/*
 * What holds the agent from the kernel's side, made before it starts: the floor (Landlock), the
 * filter (seccomp), and what this kernel has of both.
 *
 *   probe    what this kernel can do       floor    which paths Landlock grants, from the policy
 *   filter   the seccomp program           landlock the kernel's interface, by our own constants
 *   confine  all of it put on, in the child
 */
#ifndef PALE_CONFINE_H
#define PALE_CONFINE_H

#include <linux/filter.h>
#include <stdbool.h>
#include <sys/types.h>

#include "policy/image/image.h"

/* --- probe.c ------------------------------------------------------------------------------------- */

#define ABI_MAX 10 /* the newest Landlock ABI that we know (Linux 7.2) */

struct kernel {
	int landlock_abi;   /* 0: none; never above what --abi-max allows, or ABI_MAX */
	bool listener;	    /* a notify listener can be had in this process tree */
	bool addfd_send;    /* Linux 5.14 */
	bool wait_killable; /* Linux 5.19 */
	bool sync_wake_up;  /* Linux 6.6 */
	bool pidfd_getfd;   /* Linux 5.6 */
	int listener_error; /* why not: EBUSY taken, EINVAL or ENOSYS too old, EPERM forbidden */
	int yama;	    /* ptrace_scope, -1: no Yama */
};

/* Asks the kernel itself, by its calls and never by its version; a short-lived child takes a listener.
 * abi_max: ABI_MAX where nothing is masked.  0 or -errno. PALE_TEST_* variables are never read here: tests
 * come by --abi-max and by real conditions. */
int kernel_probe(int abi_max, struct kernel *ret);
/* Unprivileged user namespaces work here.  Forks; for doctor alone. */
bool kernel_has_userns(void);
/* One sentence what `level` lacks here and what would give it, "" where it is reached. */
const char *kernel_lacks(const struct kernel *k, enum level level, char *buf, size_t size);
/* The highest level that is reached. */
enum level kernel_level(const struct kernel *k);

/* --- filter.c, bpf.c -------------------------------------------------------------------------------- */

#define OWN_PIDS_MAX 4

struct filter_setup {
	enum level level;
	uint64_t pass;	  /* of the gate; 0: closed */
	enum reads reads; /* READS_FLOOR: read-only opens are left to Landlock */
	int landlock_abi;
	pid_t own[OWN_PIDS_MAX]; /* pale's processes: nothing from inside is aimed at them */
	size_t n_own;
};

/* The program; the caller frees ret->filter.  0, -EINVAL (no level with a filter, a pid below 1), -ENOMEM,
 * -E2BIG. */
int filter_build(const struct filter_setup *s, struct sock_fprog *ret);

/* --- floor.c, landlock.c ------------------------------------------------------------------------------ */

/* What a path and all below it grants. */
#define FLOOR_READ  1u
#define FLOOR_WRITE 2u /* read, write, create, remove, truncate, rename in and out */

struct floor_rule {
	char *path;
	unsigned grants;
	/* The object that the kernel was told, and keeps; set by landlock_ruleset(). */
	bool holds, is_dir;
	dev_t dev;
	ino_t ino;
};

/* A place that is kept from being read and was not there when the floor was planned: path names it, or its
 * last component is a pattern of names. */
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
 * What Landlock shall grant, from the policy and the file system as it is now: reading of everything
 * but what the policy denies by a literal path (the siblings of each such path's ancestors are granted
 * one by one), writing of the literal writable roots.  A root above a denied path is granted by its
 * children in the same way.  What a pattern denies, `readonly` and `keep`, the supervisor alone holds.
 * Writable directories that do not exist are left out.  0, -ENOMEM, -errno.  floor_done() in each case.
 */
int floor_plan(const struct image *img, struct floor *ret);
/* And of dir, the session's in pale's runtime directory, the image to be read and the ring to be written,
 * nothing else.  0 or -ENOMEM. */
int floor_add_session(struct floor *f, const char *dir);
void floor_done(struct floor *f);
/* What the floor grants on a real path: FLOOR_READ | FLOOR_WRITE. */
unsigned floor_grants(const struct floor *f, const char *path);
/*
 * Nothing that the policy keeps from being read is granted, as long as nothing appears in the gaps: so code
 * that gets the kernel to open for reading another path than was judged gains only what it may read anyway.
 * A matter of the image and the plan alone: no look at the file system.
 */
bool floor_holds_reads(const struct image *img, const struct floor *f);
/*
 * Calls fn for each entry whose name matches path's last component, in the directory that is named before it,
 * until fn returns something else than 0.  That, 0, or FLOOR_NO_LIST: the directory cannot be listed.
 */
#define FLOOR_NO_LIST 1
int floor_each_match(const char *path, int (*fn)(const char *full, void *arg), void *arg);
/*
 * The kernel's own open of path for reading will pass the floor: a rule on it or above it grants that, and
 * the object that the rule is about still has the rule's path.  Looks, except at directories in the root.
 */
bool floor_lets_read(const struct floor *f, const char *path);
/* The Landlock ABI here, 0 where there is none. */
int landlock_abi(void);
/* A ruleset with f's rules and every right, scope and port right of that ABI handled: a descriptor or -errno.
 * Notes in the rules which objects they hold. */
int landlock_ruleset(struct floor *f, int abi);
/* Those of f's rules that hold nothing yet, into a ruleset that the others are in.  0 or -errno. */
int landlock_add(int ruleset, struct floor *f, int abi);
/* Puts the ruleset on this thread; no_new_privs is set.  0 or -errno.  async-signal-safe. */
int landlock_restrict(int ruleset);
/* One layer more that holds back nothing of files: nobody in it may trace, or see the memory of, whoever is
 * not.  0 or -errno. */
int landlock_layer(int abi);
/* What a negative errno of these two means, for people; -E2BIG is one layer too many. */
const char *landlock_why(int error);

/* --- confine.c ------------------------------------------------------------------------------------------ */

struct confine {
	int ruleset; /* -1: none */
	struct sock_fprog filter;
	unsigned flags; /* of seccomp(2) */
};

/* In the parent.  ret->ruleset is -1, or has some of f's rules already.  0 or -errno; confine_done() in each
 * case. */
int confine_make(const struct kernel *k, const struct filter_setup *s, struct floor *f, struct confine *ret);
void confine_done(struct confine *c);
/*
 * In the child of a fork: closes what it inherited beyond 0 to 2 and pipes, sets no_new_privs, the
 * parent-death signal, Landlock and the filter.  The notify listener or -errno.  async-signal-safe.
 */
int confine_self(const struct confine *c);

#endif
