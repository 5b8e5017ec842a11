/*
 * control.sock: the operator's side, JSON-RPC 2.0, one line a packet of at most 64 KiB (pale-control(5)).
 *
 * Every connection passes the taint check before its first byte is read and again with each packet, whose
 * writer must be the process that was checked.  Each method names, in its table, the states in which it may
 * be called and the scope that it needs.  Untrusted text is sent escaped and whole.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sodium.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "policy/record/record.h"
#include "policy/system/cleanup.h"
#include "policy/system/system.h"

#include "helper/base/images.h"
#include "helper/base/packet.h"
#include "helper/base/stamp.h"
#include "helper/base/state.h"
#include "helper/base/taint.h"
#include "helper/ledger/event.h"
#include "helper/ledger/fold.h"
#include "helper/ledger/ledger.h"
#include "helper/ledger/programs.h"

#include "call.h"
#include "conn.h"
#include "control.h"
#include "control_peer.h"

#define CONTROL_DEPTH	8   /* of objects and arrays in a line */
#define CONTROL_MEMBERS 256 /* commas and colons in a line, outside of strings */
#define NS_IDLE		(300 * NS_S)
#define REFUSED_MAX	64

/* What this room keeps about the session. */
struct control {
	uint64_t serial;
	const struct method *const *tables; /* ends with NULL */
	pid_t refused[REFUSED_MAX];	    /* processes that the launcher was warned of */
	size_t n_refused;
};

json_t control_later_mark = { .type = JSON_NULL, .refcount = (size_t)-1 };

json_t *call_fail(struct call *call, enum rpc_code code, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(call->err, sizeof(call->err), format, ap);
	va_end(ap);
	call->code = code;
	return NULL;
}

const char *call_param(const struct call *call, const char *name, const char *missing)
{
	const char *s = json_string_value(json_object_get(call->params, name));

	return s ? s : missing;
}

json_int_t call_number(const struct call *call, const char *name, json_int_t missing)
{
	const json_t *j = json_object_get(call->params, name);

	return json_is_integer(j) ? json_integer_value(j) : missing;
}

bool call_flag(const struct call *call, const char *name)
{
	return json_is_true(json_object_get(call->params, name));
}

json_t *text_json(const char *s)
{
	return json_escaped(s ? s : "", s ? strlen(s) : 0);
}

/* --- the protocol --- */

static json_t *reply_error(json_t *id, int code, const char *err, json_t *data)
{
	json_t *text = text_json(err);

	return json_pack("{s:s, s:O?, s:{s:i, s:o, s:O*}}", "jsonrpc", "2.0", "id", id, "error", "code", code,
			 "message", text, "data", data);
}

static json_t *reply_result(json_t *id, json_t *result)
{
	return json_pack("{s:s, s:O, s:o}", "jsonrpc", "2.0", "id", id, "result", result);
}

static const struct method *method_find(const struct method *const tables[], const char *name)
{
	for (size_t i = 0; tables[i]; i++)
		for (const struct method *m = tables[i]; m->name; m++)
			if (strcmp(m->name, name) == 0)
				return m;
	return NULL;
}

/*
 * The calls that a pale of another version may use, because pale was upgraded while the session runs: they
 * describe the session and end it.
 */
static bool for_all_versions(const char *method)
{
	return strcmp(method, "hello") == 0 || strncmp(method, "session/", 8) == 0;
}

static json_t *call_method(struct call *call, const char *name)
{
	const struct method *m = method_find(call->h->control->tables, name);
	json_t *out;

	if (!m)
		return call_fail(call, RPC_METHOD, "no such method");
	if (call->version != CONTROL_VERSION && !for_all_versions(name))
		return call_fail(
			call, RPC_VERSION,
			"this session began with pale " PALE_VERSION
			", which speaks version %d of pale-control(5) and not %lld; answer with that "
			"pale, or end the session (pale session stop %s) and start it anew",
			CONTROL_VERSION, (long long)call->version, call->h->session);
	if (!(m->states & call->h->state))
		return call_fail(call, RPC_STATE, "the session is ending");
	if (!(m->scope & call->c->peer->scopes))
		return call_fail(call, RPC_SCOPE, "this connection renounced that in hello");
	out = m->run(call);
	return out || call->code ? out : call_fail(call, RPC_FAILED, "the helper is out of memory");
}

/* Limits depth and size of a line before it is parsed. */
static bool is_modest(const char *line, size_t len)
{
	size_t depth = 0, members = 0;
	bool quoted = false;

	for (size_t i = 0; i < len; i++) {
		char c = line[i];

		if (quoted && c == '\\')
			i++;
		else if (c == '"')
			quoted = !quoted;
		else if (!quoted && (c == '{' || c == '['))
			depth++;
		else if (!quoted && (c == '}' || c == ']'))
			depth -= depth > 0;
		else if (!quoted && (c == ',' || c == ':'))
			members++;
		if (depth > CONTROL_DEPTH || members > CONTROL_MEMBERS)
			return false;
	}
	return true;
}

