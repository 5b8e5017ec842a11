/*
 * Which grants there are, which of them hold here, and what they cover: see grants.h.
 *
 * Those that hold are one image, made anew when a grant comes, goes or is over.  Each line is checked again
 * when it is taken in: what stands in a file may have been written by anybody's editor.
 */
#include "grants.h"

#include <errno.h>
#include <sodium.h>
#include <string.h>

#include "helper.h"

#include "policy/digest.h"

#include "stepup.h"

#define WRITE_EVERY_S 60

static uint64_t now_s(void)
{
	return clock_real_ns() / NS_S;
}

/* --- the list --- */

static void granted_done(struct granted *g)
{
	char *const owned[] = { g->section, g->line, g->agent, g->workspace, g->made,
				g->until,   g->by,   g->bound, g->binding };

	for (size_t i = 0; i < NELEM(owned); i++)
		free(owned[i]);
}

static int copy_entry(struct granted *g, const struct grant_entry *e)
{
	const struct {
		char **to;
		const char *from;
	} texts[] = {
		{ &g->section, e->section }, { &g->line, e->line },
		{ &g->agent, e->agent },     { &g->workspace, e->workspace },
		{ &g->made, e->made },	     { &g->until, e->until },
		{ &g->by, e->by },	     { &g->bound, e->bound },
		{ &g->binding, e->binding },
	};

	*g = (struct granted){ .scope = e->scope, .used = e->used };
	snprintf(g->id, sizeof(g->id), "%s", e->id);
	for (size_t i = 0; i < NELEM(texts); i++) {
		*texts[i].to = strdup(texts[i].from);
		if (!*texts[i].to)
			return -ENOMEM;
	}
	return 0;
}

int grants_append(struct grants *g, const struct grant_entry *e)
{
	struct granted fresh;

	if (g->n == g->cap) {
		size_t cap = g->cap ? g->cap * 2 : 16;
		struct granted *list = reallocarray(g->list, cap, sizeof(*list));

		if (!list)
			return -ENOMEM;
		g->list = list;
		g->cap = cap;
	}
	if (copy_entry(&fresh, e) < 0) {
		granted_done(&fresh);
		return -ENOMEM;
	}
	g->list[g->n++] = fresh;
	return 0;
}

void grants_remove(struct grants *g, size_t i)
{
	granted_done(&g->list[i]);
	memmove(&g->list[i], &g->list[i + 1], (g->n - i - 1) * sizeof(g->list[0]));
	g->n--;
}

/* --- records --- */

struct grant_entry granted_entry(const struct granted *g)
{
	return (struct grant_entry){ .id = g->id,
				     .section = g->section,
				     .line = g->line,
				     .agent = g->agent,
				     .workspace = g->workspace,
				     .made = g->made,
				     .until = g->until,
				     .by = g->by,
				     .bound = g->bound,
				     .binding = g->binding,
				     .scope = g->scope,
				     .used = g->used };
}

int grants_record(struct helper *h, const char *op, const struct grant_entry *g, const char *more, pid_t pid)
{
	_cleanup_free_ char *detail = NULL;
	struct event e = { .pid = pid, .op = op, .target = g->line, .via = "helper", .approval = g->id };

	if (asprintf(&detail, "[%s] scope=%s%s%s%s", g->section, grant_scope_name(g->scope),
		     g->until[0] ? " until=" : "", g->until, more) < 0)
		return -ENOMEM;
	e.detail = detail;
	return ledger_append_durable(&h->ledger, &e);
}

/* What is alike, under the session's secret: nobody can make one use look like another. */
static uint64_t use_key(const struct helper *h, const char *id, const char *target, pid_t pid)
{
	uint64_t part[] = { 0, 0, (uint64_t)pid }, key;

	crypto_shorthash((unsigned char *)&part[0], (const unsigned char *)id, strlen(id), h->fold_key);
	crypto_shorthash((unsigned char *)&part[1], (const unsigned char *)target, strlen(target),
			 h->fold_key);
	crypto_shorthash((unsigned char *)&key, (const unsigned char *)part, sizeof(part), h->fold_key);
	return key;
}

static void record_use(struct helper *h, const struct granted *g, const struct request *req, pid_t pid)
{
	_cleanup_free_ char *target = card_target(req), *detail = NULL;
	const struct proc *proc = procs_find(&h->feed[FEED_HOOK].procs, pid);
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
	fold_add(&h->fold, use_key(h, g->id, target, pid), &e, clock_boot_ns());
}

/* --- the image --- */

static void drop_image(struct grants *g)
{
	free(g->bytes);
	g->bytes = NULL;
	g->image = (struct image){ 0 };
	g->n_active = 0;
}

