/*
 * control.sock: the operator's side, JSON-RPC 2.0, one line a packet of at most 64 KiB.
 *
 * Every connection passes the taint check before its first byte is read and again with each
 * packet, whose writer must be the process that was checked.  Methods stand in one table with the states in
 * which they may be called.  Untrusted text leaves escaped and whole; what does not fit into one
 * packet is fetched in pieces (approval/show), never cut without a mark.
 */
#include "helper.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#define RPC_PARSE    (-32700)
#define RPC_REQUEST  (-32600)
#define RPC_METHOD   (-32601)
#define RPC_PARAMS   (-32602)
#define RPC_REFUSED  (-32001) /* the peer may not act as the operator */
#define RPC_NO_CARD  (-32002)
#define RPC_FAILED   (-32003)
#define TARGET_SHOWN 4096
#define PIECE	     8192
#define LIST_BYTES   (48 * 1024)
#define NS_IDLE	     (300 * NS_S)

struct call {
	struct helper *h;
	struct conn *c;
	json_t *params; /* an object, or NULL */
	int code;	/* error */
	const char *err;
	char said[256]; /* err, where it was made here */
};

static json_t *fail(struct call *call, int code, const char *err)
{
	call->code = code;
	call->err = err;
	return NULL;
}

static json_t *fail_text(struct call *call, int code, const char *err)
{
	snprintf(call->said, sizeof(call->said), "%s", err);
	return fail(call, code, call->said);
}

static const char *param(const struct call *call, const char *name, const char *missing)
{
	const char *s = json_string_value(json_object_get(call->params, name));

	return s ? s : missing;
}

static json_t *text(const char *s)
{
	return json_escaped(s, strlen(s));
}

/* --- methods --- */

static json_t *session_info(struct call *call)
{
	struct helper *h = call->h;

	return json_pack("{s:s, s:s, s:O, s:i, s:i, s:s, s:o, s:o, s:o, s:s, s:o, s:o, s:o, s:I, s:I, s:I, "
			 "s:I, s:I, s:b, s:o}",
			 "session", h->session, "agent", h->agent, "argv", h->argv, "pid", (int)h->root_pid,
			 "helper_pid", (int)getpid(), "started", h->started, "workspace", text(h->workspace),
			 "runtime_dir", text(h->runtime_dir), "state_dir", text(h->state_dir), "level",
			 level_name(h->level), "preset", text(h->preset), "not_enforced",
			 text(h->not_enforced), "facts", text(h->facts), "turn", (json_int_t)h->queue.turn,
			 "pending", (json_int_t)queue_count(&h->queue, APPROVAL_PENDING), "records",
			 (json_int_t)h->ledger.seq, "denied", (json_int_t)tally_denied(&h->tally), "lost",
			 (json_int_t)h->ledger.lost_total, "ledger_ok", h->ledger.error == 0, "counts",
			 tally_json(&h->tally));
}

static json_t *card_json(const struct queue *q, const struct approval *ap, uint64_t now_ns)
{
	size_t len = strlen(ap->target), shown = len < TARGET_SHOWN ? len : TARGET_SHOWN;
	char asked[32], id[APPROVAL_ID_HEX];
	json_int_t left = now_ns < ap->until_ns ? (json_int_t)((ap->until_ns - now_ns) / NS_S) : 0;

	time_format(ap->asked_real_ns, asked);
	snprintf(id, sizeof(id), "%.*s", queue_short(q, ap), ap->id);
	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:o, s:I, s:o, s:o, s:I, s:o, s:s, s:I, s:I}", "id",
			 ap->id, "short", id, "state", approval_state_name(ap->state), "op",
			 op_name(ap->req.op), "access", access_name(ap->req.access), "target",
			 json_escaped(ap->target, shown), "target_cut", (json_int_t)(len - shown), "cwd",
			 text(ap->req.cwd ? ap->req.cwd : ""), "exe", text(ap->exe), "pid",
			 (json_int_t)ap->pid, "rule", text(ap->rule), "asked", asked, "left_s", left, "count",
			 (json_int_t)ap->count);
}

/* {"from": n}: as many cards as fit; "next" says where to go on. */
static json_t *approval_list(struct call *call)
{
	const struct queue *q = &call->h->queue;
	json_int_t from = json_integer_value(json_object_get(call->params, "from"));
	json_t *cards = json_array(), *out;
	uint64_t now = clock_boot_ns();
	size_t i = from > 0 ? (size_t)from : 0, bytes = 0;

	for (; i < q->n; i++) {
		json_t *card = card_json(q, q->list[i], now);

		bytes += card ? json_dumpb(card, NULL, 0, JSON_COMPACT | JSON_ENSURE_ASCII) : 0;
		if (!card || (bytes > LIST_BYTES && json_array_size(cards) > 0)) {
			json_decref(card);
			break;
		}
		json_array_append_new(cards, card);
	}
	out = json_pack("{s:o}", "approvals", cards);
	if (out && i < q->n)
		json_object_set_new(out, "next", json_integer((json_int_t)i));
	return out;
}

