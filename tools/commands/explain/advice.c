/*
 * Suggests what to write to change a decision.  Each suggestion is tried first: it is added to the bundle
 * as a user's file, and the same compiler and evaluator judge again.  Only lines that give the other
 * verdict are shown.
 */
#include <errno.h>
#include <string.h>

#include "policy/base/buf.h"
#include "policy/base/path.h"
#include "policy/base/sockaddr.h"
#include "policy/base/util.h"
#include "policy/command/argv.h"
#include "policy/grant/grant.h"
#include "policy/judge/eval.h"
#include "policy/system/cleanup.h"

#include "tools/gather/load.h"
#include "tools/question/question.h"

#include "explain.h"

static const char by_hand[] = "write the file yourself, outside the session";

/* Why no rule can change the decision, by its reason; NULL: a rule can. */
static const char *reason_advice(enum reason r)
{
	static const char *const texts[REASON_COUNT] = {
		[REASON_READONLY] = "set [session] mode = workspace-write",
		[REASON_CHILDREN] = "set [session] mode = workspace-write, or [commands] read_only = rules",
		[REASON_ABSOLUTE] = "name it relative to the workspace, or set [files] paths = any",
		[REASON_TRAVERSAL] = "name it without `..`, or set [files] paths = any",
		[REASON_OFFLINE] = "set [network] mode = strict, merge or replace",
		[REASON_URL] = "set [network] mode = strict, merge or replace",
		[REASON_NEVER] = "set [session] approvals = ask, and run without --no-prompt",
		[REASON_SELF] = "use another path: pale's own files and sockets are closed to every session",
		[REASON_ANCESTOR] =
			"move or remove only its unprotected parts: no rule lets a protected part go with it",
		[REASON_REBIND] = "add a rule for that address too, if you mean it: pale explain connect "
				  "NAME:PORT ADDRESS "
				  "says which",
		[REASON_DNS] =
			"add rules for the names that are looked up: [network] allow = HOST, deny = HOST",
		[REASON_EXFIL] = "add a rule with the full name: [network] allow = NAME",
		[REASON_ASTRAY] = "write it as an IPv4 address",
		[REASON_FLOOD] = "make fewer look-ups at a time: no rule lifts this limit",
		[REASON_TOO_LONG] = "make it shorter: no rule allows what is over the limit",
		[REASON_MALFORMED] = "change the request: no rule allows what pale does not understand",
		[REASON_VARIABLE] = "keep the variable as it was at the start, or set it for all: "
				    "[environment] set = NAME=VALUE",
		[REASON_DANGER] = "leave mode danger",
	};

	return (unsigned)r < REASON_COUNT ? texts[r] : NULL;
}

static const char *hard_advice(enum rule_kind kind)
{
	if (kind == RULE_FILE_SENSITIVE)
		return "run with --allow-sensitive-roots: no rule lifts a hard rule";
	if (kind == RULE_CMD_DENYLIST)
		return "run with --allow-denylisted-commands: no rule lifts a hard rule";
	if (kind == RULE_FILE_PLACE)
		return "leave it where it is: only what is in it may change";
	if (kind == RULE_FILE_SELF || kind == RULE_FILE_HIDDEN)
		return reason_advice(REASON_SELF);
	return NULL;
}

static const char *allow_key(const struct request *req)
{
	if (req->op == OP_UNIX)
		return "unix";
	if (req->is_datagram)
		return "udp";
	if (req->op == OP_BIND)
		return "bind";
	if (strcmp(op_section(req->op), "files") != 0)
		return "allow";
	return req->access == ACCESS_READ ? "read" : "write";
}

/* The rule text that names exactly this target, or the repository where git writes it; of a command, the one
 * that the decision is about. */
static char *rule_text(const struct question *q, const struct request *judged, const char *key)
{
	const char *target = q->target;
	char line[LIMIT_LINE] UNINITIALIZED, *text = NULL;
	size_t len;

	if (q->req.is_datagram)
		return strdup(target + strlen("udp "));
	if (q->req.op == OP_BIND)
		return asprintf(&text, "%u", q->req.port) < 0 ? NULL : text;
	if (q->req.op != OP_EXEC)
		return strndup(target, strcmp(key, "write") == 0 || strcmp(key, "read") == 0
					       ? grant_place(target)
					       : strlen(target));
	/* The program is named without its directory, so that the line holds wherever it is installed. */
	len = argv_join(judged->argv + 1, judged->argc - 1, line, sizeof(line));
	if (len >= sizeof(line) ||
	    asprintf(&text, "%s%s%s", path_basename(judged->argv[0]), len ? " " : "", line) < 0)
		return NULL;
	return text;
}

