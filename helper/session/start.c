/*
 * The start of a session: one message with the descriptors of the bundle, of the session's ring, of the
 * supervisor's ring (above level hooks), and of the secrets if there are any.  The policy is compiled before
 * anything is created.  Any error is sent to the launcher as a sentence (errors in a policy one by one), and
 * leaves nothing on the disk.
 */
#include "start.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/base/util.h"
#include "policy/parse/parse.h"
#include "policy/record/record.h"
#include "policy/rules/rule.h"
#include "policy/system/cleanup.h"
#include "policy/system/system.h"
#include "policy/wire/wire.h"

#include "helper/approvals/grants_held.h"
#include "helper/approvals/queue.h"
#include "helper/approvals/reach_human.h"
#include "helper/approvals/stepup_check.h"
#include "helper/base/images.h"
#include "helper/base/packet.h"
#include "helper/base/places.h"
#include "helper/base/stamp.h"
#include "helper/base/state.h"
#include "helper/base/taint.h"
#include "helper/control/call.h"
#include "helper/control/conn.h"
#include "helper/control/control.h"
#include "helper/ledger/bounds.h"
#include "helper/ledger/event.h"
#include "helper/ledger/fold.h"
#include "helper/ledger/ledger.h"
#include "helper/ledger/mask.h"
#include "helper/ledger/programs.h"
#include "helper/ledger/signing.h"
#include "helper/ledger/tally.h"
#include "helper/methods/methods.h"
#include "helper/policy/incoming.h"
#include "helper/policy/machine_policy.h"
#include "helper/rings/drain_rings.h"
#include "helper/rings/observed.h"
#include "helper/rings/rings.h"

#include "files.h"
#include "reload.h"

#define BUNDLE_MAX    (64u << 20)
#define START_WAIT_MS 10000
#define FDS_RESERVED  32
#define KEPT_MIB_MOST 4096
#define EXIT_START    1

static int refuse_start(struct helper *h, const char *text, json_t *diags)
{
	(void)packet_send_json(h->session_fd, json_pack("{s:s, s:s, s:o*}", "type", "error", "text", text,
							"diags", diags ? diags : json_array()));
	return EXIT_START;
}

static int refuse_errno(struct helper *h, const char *text, const char *path, int err)
{
	_cleanup_free_ char *line = NULL, *where = record_escape(path, strlen(path));

	if (!where ||
	    asprintf(&line, "%s: %s: %s", where, text, strerrordesc_np(-err) ?: "unknown error") < 0)
		return refuse_start(h, text, NULL);
	return refuse_start(h, line, NULL);
}

/* Refuses the session before its start message is read.  Messages that wait are dropped: they would reset the
 * connection at its close, and the launcher would not get the answer. */
static int turn_away(struct helper *h, const char *text, const char *path, int err)
{
	(void)shutdown(h->session_fd, SHUT_RD);
	while (recv(h->session_fd, h->frame, sizeof(h->frame), MSG_DONTWAIT) > 0)
		;
	return err == -EUSERS ? refuse_start(h, text, NULL) : refuse_errno(h, text, path, err);
}

/* --- the message --- */

static char *text_member(json_t *msg, const char *name)
{
	const char *s = json_string_value(json_object_get(msg, name));

	return s ? strdup(s) : NULL;
}

/* A name that needs no escaping in a path or a record. */
static bool is_name(const char *s)
{
	size_t n = s ? strlen(s) : 0;

	return n > 0 && n < 64 && s[0] != '.' &&
	       strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") == n;
}

/* Reads level and nonce.  Above level hooks the supervisor identifies itself by the nonce. */
static const char *read_level(struct helper *h, json_t *msg)
{
	const char *level = json_string_value(json_object_get(msg, "level"));
	const char *nonce = json_string_value(json_object_get(msg, "nonce"));
	size_t len = 0;

	h->level = level ? level_by_name(level) : LEVEL_COUNT;
	if (h->level == LEVEL_COUNT)
		return "the start message names an unknown level";
	if (h->level == LEVEL_HOOKS)
		return nonce ? "the start message has a nonce, but level hooks has no supervisor" : NULL;
	if (!nonce || sodium_hex2bin(h->nonce, WIRE_NONCE, nonce, strlen(nonce), NULL, &len, NULL) < 0 ||
	    len != WIRE_NONCE)
		return "the start message lacks the supervisor's nonce";
	return NULL;
}