static struct approval *card_param(struct call *call)
{
	struct approval *ap = NULL;
	const char *id = param(call, "id", NULL);
	int r;

	if (!id) {
		fail(call, RPC_PARAMS, "id is missing");
		return NULL;
	}
	r = queue_find(&call->h->queue, id, &ap);
	if (r == -EEXIST)
		fail(call, RPC_NO_CARD, "more than one question begins with this id: give more digits");
	else if (r < 0)
		fail(call, RPC_NO_CARD, "no question waits with this id (four digits at least)");
	return r < 0 ? NULL : ap;
}

/* {"id", "offset"}: a piece of the whole target. */
static json_t *approval_show(struct call *call)
{
	struct approval *ap = card_param(call);
	json_int_t offset = json_integer_value(json_object_get(call->params, "offset"));
	size_t len, at, n;

	if (!ap)
		return NULL;
	len = strlen(ap->target);
	at = offset > 0 && (size_t)offset < len ? (size_t)offset : (offset > 0 ? len : 0);
	n = len - at < PIECE ? len - at : PIECE;
	return json_pack("{s:s, s:I, s:I, s:o}", "id", ap->id, "size", (json_int_t)len, "next",
			 (json_int_t)at + (json_int_t)n, "text", json_escaped(ap->target + at, n));
}

/* 0 with *ret, or -EINVAL: a word of the table, the first where it is missing and may be. */
static int word_param(const struct call *call, const char *name, const char *const words[2], int *ret)
{
	const char *s = param(call, name, "");

	for (int i = 0; i < 2; i++)
		if (strcmp(s, words[i]) == 0) {
			*ret = i;
			return 0;
		}
	return -EINVAL;
}

static json_t *approval_respond(struct call *call)
{
	static const char *const decisions[] = { "approved", "denied" }, *const scopes[] = { "once",
											     "session" };
	struct approval *ap = card_param(call);
	struct broker_reply reply = { .reason = param(call, "reason", ""),
				      .by = param(call, "by", "operator"),
				      .pid = call->c->pid };
	char id[APPROVAL_ID_HEX];
	struct broker_result result;
	int decision, scope = 0;

	if (!ap)
		return NULL;
	if (word_param(call, "decision", decisions, &decision) < 0)
		return fail(call, RPC_PARAMS, "decision is approved or denied");
	if (json_object_get(call->params, "scope") && word_param(call, "scope", scopes, &scope) < 0)
		return fail(call, RPC_PARAMS, "scope is once or session");
	if (strlen(reply.reason) > 1024 || strlen(reply.by) > 128)
		return fail(call, RPC_PARAMS, "reason has at most 1024 bytes, by 128");
	reply.said = decision == 0 ? APPROVAL_APPROVED : APPROVAL_DENIED;
	reply.scope = scope == 0 ? GRANT_ONCE : GRANT_SESSION;
	memcpy(id, ap->id, sizeof(id));
	if (broker_respond(call->h, ap, &reply, &result) < 0)
		return fail_text(call, RPC_FAILED, result.err);
	return json_pack("{s:s, s:s, s:s, s:b, s:i}", "id", id, "decision", decisions[decision], "scope",
			 scopes[scope], "late", result.late, "waiters", (int)result.waiters);
}

static json_t *turn_begin(struct call *call)
{
	struct helper *h = call->h;
	char detail[96];
	const struct event e = { .pid = call->c->pid, .op = "turn/begin", .via = "helper", .detail = detail };

	queue_turn(&h->queue);
	h->ledger.turn = h->queue.turn;
	snprintf(detail, sizeof(detail), "turn %llu: what was denied before may be asked again",
		 (unsigned long long)h->queue.turn);
	(void)ledger_append(&h->ledger, &e);
	return json_pack("{s:I}", "turn", (json_int_t)h->queue.turn);
}

static json_t *log_head(struct call *call)
{
	struct ledger *l = &call->h->ledger;

	fold_flush(&call->h->fold, FOLD_NOW, 0);
	(void)ledger_flush(l);
	return json_pack("{s:I, s:s, s:I, s:b}", "records", (json_int_t)l->good_seq, "hash", ledger_head(l),
			 "lost", (json_int_t)l->lost_total, "ledger_ok", l->error == 0);
}

static const struct method {
	const char *name;
	unsigned states;
	json_t *(*run)(struct call *call);
} methods[] = {
	{ "session/info", SESSION_LIVE | SESSION_ENDING, session_info },
	{ "approval/list", SESSION_LIVE, approval_list },
	{ "approval/show", SESSION_LIVE, approval_show },
	{ "approval/respond", SESSION_LIVE, approval_respond },
	{ "turn/begin", SESSION_LIVE, turn_begin },
	{ "log/head", SESSION_LIVE | SESSION_ENDING, log_head },
};

