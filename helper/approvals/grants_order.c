/*
 * A human's orders about grants: make, revoke, list.
 *
 * A grant is in the ledger before it holds, and in the file before any client is told that it is kept.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "policy/record/digest.h"
#include "policy/record/record.h"
#include "policy/system/cleanup.h"
#include "policy/system/system.h"

#include "helper/base/images.h"
#include "helper/base/stamp.h"
#include "helper/base/state.h"
#include "helper/control/call.h"
#include "helper/control/control.h"
#include "helper/ledger/ledger.h"

#include "approval.h"
#include "grants_held.h"
#include "stepup_check.h"

#define DAY_S 86400ull

static int say_why(char *why, size_t size, int err, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
static int say_why(char *why, size_t size, int err, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(why, size, format, ap);
	va_end(ap);
	return err;
}

int grants_offer(struct helper *h, uint32_t image, const struct request *req, struct grant_offers *ret)
{
	const char *once = grants_why_once(h, image, req);

	if (!once)
		return grant_offer(image_of(h, image), req, ret);
	*ret = (struct grant_offers){ .section = "", .why_none = once };
	return 0;
}

/* --- make --- */

static const char *section_of(const struct approval *ap)
{
	return ap->offers.section && ap->offers.section[0] ? ap->offers.section : op_section(ap->req.op);
}

/* Offers are sent escaped: a line that comes back in that form means the offer itself. */
static const char *line_meant(const struct approval *ap, const char *line)
{
	for (size_t i = 0; i < ap->offers.n; i++) {
		const char *offer = ap->offers.line[i];
		_cleanup_free_ char *shown = record_escape(offer, strlen(offer));

		if (shown && strcmp(shown, line) == 0)
			return offer;
	}
	return line;
}

int grants_check(struct helper *h, const struct approval *ap, const char *line, char *why, size_t size)
{
	const char *once = grants_why_once(h, ap->image, &ap->req);

	if (once)
		return say_why(why, size, -EPERM, "%s", once);
	return grant_check(image_of(h, ap->image), section_of(ap), line_meant(ap, line), &ap->req, why, size);
}

/* When the grant is over: 0 with it, "" for a grant without an end. */
static int order_until(const struct grant_order *o, char until[GRANT_UNTIL], char *why, size_t size)
{
	uint64_t now = clock_real_ns() / NS_S, end;

	until[0] = '\0';
	if (!o->until) {
		if (o->scope == GRANT_PROJECT)
			until_day(now + GRANTS_DAYS * DAY_S, until);
		return 0;
	}
	if (until_end(o->until, &end) < 0 || end <= now)
		return say_why(why, size, -EINVAL, "the grant would already have ended: give a later time");
	if (end > now + GRANTS_DAYS_MAX * DAY_S + DAY_S)
		return say_why(why, size, -EINVAL, "a grant with an end holds a year at most");
	snprintf(until, GRANT_UNTIL, "%s", o->until);
	return 0;
}

/* A grant that holds and says the same, or NULL. */
static const struct grant_entry *find_same(struct helper *h, const struct grant_entry *e)
{
	const struct grant_entry *one;

	for (size_t i = 0; (one = grants_at(h->grants, i)); i++)
		if (one->scope == e->scope && strcmp(one->section, e->section) == 0 &&
		    strcmp(one->line, e->line) == 0 && strcmp(one->until, e->until) == 0 &&
		    strcmp(one->bound, e->bound) == 0 && !grants_off(h, one))
			return one;
	return NULL;
}

static int record_made(struct helper *h, const struct grant_entry *e, const struct approval *ap,
		       const struct grant_order *o)
{
	_cleanup_free_ char *more = NULL;

	if (asprintf(&more, " by=%s pid=%d approval=%s agent=%s%s%s", o->by, o->pid, ap->id, e->agent,
		     e->workspace[0] ? " workspace=" : "", e->workspace) < 0)
		return -ENOMEM;
	return grants_record(h, "grant/made", e, more, (pid_t)ap->pid);
}

static int make(struct helper *h, const struct approval *ap, const struct grant_order *o,
		const struct grant_entry *e, char *why, size_t size)
{
	const char *err;
	int r;

	if (record_made(h, e, ap, o) < 0)
		return say_why(why, size, -EIO,
			       "the grant could not be written to the ledger, so nothing was granted");
	r = grants_change(h, e->scope, NULL, e, &err);
	if (r < 0) {
		(void)grants_record(h, "grant/revoked", e, " it could not be kept", o->pid);
		return say_why(why, size, r, "%s", err);
	}
	return 0;
}