/* A yes for a command is none for the same words in another directory, or with other variables. */
static bool is_given_for(const struct granted *one, const struct request *req)
{
	char binding[DIGEST_HEX];

	if (!req || strcmp(one->section, "commands") != 0)
		return true;
	grants_binding(one->id, req, binding);
	return strcmp(one->binding, binding) == 0;
}

/* Those that hold here and are fit to; the others say why not. */
static size_t collect(struct helper *h, const struct request *req, struct grant_line *lines)
{
	struct grants *g = &h->grants;
	char why[256];
	size_t n = 0;

	for (size_t i = 0; i < g->n; i++) {
		struct granted *one = &g->list[i];

		if (!one->off && grant_check(&h->image, one->section, one->line, NULL, why, sizeof(why)) < 0)
			one->off = "no rule that may be granted";
		if (one->off || !is_given_for(one, req))
			continue;
		lines[n] = (struct grant_line){ one->section, one->line };
		g->active[n++] = i;
	}
	return n;
}

static int make_image(struct helper *h, const struct grant_line *lines, size_t n)
{
	struct grants *g = &h->grants;
	struct diags d;
	size_t size;
	int r;

	diags_init(&d);
	r = grants_compile(&h->image, lines, n, &d, &g->bytes, &size);
	diags_done(&d);
	if (r == 0)
		r = image_open(&g->image, g->bytes, size, IMAGE_CHECK_HEADER);
	if (r == 0)
		g->n_active = n;
	return r;
}

/* Where it fails nothing is granted, which is asked then. */
static int rebuild(struct helper *h, const struct request *req)
{
	struct grants *g = &h->grants;
	_cleanup_free_ struct grant_line *lines = NULL;
	size_t n;
	int r = 0;

	drop_image(g);
	free(g->active);
	g->active = calloc(g->n + 1, sizeof(*g->active));
	lines = calloc(g->n + 1, sizeof(*lines));
	if (!g->active || !lines)
		return -ENOMEM;
	n = collect(h, req, lines);
	if (n > 0)
		r = make_image(h, lines, n);
	if (r < 0)
		drop_image(g);
	return r;
}

int grants_rebuild(struct helper *h)
{
	h->grants.key[0] = '\0';
	return rebuild(h, NULL);
}

int grants_focus(struct helper *h, const struct request *req)
{
	char key[DIGEST_HEX] = "";
	int r;

	if (req && req->op == OP_EXEC)
		grants_binding("", req, key);
	if (strcmp(key, h->grants.key) == 0)
		return 0;
	r = rebuild(h, key[0] ? req : NULL);
	strcpy(h->grants.key, key);
	return r;
}

/* --- which hold here --- */

/* Judges each anew; true where something changed.  One that held and is over is recorded. */
static bool weigh(struct helper *h)
{
	struct grants *g = &h->grants;
	_cleanup_free_ char *agent = record_escape(h->agent, strlen(h->agent));
	_cleanup_free_ char *workspace = record_escape(h->workspace, strlen(h->workspace));
	uint64_t now = now_s(), end;
	bool changed = false;

	g->next_end_s = UINT64_MAX;
	for (size_t i = 0; i < g->n; i++) {
		struct granted *one = &g->list[i];
		const struct grant_entry e = granted_entry(one);
		const char *off = one->scope == GRANT_SESSION ? NULL
				  : agent && workspace	      ? grant_entry_off(&e, agent, workspace, now)
							      : "not known";
		bool held = !one->off;

		if (held && off && one->scope == GRANT_PROJECT)
			(void)grants_record(h, "grant/expired", &e, "", 0);
		changed |= held != !off;
		one->off = off;
		if (!off && one->until[0] && day_end(one->until, &end) == 0 && end < g->next_end_s)
			g->next_end_s = end;
	}
	return changed;
}

/* --- the file --- */

static void warn(struct helper *h, const char *text)
{
	const struct event e = { .op = "grant/store", .via = "helper", .detail = text };

	(void)ledger_append(&h->ledger, &e);
	(void)packet_send_json(h->session_fd, json_pack("{s:s, s:s}", "type", "warn", "text", text));
}

static void put_aside(struct helper *h, int dir, const char *why)
{
	char name[64], text[256];
	const char *to = store_aside(dir, name, sizeof(name));

	snprintf(text, sizeof(text), "%s is put aside as %s and grants nothing: %s", GRANT_FILE,
		 to ? to : "nothing", why);
	warn(h, text);
}

static const struct granted *find_known(const struct granted *list, size_t n, const char *id)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(list[i].id, id) == 0)
			return &list[i];
	return NULL;
}

