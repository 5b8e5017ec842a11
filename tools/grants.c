/*
 * pale grants, pale revoke: what was allowed beyond one question, and taking it back.
 *
 * Those that are kept stand in files, those of a session in its helper alone.  A grant is revoked by a
 * helper where one runs, which records it; else our own file is changed as a helper would.
 */
#include "grants.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#define ID_SHOWN 8

/* One of the list; strings are of the JSON it came in. */
struct item {
	const char *id, *scope, *section, *line, *agent, *workspace, *made, *until, *by, *bound, *session;
	json_int_t used;
	bool over;
	int store;  /* enum kept_store, or -1: a session's own */
	size_t ref; /* a session that knows it, or SIZE_MAX */
};

struct all {
	struct kept kept;
	struct session_ref *refs;
	json_t **answers; /* grants/list of each session */
	size_t n_refs;
	struct item *list;
	size_t n;
};

/* --- gathering --- */

static int add(struct all *a, const struct item *item)
{
	struct item *list = reallocarray(a->list, a->n + 1, sizeof(*list));

	if (!list)
		return -ENOMEM;
	a->list = list;
	list[a->n++] = *item;
	return 0;
}

static struct item item_of(const json_t *j)
{
	return (struct item){ .id = json_str(j, "id"),
			      .scope = json_str(j, "scope"),
			      .section = json_str(j, "section"),
			      .line = json_str(j, "line"),
			      .agent = json_str(j, "agent"),
			      .workspace = json_str(j, "workspace"),
			      .made = json_str(j, "made"),
			      .until = json_str(j, "until"),
			      .by = json_str(j, "by"),
			      .bound = json_str(j, "bound"),
			      .session = "",
			      .used = json_integer_value(json_object_get(j, "used")),
			      .store = -1,
			      .ref = SIZE_MAX };
}

static int add_kept(struct all *a, int store)
{
	const json_t *list = json_object_get(a->kept.file[store], "grants"), *j;
	uint64_t end, now = (uint64_t)time(NULL);
	int r = 0;
	size_t i;

	json_array_foreach(list, i, j)
	{
		struct item item = item_of(j);

		item.store = store;
		item.over = item.until[0] && day_end(item.until, &end) == 0 && now >= end;
		if (r == 0)
			r = add(a, &item);
	}
	return r;
}

static struct item *find_id(struct all *a, const char *id)
{
	for (size_t i = 0; i < a->n; i++)
		if (strcmp(a->list[i].id, id) == 0)
			return &a->list[i];
	return NULL;
}

/* A session's own grants, and who knows of those that are kept. */
static int add_session(struct all *a, size_t ref)
{
	const json_t *j;
	size_t i;
	int r = 0;

	json_array_foreach(json_object_get(a->answers[ref], "grants"), i, j)
	{
		struct item item = item_of(j), *kept = find_id(a, item.id);

		if (kept) {
			kept->ref = ref;
			kept->used = item.used > kept->used ? item.used : kept->used;
			continue;
		}
		if (strcmp(item.scope, "session") != 0)
			continue;
		item.session = a->refs[ref].id;
		item.ref = ref;
		if (r == 0)
			r = add(a, &item);
	}
	return r;
}

static int call(const struct session_ref *ref, const char *method, json_t *params, json_t **ret, char *why,
		size_t size)
{
	_cleanup_close_ int fd = control_open(ref->dir);

	if (fd < 0) {
		json_decref(params);
		snprintf(why, size, "session %s does not answer: %s", ref->id, strerror(-fd));
		return fd;
	}
	return control_call(fd, method, params, ret, why, size);
}

static int gather(struct all *a)
{
	char why[512];
	int r = 0;

	kept_read(&a->kept);
	for (int i = 0; r == 0 && i < KEPT_STORES; i++)
		r = add_kept(a, i);
	if (r == 0)
		r = sessions_live(&a->refs, &a->n_refs);
	a->answers = calloc(a->n_refs + 1, sizeof(json_t *));
	for (size_t i = 0; r == 0 && i < a->n_refs; i++) {
		if (!a->answers)
			return -ENOMEM;
		if (call(&a->refs[i], "grants/list", NULL, &a->answers[i], why, sizeof(why)) < 0)
			talk("%s", why);
		else
			r = add_session(a, i);
	}
	return r;
}

static void all_done(struct all *a)
{
	for (size_t i = 0; a->answers && i < a->n_refs; i++)
		json_decref(a->answers[i]);
	free(a->answers);
	free(a->refs);
	free(a->list);
	kept_done(&a->kept);
}

void grants_each(named_fn *fn, void *ctx)
{
	struct all a = { 0 };
	char id[ID_SHOWN + 1];

	if (gather(&a) == 0)
		for (size_t i = 0; i < a.n; i++) {
			_cleanup_free_ char *line = recorded_visible(a.list[i].line);

			(void)snprintf(id, sizeof(id), "%s", a.list[i].id);
			fn(ctx, id, line ? line : "");
		}
	all_done(&a);
}

/* --- telling --- */

static void print_item(const struct item *g)
{
	printf("%s%.*s%s  %s", paint_on(stdout, PAINT_BOLD), ID_SHOWN, g->id, paint_off(stdout), g->scope);
	if (g->until[0])
		printf(" until %s%s", g->until, g->over ? " (over)" : "");
	if (g->session[0])
		printf(" %s", g->session);
	printf("  ");
	print_recorded(stdout, g->agent);
	if (g->workspace[0] && strcmp(g->scope, "session") != 0) {
		printf(" in ");
		print_recorded(stdout, g->workspace);
	}
	printf("  used %lld, by ", (long long)g->used);
	print_recorded(stdout, g->by);
	printf("\n          [%s] ", g->section);
	print_escaped(stdout, g->line);
	if (g->bound[0]) {
		printf("\n          ");
		print_recorded(stdout, g->bound);
	}
	putchar('\n');
}

