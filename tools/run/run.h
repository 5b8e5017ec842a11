/*
 * The parts of `pale run`: the kernel's side of the fence, the way of the command into it, the helper
 * that serves the session, and runs inside a run.  Included by tools.h alone.
 */
#ifndef PALE_RUN_H
#define PALE_RUN_H

#include <jansson.h>
#include <signal.h>

#include "policy/wire/wire.h"
#include "tools/git/git_home.h"
#include "tools/run/limits/limits.h"
#include "tools/wall/confine.h"

/* The kernel's side of the fence around one session. */
struct fence {
	enum level level;
	struct kernel kernel;
	struct floor floor;
	struct confine confine;
	/* The policy compiled by us, of which floor and ruleset are made already; not open where none are. */
	struct image ahead;
	uint8_t *ahead_bytes;
};

struct launch;
/* The level called name, the default where that is NULL.  0, or an exit code after telling. */
int fence_level(const char *name, enum level *ret);
/* The newest Landlock ABI that may be used: what --abi-max says, all we know where it is NULL.  -EINVAL after
 * telling. */
int abi_limit(const char *text);
/* 0 where this machine reaches the level, or an exit code after telling what it lacks.  f is zeroed before;
 * fence_done() in each case. */
int fence_probe(struct fence *f, enum level level, const char *abi_max);
/* Raises it to the level that the policy demands, after fence_probe(), and tells so where --level asked for
 * less. 0, or an exit code as above. */
int fence_raise(struct fence *f, const struct policy *p, const struct options *o);
/*
 * What takes long of fence_make(), while the helper compiles the policy too: from an image of our own, which
 * is forgotten where the helper's turns out to be another.  Leaves no trace but in f, and the level in p.
 */
void fence_ahead(struct fence *f, struct policy *p);
/* Plans the floor and builds the filter for a session whose policy is compiled.  0, or an exit code. */
int fence_make(struct fence *f, const struct launch *l);
void fence_done(struct fence *f);
/* What the kernel has, for the ledger: "Linux 6.18.1, Landlock ABI 7, ...". */
void fence_facts(const struct fence *f, char *buf, size_t size);
/* One sentence: what the level does not hold. */
const char *fence_not_enforced(enum level level);

/* Two pipes between us and the child that becomes the agent. */
struct handover {
	int go[2], back[2];
};

/* 0 or -errno; handover_close() in each case. */
int handover_open(struct handover *h);
void handover_close(struct handover *h);
/* In the child of a fork: puts the fence on (c may be NULL: no_new_privs alone), waits, executes.
 * async-signal-safe. */
_Noreturn void handover_child(struct handover *h, const struct confine *c, const sigset_t *mask,
			      const char *path, char *const *argv, char *const *envp);
/* Lets the child execute.  0 or -errno. */
int handover_go(const struct handover *h);
/* The notify listener that the child made: our own descriptor of it, or -errno (also the child's). */
int handover_listener(struct handover *h, pid_t child);
/* Waits for the child's execve(): 0, or its -errno. */
int handover_result(struct handover *h);

#define HELDBACK_MAX 32

/*
 * heldback.c: what is to be said while the agent has the terminal.  Between hush and release
 * (launch_part()) nothing is written on a terminal; `pale watch` shows the helper's warnings as they come,
 * and the ledger has them.  Where standard error is no terminal, all is told at once.
 */
struct heldback {
	bool on;
	char *text[HELDBACK_MAX]; /* owned */
	size_t n, more;		  /* those behind HELDBACK_MAX are counted */
};

void heldback_hush(struct heldback *h);
/* Takes text over; NULL stands for one that memory was lacking for. */
void heldback_say(struct heldback *h, char *text);
void heldback_release(struct heldback *h, const char *session);