/* Whether it may be granted, and until when: 0, or -errno and a sentence. */
static int check_order(struct helper *h, const struct approval *ap, const struct grant_order *o,
		       const char *line, char until[GRANT_UNTIL], char *why, size_t size)
{
	int r;

	if (stepup_by(h, ap->image, ap->risk.level) != STEPUP_BY_NOTHING)
		return say_why(why, size, -EPERM,
			       "what the passphrase or PAM confirms is approved each time: allow it once");
	if (o->scope == GRANT_ONCE || o->scope >= GRANT_SCOPES)
		return say_why(why, size, -EINVAL,
			       "the scope `once` makes no grant: choose session, project or always");
	if (!line)
		return say_why(why, size, -EINVAL, "%s",
			       ap->offers.why_none ? ap->offers.why_none : "no rule is offered");
	r = grants_check(h, ap, line, why, size);
	return r < 0 ? r : order_until(o, until, why, size);
}

static void tell_made(struct helper *h, const struct grant_entry *e)
{
	control_notify(h, "grant/made",
		       json_pack("{s:s, s:s, s:s, s:s, s:s}", "id", e->id, "scope",
				 grant_scope_name(e->scope), "section", e->section, "line", e->line, "until",
				 e->until));
}

int grants_add(struct helper *h, const struct approval *ap, const struct grant_order *o,
	       char ret_id[GRANT_ID_HEX], char *why, size_t size)
{
	const char *line = o->line ? o->line : ap->offers.n > 0 ? ap->offers.line[0] : NULL;
	_cleanup_free_ char *agent = record_escape(h->agent, strlen(h->agent));
	_cleanup_free_ char *workspace = record_escape(h->workspace, strlen(h->workspace));
	_cleanup_free_ char *by = record_escape(o->by, strlen(o->by));
	_cleanup_free_ char *bound = NULL;
	char id[GRANT_ID_HEX], made[32], until[GRANT_UNTIL], binding[DIGEST_HEX];
	struct grant_entry e = { .id = id,
				 .section = section_of(ap),
				 .made = made,
				 .until = until,
				 .binding = binding,
				 .scope = o->scope };
	const struct grant_entry *same;
	int r = check_order(h, ap, o, line, until, why, size);

	if (r < 0)
		return r;
	if (!agent || !workspace || !by || random_hex(id, (GRANT_ID_HEX - 1) / 2) < 0 ||
	    grants_bind(h, ap, id, &bound, binding) < 0)
		return say_why(why, size, -ENOMEM, "the helper is out of memory");
	time_format(clock_real_ns(), made);
	e.line = line_meant(ap, line);
	e.agent = agent;
	e.workspace = o->scope == GRANT_PROJECT ? workspace : "";
	e.by = by;
	e.bound = bound;
	grants_refresh(h);
	same = find_same(h, &e);
	if (same) {
		memcpy(ret_id, same->id, GRANT_ID_HEX);
		return 0;
	}
	r = make(h, ap, o, &e, why, size);
	if (r < 0)
		return r;
	memcpy(ret_id, id, sizeof(id));
	tell_made(h, &e);
	return 0;
}

/* --- revoke --- */

int grants_revoke(struct helper *h, const char *id, const char *by, pid_t pid, char *why, size_t size)
{
	const struct grant_list none = { 0 };
	struct grant_list was;
	_cleanup_free_ char *more = NULL;
	const struct grant_entry *e;
	const char *err = "the helper is out of memory";
	int r;

	grants_refresh(h);
	e = grant_list_find(&h->grants->session, id);
	if (!e)
		e = grant_list_find(&h->grants->kept, id);
	if (!e)
		return say_why(why, size, -ENOENT, "no grant has this id: see pale grants");
	r = grant_list_parse(grant_list_text(&none, NULL, e, 0), &was, &err);
	if (r == 0)
		r = grants_change(h, e->scope, id, NULL, &err);
	if (r == 0) {
		if (asprintf(&more, " by=%s", by) < 0)
			more = NULL;
		(void)grants_record(h, "grant/revoked", was.list, more ? more : "", pid);
		control_notify(h, "grant/revoked", json_pack("{s:s}", "id", was.list->id));
	}
	grant_list_done(&was);
	return r < 0 ? say_why(why, size, r, "%s", err) : 0;
}

/* --- list --- */

json_t *grants_json(struct helper *h)
{
	json_t *list = json_array();
	const struct grant_entry *e;

	grants_refresh(h);
	for (size_t i = 0; (e = grants_at(h->grants, i)); i++) {
		const char *off = grants_off(h, e);
		json_t *j = grant_entry_json(e);

		(void)json_object_set_new(j, "holds", json_boolean(!off));
		if (off)
			(void)json_object_set_new(j, "why", json_string(off));
		(void)json_array_append_new(list, j);
	}
	return json_pack("{s:o}", "grants", list);
}
