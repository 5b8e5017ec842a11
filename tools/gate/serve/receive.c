/*
 * What becomes of a push: each ref is judged and mapped, what it brings is kept as a change, a person is
 * asked, and the courier pushes what was approved.
 *
 * The other side is the hook proc-receive (see gitprotocol-pack(5) and githooks(5)), which runs in the intake
 * and is not believed: of it come only names of objects and of refs.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "policy/base/buf.h"
#include "policy/base/path.h"
#include "policy/system/cleanup.h"

#include "tools/base/output.h"
#include "tools/gate/plumbing.h"

#include "service.h"

struct command {
	char old[GIT_HEX], new[GIT_HEX];
	char *ref, target[GIT_REF_MAX];
	const char *refusal; /* borrowed, or `why` */
	char why[WHY_MAX];
	bool done;	      /* it is at the remote */
	bool wanted;	      /* a person said yes */
	struct change change; /* number 0: nothing was kept, as there is nothing to keep */
};

struct push {
	struct service *s;
	struct command *list;
	size_t n;
	bool atomic;
	int say;
};

/* --- what the hook says --- */

static bool is_oid(const char *s, size_t len)
{
	return (len == 40 || len == 64) && strspn(s, "0123456789abcdef") >= len;
}

static int read_command(const char *line, struct command *c)
{
	size_t hex = strcspn(line, " ");
	const char *new = line + hex + 1, *ref = new + hex + 1;

	if (strlen(line) < 2 * hex + 3 || !is_oid(line, hex) || !is_oid(new, hex) || new[hex] != ' ')
		return -EPROTO;
	snprintf(c->old, sizeof(c->old), "%.*s", (int)hex, line);
	snprintf(c->new, sizeof(c->new), "%.*s", (int)hex, new);
	c->ref = strdup(ref);
	if (!c->ref)
		return -ENOMEM;
	c->ref[strcspn(c->ref, "\n")] = '\0';
	return 0;
}

static int read_commands(struct push *p, int in, int out, char *buf)
{
	static const char version[] = "version=1";
	ssize_t n = pkt_read(in, buf);

	if (n < (ssize_t)strlen(version) || strncmp(buf, version, strlen(version)) != 0)
		return -EPROTO;
	p->atomic = (size_t)n > strlen(buf) + 1 && strstr(buf + strlen(buf) + 1, "atomic");
	if (pkt_read(in, buf) != 0)
		return -EPROTO;
	if (pkt_write(out, version, strlen(version)) < 0 || pkt_write(out, NULL, 0) < 0)
		return -EPIPE;
	while ((n = pkt_read(in, buf)) > 0) {
		struct command *c = p->n < COURIER_TOGETHER ? LIST_NEW(p->list, p->n) : NULL;
		int r = c ? read_command(buf, c) : -E2BIG;

		p->n += c != NULL;
		if (r < 0)
			return r;
	}
	return (int)n;
}

/* --- the judgement --- */

static bool git_says(const struct push *p, const char *const words[])
{
	const struct depot d = { p->s->gate.git, p->s->gate.repository };
	_cleanup_free_ char *out = NULL;
	size_t len;

	return plumbing_read(&d, words, NULL, 4096, &out, &len) == 0;
}

static bool is_protected(const struct push *p, const char *target)
{
	const json_t *list = json_object_get(p->s->order, "protect"), *item;
	const char *branch = target + strlen("refs/heads/");
	size_t i;

	json_array_foreach(list, i, item)
	{
		const char *pattern = json_string_value(item) ?: "*";

		/* As git_short_branch() has it. */
		pattern += strncmp(pattern, "refs/heads/", 11) == 0 ? 11
			   : strncmp(pattern, "heads/", 6) == 0	    ? 6
								    : 0;
		if (glob_match(pattern, strlen(pattern), branch, strlen(branch)))
			return true;
	}
	return false;
}