/* The answer to one line, NULL where it gets no answer, or gets it later. */
static json_t *handle_line(struct helper *h, struct conn *c, const char *line, size_t len)
{
	_cleanup_json_ json_t *root =
		is_modest(line, len) ? json_loadb(line, len, JSON_REJECT_DUPLICATES, NULL) : NULL;
	struct call call = { .h = h, .c = c, .id = json_object_get(root, "id") };
	const char *version = json_string_value(json_object_get(root, "jsonrpc"));
	const char *name = json_string_value(json_object_get(root, "method"));
	const json_t *spoken = json_object_get(root, "version");
	_cleanup_json_ json_t *data = NULL;
	json_t *result;

	if (!root)
		return reply_error(NULL, RPC_PARSE, "the line is not JSON, or nests or holds too much", NULL);
	call.params = json_object_get(root, "params");
	call.version = spoken ? json_integer_value(spoken) : CONTROL_VERSION;
	if (!json_is_object(root) || !version || strcmp(version, "2.0") != 0 || !name ||
	    (call.id && !json_is_integer(call.id) && !json_is_string(call.id) && !json_is_null(call.id)) ||
	    (call.params && !json_is_object(call.params)))
		return reply_error(NULL, RPC_REQUEST,
				   "the line is no JSON-RPC 2.0 request with named parameters", NULL);
	result = call_method(&call, name);
	data = call.data;
	if (result == CALL_LATER)
		return NULL;
	if (!call.id) {
		json_decref(result);
		return NULL;
	}
	return result ? reply_result(call.id, result) : reply_error(call.id, call.code, call.err, data);
}

/* --- answers that come later --- */

json_t *call_later(struct call *call, struct later *ret)
{
	ret->peer = call->c->peer->serial;
	ret->id = json_incref(call->id);
	return CALL_LATER;
}

void later_answer(struct helper *h, struct later *l, json_t *result)
{
	json_t *reply = l->id ? reply_result(l->id, result) : NULL;

	if (!l->id)
		json_decref(result);
	for (size_t i = 0; reply && i < CONNS_MAX; i++) {
		struct conn *c = &h->conns[i];

		if (c->kind != CONN_CONTROL || c->peer->serial != l->peer)
			continue;
		if (peer_send_json(c->peer, c->fd, json_incref(reply)) < 0)
			conn_drop(c);
	}
	json_decref(reply);
	json_decref(l->id);
	l->id = NULL;
}

/* --- notifications --- */

