/*
 * Records to deeds, deeds to groups: see lesson.h.
 */
#include "lesson.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/base/path.h"
#include "policy/base/util.h"
#include "policy/grant/grant_impl.h"

#define SLOTS (2u * LESSON_EVENTS)

int lessons_init(struct lessons *l, const struct image *img, const char *workspace)
{
	memset(l, 0, sizeof(*l));
	l->img = img;
	l->workspace = workspace;
	l->events = calloc(LESSON_EVENTS, sizeof(*l->events));
	l->slots = calloc(SLOTS, sizeof(*l->slots));
	l->list = calloc(LESSON_MAX, sizeof(*l->list));
	return l->events && l->slots && l->list ? 0 : -ENOMEM;
}

static void event_done(struct lesson_event *e)
{
	free((char *)(uintptr_t)e->r.target);
	free((char *)(uintptr_t)e->r.detail);
}

void lessons_done(struct lessons *l)
{
	for (size_t i = 0; i < l->n_events; i++)
		event_done(&l->events[i]);
	for (size_t i = 0; i < l->n; i++)
		free(l->list[i].events);
	free(l->events);
	free(l->slots);
	free(l->list);
	memset(l, 0, sizeof(*l));
}

/* --- taking records --- */

static bool is_lesson(const struct record *r)
{
	enum op op = op_by_name(r->op);

	if (op == OP_NONE || op == OP_ATTACH)
		return false;
	if (strcmp(r->verdict, "deny") == 0)
		return true;
	return strcmp(r->verdict, "allow") == 0 && (r->approval[0] || strstr(r->detail, " observed="));
}

static uint64_t hash_add(uint64_t h, const char *s)
{
	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * 0x100000001b3ull;
	return (h ^ 0xff) * 0x100000001b3ull;
}

static bool is_same_event(const struct lesson_event *e, const struct record *r)
{
	return strcmp(e->r.op, op_name(op_by_name(r->op))) == 0 && strcmp(e->r.target, r->target) == 0 &&
	       strcmp(e->r.access, r->access) == 0;
}

/* There are few names of operations, accesses and verdicts, so static strings outlive the record. */
static const char *access_text(const char *text)
{
	for (unsigned access = 0; access <= ACCESS_ALL; access++)
		if (strcmp(access_name(access), text) == 0)
			return access_name(access);
	return "";
}

static int keep_record(struct lessons *l, const struct record *r, uint32_t *slot)
{
	struct lesson_event *e = &l->events[l->n_events];

	e->r = (struct record){ .op = op_name(op_by_name(r->op)),
				.access = access_text(r->access),
				.verdict = strcmp(r->verdict, "deny") == 0 ? "deny" : "allow",
				.target = strdup(r->target),
				.detail = strdup(r->detail) };
	e->count = r->count ? r->count : 1;
	if (!e->r.target || !e->r.detail) {
		event_done(e);
		return -ENOMEM;
	}
	/* A denial by the operator counts, also if the same deed was approved before. */
	if (r->approval[0] && e->r.verdict[0] == 'd')
		e->why = "you denied it";
	*slot = (uint32_t)++l->n_events;
	return 0;
}

int lessons_add(struct lessons *l, const struct record *r)
{
	uint64_t h;

	if (!is_lesson(r))
		return 0;
	h = hash_add(hash_add(hash_add(0xcbf29ce484222325ull, r->op), r->target), access_text(r->access));
	for (size_t i = 0;; i++) {
		uint32_t *slot = &l->slots[((h >> 8) + i) % SLOTS];
		struct lesson_event *e;

		if (*slot == 0 && l->n_events == LESSON_EVENTS) {
			l->beyond++;
			return 0;
		}
		if (*slot == 0)
			return keep_record(l, r, slot);
		e = &l->events[*slot - 1];
		if (!is_same_event(e, r))
			continue;
		e->count += r->count ? r->count : 1;
		if (r->approval[0] && strcmp(r->verdict, "deny") == 0)
			e->why = "you denied it";
		return 0;
	}
}

/* --- what is left out --- */

/* Why a rule of that kind leaves a deed out; NULL if a proposed rule may allow the deed. */
static const char *const kinds[RULE_KIND_COUNT] = {
	[RULE_FILE_DENY] = "a rule closes it",
	[RULE_FILE_READONLY] = "a rule keeps it as it is",
	[RULE_FILE_KEEP] = "a rule keeps it from being removed",
	[RULE_FILE_SENSITIVE] = "it is a secret",
	[RULE_FILE_SELF] = "it is pale's own",
	[RULE_FILE_HIDDEN] = "it is pale's own",
	[RULE_CMD_DENY] = "a rule denies it",
	[RULE_CMD_DENYLIST] = "it is on the denylist",
	[RULE_NET_DENY] = "a rule denies it",
	[RULE_TOOL_DENY] = "a rule denies it",
	[RULE_BRANCH] = "it touches a protected branch",
};