/* --- the protocol --- */

static json_t *reply_error(json_t *id, int code, const char *err)
{
	return json_pack("{s:s, s:O?, s:{s:i, s:s}}", "jsonrpc", "2.0", "id", id, "error", "code", code,
			 "message", err);
}

static json_t *call_method(struct call *call, const char *name)
{
	for (size_t i = 0; i < NELEM(methods); i++) {
		json_t *out;

		if (strcmp(methods[i].name, name) != 0)
			continue;
		if (!(methods[i].states & call->h->state))
			return fail(call, RPC_REQUEST, "the session is ending");
		out = methods[i].run(call);
		return out || call->code ? out : fail(call, RPC_FAILED, "the helper is out of memory");
	}
	return fail(call, RPC_METHOD, "no such method");
}

/* The answer to one line, NULL for a notification. */
static json_t *handle(struct helper *h, struct conn *c, const char *line, size_t len)
{
	_cleanup_json_ json_t *root = json_loadb(line, len, JSON_REJECT_DUPLICATES, NULL);
	struct call call = { .h = h, .c = c };
	json_t *id = json_object_get(root, "id"), *result;
	const char *version = json_string_value(json_object_get(root, "jsonrpc"));
	const char *name = json_string_value(json_object_get(root, "method"));

	if (!root)
		return reply_error(NULL, RPC_PARSE, "the line is not JSON");
	call.params = json_object_get(root, "params");
	if (!json_is_object(root) || !version || strcmp(version, "2.0") != 0 || !name ||
	    (id && !json_is_integer(id) && !json_is_string(id) && !json_is_null(id)) ||
	    (call.params && !json_is_object(call.params)))
		return reply_error(NULL, RPC_REQUEST,
				   "the line is no JSON-RPC 2.0 request with named parameters");
	result = call_method(&call, name);
	if (!id) {
		json_decref(result);
		return NULL;
	}
	if (!result)
		return reply_error(id, call.code, call.err);
	return json_pack("{s:s, s:O, s:o}", "jsonrpc", "2.0", "id", id, "result", result);
}

/* Says why, once, and writes it down: someone inside tried to be the operator. */
static void refuse(struct helper *h, int fd, pid_t pid, const char *err)
{
	char detail[192];
	const struct proc *proc = procs_find(&h->feed[FEED_HOOK].procs, pid);
	const struct event e = { .pid = pid,
				 .ppid = proc->ppid,
				 .exe = proc->exe,
				 .op = "approval/refused",
				 .verdict = "deny",
				 .via = "helper",
				 .detail = detail };

	snprintf(detail, sizeof(detail), "%s %s", err, h->session);
	/* A key that no decision of the ring has: those are hashes under a secret. */
	fold_add(&h->fold, (uint64_t)pid, &e, FOLD_NOW, clock_boot_ns());
	(void)packet_send_json(fd, reply_error(NULL, RPC_REFUSED, detail));
	close(fd);
}

static int may_operate(const struct helper *h, int fd, pid_t *ret_pid, const char **ret_err)
{
	const struct taint_rules rules = {
		.owner = h->owner, .baseline = h->baseline, .agent = h->root_pid, .launcher = h->launcher_pid
	};

	return taint_check(fd, &rules, ret_pid, ret_err);
}

void control_accept(struct helper *h)
{
	int fd = accept4(h->control_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	const char *err;
	struct conn *c;
	pid_t pid = 0;

	if (fd < 0)
		return;
	if (may_operate(h, fd, &pid, &err) < 0) {
		refuse(h, fd, pid, err);
		return;
	}
	c = conn_add(h, CONN_CONTROL, fd, pid);
	if (c)
		c->deadline_ns = clock_boot_ns() + NS_IDLE;
}

void control_ready(struct helper *h, struct conn *c)
{
	ssize_t n = packet_receive(c->fd, h->frame, sizeof(h->frame), NULL, c->pid);
	const char *err;
	json_t *reply;
	pid_t pid = 0;

	if (n == -EAGAIN)
		return;
	if (n <= 0) {
		conn_drop(h, c);
		return;
	}
	/* Once more: whoever connected may have died since, or have gone inside, and left the line to
	 * another. */
	if (may_operate(h, c->fd, &pid, &err) < 0) {
		refuse(h, c->fd, pid, err);
		*c = (struct conn){ .kind = CONN_FREE, .fd = -1 };
		return;
	}
	c->deadline_ns = clock_boot_ns() + NS_IDLE;
	reply = handle(h, c, h->frame, (size_t)n);
	if (reply && packet_send_json(c->fd, reply) < 0)
		conn_drop(h, c);
}