static const char *read_message(struct helper *h, json_t *msg)
{
	const char *type = json_string_value(json_object_get(msg, "type"));
	json_int_t version = json_integer_value(json_object_get(msg, "version"));
	static char other[256];
	_cleanup_free_ char *agent = text_member(msg, "agent");

	if (!type || strcmp(type, "start") != 0)
		return "the first message is not start";
	if (version != START_VERSION) {
		snprintf(other, sizeof(other),
			 "this pale and pale-helper " PALE_VERSION " are of different versions (%lld and %d "
			 "of what they say to each other); see pale --version, and install both from one "
			 "release",
			 (long long)version, START_VERSION);
		return other;
	}
	h->session = text_member(msg, "session");
	h->runtime_dir = text_member(msg, "runtime_dir");
	h->state_dir = text_member(msg, "state_dir");
	h->not_enforced = text_member(msg, "not_enforced");
	h->facts = text_member(msg, "facts");
	h->limits = text_member(msg, "limits");
	h->agent = record_escape(agent ? agent : "", agent ? strlen(agent) : 0);
	h->argv = json_incref(json_object_get(msg, "argv"));
	h->ledger_size = json_integer_value(json_object_get(msg, "ledger_size"));
	h->has_secrets = json_is_true(json_object_get(msg, "secrets"));
	h->reach = reach_of(json_object_get(msg, "reach"));
	h->environment = json_incref(json_object_get(msg, "environment"));
	if (!is_name(h->session))
		return "the session's name is missing or holds more than letters, digits, dot, dash and "
		       "underscore";
	if (!h->not_enforced || !h->facts || !h->limits || !h->agent || !json_is_array(h->argv) ||
	    !json_is_object(h->environment) || (!h->foreign && (!h->runtime_dir || !h->state_dir)))
		return "the start message lacks a member";
	return read_level(h, msg);
}

/* --- the policy --- */

/*
 * Sets the level, the time and, at `full`, the pass: the number that hooks put into calls that they have
 * allowed.
 */
static int set_level(struct settings *s, enum level level)
{
	s->began = clock_real_ns();
	s->level = level;
	while (level == LEVEL_FULL && s->pass == 0)
		if (getrandom(&s->pass, sizeof(s->pass), 0) != (ssize_t)sizeof(s->pass))
			return -EIO;
	return 0;
}

static int adopt_policy(struct helper *h, const struct bundle *b, struct policy *p, struct diags *d)
{
	size_t size = 0;
	int r = level_check(p, h->level, d);

	if (r == 0)
		r = set_level(&p->s, h->level);
	p->s.proves = stepup_proves(h, p->s.stepup);
	if (r == 0)
		r = image_compile(p, NULL, d, &h->image_bytes, &size);
	if (r < 0)
		return r;
	r = image_open(&h->image, h->image_bytes, size);
	if (r < 0)
		return r;
	h->no_prompt = b->no_prompt;
	/* A foreign helper stores ledgers in its own name, so it bounds their size. */
	h->kept_mib = h->foreign && p->s.ledger_mib > KEPT_MIB_MOST ? KEPT_MIB_MOST : p->s.ledger_mib;
	h->preset = strdup(p->preset ? p->preset : "");
	h->workspace = strdup(p->workspace ? p->workspace : "");
	h->sources = h->preset ? sources_text(b, h->preset) : NULL;
	return h->preset && h->workspace && h->sources ? 0 : -ENOMEM;
}