static const char *const reasons[REASON_COUNT] = {
	[REASON_SELF] = "it is pale's own",
	[REASON_READONLY] = "the mode is read-only",
	[REASON_CHILDREN] = "the mode is read-only",
	[REASON_OFFLINE] = "the network is off",
	[REASON_URL] = "the network is off",
	[REASON_TRUNK] = "it touches a protected branch",
	[REASON_ANCESTOR] = "something below it is protected",
	[REASON_REBIND] = "the name leads to an address that is not public",
	[REASON_ASTRAY] = "the address is not what it says",
	[REASON_ABSOLUTE] = "paths are relative",
	[REASON_TRAVERSAL] = "paths are relative",
};

const char *lesson_why_not(const struct image *img, const struct decision *d, enum op op)
{
	const struct image_rule *r = image_rule(img, d->rule);

	if (d->verdict == VERDICT_DENY && reasons[d->reason])
		return reasons[d->reason];
	if (r && r->kind < RULE_KIND_COUNT && kinds[r->kind])
		return kinds[r->kind];
	if (op == OP_BIND && d->reason == REASON_UDP)
		return "it binds a datagram socket to a port: write the `udp =` rule yourself";
	switch ((int)d->reason) {
	case REASON_RULE:
	case REASON_OUTSIDE:
	case REASON_HOME:
	case REASON_DEFAULT:
	case REASON_HOST:
	case REASON_NEVER:
	case REASON_UNIX:
	case REASON_UDP:
		return NULL;
	default:
		return reason_text(d->reason);
	}
}

/* True if a part of the path's name suggests a secret. */
static bool looks_secret(const char *path)
{
	static const char *const globs[] = { "*token*", "*secret*", "*passw*", "*credential*",	"*api*key*",
					     "*.pem",	"*.key",    "*.p12",   "*.pfx",		".env",
					     ".env.*",	"id_rsa*",  "id_ed*",  "*.kdbx",	"*.keystore",
					     ".netrc",	".pgpass",  ".npmrc",  "*private*key*", "*.gpg" };
	char name[256];

	while (*path) {
		size_t n = strcspn(path, "/");

		for (size_t i = 0; i < n && i < sizeof(name); i++)
			name[i] = (char)(path[i] >= 'A' && path[i] <= 'Z' ? path[i] | 0x20 : path[i]);
		for (size_t i = 0; n < sizeof(name) && i < NELEM(globs); i++)
			if (glob_match(globs[i], strlen(globs[i]), name, n))
				return true;
		path += n + (path[n] == '/');
	}
	return false;
}

/* --- groups --- */

static const char *root_of_command(const struct image *img, const struct deed *d, char *buf, size_t size)
{
	const char *program = path_basename(d->words[0]), *word = d->req.argc > 1 ? d->words[1] : "";
	struct command c = { .program = program, .args = d->req.argv + 1, .n = d->req.argc - 1 };

	if (strchr(d->words[0], '/') && (d->words[0][0] != '/' || program_is_own(img, d->words[0])))
		return "its name says nothing: the program can be exchanged";
	if (command_is_runner(&c))
		return "it runs what its arguments say";
	if (snprintf(buf, size, "%s %s", program, word[0] == '-' ? "" : word) >= (int)size)
		return "it is too long for a rule";
	return NULL;
}

static const char *root_of(const struct image *img, const struct deed *d, char *buf, size_t size)
{
	const char *why = NULL;

	if (d->req.op == OP_EXEC)
		return root_of_command(img, d, buf, size);
	if (d->req.path && looks_secret(d->req.path))
		return "its name looks like a secret's";
	if (!d->req.path || d->req.op == OP_UNIX)
		return lesson_net_root(img, &d->req, buf, size);
	if (!(d->req.access & ~(unsigned)ACCESS_READ)) /* the file alone */
		return snprintf(buf, size, "%.*s", (int)grant_place(d->req.path), d->req.path) >= (int)size
			       ? "it is too long for a rule"
			       : NULL;
	return lesson_root(img, d->req.path, buf, size, &why) ? NULL : why;
}

