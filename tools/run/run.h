/*
 * The parts of `pale run`: the kernel's side of the fence, the way of the command into it, the helper
 * that serves the session, and runs inside a run.
 */
#ifndef PALE_RUN_H
#define PALE_RUN_H

#include <jansson.h>
#include <signal.h>

#include "policy/wire/wire.h"

#include "tools/git/git_home.h"
#include "tools/run/limits/limits.h"
#include "tools/sessions/sessions.h"
#include "tools/wall/confine.h"

struct installed;
struct program;

/* The kernel's side of the fence around one session. */
struct fence {
	enum level level;
	struct kernel kernel;
	struct floor floor;
	struct confine confine;
	/* The policy compiled by us, from which floor and ruleset are made already; not open where they are
	 * not. */
	struct image ahead;
	uint8_t *ahead_bytes;
};

struct launch;
/* The level called name, or the default where name is NULL.  0, or an exit code after a message. */
int fence_level(const char *name, enum level *ret);
/* The newest Landlock ABI that may be used: the value of --abi-max, or the newest that we know where text
 * is NULL.  -EINVAL after a message. */
int abi_limit(const char *text);
/* 0 where this machine reaches the level, or an exit code after a message that says what it lacks.  The
 * caller must zero f before, and call fence_done() in each case. */
int fence_probe(struct fence *f, enum level level, const char *abi_max);
/* Raises the level to what the policy demands, after fence_probe(), and says so where --level requested
 * less.  0, or an exit code as above. */
int fence_raise(struct fence *f, const struct policy *p, const struct options *o);
/*
 * Does the slow part of fence_make() while the helper compiles the policy: from an image of our own, which
 * is dropped if the helper's differs.  Changes only f, and the level in p.
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

/* 0 or -errno; the caller must call handover_close() in each case. */
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
 * heldback.c: messages that come while the agent has the terminal.  Between hush and release
 * (launch_part()) nothing is written to a terminal; `pale watch` shows the helper's warnings as they come,
 * and the ledger has them.  Where standard error is no terminal, messages are printed at once.
 */
struct heldback {
	bool on;
	char *text[HELDBACK_MAX]; /* owned */
	size_t n, more;		  /* messages beyond HELDBACK_MAX are only counted */
};

void heldback_hush(struct heldback *h);
/* Takes ownership of text; NULL stands for a message for which there was no memory. */
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
	int ring_fd;  /* the ring that the supervisor gives to each new process of the session, or -1 */
	bool foreign; /* the helper runs as another user: it chooses the directories and cannot be killed */
	bool nested;  /* the run is inside a session, whose helper it uses */
	uint32_t image_number;
	enum level level;
	/* Above level hooks: the ring that the supervisor writes and no process of the session reaches, and
	 * the nonce that proves to the helper that a message is the supervisor's. */
	struct ring_header *kernel_ring;
	uint8_t nonce[WIRE_NONCE];
	/* Process pid is judged by image number `image` from now on: 0, or -errno if it cannot be.  NULL:
	 * no supervisor runs.  Called by launch_listen(). */
	int (*on_narrowed)(void *ctx, pid_t pid, uint32_t image);
	/* The policy was loaded anew: 0 once the supervisor judges by it, and whether it performs every
	 * open for reading from now on; -errno if it does not.  NULL: no supervisor runs. */
	int (*on_reload)(void *ctx, bool *ret_performs);
	void *narrowed_ctx;
	struct surfaces *surfaces; /* where questions are shown, or NULL */
	/* Gathers the policy again: the bundle's descriptor, or a negative number with a sentence; findings
	 * in either case.  NULL: the policy cannot be reloaded. */
	int (*on_gather)(void *ctx, json_t **ret_findings, const char **ret_err);
	void *gather_ctx;
	struct heldback held;
	struct session_clock *clock; /* ends the session when the operator says so; or NULL */
};

struct launch_start {
	const struct bundle *bundle;
	enum level level;
	const char *agent;
	const char *not_enforced; /* one sentence: what the level does not hold */
	const char *facts;	  /* what this machine has of each mechanism, for the first record; or NULL */
	const char *limits;	  /* the limits and their means, or "" */
	char *const *argv;
	const struct environment *environment; /* what the agent gets, with the preload */
	const char *preload;
	int secrets_fd;		      /* what the ledger must not hold (secrets.h), borrowed; or -1 */
	void (*meanwhile)(void *ctx); /* called while the helper compiles; or NULL */
	void *ctx;
};

/*
 * rings.c: makes an empty ring that is mapped in this process alone: the child that becomes the agent does
 * not inherit the mapping.  Returns its descriptor, or -errno after a message.
 */
int ring_make(const char *name, struct ring_header **ret);
/*
 * Allocates all pages of n rings, so that no store into one fails for lack of memory.  The pages are
 * charged to this process, not to the session's limit.  0, or -errno after a message.
 */
int rings_fill(const int *fds, size_t n);

