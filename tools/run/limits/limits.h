/*
 * Resource limits of one session: by what means this machine holds each, and the session's clock.
 *
 * The policy says how much (policy/rules/resource.h); here it is chosen who holds it, said, and done to the
 * one process that the agent begins as, before its first instruction.  Whoever adds a means adds a row to the
 * table of limits.c and a case where it is put on.
 */
#ifndef PALE_LIMITS_H
#define PALE_LIMITS_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "policy/rules/rule.h"

enum means {
	MEANS_NONE,
	MEANS_SCOPE,  /* a scope of systemd's, asked for by D-Bus: cgroup v2 */
	MEANS_CGROUP, /* a cgroup of version 2, made below one that is delegated to us */
	MEANS_RLIMIT, /* setrlimit(2): of each process, or of all that the user runs */
	MEANS_CLOCK,
	MEANS_COUNT
};

/* Why a session ended: its command did, its clock ended it (clock.c), or there was nobody left to record it.
 */
enum end_why { END_ITSELF, END_TIME, END_STOP, END_AT_ONCE, END_HELPER };

/* What this machine has; a directory of cgroups is "" where none of ours can be made. */
struct limits_host {
	const char *root; /* "", or what stands for "/" (tests) */
	uid_t uid;
	char bus[64]; /* where the service manager answers, below root; "": nowhere */
	bool scope_has[RESOURCE_COUNT], v2_has[RESOURCE_COUNT];
	char v2[PATH_MAX];
};

struct options;

/* limits_cgroup.c: looks for cgroups that uid may make; scopes are limits_scope.c's to say.  root is
 * borrowed.
 */
void limits_look(struct limits_host *ret, const char *root, uid_t uid);
/* Which controllers that file of a cgroup names: false where it cannot be read. */
bool cgroup_controllers(const char *dir, const char *name, bool ret_has[RESOURCE_COUNT]);
/* limits_scope.c: the service manager that can be asked for a scope, and what it could hold. */
void scope_find(struct limits_host *h);
/* limits_means.c: the best means that this machine has for r.  Pure. */
enum means limits_means(const struct limits_host *h, enum resource r);
/* "cgroup v2", "rlimit (each process)": who holds it and what that means, for people. */
const char *means_text(enum means m, enum resource r);

/* The limits of a session.  Zeroed before; limits_done() at the end. */
struct session_limits {
	struct limits want; /* owned */
	enum means by[RESOURCE_COUNT];
	char session[64], bus[64]; /* who makes the scope */
	char cgroup[PATH_MAX];	   /* of our own making; "": none */
	size_t others;		   /* threads that the user ran before, which RLIMIT_NPROC counts as well */
	char text[512];
	char instead[1024]; /* no scope was made, and `enforce = best`: why, and what is held; else "" */
};

/*
 * Takes what the policy says, lowered by --limit and --timeout (which may lower alone).  0 or -errno after
 * telling.
 */
int limits_take(struct session_limits *s, const struct policy *p, const struct options *o);
/*
 * Chooses the means and makes the cgroups, named after the session.  0, or -errno after telling what cannot
 * be held (unless the policy says `enforce = best`).  s->text says it all then: "memory 4G by cgroup v2,
 * ...", "" without limits.
 */
int limits_prepare(struct session_limits *s, const char *session);
/*
 * Puts the limits on process pid, which has not begun yet: 0 or -errno after telling.  Where the service
 * manager makes no scope that is an error, unless the policy says `enforce = best`: s->text says what is held
 * from then on, and s->instead why.
 */
int limits_attach(struct session_limits *s, pid_t pid);
/* Which limits were reached, and that the operator ended it: a sentence for each, told by f. */
void limits_report(const struct session_limits *s, enum end_why why, void (*f)(void *ctx, const char *text),
		   void *ctx);
/* Removes what was made. */
void limits_done(struct session_limits *s);

/* --- limits_cgroup.c --- */

/* Makes the cgroup that s->by wants, with its limits in it.  0 or -errno; what was made is in s. */
int cgroup_make(struct session_limits *s, const struct limits_host *h, const char *session);
int cgroup_add(const struct session_limits *s, pid_t pid);
/* How often the kernel acted for the limit on r. */
uint64_t cgroup_hit(const struct session_limits *s, enum resource r);
void cgroup_remove(struct session_limits *s);
/* Removes empty cgroups in dir that a killed pale left there. */
void cgroups_sweep(const char *dir);

/* --- limits_scope.c --- */

/*
 * Has the service manager put pid into a scope of its own with the limits that s->by wants: within seconds,
 * 0, or -errno with the reason.  -ENOTSUP: the scope lacks a controller.
 */
int scope_make(const struct session_limits *s, pid_t pid, char *ret_why, size_t size);
/* The words of that call: at most max, NULL at the end; the strings stand in buf.  How many, or -E2BIG. */
int scope_words(const struct session_limits *s, pid_t pid, char *buf, size_t size, char **words, size_t max);

/* --- limits_rlimit.c --- */

int rlimits_set(const struct session_limits *s, pid_t pid);
/* Threads that uid runs now. */
size_t threads_of(uid_t uid);

/* --- clock.c: the end that does not come from the command --------------------------------------------- */

struct session_clock {
	enum end_why why;
	uint64_t deadline_ms; /* 0: none */
	uint64_t kill_ms;     /* where it ends: from then on nobody is asked any more */
	bool told, has_timer;
	timer_t timer;
};

/* The session begins now and has so many seconds, 0: as many as it likes.  0 or -errno. */
int session_clock_start(struct session_clock *c, uint64_t seconds);
void session_clock_done(struct session_clock *c);
/* The operator ends it; now: without a grace.  The next tick acts. */
void session_clock_stop(struct session_clock *c, bool now);
/* The helper is gone: without a grace, and above every other word. */
void session_clock_unrecorded(struct session_clock *c);
/* How long a poll may wait, of ms (-1: for ever), for the clock's sake. */
int session_clock_wait(const struct session_clock *c, int ms);
/* Does what the time asks for to all our descendants but spare (and its own): true while it ends them. */
bool session_clock_tick(struct session_clock *c, pid_t spare);
/* Milliseconds that what is left has, from now, to end by itself. */
unsigned session_clock_grace(const struct session_clock *c, unsigned usual_ms);

#endif