/* A helper that serves one session. */
struct launch {
	pid_t pid; /* -1 where it is no child of ours */
	int fd;	   /* the session socket; -1 once the helper is gone */
	char session[SESSION_ID_MAX];
	char runtime_dir[PATH_MAX], state_dir[PATH_MAX];
	struct image image; /* mapped read-only from the runtime directory */
	struct ring_header *ring;
	int ring_fd;  /* what the supervisor gives to each new process of the session, or -1 */
	bool foreign; /* the helper is another user: it chooses the directories and cannot be killed */
	bool nested;  /* a session is around this run, whose helper it uses */
	uint32_t image_number;
	enum level level;
	/* Above level hooks: the ring that the supervisor writes and no process of the session reaches, and
	 * what proves to the helper that the supervisor speaks. */
	struct ring_header *kernel_ring;
	uint8_t nonce[WIRE_NONCE];
	/* Process pid lives under image `image` from now on: 0, or -errno and it shall not.  NULL: nobody has
	 * to know.  Called by launch_listen(). */
	int (*on_narrowed)(void *ctx, pid_t pid, uint32_t image);
	/* The policy was loaded anew: 0 once the supervisor judges by it, and whether it performs every open
	 * for reading from now on; -errno and it does not.  NULL: there is no supervisor. */
	int (*on_reload)(void *ctx, bool *ret_performs);
	void *narrowed_ctx;
	struct surfaces *surfaces; /* where questions appear, or NULL */
	/* Gathers the policy again: the bundle's descriptor, or a negative number with a sentence; findings
	 * in any case.  NULL: it cannot be. */
	int (*on_gather)(void *ctx, json_t **ret_findings, const char **ret_err);
	void *gather_ctx;
	struct heldback held;
	struct session_clock *clock; /* ends the session at the operator's word; or NULL */
};

struct launch_start {
	const struct bundle *bundle;
	enum level level;
	const char *agent;
	const char *not_enforced; /* one sentence: what the level does not hold */
	const char *facts;	  /* what this machine has of each mechanism, for the first record; or NULL */
	const char *limits;	  /* what is limited and by whom, or "" */
	char *const *argv;
	const struct environment *environment; /* what the agent gets, with the preload */
	const char *preload;
	int secrets_fd;		      /* what the ledger must not hold (secrets.h), borrowed; or -1 */
	void (*meanwhile)(void *ctx); /* called while the helper compiles; or NULL */
	void *ctx;
};

/*
 * rings.c: makes a ring, an empty one, mapped in this process alone: the child that becomes the agent does
 * not even inherit the mapping.  Its descriptor, or -errno after telling why.
 */
int ring_make(const char *name, struct ring_header **ret);
/*
 * Gives n rings all their pages, so that no store into one finds no memory.  They are this process's,
 * whatever limit the session has.  0, or -errno after telling why.
 */
int rings_fill(const int *fds, size_t n);

/* Executes the installation's helper, or connects to its service, so that it loads while the policy is
 * gathered. 0 or -errno. */
int launch_spawn(struct launch *l, const struct installed *in);
/* Ends a helper that was given no session. */
void launch_abandon(struct launch *l);
/* Gives the helper its session and maps image and rings.  0 or -errno after telling why. */
int launch_start(struct launch *l, const struct launch_start *s);
/* Tells the helper that the agent runs as pid. */
int launch_agent(struct launch *l, pid_t pid);
/* Reads what the helper has to say now: prints warnings, passes on which process lives under which image,
 * notes the helper's death. */
void launch_listen(struct launch *l);
/* The bundle as sealed memory: a descriptor or -errno. */
int bundle_file(const struct bundle *b);
/* One message to the helper, which is released, with fd (borrowed) where that is >= 0.  0 or -errno. */
int launch_tell(const struct launch *l, json_t *j, int fd);
/* reload.c: serves the helper's messages about loading the policy anew; others are passed over. */
void reload_listen(struct launch *l, const char *type);
/*
 * The bundle of a session that runs, gathered again by the options it was started with;
 * `first` is what it began with, which says where it works and which repository is its own.  The descriptor
 * of sealed memory, or -errno with a static sentence; findings (an array, or NULL) in each case.
 */
int reload_gather(const struct options *o, const char *session, const struct bundle *first,
		  json_t **ret_findings, const char **ret_err);