/* Those of the file in place of those that were there; what was used here is not forgotten. */
static void adopt(struct grants *g, const json_t *file)
{
	struct grants old = { .list = g->list, .n = g->n };
	struct grant_entry e;

	g->list = NULL;
	g->n = g->cap = 0;
	for (size_t i = 0; grant_file_get(file, i, &e); i++) {
		const struct granted *was = find_known(old.list, old.n, e.id);

		if (grants_append(g, &e) < 0)
			break;
		g->list[g->n - 1].off = was ? was->off : "new";
		g->list[g->n - 1].unwritten = was ? was->unwritten : 0;
	}
	for (size_t i = 0; i < old.n; i++) {
		const struct grant_entry mine = granted_entry(&old.list[i]);

		if (mine.scope == GRANT_SESSION && grants_append(g, &mine) == 0)
			g->list[g->n - 1].off = old.list[i].off;
		granted_done(&old.list[i]);
	}
	free(old.list);
}

static void read_store(struct helper *h, int dir)
{
	static const char unreadable[] = "the file of grants cannot be read";
	struct grants *g = &h->grants;
	_cleanup_json_ json_t *file = NULL;
	const char *why = "", *was = g->trouble;
	int err;

	file = store_read(dir, &g->store, &err, &why);
	g->read = true;
	g->trouble = NULL;
	if (file) {
		adopt(g, file);
		return;
	}
	if (err == -EBADMSG) {
		put_aside(h, dir, why);
		memset(&g->store, 0, sizeof(g->store));
	} else {
		g->trouble = unreadable;
		if (was != unreadable)
			warn(h, unreadable);
	}
	file = grant_file_parse("", 0, &why);
	adopt(g, file);
}

void grants_refresh(struct helper *h)
{
	struct grants *g = &h->grants;
	int dir = places_open_user(h);
	bool changed = false;

	if (dir < 0)
		g->trouble = "no directory of the user's own is there to keep grants in";
	else if (!g->read || store_changed(dir, &g->store)) {
		read_store(h, dir);
		changed = true;
	}
	if (changed || now_s() >= g->next_end_s) {
		if (weigh(h) || changed)
			(void)grants_rebuild(h);
	}
}

/* Uses that the file does not know of, where it may be written just now. */
static void write_uses(struct helper *h)
{
	struct grants *g = &h->grants;
	int dir = places_open_user(h), err;
	_cleanup_close_ int lock = -1;
	_cleanup_json_ json_t *file = NULL;
	const char *why;
	struct stat st;
	bool any = false;

	for (size_t i = 0; i < g->n; i++)
		any |= g->list[i].unwritten > 0;
	if (any && dir >= 0)
		lock = store_lock(dir);
	if (lock < 0)
		return;
	file = store_read(dir, &st, &err, &why);
	for (size_t i = 0; file && i < g->n; i++)
		if (g->list[i].unwritten > 0)
			grant_file_used(file, g->list[i].id, g->list[i].unwritten);
	if (!file || store_write(dir, file, places_readable(h), &g->store) < 0)
		return;
	for (size_t i = 0; i < g->n; i++)
		g->list[i].unwritten = 0;
}

/* --- the helper's side --- */

bool grants_cover(struct helper *h, uint32_t image, const struct request *req, pid_t pid,
		  char ret_id[GRANT_ID_HEX])
{
	const struct image *img = image_of(h, image);
	struct grants *g = &h->grants;
	struct granted *one;
	size_t i;

	grants_refresh(h);
	if (grants_why_once(req) || !img || g->n == 0 || grants_focus(h, req) < 0 || !g->image.h)
		return false;
	if (image > 0 && eval(&h->image, req).verdict != VERDICT_ASK)
		return false;
	/* A second proof is for the one question that it was given for. */
	if (stepup_by(h, image, risk_of(req).level) != STEPUP_BY_NOTHING)
		return false;
	if (!grants_allow(&g->image, img, req, &i) || i >= g->n_active)
		return false;
	one = &g->list[g->active[i]];
	one->used++;
	one->unwritten += one->scope != GRANT_SESSION;
	memcpy(ret_id, one->id, sizeof(one->id));
	record_use(h, one, req, pid);
	return true;
}

void grants_tick(struct helper *h)
{
	uint64_t now = now_s();

	/* the directories are not there before the session is */
	if (now == h->grants.looked_s)
		return;
	h->grants.looked_s = now;
	grants_refresh(h);
	if (now - h->grants.written_s < WRITE_EVERY_S)
		return;
	h->grants.written_s = now;
	write_uses(h);
}

void grants_done(struct helper *h)
{
	struct grants *g = &h->grants;

	if (h->places.user >= 0)
		write_uses(h);
	while (g->n > 0)
		granted_done(&g->list[--g->n]);
	free(g->list);
	free(g->active);
	free(g->bytes);
	memset(g, 0, sizeof(*g));
}
