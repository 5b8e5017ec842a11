/*
 * Which grants there are, which of them hold here, and what they cover: see grants_held.h.
 *
 * The grants that hold for a question form one image, which is made again when a grant is added, revoked or
 * expires, or when the question is bound to something else.  Each line is checked again then, because the
 * file may have been edited.
 */
#include "grants_held.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/record/digest.h"
#include "policy/record/replacefile.h"
#include "policy/system/cleanup.h"
#include "policy/system/system.h"

#include "helper/base/images.h"
#include "helper/base/packet.h"
#include "helper/base/places.h"
#include "helper/base/stamp.h"
#include "helper/base/state.h"
#include "helper/ledger/event.h"
#include "helper/ledger/fold.h"
#include "helper/ledger/ledger.h"
#include "helper/ledger/programs.h"

#include "shown.h"
#include "stepup_check.h"

static uint64_t now_s(void)
{
	return clock_real_ns() / NS_S;
}

/* --- records --- */

int grants_record(struct helper *h, const char *op, const struct grant_entry *g, const char *more, pid_t pid)
{
	_cleanup_free_ char *detail = NULL;
	struct event e = { .pid = pid, .op = op, .target = g->line, .via = "helper", .approval = g->id };

	if (asprintf(&detail, "[%s] scope=%s%s%s%s", g->section, grant_scope_name(g->scope),
		     g->until[0] ? " until=" : "", g->until, more) < 0)
		return -ENOMEM;
	e.detail = detail;
	return ledger_append_durable(h->ledger, &e);
}

/* The key of equal uses, under the session's secret: no process can make one use look like another. */
static uint64_t use_key(const struct helper *h, const char *id, const char *target, pid_t pid)
{
	uint64_t part[] = { 0, 0, (uint64_t)pid }, key;

	crypto_shorthash((unsigned char *)&part[0], (const unsigned char *)id, strlen(id), h->fold_key);
	crypto_shorthash((unsigned char *)&part[1], (const unsigned char *)target, strlen(target),
			 h->fold_key);
	crypto_shorthash((unsigned char *)&key, (const unsigned char *)part, sizeof(part), h->fold_key);
	return key;
}

static void record_use(struct helper *h, const struct grant_entry *g, const struct request *req, pid_t pid)
{
	_cleanup_free_ char *target = shown_target(req), *detail = NULL;
	const struct proc *proc = program_of(h, pid);
	struct event e = { .pid = pid,
			   .ppid = proc->ppid,
			   .exe = proc->exe,
			   .op = "grant/used",
			   .target = target,
			   .access = access_name(req->access),
			   .verdict = "allow",
			   .rule = g->line,
			   .via = "helper",
			   .approval = g->id };

	if (!target || asprintf(&detail, "op=%s scope=%s", op_name(req->op), grant_scope_name(g->scope)) < 0)
		return;
	e.detail = detail;
	fold_add(h->fold, use_key(h, g->id, target, pid), &e, clock_boot_ns());
}

/* --- the image --- */

const struct grant_entry *grants_at(const struct grants *g, size_t i)
{
	if (i < g->kept.n)
		return &g->kept.list[i];
	return i - g->kept.n < g->session.n ? &g->session.list[i - g->kept.n] : NULL;
}

const char *grants_off(struct helper *h, const struct grant_entry *e)
{
	const char *off = grant_entry_off(e, h->agent, h->workspace, now_s());
	char why[256];

	if (!off && grant_check(&h->image, e->section, e->line, NULL, why, sizeof(why)) < 0)
		off = "no rule that may be granted";
	return off;
}

/* A yes for a command is not valid for the same words in another directory, or with other variables. */
static bool is_given_for(const struct grant_entry *e, const struct request *req)
{
	char binding[DIGEST_HEX];

	if (!req || strcmp(e->section, "commands") != 0)
		return true;
	grants_binding(e->id, req, binding);
	return strcmp(e->binding, binding) == 0;
}

static void drop_image(struct grants *g)
{
	free(g->bytes);
	free(g->active);
	g->bytes = NULL;
	g->active = NULL;
	g->image = (struct image){ 0 };
	g->end_s = 0;
}

/*
 * Makes the image of the grants that hold and are bound as req is.  If it fails, nothing is granted, and
 * the question is asked.
 */
static void make_image(struct helper *h, const struct request *req)
{
	struct grants *g = h->grants;
	size_t most = g->kept.n + g->session.n, n = 0;
	_cleanup_free_ struct grant_line *lines = calloc(most + 1, sizeof(*lines));
	const struct grant_entry *e;
	uint64_t end;

	drop_image(g);
	g->end_s = UINT64_MAX;
	g->active = calloc(most + 1, sizeof(*g->active));
	if (!g->active || !lines)
		return;
	for (size_t i = 0; (e = grants_at(g, i)); i++) {
		if (!is_given_for(e, req) || grants_off(h, e))
			continue;
		lines[n] = (struct grant_line){ e->section, e->line };
		g->active[n++] = e;
		if (until_end(e->until, &end) == 0 && end < g->end_s)
			g->end_s = end;
	}
	if (n > 0 && grants_open(&h->image, lines, n, &g->bytes, &g->image) < 0)
		drop_image(g);
}