void control_notify(struct helper *h, const char *method, json_t *params)
{
	_cleanup_json_ json_t *note =
		json_pack("{s:s, s:s, s:o}", "jsonrpc", "2.0", "method", method, "params", params);
	_cleanup_free_ char *text = note ? json_dumps(note, JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;

	for (size_t i = 0; i < CONNS_MAX; i++) {
		struct conn *c = &h->conns[i];

		/* A client that cannot be told of a question must not go on as if there were none. */
		if (c->kind == CONN_CONTROL && c->peer->approvals &&
		    (!text || peer_send(c->peer, c->fd, text, strlen(text)) < 0))
			conn_drop(c);
	}
}

bool control_has_listener(const struct helper *h)
{
	for (size_t i = 0; i < CONNS_MAX; i++)
		if (h->conns[i].kind == CONN_CONTROL && h->conns[i].peer->approvals)
			return true;
	return false;
}

/* --- connections --- */

int control_init(struct helper *h, const struct method *const tables[])
{
	h->control = calloc(1, sizeof(*h->control));
	if (!h->control)
		return -ENOMEM;
	h->control->tables = tables;
	return 0;
}

void control_done(struct helper *h)
{
	for (size_t i = 0; i < CONNS_MAX; i++)
		if (h->conns[i].kind == CONN_CONTROL)
			conn_drop(&h->conns[i]);
	free(h->control);
	h->control = NULL;
}

/* Once for each process, which may try again and again. */
static bool tell_launcher_of(struct control *control, pid_t pid)
{
	for (size_t i = 0; i < control->n_refused; i++)
		if (control->refused[i] == pid)
			return false;
	if (control->n_refused == REFUSED_MAX)
		return false;
	control->refused[control->n_refused++] = pid;
	return true;
}

static void warn_launcher(struct helper *h, pid_t pid, const char *exe, const char *err)
{
	_cleanup_free_ char *text = NULL, *program = record_escape(exe, strlen(exe));

	if (!program || asprintf(&text, "process %d (%s) tried to act as the operator and was refused: %s",
				 pid, *program ? program : "?", err) < 0) {
		text = NULL;
		return;
	}
	(void)packet_send_json(h->session_fd, json_pack("{s:s, s:s}", "type", "warn", "text", text));
}

/*
 * Tells the peer why, warns the launcher once and records it: a process inside a session tried to act as
 * the operator.
 */
static void refuse_peer(struct helper *h, int fd, pid_t pid, const char *err)
{
	char detail[192];
	const struct proc *proc = program_of(h, pid);
	const struct event e = { .pid = pid,
				 .ppid = proc->ppid,
				 .exe = proc->exe,
				 .op = "approval/refused",
				 .verdict = "deny",
				 .via = "helper",
				 .detail = detail };

	snprintf(detail, sizeof(detail), "%s %s", err, h->session);
	/* No decision of the ring has this key: those keys are hashes under a secret. */
	fold_add(h->fold, (uint64_t)pid, &e, clock_boot_ns());
	(void)packet_send_json(fd, reply_error(NULL, RPC_REFUSED, detail, NULL));
	if (tell_launcher_of(h->control, pid)) {
		warn_launcher(h, pid, proc->exe, err);
		(void)machine_event(h, &e);
	}
	control_notify(h, "approval/refused",
		       json_pack("{s:I, s:o, s:s}", "pid", (json_int_t)pid, "exe", text_json(proc->exe),
				 "why", err));
}

static struct taint_rules rules_of(const struct helper *h)
{
	return (struct taint_rules){
		.owner = h->owner, .baseline = h->baseline, .agent = h->root_pid, .launcher = h->launcher_pid
	};
}

/* NULL, or why this process gets no (further) connection. */
static const char *crowded(const struct helper *h, pid_t pid)
{
	size_t all = 0, own = 0, max = h->conns_max / 4 < CONTROL_MAX ? h->conns_max / 4 : CONTROL_MAX;

	for (size_t i = 0; i < CONNS_MAX; i++) {
		all += h->conns[i].kind == CONN_CONTROL;
		own += h->conns[i].kind == CONN_CONTROL && h->conns[i].pid == pid;
	}
	if (own >= CONTROL_PER_PID)
		return "this process has too many connections already";
	return all >= max ? "too many operators are connected already" : NULL;
}

void control_accept(struct helper *h)
{
	int fd = accept4(h->control_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	const struct taint_rules rules = rules_of(h);
	struct taint_peer who = { .pid = 0, .pidfd = -1 };
	const char *err;
	struct peer *peer;
	struct conn *c;

	if (fd < 0)
		return;
	if (taint_check(fd, &rules, &who, &err) < 0) {
		refuse_peer(h, fd, who.pid, err);
		close(fd);
		return;
	}
	err = crowded(h, who.pid);
	if (err) {
		(void)packet_send_json(fd, reply_error(NULL, RPC_LIMIT, err, NULL));
		close(who.pidfd);
		close(fd);
		return;
	}
	peer = peer_new(++h->control->serial, who.pidfd);
	c = peer ? conn_add(h, CONN_CONTROL, fd, who.pid) : NULL;
	if (!c) {
		if (!peer)
			close(fd);
		peer_free(peer);
		return;
	}
	c->peer = peer;
	c->deadline_ns = clock_boot_ns() + NS_IDLE;
}

static void control_read(struct helper *h, struct conn *c)
{
	ssize_t n = packet_receive(c->fd, h->frame, sizeof(h->frame), NULL, c->pid);
	const struct taint_rules rules = rules_of(h);
	const char *err;
	json_t *reply;
	int r;

	if (n == -EAGAIN)
		return;
	if (n <= 0) {
		conn_drop(c);
		return;
	}
	/*
	 * Checks again: the process may have exited since, or have entered a fence, and left the connection
	 * to another process.
	 */
	r = taint_again(c->pid, c->peer->pidfd, &rules, &err);
	/*
	 * The operator's process was killed after the call.  No process inside tried anything: no record.
	 */
	if (r == -ESRCH) {
		sodium_memzero(h->frame, (size_t)n);
		conn_drop(c);
		return;
	}
	if (r < 0) {
		pid_t pid = c->pid;
		int fd = fcntl(c->fd, F_DUPFD_CLOEXEC, 0);

		/* Dropped first: refuse() notifies all connections, and this one must not be notified. */
		conn_drop(c);
		refuse_peer(h, fd, pid, err);
		if (fd >= 0)
			close(fd);
		return;
	}
	reply = handle_line(h, c, h->frame, (size_t)n);
	sodium_memzero(h->frame, (size_t)n);
	/* The method may have dropped the connection. */
	if (c->kind != CONN_CONTROL) {
		json_decref(reply);
		return;
	}
	c->deadline_ns = c->peer->approvals || c->peer->records ? 0 : clock_boot_ns() + NS_IDLE;
	if (reply && peer_send_json(c->peer, c->fd, reply) < 0)
		conn_drop(c);
}

void control_tick(struct helper *h, uint64_t now_ns)
{
	for (size_t i = 0; i < CONNS_MAX; i++)
		if (h->conns[i].kind == CONN_CONTROL && peer_is_stuck(h->conns[i].peer, now_ns))
			conn_drop(&h->conns[i]);
}

short control_events(const struct conn *c)
{
	return c->peer->first || c->peer->lost > 0 ? POLLIN | POLLOUT : POLLIN;
}

void control_ready(struct helper *h, struct conn *c, short events)
{
	if (peer_flush(c->peer, c->fd) < 0 || (!c->peer->first && peer_tell_lost(c->peer, c->fd) < 0)) {
		conn_drop(c);
		return;
	}
	if (events & ~POLLOUT)
		control_read(h, c);
}
