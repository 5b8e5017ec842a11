/*
 * The poll loop and the launcher's messages.  The loop is one thread, in which nothing blocks but the
 * ledger's fdatasync; a table says in which state each message is allowed.  However the session ends, the
 * order is the same: the sockets are closed, each question that waits is denied, the rings are read to
 * their end, and the last record is written.
 */
#include "serve.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "policy/base/buf.h"
#include "policy/base/util.h"
#include "policy/system/cleanup.h"
#include "policy/wire/wire.h"

#include "helper/approvals/broker.h"
#include "helper/approvals/outcome.h"
#include "helper/approvals/queue.h"
#include "helper/base/images.h"
#include "helper/base/pace.h"
#include "helper/base/packet.h"
#include "helper/base/stamp.h"
#include "helper/base/state.h"
#include "helper/control/conn.h"
#include "helper/control/control.h"
#include "helper/ledger/event.h"
#include "helper/ledger/journal.h"
#include "helper/ledger/kept.h"
#include "helper/ledger/ledger.h"
#include "helper/ledger/retention.h"
#include "helper/ledger/signing.h"
#include "helper/ledger/tally.h"
#include "helper/rings/drain_rings.h"
#include "helper/rings/rings.h"

#include "agent.h"
#include "files.h"
#include "leftovers.h"
#include "narrow_run.h"
#include "reload.h"

#define POLL_BUSY_MS 10
#define POLL_IDLE_MS 200
#define BYE_WAIT_MS  1000
#define N_FIXED	     4

static void conns_expire(struct helper *h, uint64_t now_ns)
{
	for (size_t i = 0; i < CONNS_MAX; i++) {
		struct conn *c = &h->conns[i];

		if (c->kind == CONN_FREE || c->deadline_ns == 0 || now_ns < c->deadline_ns)
			continue;
		if (c->narrows)
			narrow_expire(h, c);
		else
			conn_drop(c);
	}
}

/* --- messages of the launcher --- */

static int on_agent(struct helper *h, json_t *msg)
{
	json_int_t pid = json_integer_value(json_object_get(msg, "pid"));

	if (pid <= 0 || pid > INT32_MAX || h->root_pid != 0)
		return -EPROTO;
	h->root_pid = (pid_t)pid;
	(void)session_describe(h);
	return 0;
}

static int on_exit_status(struct helper *h, json_t *msg)
{
	const char *status = json_string_value(json_object_get(msg, "status"));

	if (!status)
		return -EPROTO;
	snprintf(h->end_status, sizeof(h->end_status), "%s", status);
	h->state = SESSION_ENDING;
	return 0;
}

/* The supervisor has applied, or not, the image of a nested run.  The process that asked may be gone. */
static int on_noted(struct helper *h, json_t *msg)
{
	json_int_t pid = json_integer_value(json_object_get(msg, "pid"));
	json_int_t image = json_integer_value(json_object_get(msg, "image"));
	const json_t *held = json_object_get(msg, "held");

	if (h->level == LEVEL_HOOKS || pid <= 0 || pid > INT32_MAX || image <= 0 ||
	    image > (json_int_t)WIRE_IMAGE_MAX || !json_is_boolean(held))
		return -EPROTO;
	narrow_noted(h, (pid_t)pid, (uint32_t)image, json_is_true(held) ? NOTED_HELD : NOTED_NOT);
	return 0;
}

static int write_down(struct helper *h, const char *op, const json_t *msg)
{
	const char *text = json_string_value(json_object_get(msg, "text"));
	const struct event e = { .pid = h->launcher_pid, .op = op, .via = "helper", .detail = text };

	return text ? ledger_append(h->ledger, &e) : -EPROTO;
}

/*
 * The launcher reports that a limit was reached, that the operator's stop was carried out, or that the limits
 * are now enforced by other means than at the start; `limits` then describes these.
 */
static int on_limit(struct helper *h, json_t *msg)
{
	const char *now = json_string_value(json_object_get(msg, "limits"));
	char *limits = now ? strdup(now) : NULL;

	if (limits) {
		free(h->limits);
		h->limits = limits;
		(void)session_describe(h);
	}
	return write_down(h, "session/limit", msg);
}

/* What the launcher removed of older sessions before this one began. */
static int on_sweep(struct helper *h, json_t *msg)
{
	return write_down(h, "session/sweep", msg);
}

static const struct {
	const char *type;
	unsigned states;
	int (*run)(struct helper *h, json_t *msg);
} messages[] = {
	{ "agent", SESSION_LIVE, on_agent },	  { "noted", SESSION_LIVE, on_noted },
	{ "exit", SESSION_LIVE, on_exit_status }, { "reloaded", SESSION_LIVE, reload_taken },
	{ "limit", SESSION_LIVE, on_limit },	  { "sweep", SESSION_LIVE, on_sweep },
};