/* 0, or an exit code after the launcher got the error. */
static int compile_policy(struct helper *h, const char *bytes, size_t len)
{
	struct bundle b;
	struct policy p;
	struct diags d;
	int r;

	bundle_init(&b);
	policy_init(&p);
	diags_init(&d);
	r = bundle_decode(bytes, len, &b);
	if (r < 0) {
		r = refuse_start(h, "the bundle cannot be read", NULL);
		goto out;
	}
	r = floor_replace(h, &b, &d);
	if (r == 0)
		r = policy_parse(&b, &p, &d);
	if (r == 0)
		r = adopt_policy(h, &b, &p, &d);
	if (r == 0 && b.observe)
		r = observed_init(h, &b, &d);
	if (r < 0)
		r = refuse_start(h, r == -EBADMSG ? "the policy has errors" : "the policy cannot be compiled",
				 diags_json(&d));
out:
	diags_done(&d);
	policy_done(&p);
	bundle_done(&b);
	return r;
}

/* --- the session --- */

static int first_record(struct helper *h)
{
	_cleanup_free_ char *detail = NULL;
	struct event e = {
		.pid = h->launcher_pid, .op = "session/start", .via = "helper", .target = h->workspace
	};
	int r;

	if (asprintf(&detail, "level=%s; %sowner=%u; not enforced: %s; %s%s%s%s%s%s", level_name(h->level),
		     h->observed ? "observing; " : "", (unsigned)h->owner, h->not_enforced, h->facts,
		     *h->facts ? "; " : "", *h->limits ? "limits: " : "", h->limits, *h->limits ? "; " : "",
		     h->sources) < 0)
		return -ENOMEM;
	e.detail = detail;
	r = ledger_append(h->ledger, &e);
	/* It is durable with the next sync: before the first question, or in some 200 ms. */
	return r < 0 ? r : ledger_flush(h->ledger);
}

/* Sets the ledger's mask, owner and bounds, and the key of a foreign helper, which the owner cannot read. */
static int arm_ledger(struct helper *h, const char **ret_err, const char **ret_path)
{
	int root = h->foreign ? places_open_root(h) : -1, r;

	h->ledger->mask = h->mask;
	h->ledger->owner = h->owner;
	h->ledger->room = bounds_room;
	h->ledger->room_ctx = h;
	if (h->ledger_size > 0 && (!h->foreign || h->ledger_size < LEDGER_SIZE))
		ledger_limit(h->ledger, h->ledger_size);
	if (!h->foreign)
		return 0;
	*ret_path = PLACE_STATE;
	*ret_err = "the key of the ledgers cannot be reached";
	r = root < 0 ? root : checkpoint_key_load(root, &h->ledger->key, ret_err);
	h->ledger->sealed = r == 0;
	return r;
}

static int set_up(struct helper *h)
{
	static const struct method *const methods[] = { control_session, control_approvals,
							control_log,	 control_grants,
							control_stepup,	 control_policy,
							control_reload,	 NULL };
	struct ucred cred = { 0 };
	socklen_t len = sizeof(cred);
	const char *err = "", *path = "";
	struct rlimit files;
	int r;

	if (getsockopt(h->session_fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) == 0)
		h->launcher_pid = cred.pid;
	getrlimit(RLIMIT_NOFILE, &files);
	h->conns_max =
		files.rlim_cur < CONNS_MAX + FDS_RESERVED ? (size_t)files.rlim_cur - FDS_RESERVED : CONNS_MAX;
	h->queue->turn = 1;
	h->fold->ledger = h->ledger;
	if (getrandom(h->fold_key, sizeof(h->fold_key), 0) != (ssize_t)sizeof(h->fold_key))
		return refuse_start(h, "the system returns no random bytes", NULL);
	time_format(clock_real_ns(), h->started);
	/* The baseline is the launcher's: a service manager may have put filters on the helper itself. */
	if (taint_read(h->launcher_pid, &h->baseline) < 0 || control_init(h, methods) < 0)
		return refuse_start(
			h, "/proc is not readable: the helper could not tell the operator from the agent",
			NULL);
	r = files_create(h, &err, &path);
	if (r == 0)
		r = arm_ledger(h, &err, &path);
	if (r < 0)
		return refuse_errno(h, err, path, r);
	r = first_record(h);
	return r < 0 ? refuse_errno(h, "the ledger cannot be written", h->state_dir, r) : 0;
}

/* Takes the descriptors: the bundle, the session's ring, above level hooks the supervisor's ring, and the
 * secrets if there are any.  NULL, or the error in a sentence. */