static int judge_event(struct lessons *l, struct lesson_event *e)
{
	struct deed d;
	struct decision v, locked;
	int r = deed_init(&d, &e->r, l->workspace);

	if (r == -EINVAL)
		e->why = "its record does not say enough";
	if (r == 0) {
		v = eval(l->img, &d.req);
		e->covered = decision_verdict(&v) == VERDICT_ALLOW;
		e->directory = d.req.op == OP_MKDIR;
		if (!e->covered && !e->why)
			e->why = lesson_why_not(l->img, &v, d.req.op);
		if (!e->covered && !e->why && grant_lock_is_closed(l->img, &d.req, &locked))
			e->why = lesson_why_not(l->img, &locked, d.req.op);
		if (!e->covered && !e->why)
			e->why = root_of(l->img, &d, e->root, sizeof(e->root));
	}
	deed_done(&d);
	return r == -ENOMEM ? r : 0;
}

static bool is_read(const struct lesson_event *e)
{
	return strcmp(e->r.access, "r") == 0;
}

static struct lesson *group_of(struct lessons *l, const struct lesson_event *e)
{
	const char *section = op_section(op_by_name(e->r.op));

	for (size_t i = 0; i < l->n; i++) {
		const struct lesson_event *first = &l->events[l->list[i].events[0]];

		if (l->list[i].section == section && strcmp(first->root, e->root) == 0 &&
		    (strcmp(section, "files") != 0 || is_read(first) == is_read(e)))
			return &l->list[i];
	}
	if (l->n == LESSON_MAX)
		return NULL;
	l->list[l->n].section = section;
	return &l->list[l->n++];
}

static int join_group(struct lessons *l, size_t i)
{
	struct lesson *g = group_of(l, &l->events[i]);
	size_t *grown;

	if (!g) {
		l->events[i].why = "there are too many different ones: take some and learn again";
		return 0;
	}
	grown = realloc(g->events, (g->n_events + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	g->events = grown;
	grown[g->n_events++] = i;
	g->count += l->events[i].count;
	return 0;
}

static bool is_tree(const struct lessons *l, const struct lesson *g)
{
	return strcmp(g->section, "files") == 0 && !is_read(&l->events[g->events[0]]);
}

/* Merges the group `from` into `to`, whose place is above it. */
static int merge(struct lessons *l, struct lesson *to, struct lesson *from)
{
	size_t *grown = realloc(to->events, (to->n_events + from->n_events) * sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	memcpy(grown + to->n_events, from->events, from->n_events * sizeof(*grown));
	to->events = grown;
	to->n_events += from->n_events;
	to->count += from->count;
	free(from->events);
	*from = l->list[--l->n];
	return 0;
}

static int merge_trees(struct lessons *l)
{
	for (size_t i = 0; i < l->n; i++) {
		for (size_t k = 0; k < l->n;) {
			struct lesson *to = &l->list[i], *from = &l->list[k];
			int r;

			if (i == k || !is_tree(l, to) || !is_tree(l, from) ||
			    !path_is_under(l->events[from->events[0]].root, l->events[to->events[0]].root)) {
				k++;
				continue;
			}
			r = merge(l, to, from);
			if (r < 0)
				return r;
			if (i == l->n)
				return merge_trees(l); /* the last group has moved: `to` is stale */
		}
	}
	return 0;
}

static int by_count(const void *a, const void *b)
{
	const struct lesson *x = a, *y = b;

	return x->count == y->count ? strcmp(x->line, y->line) : x->count < y->count ? 1 : -1;
}

/* Dissolves groups for which no line may be proposed, then sorts the others. */
static void settle_groups(struct lessons *l)
{
	for (size_t i = 0; i < l->n;) {
		struct lesson *g = &l->list[i];
		const char *why = lesson_line(l, g);

		if (!why) {
			i++;
			continue;
		}
		for (size_t k = 0; k < g->n_events; k++)
			l->events[g->events[k]].why = why;
		free(g->events);
		*g = l->list[--l->n];
	}
	if (l->n)
		qsort(l->list, l->n, sizeof(*l->list), by_count);
}

int lessons_group(struct lessons *l)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < l->n_events; i++)
		r = judge_event(l, &l->events[i]);
	for (size_t i = 0; r == 0 && i < l->n_events; i++)
		if (!l->events[i].covered && !l->events[i].why)
			r = join_group(l, i);
	if (r == 0)
		r = merge_trees(l);
	if (r == 0)
		settle_groups(l);
	return r;
}