struct launch_end {
	uint64_t records, denied, lost;
	uint64_t observed; /* allowed, and would not have been but for --observe */
	char head[65];	   /* of the ledger, "" where it was not told */
	bool sealed;
	bool tampered; /* RING_TAMPERED */
	bool told;     /* the helper confirmed the end of the ledger */
};
/* Tells the helper that the session ended, with "exit N" or "signal N".  launch_finish() afterwards. */
void launch_part(struct launch *l, const char *status);
/* Waits, bounded, for the helper to say that all is written; it syncs the ledger and ends by itself then. */
void launch_finish(struct launch *l, struct launch_end *ret);

struct agentproc {
	const char *path;
	char *const *argv;
	const char *preload;
	struct git_home git;	 /* where protected branches lie */
	int moves_fd;		 /* of moves_open() */
	struct outputs *outputs; /* outputs.h; or NULL */
	const struct environment *environment;
	struct launch *launch;
	bool must_attach;
	bool lingers; /* what the command leaves behind is served to its own end, not ended */
	struct fence *fence;
	struct terminal *terminal; /* where the agent's own is, or is not */
	bool draws;		   /* a known agent: it draws there, and nothing is said */
	struct session_limits *limits;
};

/* program.c */
#define SCRIPT_DEPTH 5 /* the kernel follows four interpreters of interpreters */
/* What one file is.  0 or -errno. */
int program_look(const char *path, struct elf_info *ret, bool *ret_setid);

/*
 * Judges the command that the operator typed and records the decision: 0, or the exit code after
 * telling why not.  env is what it gets.
 */
int operator_judge(const struct launch *l, const struct program *p, char *const *argv, size_t argc,
		   const struct environment *env);

/* How the agent ended. */
struct agent_end {
	int code;     /* exit code where signal is 0 */
	int signal;   /* it died by this signal */
	bool refused; /* pale ended or never started it; code says how */
	enum end_why why;
};

/* How far an agent came: its exec or anything before it failed with error, or it ended with status. */
struct agent_fate {
	int error, status;
	bool let_go;   /* the last that was tried was its exec */
	bool attached; /* the hooks in it announced themselves, or need not */
};

/* agentend.c: what that means to pale, told where nobody else told it. */
struct agent_end agent_end_of(const struct agentproc *a, const struct agent_fate *f);
/* The clock's word is the last, also about what lingered behind a command that had ended. */
void agent_end_overrule(struct agent_end *end, enum end_why why);

/* Runs the agent to its end with signals and job control passed on, and ends what it left behind. */
struct agent_end agentproc_run(const struct agentproc *a);
/* Somebody but spare is still our child. */
bool children_left(pid_t spare);
/* Ends every child but spare: TERM, after term_ms KILL, bounded in time.  How many would not go. */
#define REAP_TERM_MS 1500
size_t reap_children(pid_t spare, unsigned term_ms);
/* tree.c: a signal to all that descends from this process, but for spare and its own.  How many got it. */
size_t tree_signal(int sig, pid_t spare);
/* 0, or an exit code after telling which of the options no nested run may have. */
int nested_refuse(const struct options *o);
/* The level of the session around this process: 0 where it is at least the one asked for, or an exit code
 * after telling. */
int nested_level(enum level asked, enum level *ret);
/* The options ask for a policy of the nested run's own. */
bool nested_narrows(const struct options *o);
/* Joins the session around this process, with what -e sets: does not return but with an exit code where it
 * cannot. */
int nested_join(const struct options *o, char **argv);
/* Maps the image that holds in this process, from the helper of the session around it.  0 or -errno. */
int nested_image(struct launch *l);
/*
 * Has that helper compile the bundle inside that image and maps what comes of it.  0, or an exit
 * code after telling why.
 */
int nested_narrow(struct launch *l, const struct bundle *b);
/* Becomes the command under that image: does not return but with an exit code where it cannot. */
int nested_exec(const struct launch *l, const char *path, char **argv, const char *preload,
		const struct environment *env);

/* --- reach.c --- */

/* What PALE_PROMPT says. */
enum prompt { PROMPT_UNSAID, PROMPT_NO, PROMPT_YES };
enum prompt prompt_wish(void);
/* Who can be asked: words for the helper (new reference). */
json_t *reach_list(void);

#endif