/* Executes the installation's helper, or connects to its service, so that it loads while the policy is
 * gathered. 0 or -errno. */
int launch_spawn(struct launch *l, const struct installed *in);
/* Ends a helper that was given no session. */
void launch_abandon(struct launch *l);
/* Gives the helper its session and maps image and rings.  0 or -errno after a message. */
int launch_start(struct launch *l, const struct launch_start *s);
/* Tells the helper that the agent runs as pid. */
int launch_agent(struct launch *l, pid_t pid);
/* Reads the helper's pending messages: prints warnings, passes on which process is judged by which image,
 * notes that the helper is gone. */
void launch_listen(struct launch *l);
/* The bundle as sealed memory: a descriptor or -errno. */
int bundle_file(const struct bundle *b);
/* Sends the message j, which is released, to the helper, with fd (borrowed) where that is >= 0.  0 or
 * -errno. */
int launch_tell(const struct launch *l, json_t *j, int fd);
/* reload.c: serves the helper's messages about loading the policy anew; others are ignored. */
void reload_listen(struct launch *l, const char *type);
/*
 * Gathers the bundle of a running session again, by the options it was started with; `first` is the
 * session's first bundle, which names its workspace and repository.  Returns a descriptor of sealed memory,
 * or -errno with a static sentence; findings (an array, or NULL) in either case.
 */
int reload_gather(const struct options *o, const char *session, const struct bundle *first,
		  json_t **ret_findings, const char **ret_err);
struct launch_end {
	uint64_t records, denied, lost;
	uint64_t observed; /* allowed only because of --observe */
	char head[65];	   /* of the ledger; "" where the helper did not report it */
	bool sealed;
	bool tampered; /* RING_TAMPERED */
	bool told;     /* the helper confirmed the end of the ledger */
};
/* Tells the helper that the session ended, with "exit N" or "signal N".  Call launch_finish() after it. */
void launch_part(struct launch *l, const char *status);
/* Waits, bounded, for the helper to say that all is written; it syncs the ledger and ends by itself then. */
void launch_finish(struct launch *l, struct launch_end *ret);

struct agentproc {
	const char *path;
	char *const *argv;
	const char *preload;
	struct git_home git;	       /* where protected branches lie */
	const struct gate_setup *gate; /* NULL: the session has no ghosts */
	int moves_fd;		       /* of moves_open() */
	struct outputs *outputs;       /* outputs.h; or NULL */
	const struct environment *environment;
	struct launch *launch;
	bool must_attach;
	bool lingers; /* processes that the command leaves behind are served until they end by themselves */
	struct fence *fence;
	struct terminal *terminal; /* the agent's own terminal, if it has one */
	bool draws; /* a known agent, which draws on the terminal, so that nothing else is written there */
	struct session_limits *limits;
};

/*
 * Judges the command that the operator typed and records the decision: 0, or the exit code after a message
 * that says why not.  env is the command's environment.
 */
int operator_judge(const struct launch *l, const struct program *p, char *const *argv, size_t argc,
		   const struct environment *env);

/* How the agent ended. */
struct agent_end {
	int code;     /* exit code where signal is 0 */
	int signal;   /* the signal that killed it, or 0 */
	bool refused; /* pale ended it or never started it; code is pale's exit code */
	enum end_why why;
	size_t left; /* processes that would not end, and calls that a file system holds */
};

/* How far an agent got: its exec or a step before it failed with error, or it ended with status. */
struct agent_fate {
	int error, status;
	bool let_go;   /* the last step that was tried is its exec */
	bool attached; /* its hooks announced themselves, or need not */
};

/* agentend.c: the agent's end that this means for pale; prints a message where none was printed yet. */
struct agent_end agent_end_of(const struct agentproc *a, const struct agent_fate *f);
/* The clock's reason overrules the agent's own end, even for processes that outlived the command. */
void agent_end_overrule(struct agent_end *end, enum end_why why);

/* Runs the agent to its end with signals and job control passed on, and ends what it left behind. */
struct agent_end agentproc_run(const struct agentproc *a);
/* 0, or an exit code after a message that names an option that no nested run may have. */
int nested_refuse(const struct options *o);
/* The level of the outer session: 0 where it is at least `asked`, or an exit code after a message. */
int nested_level(enum level asked, enum level *ret);
/* The options give the nested run a policy of its own. */
bool nested_narrows(const struct options *o);
/* Joins the outer session, with the variables of -e: returns only on failure, with an exit code. */
int nested_join(const struct options *o, char **argv);
/* Maps the image that holds in this process, from the outer session's helper.  0 or -errno. */
int nested_image(struct launch *l);
/*
 * Has that helper compile the bundle inside that image, and maps the result.  0, or an exit code after a
 * message.
 */
int nested_narrow(struct launch *l, const struct bundle *b);
/* Becomes the command under that image: returns only on failure, with an exit code. */
int nested_exec(const struct launch *l, const char *path, char **argv, const char *preload,
		const struct environment *env);

#endif