/* NULL, or why not.  What the target is at the remote goes to the change. */
static const char *judge(struct push *p, struct command *c)
{
	bool removes = oid_is_none(c->new), own;
	char *old = c->change.old_oid;
	const char *why = target_of(c->ref, json_str(p->s->order, "branch"), json_str(p->s->order, "session"),
				    c->target, &own);

	if (why)
		return why;
	if (!git_says(p, (const char *const[]){ "check-ref-format", c->target, NULL }))
		return "git takes no such name of a branch";
	if (is_protected(p, c->target))
		return "the branch is protected by the policy ([git] protect)";
	if (gate_ref(&p->s->gate, c->target, old) < 0)
		return "the gate's repository cannot be read";
	if (removes && !own)
		return "only branches of the session itself are removed";
	if (removes)
		return *old ? NULL : "the session has no such branch";
	if (strcmp(c->ref, c->target) == 0 && strcmp(oid_is_none(c->old) ? "" : c->old, old) != 0)
		return "the branch moved meanwhile; fetch, and push again";
	if (!git_says(p,
		      (const char *const[]){ "rev-list", "--max-count=1", "--no-walk", c->new, "--", NULL }))
		return "it is no commit";
	if (*old && !own &&
	    !git_says(p, (const char *const[]){ "merge-base", "--is-ancestor", old, c->new, NULL }))
		return "it would take commits away from a branch that is not the session's; fetch, and merge";
	return NULL;
}

/* --- the change and the question --- */

static const char *refuse(struct command *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static const char *refuse(struct command *c, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(c->why, sizeof(c->why), fmt, ap);
	va_end(ap);
	return c->refusal = c->why;
}

/* Keeps what the command brings.  A removal brings nothing: no change is kept for it. */
static int freeze(struct push *p, struct command *c)
{
	struct change *ch = &c->change;
	int r = 0;

	ch->repository = strdup(p->s->gate.repository);
	ch->url = strdup(p->s->gate.url);
	ch->session = strdup(json_str(p->s->order, "session"));
	ch->agent = strdup(json_str(p->s->order, "agent"));
	ch->asked = strdup(c->ref);
	ch->ref = strdup(c->target);
	if (!ch->repository || !ch->url || !ch->session || !ch->agent || !ch->asked || !ch->ref)
		return -ENOMEM;
	snprintf(ch->new_oid, sizeof(ch->new_oid), "%s", oid_is_none(c->new) ? "" : c->new);
	if (ch->new_oid[0])
		r = change_make(p->s->gate.state, p->s->gate.git, ch);
	return r;
}

static void settle(struct push *p, struct command *c, enum change_state state, const char *text)
{
	if (c->change.number > 0)
		(void)change_settle(p->s->gate.state, &c->change, state, text);
	supervisor_done(c->change.number, change_state_name(state), text);
}

static char *card_of(const struct push *p, const struct command *c)
{
	_cleanup_free_ char *target = NULL;
	char *text = NULL;

	if (c->change.number > 0)
		return change_card(&c->change, p->s->gate.git);
	target = text_visible(c->target);
	return target && asprintf(&text, "removes %s, which is at %s", target, c->change.old_oid) > 0 ? text
												      : NULL;
}

static void ask(struct push *p, struct command *c)
{
	_cleanup_free_ char *card = card_of(p, c), *shown = courier_shown(p->s->gate.url), *target = NULL,
			    *text = NULL, *said = NULL;
	unsigned number = c->change.number;
	char waiting[32] = "";
	enum said answer;

	if (!card || !shown || asprintf(&target, "%s %s", c->target, shown) < 0) {
		refuse(c, "kept as change %u, of which no card could be made; see: pale changes %u", number,
		       number);
		return;
	}
	if (number > 0)
		snprintf(waiting, sizeof(waiting), " of change %u", number);
	if (!supervisor_ask(target, card))
		dprintf(p->say, "waiting for approval%s\n", waiting);
	answer = supervisor_said(&text);
	said = text ? text_visible(text) : NULL;
	if (answer == SAID_YES) {
		c->wanted = true;
	} else if (answer == SAID_NO) {
		refuse(c, "denied%s%.700s", said && *said ? ": " : "", said ?: "");
		settle(p, c, CHANGE_DENIED, text);
	} else if (number > 0) {
		refuse(c, "kept as change %u; pale push %u", number, number);
	} else {
		refuse(c, "there was no answer");
	}
}

/* --- the push --- */

static void push_together(struct push *p, struct command *const list[], size_t n)
{
	const struct change *changes[COURIER_TOGETHER] = { NULL };
	char why[WHY_MAX];
	enum courier_end end;

	for (size_t i = 0; i < n; i++)
		changes[i] = &list[i]->change;
	end = courier_push(p->s->gate.git, changes, n, why);
	for (size_t i = 0; i < n; i++) {
		struct command *c = list[i];
		unsigned number = c->change.number;

		c->done = end == COURIER_PUSHED;
		if (c->done)
			settle(p, c, CHANGE_PUSHED, "");
		if (c->done)
			continue;
		if (end == COURIER_REFUSED || number == 0)
			refuse(c, "%.900s", why);
		else
			refuse(c, "%.900s; kept as change %u; pale push %u", why, number, number);
		settle(p, c, end == COURIER_REFUSED ? CHANGE_FAILED : CHANGE_OPEN, why);
	}
}

/* Of an atomic push, each waits for what becomes of the others. */
static void refuse_others(struct push *p, const char *because)
{
	for (size_t i = 0; i < p->n; i++) {
		struct command *c = &p->list[i];
		unsigned number = c->change.number;

		if (c->refusal)
			continue;
		if (number > 0)
			refuse(c, "%s; kept as change %u; pale push %u", because, number, number);
		else
			refuse(c, "%s", because);
	}
}

static bool is_any_refused(const struct push *p)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->list[i].refusal)
			return true;
	return false;
}