static const char *read_passed(struct helper *h, const struct passed *p, char **ret, size_t *ret_len)
{
	size_t n = 2;

	if (p->n < 1 || bundle_read(p->fd[0], BUNDLE_MAX, ret, ret_len) < 0)
		return "the start message comes without a readable bundle";
	if (p->n < 2 || ringmap_adopt(&h->rings->feed[FEED_HOOK], p->fd[1]) < 0)
		return "the start message comes without the session's ring";
	h->ring_fd = fcntl(p->fd[1], F_DUPFD_CLOEXEC, 0);
	if (h->ring_fd < 0)
		return "the session's ring cannot be kept";
	if (h->level > LEVEL_HOOKS &&
	    (p->n <= n || ringmap_adopt(&h->rings->feed[FEED_KERNEL], p->fd[n++]) < 0))
		return "the start message comes without the supervisor's ring";
	if (h->has_secrets && (p->n <= n || mask_learn(h->mask, p->fd[n++]) < 0))
		return "the start message comes without the secrets that it announces";
	return p->n == n ? NULL : "the start message comes with too many descriptors";
}

int session_start(struct helper *h)
{
	struct pollfd p = { .fd = h->session_fd, .events = POLLIN };
	_cleanup_passed_ struct passed passed = { .max = PASSED_MAX };
	_cleanup_free_ char *bundle = NULL;
	_cleanup_json_ json_t *msg = NULL;
	const char *err, *path;
	size_t len = 0;
	ssize_t n;
	int r = bounds_enter(h, &err, &path);

	if (r < 0)
		return turn_away(h, err, path, r);
	(void)poll(&p, 1, START_WAIT_MS);
	n = packet_receive(h->session_fd, h->frame, sizeof(h->frame), &passed, 0);
	if (n <= 0)
		return refuse_start(h, "no start message came, or one with too many descriptors", NULL);
	msg = json_loadb(h->frame, (size_t)n, JSON_REJECT_DUPLICATES, NULL);
	drain_init(h);
	mask_init(h->mask);
	err = read_message(h, msg);
	if (!err)
		err = read_passed(h, &passed, &bundle, &len);
	if (err)
		return refuse_start(h, err, NULL);
	r = places_open(h, &err, &path);
	if (r < 0)
		return refuse_errno(h, err, path, r);
	r = compile_policy(h, bundle, len);
	if (r == 0)
		r = set_up(h);
	if (r != 0)
		files_abandon(h);
	return r;
}

/* One block, which begins with the helper: what each room keeps with it lives as long. */
struct whole {
	struct helper h;
	struct conn conns[CONNS_MAX];
	struct procs procs[FEEDS];
	struct rings rings;
	struct tally tally;
	struct ledger ledger;
	struct mask mask;
	struct fold fold;
	struct queue queue;
	struct grants grants;
	struct stepup_state stepup;
};

struct helper *session_new(void)
{
	struct whole *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->h.conns = w->conns;
	w->h.procs = w->procs;
	w->h.rings = &w->rings;
	w->h.tally = &w->tally;
	w->h.ledger = &w->ledger;
	w->h.mask = &w->mask;
	w->h.fold = &w->fold;
	w->h.queue = &w->queue;
	w->h.grants = &w->grants;
	w->h.stepup = &w->stepup;
	return &w->h;
}

void session_free(struct helper *h)
{
	if (!h)
		return;
	char *const owned[] = { h->session, h->agent,  h->runtime_dir, h->state_dir, h->not_enforced,
				h->facts,   h->limits, h->preset,      h->workspace, h->sources };

	for (size_t i = 0; i < NELEM(owned); i++)
		free(owned[i]);
	for (size_t i = 0; i < h->n_narrowed; i++)
		narrowed_done(&h->narrowed[i]);
	reload_free(h);
	observed_done(h);
	json_decref(h->argv);
	json_decref(h->environment);
	control_done(h);
	free(h->image_bytes);
	grants_done(h);
	places_close(h);
	if (h->slots_fd >= 0)
		close(h->slots_fd);
	ledger_close(h->ledger);
	mask_done(h->mask);
	for (size_t i = 0; i < FEEDS; i++)
		procs_done(&h->procs[i]);
	queue_done(h->queue);
	free(h);
}
