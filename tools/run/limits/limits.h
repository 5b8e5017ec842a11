/*
 * Resource limits of one session: by what means this machine holds each, and the session's clock.
 *
 * The policy says how much (policy/rules/resource.h); the functions here choose by what means each limit is
 * held, report it, and put the limits on the agent's first process before its first instruction.  A new
 * means needs a row in the table of limits_means.c and a case in limits_attach().
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
	MEANS_SCOPE,  /* a systemd scope, requested over D-Bus: cgroup v2 */
	MEANS_CGROUP, /* a cgroup v2 that we make below one that is delegated to us */
	MEANS_RLIMIT, /* setrlimit(2): for each process, or for all processes of the user */
	MEANS_CLOCK,
	MEANS_COUNT
};

/* Why a session ended: its command ended, the clock or the operator ended it (session_end.c), or its helper
 * was gone. */
enum end_why { END_ITSELF, END_TIME, END_STOP, END_AT_ONCE, END_HELPER };

/* What this machine has; a directory of cgroups is "" where we cannot make one. */
struct limits_host {
	const char *root; /* "", or what stands for "/" (tests) */
	uid_t uid;
	char bus[64]; /* where the service manager answers, below root; "": nowhere */
	bool scope_has[RESOURCE_COUNT], v2_has[RESOURCE_COUNT];
	char v2[PATH_MAX];
};

struct options;

/* limits_cgroup.c: looks for cgroups that uid may make (limits_scope.c looks for scopes).  root is
 * borrowed. */
void limits_look(struct limits_host *ret, const char *root, uid_t uid);
/* Reads which controllers that file of a cgroup names: false where it cannot be read. */
bool cgroup_controllers(const char *dir, const char *name, bool ret_has[RESOURCE_COUNT]);
/* limits_scope.c: finds the service manager that can make a scope, and the limits that it can hold. */
void scope_find(struct limits_host *h);
/* limits_means.c: the best means that this machine has for r.  Pure. */
enum means limits_means(const struct limits_host *h, enum resource r);
/* Text for display: "cgroup v2", "rlimit (each process)". */
const char *means_text(enum means m, enum resource r);

/* The limits of a session.  The caller must zero it before, and call limits_done() at the end. */
struct session_limits {
	struct limits want; /* owned */
	enum means by[RESOURCE_COUNT];
	char session[64], bus[64]; /* the bus of the manager that makes the scope */
	char cgroup[PATH_MAX];	   /* that we made; "": none */
	size_t others;		   /* threads that the user ran before, which RLIMIT_NPROC counts as well */
	char text[512];
	char instead[1024]; /* no scope was made, and `enforce = best`: why, and what is held; else "" */
};

/*
 * Takes the policy's limits, lowered by --limit and --timeout (which may only lower them).  0 or -errno
 * after a message.
 */
int limits_take(struct session_limits *s, const struct policy *p, const struct options *o);
/*
 * Chooses the means and makes the cgroups, named after the session.  0, or -errno after a message that says
 * what cannot be held (unless the policy says `enforce = best`).  Then s->text describes the limits:
 * "memory 4G by cgroup v2, ...", "" without limits.
 */
int limits_prepare(struct session_limits *s, const char *session);
/*
 * Puts the limits on process pid, which has not begun yet: 0 or -errno after a message.  If the service
 * manager makes no scope, that is an error, unless the policy says `enforce = best`: then s->text says what
 * is held, and s->instead why.
 */
int limits_attach(struct session_limits *s, pid_t pid);
/* Calls f with a sentence for each limit that was reached, and where the operator ended the session. */
void limits_report(const struct session_limits *s, enum end_why why, void (*f)(void *ctx, const char *text),
		   void *ctx);
/* Removes the cgroup that was made. */
void limits_done(struct session_limits *s);

/* --- limits_cgroup.c --- */

/* Makes the cgroup that s->by wants, with its limits in it.  0 or -errno; what was made is in s. */
int cgroup_make(struct session_limits *s, const struct limits_host *h, const char *session);
int cgroup_add(const struct session_limits *s, pid_t pid);
/* How often the kernel enforced the limit on r. */
uint64_t cgroup_hit(const struct session_limits *s, enum resource r);
void cgroup_remove(struct session_limits *s);
/* Removes empty cgroups in dir that a killed pale left there. */
void cgroups_sweep(const char *dir);

/* --- limits_scope.c --- */

/*
 * Has the service manager put pid into a scope of its own with the limits that s->by wants: returns within
 * seconds: 0, or -errno with the reason.  -ENOTSUP: the scope lacks a controller.
 */
int scope_make(const struct session_limits *s, pid_t pid, char *ret_why, size_t size);
/* The arguments of that call: at most max, NULL at the end; buf holds the strings.  Returns how many, or
 * -E2BIG. */
int scope_words(const struct session_limits *s, pid_t pid, char *buf, size_t size, char **words, size_t max);

/* --- limits_rlimit.c --- */

int rlimits_set(const struct session_limits *s, pid_t pid);
/* Threads that uid runs now. */
size_t threads_of(uid_t uid);

/* --- session_end.c: the end that does not come from the command --- */

struct session_clock {
	enum end_why why;
	uint64_t deadline_ms; /* 0: none */
	uint64_t kill_ms;     /* end of the grace: from then on processes are killed */
	bool told, has_timer;
	timer_t timer;
};

/* Starts the clock of a session that may last so many seconds; 0: no limit.  Returns 0 or -errno. */
int session_clock_start(struct session_clock *c, uint64_t seconds);
void session_clock_done(struct session_clock *c);
/* The operator ends the session; now: without a grace.  Takes effect at the next tick. */
void session_clock_stop(struct session_clock *c, bool now);
/* The helper is gone: ends the session without a grace, whatever other reason there is. */
void session_clock_unrecorded(struct session_clock *c);
/* Shortens a poll's timeout of ms (-1: for ever) to the clock's next event. */
int session_clock_wait(const struct session_clock *c, int ms);
/* Signals all our descendants, except spare and its descendants, when the time has come: true while it ends
 * them. */
bool session_clock_tick(struct session_clock *c, pid_t spare);
/* True where the command has been killed for seconds and does not end: a file system holds it that does not
 * answer, or a tracer from outside that does not let it go. */
bool session_clock_gives_up(const struct session_clock *c);
/* Milliseconds from now that the remaining processes have to end by themselves. */
unsigned session_clock_grace(const struct session_clock *c, unsigned usual_ms);

#endif