static void keep_and_ask(struct push *p)
{
	for (size_t i = 0; i < p->n; i++) {
		struct command *c = &p->list[i];
		int r = c->refusal || c->done ? 0 : freeze(p, c);

		if (r < 0)
			refuse(c, "it could not be kept: %s", strerror(-r));
	}
	for (size_t i = 0; i < p->n; i++) {
		struct command *c = &p->list[i];

		if (c->refusal || c->done || (p->atomic && is_any_refused(p)))
			continue;
		ask(p, c);
		if (c->wanted && !p->atomic)
			push_together(p, &c, 1);
	}
}

static void push_atomic(struct push *p)
{
	struct command *list[COURIER_TOGETHER];
	size_t n = 0;

	for (size_t i = 0; i < p->n; i++)
		if (!p->list[i].done)
			list[n++] = &p->list[i];
	if (n > 0)
		push_together(p, list, n);
}

static void decide(struct push *p)
{
	static const char why[] = "the push is atomic, and another ref of it was refused";

	for (size_t i = 0; i < p->n; i++) {
		struct command *c = &p->list[i];

		c->refusal = judge(p, c);
		for (size_t k = 0; k < i && !c->refusal; k++)
			if (strcmp(c->target, p->list[k].target) == 0)
				c->refusal = "another ref of this push becomes the same branch";
		/* The remote has it. */
		c->done = !c->refusal && strcmp(c->change.old_oid, c->new) == 0;
	}
	if (p->atomic && is_any_refused(p))
		refuse_others(p, why);
	keep_and_ask(p);
	if (p->atomic && is_any_refused(p))
		refuse_others(p, why);
	else if (p->atomic)
		push_atomic(p);
}

/* --- the answer --- */

static int answer(const struct push *p, int out)
{
	for (size_t i = 0; i < p->n; i++) {
		const struct command *c = &p->list[i];
		_cleanup_free_ char *line = NULL, *option = NULL;
		int n = c->done ? asprintf(&line, "ok %s", c->ref)
				: asprintf(&line, "ng %s %s", c->ref, c->refusal ?: "it was not pushed");

		if (n < 0 || pkt_write(out, line, (size_t)n) < 0)
			return -EPIPE;
		if (!c->done || strcmp(c->ref, c->target) == 0)
			continue;
		n = asprintf(&option, "option refname %s", c->target);
		if (n < 0 || pkt_write(out, option, (size_t)n) < 0)
			return -EPIPE;
		/* Of the branch there, not of the one that the agent named. */
		if (c->change.old_oid[0]) {
			char old[GIT_HEX + 16];

			n = snprintf(old, sizeof(old), "option old-oid %s", c->change.old_oid);
			if (pkt_write(out, old, (size_t)n) < 0)
				return -EPIPE;
		}
	}
	return pkt_write(out, NULL, 0);
}

int receive_commands(struct service *s, int in, int out, int say)
{
	static char buf[PKT_MAX + 1];
	struct push p = { .s = s, .say = say };
	int r;

	(void)fcntl(in, F_SETFL, O_NONBLOCK);
	(void)fcntl(out, F_SETFL, O_NONBLOCK);
	(void)fcntl(say, F_SETFL, O_NONBLOCK);
	r = read_commands(&p, in, out, buf);
	if (r == 0) {
		decide(&p);
		r = answer(&p, out);
	}
	for (size_t i = 0; i < p.n; i++) {
		free(p.list[i].ref);
		change_done(&p.list[i].change);
	}
	free(p.list);
	return r < 0;
}