static void end_session(struct helper *h, const char *status)
{
	snprintf(h->end_status, sizeof(h->end_status), "%s", status);
	h->state = SESSION_ENDING;
}

static int handle_line(struct helper *h, const char *line, size_t len, const struct passed *passed)
{
	_cleanup_json_ json_t *msg = json_loadb(line, len, JSON_REJECT_DUPLICATES, NULL);
	const char *type = json_string_value(json_object_get(msg, "type"));

	/* The only message with a descriptor. */
	if (type && strcmp(type, "bundle") == 0 && h->state == SESSION_LIVE)
		return reload_gathered(h, msg, passed);
	if (passed->n > 0)
		return -EPROTO;
	for (size_t i = 0; type && i < NELEM(messages); i++)
		if (strcmp(messages[i].type, type) == 0 && (messages[i].states & h->state))
			return messages[i].run(h, msg);
	return -EPROTO;
}

static void launcher_ready(struct helper *h)
{
	_cleanup_passed_ struct passed passed = { .max = 1 };
	ssize_t n = packet_receive(h->session_fd, h->frame, sizeof(h->frame), &passed, 0);

	if (n == -EAGAIN)
		return;
	if (n <= 0) {
		if (h->level > LEVEL_HOOKS)
			(void)leftovers_end(h);
		end_session(h,
			    h->foreign ? "pale run died; its processes are another user's" : "pale run died");
		return;
	}
	if (handle_line(h, h->frame, (size_t)n, &passed) < 0)
		end_session(h, "the launcher broke the protocol");
}

static void signal_ready(struct helper *h)
{
	struct signalfd_siginfo si;

	if (read(h->signal_fd, &si, sizeof(si)) == (ssize_t)sizeof(si))
		end_session(h, "the helper was told to stop");
}

/* --- the loop --- */

static int open_signals(struct helper *h)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return -errno;
	h->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return h->signal_fd < 0 ? -errno : 0;
}

/* It may get descriptors in the answer to its next message. */
static bool is_asking(const struct conn *c)
{
	return c->kind == CONN_AGENT && c->stage < STAGE_WAIT;
}

static void poll_once(struct helper *h, int timeout_ms)
{
	static void (*const fixed[N_FIXED])(struct helper * h) = { launcher_ready, signal_ready,
								   control_accept, agent_accept };
	struct pollfd p[N_FIXED + CONNS_MAX] = { { .fd = h->session_fd },
						 { .fd = h->signal_fd },
						 { .fd = h->control_fd },
						 { .fd = h->agent_fd } };
	struct conn *who[N_FIXED + CONNS_MAX];
	nfds_t n = N_FIXED;
	bool may_send = narrow_may_send(h);
	uint64_t now;

	for (size_t i = 0; i < CONNS_MAX; i++) {
		/* Not polled at all, since a hang-up would end poll() again and again. */
		if (h->conns[i].kind == CONN_FREE || h->conns[i].stage == STAGE_SENT ||
		    (!may_send && is_asking(&h->conns[i])))
			continue;
		p[n].fd = h->conns[i].fd;
		who[n++] = &h->conns[i];
	}
	for (nfds_t i = 0; i < n; i++)
		p[i].events = i >= N_FIXED && who[i]->kind == CONN_CONTROL ? control_events(who[i]) : POLLIN;
	/* A peer that sends faster than PACE_PER_S is not read for a while; the others are. */
	now = clock_boot_ns();
	for (nfds_t i = N_FIXED; i < n; i++)
		if (!pace_allows(&who[i]->pace, now))
			p[i].events &= ~POLLIN;
	if (!pace_allows(&h->pace, now))
		p[0].events = 0;
	if (!may_send && timeout_ms > POLL_BUSY_MS)
		timeout_ms = POLL_BUSY_MS;
	if (poll(p, n, timeout_ms) <= 0)
		return;
	for (nfds_t i = N_FIXED; i < n; i++) {
		/* Serving one connection may have closed another one, and its slot may be in use again. */
		if (!p[i].revents || who[i]->kind == CONN_FREE || who[i]->fd != p[i].fd)
			continue;
		if (is_asking(who[i]) && !narrow_may_send(h))
			continue;
		who[i]->pace.left -= who[i]->pace.left > 0;
		if (who[i]->kind == CONN_AGENT)
			agent_ready(h, who[i]);
		else
			control_ready(h, who[i], p[i].revents);
	}
	h->pace.left -= p[0].revents && h->pace.left > 0;
	for (nfds_t i = 0; i < N_FIXED; i++)
		if (p[i].revents && h->state == SESSION_LIVE)
			fixed[i](h);
}

