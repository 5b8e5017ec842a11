/*
 * Say it: a denial is one line on the stderr of the process that failed, once per rule and target,
 * so that the agent learns what rule stopped it and does not try the same again for ever.
 */
#include "preload/internal.h"

#include "preload/process.h"

#define SAY_SIZE 16384

/* True the first time this process is told of this id.  An exec is always told: it is new each time. */
static bool say_first_time(enum op op, unsigned id)
{
	uint32_t mark = id + 1, seen;

	if (op == OP_EXEC || !process)
		return true;
	for (unsigned i = 0; i < SAID_SLOTS; i++) {
		uint32_t *slot = &process->said[(id + i) % SAID_SLOTS];

		seen = __atomic_load_n(slot, __ATOMIC_RELAXED);
		if (seen == mark)
			return false;
		if (seen == 0 &&
		    __atomic_compare_exchange_n(slot, &seen, mark, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return true;
	}
	return true;
}

/* stderr as a place to talk: not a socket or a directory that happens to be descriptor 2. */
static bool can_talk(void)
{
	struct stat st;

	return raw2(SYS_fstat, 2, &st) == 0 &&
	       (S_ISCHR(st.st_mode) || S_ISFIFO(st.st_mode) || S_ISREG(st.st_mode));
}

static void say_line(struct out *o)
{
	text_str(o, "\n");
	if (can_talk())
		raw3(SYS_write, 2, o->p, o->len);
}

void say_denied(const struct request *req, const char *target, const struct decision *d, const char *text)
{
	unsigned id = decision_id(req->op, target, d);
	const char *message = state_now() == STATE_LIVE ? decision_message(&session.img, d) : NULL;
	char rule[512];
	struct out o;
	char *line;

	if (!say_first_time(req->op, id))
		return;
	line = scratch_get(SAY_SIZE);
	if (!line)
		return;
	o = out_of(line, SAY_SIZE - 600);
	text_str(&o, "pale: denied ");
	text_str(&o, op_name(req->op));
	text_str(&o, " ");
	text_escaped(&o, target, strlen(target));
	if (o.failed)
		o = (struct out){ .p = o.p, .len = o.cap - 16, .cap = SAY_SIZE };
	o.cap = SAY_SIZE;
	if (state_now() == STATE_LIVE)
		decision_describe(&session.img, d, rule, sizeof rule);
	else
		memcpy(rule, "the session's policy cannot be read",
		       sizeof "the session's policy cannot be read");
	text_str(&o, " (");
	text_str(&o, rule);
	text_str(&o, ") id=");
	text_hex(&o, id, 4);
	text_str(&o, "; see: pale explain ");
	text_hex(&o, id, 4);
	if (text && *text) {
		text_str(&o, d->reason == REASON_HUMAN ? "; said: " : "; ");
		text_escaped(&o, text, strlen(text));
	}
	if (message) {
		text_str(&o, "; ");
		text_str(&o, message);
	}
	if (req->op == OP_EXEC)
		text_str(&o, "; do not retry, choose another way");
	say_line(&o);
	scratch_put(line, SAY_SIZE);
}

void say_asking(const struct request *req, const char *target)
{
	struct out o;
	char *line = scratch_get(SAY_SIZE);

	if (!line)
		return;
	o = out_of(line, SAY_SIZE);
	text_str(&o, "pale: waiting for approval: ");
	text_str(&o, op_name(req->op));
	text_str(&o, " ");
	text_escaped(&o, target, strnlen(target, 2048));
	text_str(&o, "; answer from another terminal: pale pending");
	say_line(&o);
	scratch_put(line, SAY_SIZE);
}