const struct grant_entry *grants_find(struct helper *h, const struct image *img, const struct request *req,
				      const struct request *bound)
{
	struct grants *g = h->grants;
	char key[DIGEST_HEX] = "";
	size_t i;

	grants_refresh(h);
	if (bound && bound->op == OP_EXEC)
		grants_binding("", bound, key);
	if (now_s() >= g->end_s || strcmp(key, g->key) != 0) {
		make_image(h, key[0] ? bound : NULL);
		strcpy(g->key, key);
	}
	return g->image.h && grants_allow(&g->image, img, req, &i) ? g->active[i] : NULL;
}

/* --- the file --- */

static void warn_grants(struct helper *h, const char *why)
{
	char text[256];
	const struct event e = { .op = "grant/store", .via = "helper", .detail = text };

	snprintf(text, sizeof(text), "%s grants nothing: %s", GRANT_FILE, why);
	(void)ledger_append(h->ledger, &e);
	(void)packet_send_json(h->session_fd, json_pack("{s:s, s:s}", "type", "warn", "text", text));
}

void grants_refresh(struct helper *h)
{
	struct grants *g = h->grants;
	int dir = places_open_user(h);
	const char *why;

	if (dir < 0 || !store_changed(dir, &g->store))
		return;
	drop_image(g);
	grant_list_done(&g->kept);
	if (store_read(dir, &g->kept, &why) < 0)
		warn_grants(h, why);
}

/*
 * Makes the list again without one grant and with another.  Its text is parsed, so that no grant is added
 * that cannot be read again.
 */
static int remake(struct grant_list *l, const char *without, const struct grant_entry *with, size_t most,
		  char **ret_text)
{
	struct grant_list again;
	const char *why;
	char *text;
	int r;

	if (with && l->n >= most)
		return -ENOSPC;
	text = grant_list_text(l, without, with, now_s());
	if (!text)
		return -ENOMEM;
	r = strlen(text) > GRANT_FILE_MAX ? -ENOSPC : grant_list_parse(strdup(text), &again, &why);
	if (r < 0) {
		free(text);
		return r;
	}
	grant_list_done(l);
	*l = again;
	*ret_text = text;
	return 0;
}

static int change_file(struct helper *h, const char *without, const struct grant_entry *with,
		       const char **ret_err)
{
	int dir = places_open_user(h), r;
	_cleanup_free_ char *text = NULL;
	_cleanup_close_ int lock = -1;
	struct grant_list list;

	*ret_err = "no directory of the user's own is there to keep grants in";
	if (dir < 0)
		return dir;
	*ret_err = "another session holds the file of grants: try again";
	lock = openat(dir, GRANT_LOCK, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	r = lock < 0 ? -errno : file_lock(lock, LOCK_MOMENT_MS);
	if (r < 0)
		return r;
	r = store_read(dir, &list, ret_err);
	*ret_err = "the file of grants cannot be read or written: mend or remove it";
	if (r == 0)
		r = remake(&list, without, with, GRANT_ENTRIES, &text);
	if (r == 0)
		r = replace_file(dir, GRANT_FILE, NULL, places_readable(h), text, strlen(text));
	grant_list_done(&list);
	return r;
}

int grants_change(struct helper *h, enum grant_scope scope, const char *without,
		  const struct grant_entry *with, const char **ret_err)
{
	_cleanup_free_ char *text = NULL;
	int r;

	*ret_err = "the helper is out of memory";
	drop_image(h->grants);
	r = scope == GRANT_SESSION ? remake(&h->grants->session, without, with, GRANTS_SESSION, &text)
				   : change_file(h, without, with, ret_err);
	if (r == -ENOSPC)
		*ret_err = "too many grants: take some back (pale grants, pale revoke), or approve it once";
	return r;
}

/* --- for the broker --- */

bool grants_cover(struct helper *h, uint32_t image, const struct request *req, pid_t pid,
		  char ret_id[GRANT_ID_HEX])
{
	const struct image *img = image_of(h, image);
	const struct grant_entry *e;

	if (!img || grants_why_once(h, image, req))
		return false;
	/* A second proof is valid only for the one question that it was given for. */
	if (stepup_by(h, image, risk_of(req).level) != STEPUP_BY_NOTHING)
		return false;
	e = grants_find(h, img, req, req);
	if (!e)
		return false;
	memcpy(ret_id, e->id, GRANT_ID_HEX);
	record_use(h, e, req, pid);
	return true;
}

void grants_done(struct helper *h)
{
	drop_image(h->grants);
	grant_list_done(&h->grants->kept);
	grant_list_done(&h->grants->session);
}