/* Warns the launcher of an error, once each time that it begins. */
static void warn_of(struct helper *h, int error, bool *warned, const char *what, const char *meanwhile)
{
	char text[192];

	if (error == 0 || *warned) {
		*warned = error != 0;
		return;
	}
	*warned = true;
	snprintf(text, sizeof(text), "%s (%s): %s", what, strerrordesc_np(-error) ?: "unknown error",
		 meanwhile);
	(void)packet_send_json(h->session_fd, json_pack("{s:s, s:s}", "type", "warn", "text", text));
}

static void warn_of_ledger(struct helper *h)
{
	warn_of(h, h->ledger->error, &h->warned, "the ledger cannot be written",
		"what would be asked is denied meanwhile");
}

static void warn_of_journal(struct helper *h, int error)
{
	warn_of(h, error, &h->warned_journal, "the system's journal does not take the ledger's head",
		"only pale's own files have it");
}

/* The next timeout in ms: short while the rings hold records, then twice as long each time. */
static int next_timeout(const struct helper *h, size_t drained, int last)
{
	if (drained >= DRAIN_MAX)
		return 0;
	if (drained > 0 || last == 0 || !rings_are_empty(h))
		return POLL_BUSY_MS;
	return last * 2 < POLL_IDLE_MS ? last * 2 : POLL_IDLE_MS;
}

/* --- the end --- */

static void say_bye(struct helper *h)
{
	struct pollfd p = { .fd = h->session_fd, .events = POLLOUT };
	json_t *bye = json_pack("{s:s, s:I, s:s, s:b, s:I, s:I, s:I, s:b}", "type", "bye", "records",
				(json_int_t)h->ledger->good_seq, "head", ledger_head(h->ledger), "sealed",
				h->ledger->sealed, "denied", (json_int_t)tally_denied(h->tally), "lost",
				(json_int_t)h->ledger->lost_total, "observed", (json_int_t)h->tally->observed,
				"tampered", h->rings->tampered != 0);

	(void)poll(&p, 1, BYE_WAIT_MS);
	(void)packet_send_json(h->session_fd, bye);
}

static int finish_session(struct helper *h)
{
	char detail[512];
	struct event e = { .pid = h->root_pid, .op = "session/end", .via = "helper", .detail = detail };
	struct out o;
	int r;

	close(h->agent_fd);
	close(h->control_fd);
	broker_cancel_all(h, "the session is over");
	drain_all(h);
	ledger_last(h->ledger);
	outcome_end_all(h);
	snprintf(detail, sizeof(detail), "%s; records=%llu denied=%llu lost=%llu turns=%llu", h->end_status,
		 (unsigned long long)h->ledger->seq + 1, (unsigned long long)tally_denied(h->tally),
		 (unsigned long long)h->ledger->lost_total, (unsigned long long)h->queue->turn);
	o = out_of(detail + strlen(detail), sizeof(detail) - strlen(detail));
	tally_text(h->tally, &o);
	text_end(&o);
	r = ledger_append(h->ledger, &e);
	if (r == 0)
		r = checkpoint_add(h->ledger);
	if (r == 0)
		r = ledger_flush(h->ledger);
	/* On a full disk the description needs the room, too. */
	ledger_unreserve(h->ledger);
	(void)session_describe(h);
	session_remove_runtime(h);
	/*
	 * The launcher does not wait for the sync.  A human's decisions are on the disk already; if the power
	 * fails now, the records of the last 200 ms may be missing, as at any time before.
	 */
	warn_of_journal(h, journal_look());
	say_bye(h);
	if (r == 0)
		r = ledger_sync(h->ledger);
	return r < 0 ? 1 : 0;
}

/* Tells the launcher that the session is ready, and its directories where the helper chose them. */
static int say_ready(struct helper *h)
{
	return packet_send_json(h->session_fd, json_pack("{s:s, s:s*, s:s*}", "type", "ready", "runtime_dir",
							 h->foreign ? h->runtime_dir : NULL, "state_dir",
							 h->foreign ? h->state_dir : NULL));
}

int session_serve(struct helper *h)
{
	int timeout = POLL_BUSY_MS;

	h->state = SESSION_LIVE;
	if (open_signals(h) < 0)
		end_session(h, "the helper cannot watch its signals");
	else if (say_ready(h) < 0)
		end_session(h, "pale run died");
	retention_run(h);
	kept_look(h);
	while (h->state == SESSION_LIVE) {
		uint64_t now;
		size_t drained;

		poll_once(h, timeout);
		drained = drain_turn(h);
		if (drain_found_tampering(h))
			(void)session_describe(h);
		now = clock_boot_ns();
		broker_tick(h, now);
		conns_expire(h, now);
		control_tick(h, now);
		reload_tick(h, now);
		ledger_tick(h->ledger, now);
		kept_tick(h);
		warn_of_ledger(h);
		warn_of_journal(h, h->ledger->untold);
		timeout = next_timeout(h, drained, timeout);
	}
	kept_done();
	return finish_session(h);
}