/* True if the policy can be loaded with these lines added to the user's, and then decides so. */
static bool lines_work(const struct loaded *l, const struct question *q, const struct request *judged,
		       const char *lines, enum verdict wanted)
{
	_cleanup_free_ char *bytes = NULL;
	struct loaded again = { 0 };
	struct bundle b;
	struct diags d;
	bool works = false;
	size_t len;
	int r;

	/* Encoding and decoding the bundle makes a copy of it. */
	if (bundle_encode(&l->bundle, &bytes, &len) < 0)
		return false;
	bundle_init(&b);
	diags_init(&d);
	r = bundle_decode(bytes, len, &b);
	if (r == 0)
		r = bundle_add_source(&b, SOURCE_USER, "suggestion", lines, strlen(lines));
	if (r == 0)
		r = loaded_from_bundle(&again, &b, &d);
	if (r == 0) {
		const struct decision one = eval(&again.image, judged), two = eval(&again.image, &q->req);

		works = verdict_strictest(decision_verdict(&one), decision_verdict(&two)) == wanted;
	}
	loaded_done(&again);
	bundle_done(&b);
	diags_done(&d);
	return works;
}

/* With the line before it, "": none. */
static char *suggest_after(const struct loaded *l, const struct question *q, const struct request *judged,
			   const char *before, const char *key, enum verdict wanted)
{
	_cleanup_free_ char *text = rule_text(q, judged, key);
	const char *section = op_section(q->req.op);
	_cleanup_free_ char *lines = NULL;

	if (!text || strpbrk(text, "\n\r"))
		return NULL;
	/* A socket is closed as the file that it is. */
	if (q->req.op == OP_UNIX && strcmp(key, "deny") == 0)
		section = op_section(OP_WRITE);
	if (asprintf(&lines, "[%s]\n%s%s = %s\n", section, before, key, text) < 0) {
		lines = NULL;
		return NULL;
	}
	return lines_work(l, q, judged, lines, wanted) ? TAKE_PTR(lines) : NULL;
}

static char *suggest(const struct loaded *l, const struct question *q, const struct request *judged,
		     const char *key, enum verdict wanted)
{
	return suggest_after(l, q, judged, "", key, wanted);
}

/* Where the mode keeps rules of one's own from opening a host, it has to change with them. */
static char *suggest_mode(const struct loaded *l, const struct question *q, const struct request *judged)
{
	if (q->req.op != OP_CONNECT && q->req.op != OP_RESOLVE)
		return NULL;
	return suggest_after(l, q, judged, "mode = merge\n", allow_key(&q->req), VERDICT_ALLOW);
}

/* A rule for the address of the name, which a rule allows already. */
static char *suggest_address(const struct loaded *l, const struct question *q)
{
	_cleanup_free_ char *lines = NULL;
	char addr[64];
	struct out o = out_of(addr, sizeof(addr));

	if (!q->req.has_addr)
		return NULL;
	text_inet(&o, q->req.addr);
	text_end(&o);
	if (asprintf(&lines, "[network]\nallow = %s:%u\n", addr, q->req.port) < 0) {
		lines = NULL;
		return NULL;
	}
	return lines_work(l, q, &q->req, lines, VERDICT_ALLOW) ? TAKE_PTR(lines) : NULL;
}

/* Names the rule that no line of the user's policy can override. */
static char *blame(const struct loaded *l, const struct decision *d)
{
	const struct image_rule *rule = image_rule(&l->image, d->rule);
	const char *file = rule ? image_str(&l->image, rule->file) : "";
	char *text = NULL;
	int n;

	if (!rule || !rule->line)
		return strdup("see: pale policy show; no single line changes it");
	if (rule->layer == LAYER_FLOOR)
		n = asprintf(&text, "ask the administrator: %s:%u belongs to this machine's policy", file,
			     rule->line);
	else if (rule->kind == RULE_BRANCH && rule->rank == RANK_PRESET)
		n = asprintf(&text,
			     "set [git] unprotect = %s in your own policy.ini, which opens it to pushes too",
			     image_str(&l->image, rule->pattern));
	else if (rule->rank == RANK_PRESET)
		n = asprintf(&text, "choose another preset with `preset =`: it belongs to %s (line %u)", file,
			     rule->line);
	else
		n = asprintf(&text, "remove or change %s:%u", file, rule->line);
	return n < 0 ? NULL : text;
}

char *advice(const struct loaded *l, const struct question *q, const struct request *judged,
	     const struct decision *d)
{
	const struct image_rule *rule = image_rule(&l->image, d->rule);
	const char *fixed = reason_advice(d->reason);
	struct decision locked;
	char *lines;

	/* What git obeys there is judged when it is written. */
	if (d->reason == REASON_GIT)
		return strdup(by_hand);
	if (d->verdict == VERDICT_ALLOW) {
		lines = suggest(l, q, judged, "deny", VERDICT_DENY);
		return lines ? lines : blame(l, d);
	}
	if (rule && rule->hard && hard_advice((enum rule_kind)rule->kind))
		fixed = hard_advice((enum rule_kind)rule->kind);
	lines = d->reason == REASON_REBIND    ? suggest_address(l, q)
		: d->reason == REASON_OFFLINE ? suggest_mode(l, q, judged)
					      : NULL;
	if (lines)
		return lines;
	if (fixed)
		return strdup(fixed);
	if (rule && rule->kind == RULE_BRANCH)
		return blame(l, d);
	if (grant_lock_is_closed(&l->image, &q->req, &locked))
		return strdup(by_hand);
	lines = suggest(l, q, judged, allow_key(&q->req), VERDICT_ALLOW);
	if (!lines)
		lines = suggest_mode(l, q, judged);
	return lines ? lines : blame(l, d);
}
