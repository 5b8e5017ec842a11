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
 * What an earlier walk knew of a directory, kept by the caller from one request to the next
 * (struct request.memo: the first of MEMO_WAYS), so that the next path in the same directory is
 * judged by its last component; and where no rule speaks of a name there, by the answer to the
 * last such name.  Zeroed memory is an empty memo.  Threads and signal handlers may share them:
 * readers write nothing, and who finds one being written does without.  Only for images that
 * stay mapped where they are.
 */
#define MEMO_ACTIVE 12u
#define MEMO_WAYS   8u
struct eval_memo {
	uint32_t seq; /* odd while it is written */
	uint32_t len; /* of dir */
	const void *base;
	uint32_t want; /* columns */
	uint32_t op;   /* what the leaf is the answer to; OP_NONE: none */
	/* A name that these know nothing of is answered by the leaf. */
	uint64_t literal, suffix;
	struct decision leaf;
	char dir[264]; /* with its slash */
	uint64_t state[44];
};

/*
 * The answer of a memo for req, true where it is there and allows.  req->path may be anything absolute:
 * one that is not normalised is not found.  eval() looks here by itself; this saves the caller the
 * way there, and the look whether the path is normalised.
 */
bool eval_leaf(const struct image *img, const struct request *req, struct decision *ret);

/* Other rules that matched, strongest first, for explain. */
struct beaten {
	uint32_t rule;
	enum verdict verdict;
	unsigned specificity;
	bool uncovered; /* an allow rule of these words that does not cover an option, or a form of a word */
};
struct trace {
	struct beaten list[16];
	size_t n;
};
/* As eval of this image alone (no outer), and fills trace with every rule that matched, the winner included.
 */
struct decision eval_trace(const struct image *img, const struct request *req, struct trace *trace);

/*
 * Writes the decision for people: "policy.ini:9 [files] outside the workspace" or
 * "policy.ini:12 [files] deny = ~/.ssh", always NUL-terminated, cut at size.  async-signal-safe.
 */
void decision_describe(const struct image *img, const struct decision *d, char *buf, size_t size);
/* The image whose rule decided: img itself, or one around it where d is nested; false for a nonsensical d. */
bool decision_image(const struct image *img, const struct decision *d, struct image *ret);
/* Of a connection to this machine: neither the operator nor the floor has said it, so that it goes by whose
 * port that is. */
bool decision_is_by_port(const struct image *img, const struct decision *d);
/* What is denied so is not there for the session: ENOENT, recorded and not said. */
static inline bool decision_is_absence(const struct decision *made, enum op op)
{
	return made->verdict == VERDICT_DENY && made->reason == REASON_HOME && op == OP_READ;
}
/* The rule's `message =`, or NULL. */
const char *decision_message(const struct image *img, const struct decision *d);

/*
 * A denial in words.  Everybody who tells one, records one or shows a recorded one calls these two, so that
 * what is read on a screen is what stands in the ledger.  async-signal-safe.
 */
struct denial {
	enum op op;
	const char *target;
	const char *reason; /* denial_reason(), or the `rule` of a record */
	uint32_t id;	    /* under which it was recorded, 0: it was not */
	const char *more;   /* the rule's message, or which rule would change it; NULL or "": nothing */
	bool to_agent;	    /* who may try again */
};
#define DENIAL_ID_HEX 8
/* decision_describe(), and behind it what else is known of this denial: a key of git's, a human's words. */
void denial_reason(const struct image *img, const struct decision *d, const char *why, char *buf,
		   size_t size);
/* Appends "denied write /etc/hosts (REASON) id=0215ab3c; see: pale explain 0215ab3c; MORE", without a
 * newline. */
struct out;
void denial_sentence(struct out *o, const struct denial *s);
/* Untrusted text for such a line: escaped, and broken where it would pass for the id of a denial. */
void denial_text(struct out *o, const char *s);
/*
 * Tells denials apart within one process, and names them at level hooks, where nobody stands outside that
 * could give them ids.  Not keyed: a program that chooses its names makes two of its own alike.  Never 0.
 */
uint32_t denial_mark(enum op op, const char *target, const struct decision *d, const char *why);

/*
 * True where what the command of req does cannot be taken back: risk_is_final(), set by the programs that
 * link it.  NULL, as in the preload, counts every command as such: the supervisor or the helper then judges
 * it.
 */
extern bool (*eval_is_final)(const struct request *req);

/* --- the parts, for their own tests --- */
void eval_path(const struct image *img, const struct request *req, struct decision *d, struct trace *t);
void eval_command(const struct image *img, const struct request *req, struct decision *d, struct trace *t);
/*
 * Calls fn for the command of req and for each that its wrappers wrap, outermost first, with what img alone
 * says of that one; the same number of times whatever the image.  False where nobody can tell what runs, or
 * nothing may at all.
 */
struct command;
typedef void each_command_fn(const struct command *c, const struct decision *d, void *ctx);
bool eval_command_each(const struct image *img, const struct request *req, each_command_fn *fn, void *ctx);
void eval_host(const struct image *img, const struct request *req, struct decision *d, struct trace *t);

/*
 * Adds a matching rule to the trace (keeps the list sorted by specificity, drops the weakest);
 * t may be NULL.
 */
void trace_uncovered(struct trace *t, uint32_t rule);
void trace_add(struct trace *t, uint32_t rule, enum verdict v, unsigned specificity);

/* Of git's commands: with what they can be judged only, GIT_WANTS_HEAD and so on (git.h), 0: nothing. */
unsigned command_wants_branch(const struct request *req);

#endif