static json_t *item_json(const struct item *g)
{
	return json_pack("{ss, ss, ss, ss, ss, ss, ss, ss, ss, ss, sI, sb, ss?}", "id", g->id, "scope",
			 g->scope, "section", g->section, "line", g->line, "agent", g->agent, "workspace",
			 g->workspace, "made", g->made, "until", g->until, "by", g->by, "bound", g->bound,
			 "used", g->used, "over", g->over, "session", g->session[0] ? g->session : NULL);
}

/* As lines that may be carried over into a policy: the same agent's, in comments what a policy cannot say. */
static void print_ini(const struct item *g)
{
	printf("# %.*s %s", ID_SHOWN, g->id, g->scope);
	if (g->workspace[0] && strcmp(g->scope, "project") == 0) {
		printf(" ");
		print_recorded(stdout, g->workspace);
	}
	printf("%s%s\n[agent \"", g->until[0] ? " until " : "", g->until);
	print_recorded(stdout, g->agent);
	printf("\" %s]\n%s\n\n", g->section, g->line);
}

static int grants_run(const struct options *o, int argc, char **argv)
{
	struct all a = { 0 };
	json_t *list = o->json ? json_array() : NULL;
	int r = gather(&a);

	(void)argc;
	(void)argv;
	for (size_t i = 0; r == 0 && i < a.n; i++) {
		if (o->json)
			json_array_append_new(list, item_json(&a.list[i]));
		else if (o->ini && !a.list[i].over)
			print_ini(&a.list[i]);
		else if (!o->ini)
			print_item(&a.list[i]);
	}
	if (r == 0 && o->json)
		print_json(TAKE_PTR(list));
	if (r == 0 && !o->json && !o->ini && a.n == 0)
		talk("nothing is granted");
	if (r < 0)
		talk("cannot list grants: %s", strerror(-r));
	json_decref(list);
	all_done(&a);
	return r < 0 ? EXIT_FINDINGS : EXIT_OK;
}

/* --- taking back --- */

static struct item *find_prefix(struct all *a, const char *prefix)
{
	size_t len = strlen(prefix);
	struct item *found = NULL;

	for (size_t i = 0; len >= GRANT_ID_PREFIX && i < a->n; i++) {
		if (strncmp(a->list[i].id, prefix, len) != 0)
			continue;
		if (found) {
			talk("more than one grant begins with %s: give more digits", prefix);
			return NULL;
		}
		found = &a->list[i];
	}
	if (!found)
		talk("no grant has the id %s (four digits at least); see: pale grants", prefix);
	return found;
}

static int revoke_by_helper(struct all *a, const struct item *g)
{
	_cleanup_json_ json_t *answer = NULL;
	char why[512];
	int r = call(&a->refs[g->ref], "grants/revoke",
		     json_pack("{ss, ss}", "id", g->id, "by", operator_name()), &answer, why, sizeof(why));

	if (r < 0)
		talk("%s", why);
	return r;
}

static int revoke_by_file(const struct all *a, const struct item *g)
{
	int r;

	if (g->store != KEPT_OWN) {
		talk("%.*s is kept by pale-helper's own user: it is revoked through a session; start one, as "
		     "with "
		     "`pale run -- sh`, and revoke it from another terminal",
		     ID_SHOWN, g->id);
		return -EPERM;
	}
	r = kept_revoke(a->kept.dir[KEPT_OWN], g->id);
	if (r < 0)
		talk("cannot revoke %.*s: %s", ID_SHOWN, g->id,
		     r == -EAGAIN ? "another session holds the file of grants; try again" : strerror(-r));
	return r;
}

static int revoke_one(struct all *a, const char *prefix)
{
	const struct item *g = find_prefix(a, prefix);
	int r;

	if (!g)
		return -ENOENT;
	r = g->ref != SIZE_MAX ? revoke_by_helper(a, g) : revoke_by_file(a, g);
	if (r < 0)
		return r;
	printf("revoked %.*s  [%s] ", ID_SHOWN, g->id, g->section);
	print_escaped(stdout, g->line);
	putchar('\n');
	return 0;
}

static int revoke_run(const struct options *o, int argc, char **argv)
{
	struct all a = { 0 };
	int bad = 0, r;

	(void)o;
	if (argc < 1) {
		talk("which grant?  See: pale grants");
		return EXIT_USAGE;
	}
	r = gather(&a);
	if (r < 0)
		talk("cannot list grants: %s", strerror(-r));
	for (int i = 0; r == 0 && i < argc; i++)
		bad |= revoke_one(&a, argv[i]) < 0;
	all_done(&a);
	return r < 0 || bad ? EXIT_FINDINGS : EXIT_OK;
}

static const struct opt opts[] = {
	OPT_FLAG("ini", 0, ini, "as lines of a policy"),
	OPT_JSON,
	{ 0 },
};

const struct subcommand subcommand_grants = {
	.name = "grants",
	.args = "[--ini | --json]",
	.summary = "what was allowed beyond one question",
	.opts = opts,
	.usage_status = EXIT_USAGE,
	.run = grants_run,
};

const struct subcommand subcommand_revoke = {
	.name = "revoke",
	.args = "ID...",
	.summary = "take a grant back",
	.usage_status = EXIT_USAGE,
	.run = revoke_run,
};
