/*
 * The one evaluator: (image, request) -> decision.  explain, lint, the preload, the helper and
 * the tests call these functions and no others.
 *
 * No allocation, lock, clock or libc beyond mem* and str*; async-signal-safe, vfork-safe, errno
 * untouched; bounded stack (<= 8 KiB).  A request that is malformed or over a limit is denied.
 */
#ifndef PALE_EVAL_H
#define PALE_EVAL_H

#include "policy/image/image.h"

/* Judges any request, by op, and the outer images too (strictest wins). */
struct decision eval(const struct image *img, const struct request *req);

/*
 * What an earlier walk found about a directory.  The caller keeps it from one request to the next (struct
 * request.memo: the first of MEMO_WAYS).  The next path in the same directory is then judged by its last
 * component; where no rule concerns a name there, by the answer to the last such name.  Zeroed memory is an
 * empty memo.  Threads and signal handlers may share memos: a reader writes nothing, and does not use a
 * memo that is being written.  Only for images that stay mapped where they are.
 */
#define MEMO_ACTIVE 12u
#define MEMO_WAYS   8u
struct eval_memo {
	uint32_t seq; /* odd while it is written */
	uint32_t len; /* of dir */
	const void *base;
	uint32_t want; /* columns */
	uint32_t op;   /* the operation that leaf is the answer to; OP_NONE: no leaf */
	/* Bits of the names and suffixes that rules know in this directory; leaf is the answer for a name
	 * that has its bit in neither mask. */
	uint64_t literal, suffix;
	struct decision leaf;
	char dir[264]; /* with its slash */
	uint64_t state[44];
};

/*
 * Looks for the answer to req in its memo, which must not be NULL; true where it is found, and then it
 * allows.  req->path may be any absolute path: one that is not normalised is not found.  eval() does this
 * too; a direct call saves the caller the check whether the path is normalised.
 */
bool eval_leaf(const struct image *img, const struct request *req, struct decision *ret);

/* Other rules that matched, strongest first, for explain. */
struct beaten {
	uint32_t rule;
	enum verdict verdict;
	unsigned specificity;
	bool uncovered; /* an allow rule of these words that covers not each option or form of a word */
};
struct trace {
	struct beaten list[16];
	size_t n;
};
/*
 * As eval() by this image alone (no outer), and fills trace with every rule that matched, the winner
 * included.
 */
struct decision eval_trace(const struct image *img, const struct request *req, struct trace *trace);

/* The verdict for people: what git obeys is checked when it is written, without a question. */
static inline enum verdict decision_verdict(const struct decision *made)
{
	return made->verdict == VERDICT_ASK && made->reason == REASON_GIT ? VERDICT_ALLOW : made->verdict;
}
/*
 * The rule that decided: where a file that git obeys is only checked, the rule that allows the write.  t is
 * its trace.
 */
static inline uint32_t decision_decider(const struct decision *made, const struct trace *t)
{
	if (made->reason != REASON_GIT)
		return made->rule;
	for (size_t i = 0; i < t->n; i++)
		if (t->list[i].verdict == VERDICT_ALLOW && !t->list[i].uncovered)
			return t->list[i].rule;
	return RULE_NONE;
}

/*
 * Writes the decision for people: "policy.ini:9 [files] outside the workspace" or
 * "policy.ini:12 [files] deny = ~/.ssh", always NUL-terminated, cut at size.  async-signal-safe.
 */
void decision_describe(const struct image *img, const struct decision *d, char *buf, size_t size);
/*
 * The image whose rule decided: img itself, or one around it where d is nested; false where d is invalid.
 */
bool decision_image(const struct image *img, const struct decision *d, struct image *ret);
/*
 * For a connection to this machine: true where neither the operator's rules nor the floor decide, so the
 * owner of the port does.
 */
bool decision_is_by_port(const struct image *img, const struct decision *d);
/* True where the denied file does not exist for the session: ENOENT, recorded but not printed. */
static inline bool decision_is_absence(const struct decision *made, enum op op)
{
	return made->verdict == VERDICT_DENY && op == OP_READ &&
	       (made->reason == REASON_HOME || made->reason == REASON_ABSENT);
}
/* The rule's `message =`, or NULL. */
const char *decision_message(const struct image *img, const struct decision *d);

/*
 * A denial in words.  All code that prints, records or shows a denial calls these two functions, so that
 * the text on the screen is the text in the ledger.  async-signal-safe.
 */
struct denial {
	enum op op;
	const char *target;
	const char *reason; /* denial_reason(), or the `rule` of a record */
	uint32_t id;	    /* under which it was recorded, 0: it was not */
	const char *more;   /* the rule's message, or which rule would change it; NULL or "": nothing */
	bool to_agent;	    /* the reader is the agent, which may try again */
};
#define DENIAL_ID_HEX 8
/*
 * decision_describe(), followed by why: what else is known of this denial, such as a key of git's or a
 * human's words.
 */
void denial_reason(const struct image *img, const struct decision *d, const char *why, char *buf,
		   size_t size);
/* Appends "denied write /etc/hosts (REASON) id=0215ab3c; see: pale explain 0215ab3c; MORE", without a
 * newline. */
struct out;
void denial_sentence(struct out *o, const struct denial *s);
/* Appends untrusted text to such a line: escaped, and changed where it looks like the id of a denial. */
void denial_text(struct out *o, const char *s);
/*
 * A number that tells denials apart within one process, and is their id at level hooks, where no supervisor
 * gives ids.  Not keyed: a program that chooses its names can give two of its denials the same number.
 * Never 0.
 */
uint32_t denial_mark(enum op op, const char *target, const struct decision *d, const char *why);

/*
 * Returns true where the effect of req's command cannot be undone.  Programs that link risk_is_final() set
 * this to it.  Where it is NULL, as in the preload, every command counts as final, and the supervisor or the
 * helper judges it.
 */
extern bool (*eval_is_final)(const struct request *req);

/* --- the parts, for their own tests --- */
void eval_path(const struct image *img, const struct request *req, struct decision *d, struct trace *t);
void eval_command(const struct image *img, const struct request *req, struct decision *d, struct trace *t);
/*
 * Calls fn for the command of req and for each command that its wrappers wrap, outermost first, with the
 * decision of img alone.  The number of calls does not depend on the image.  False where it is unknown what
 * runs, or where no command may run at all.
 */
struct command;
typedef void each_command_fn(const struct command *c, const struct decision *d, void *ctx);
bool eval_command_each(const struct image *img, const struct request *req, each_command_fn *fn, void *ctx);
void eval_host(const struct image *img, const struct request *req, struct decision *d, struct trace *t);
/* eval_tool.c, which is not in libpale. */
/* A push that the gate holds, by [git] push. */
void eval_push(const struct image *img, const struct request *req, struct decision *d, struct trace *t);
void eval_tool(const struct image *img, const struct request *req, struct decision *d, struct trace *t);
/* True where img or an image around it has a rule about tools. */
bool image_has_tools(const struct image *img);

/*
 * trace_add() adds a matching rule, keeps the list sorted by specificity and drops the weakest; t may be
 * NULL.  trace_uncovered() adds an allow rule that does not cover the command.
 */
void trace_uncovered(struct trace *t, uint32_t rule);
void trace_add(struct trace *t, uint32_t rule, enum verdict v, unsigned specificity);

/* What must be known to judge the git command of req: a mask of GIT_WANTS_* (git.h); 0: nothing. */
unsigned command_wants_branch(const struct request *req);

#endif
