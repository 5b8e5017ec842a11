/*
 * pale grants, pale revoke: lists what was allowed beyond one question, and takes it back.
 *
 * Kept grants are in files; those of one session are only in its helper.  If a helper runs, it revokes the
 * grant and records that; else this command changes the user's own file as a helper would.
 */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "policy/base/util.h"
#include "policy/system/cleanup.h"

#include "tools/base/options.h"
#include "tools/base/output.h"
#include "tools/cards/grants.h"
#include "tools/ledgers/deeds.h"
#include "tools/sessions/control_client.h"
#include "tools/sessions/sessions.h"

#include "pending.h"

#define ID_SHOWN 8

struct all {
	struct kept kept;
	struct session_ref *refs;
	size_t n_refs;
	/* As grants/list has them; a kept one has also "store", one that a session knows "ref" (the
	 * session's number), one that only a session knows "session". */
	json_t *list;
};

/* --- gathering --- */

static json_t *find_id(const struct all *a, const char *id)
{
	json_t *j;
	size_t i;

	json_array_foreach(a->list, i, j)
	{
		if (strcmp(json_str(j, "id"), id) == 0)
			return j;
	}
	return NULL;
}

/* Sets "over", and for a grant that will be over "left_s". */
static void set_left(json_t *g)
{
	uint64_t end, now = (uint64_t)time(NULL);
	bool ends = until_end(json_str(g, "until"), &end) == 0;

	(void)json_object_set_new(g, "over", json_boolean(ends && now >= end));
	if (ends && now < end)
		(void)json_object_set_new(g, "left_s", json_integer((json_int_t)(end - now)));
}

static void add_kept(struct all *a, int store)
{
	for (size_t i = 0; i < a->kept.list[store].n; i++) {
		const struct grant_entry *e = &a->kept.list[store].list[i];
		json_t *j = grant_entry_json(e);

		(void)json_object_set_new(j, "store", json_integer(store));
		set_left(j);
		(void)json_array_append_new(a->list, j);
	}
}

/* Adds a session's own grants, and notes which kept grants it knows. */
static void add_session(struct all *a, size_t ref, const json_t *answer)
{
	json_t *j;
	size_t i;

	json_array_foreach(json_object_get(answer, "grants"), i, j)
	{
		json_t *kept = find_id(a, json_str(j, "id"));

		if (!kept) {
			(void)json_object_set_new(j, "session", json_string(a->refs[ref].id));
			set_left(j);
			(void)json_array_append(a->list, j);
		}
		(void)json_object_set_new(kept ? kept : j, "ref", json_integer((json_int_t)ref));
	}
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

static int gather_grants(struct all *a)
{
	char why[512];
	int r;

	a->list = json_array();
	kept_read(&a->kept);
	for (int i = 0; i < KEPT_STORES; i++)
		add_kept(a, i);
	r = sessions_live(&a->refs, &a->n_refs);
	for (size_t i = 0; r == 0 && i < a->n_refs; i++) {
		_cleanup_json_ json_t *answer = NULL;

		if (call(&a->refs[i], "grants/list", NULL, &answer, why, sizeof(why)) < 0)
			talk("%s", why);
		else
			add_session(a, i, answer);
	}
	return r;
}

static void all_done(struct all *a)
{
	json_decref(a->list);
	free(a->refs);
	kept_done(&a->kept);
}

void grants_each(named_fn *fn, void *ctx)
{
	struct all a = { 0 };
	char id[ID_SHOWN + 1];
	json_t *j;
	size_t i;

	(void)gather_grants(&a);
	json_array_foreach(a.list, i, j)
	{
		_cleanup_free_ char *line = recorded_visible(json_str(j, "line"));

		(void)snprintf(id, sizeof(id), "%s", json_str(j, "id"));
		fn(ctx, id, line ? line : "");
	}
	all_done(&a);
}

/* --- output --- */

/* Prints a member of g after the text `before`, if g has it. */
static void print_member(const char *before, const json_t *g, const char *name)
{
	if (*json_str(g, name)) {
		printf("%s", before);
		print_recorded(stdout, json_str(g, name));
	}
}

static void put_id(const json_t *g)
{
	char id[ID_SHOWN + 1];

	(void)snprintf(id, sizeof(id), "%s", json_str(g, "id"));
	print_recorded(stdout, id);
}

static void print_rule(const json_t *g)
{
	print_member("[", g, "section");
	printf("] ");
	print_escaped(stdout, json_str(g, "line"));
	putchar('\n');
}

/* "(14m left)", in the largest unit of which at least two are left. */
static void print_left(const json_t *g)
{
	static const struct {
		char unit;
		json_int_t s;
	} units[] = { { 'd', 86400 }, { 'h', 3600 }, { 'm', 60 }, { 's', 1 } };
	json_int_t left = json_integer_value(json_object_get(g, "left_s"));
	size_t i = 0;

	if (json_is_true(json_object_get(g, "over")))
		printf(" (over)");
	while (i < NELEM(units) - 1 && left < 2 * units[i].s)
		i++;
	if (left)
		printf(" (%lld%c left)", (long long)(left / units[i].s), units[i].unit);
}

static void print_item(const json_t *g)
{
	printf("%s", paint_on(stdout, PAINT_BOLD));
	put_id(g);
	printf("%s", paint_off(stdout));
	print_member("  ", g, "scope");
	print_member(" until ", g, "until");
	print_left(g);
	print_member(" ", g, "session");
	print_member("  ", g, "agent");
	print_member(" in ", g, "workspace");
	print_member("  by ", g, "by");
	printf("\n          ");
	print_rule(g);
	if (*json_str(g, "bound")) {
		print_member("          ", g, "bound");
		putchar('\n');
	}
}

/* Prints lines for a policy, by agent; what a policy cannot express is in comments. */
static void print_ini(const json_t *g)
{
	printf("# ");
	put_id(g);
	print_member(" ", g, "scope");
	print_member(" ", g, "workspace");
	print_member(" until ", g, "until");
	printf("\n[agent \"");
	print_recorded(stdout, json_str(g, "agent"));
	printf("\" ");
	print_recorded(stdout, json_str(g, "section"));
	printf("]\n");
	print_escaped(stdout, json_str(g, "line"));
	printf("\n\n");
}

static int grants_run(const struct options *o, int argc, char **argv)
{
	struct all a = { 0 };
	int r = gather_grants(&a);
	json_t *j;
	size_t i;

	(void)argc;
	(void)argv;
	if (r < 0)
		talk("cannot list grants: %s", strerror(-r));
	else if (!o->ini && !o->json && json_array_size(a.list) == 0)
		talk("nothing is granted");
	json_array_foreach(r < 0 ? NULL : a.list, i, j)
	{
		(void)json_object_del(j, "store");
		(void)json_object_del(j, "ref");
		if (o->json)
			continue;
		if (!o->ini)
			print_item(j);
		else if (!json_is_true(json_object_get(j, "over")))
			print_ini(j);
	}
	if (r == 0 && o->json)
		print_json(json_incref(a.list));
	all_done(&a);
	return r < 0 ? EXIT_FINDINGS : EXIT_OK;
}

/* --- revoking --- */

static const json_t *find_prefix(const struct all *a, const char *prefix)
{
	size_t len = strlen(prefix), i;
	const json_t *found = NULL;
	json_t *j;

	json_array_foreach(a->list, i, j)
	{
		if (len < GRANT_ID_PREFIX || strncmp(json_str(j, "id"), prefix, len) != 0)
			continue;
		if (found) {
			talk("more than one grant begins with %s: give more digits", prefix);
			return NULL;
		}
		found = j;
	}
	if (!found)
		talk("no grant has the id %s (four digits at least); see: pale grants", prefix);
	return found;
}

static int revoke_by_helper(const struct session_ref *ref, const char *id)
{
	_cleanup_json_ json_t *answer = NULL;
	char why[512];
	int r = call(ref, "grants/revoke", json_pack("{ss, ss}", "id", id, "by", operator_name()), &answer,
		     why, sizeof(why));

	if (r < 0)
		talk("%s", why);
	return r;
}

static int revoke_by_file(const struct all *a, const json_t *g)
{
	int r;

	if (json_integer_value(json_object_get(g, "store")) != KEPT_OWN) {
		talk("this grant is kept by pale-helper's own user: it is revoked through a session; start "
		     "one, "
		     "as with `pale run -- sh`, and revoke it from another terminal");
		return -EPERM;
	}
	r = kept_revoke(a->kept.dir[KEPT_OWN], json_str(g, "id"));
	if (r < 0)
		talk("the grant is not revoked: %s", strerror(-r));
	else
		(void)machine_note("grant/revoked", json_str(g, "line"), NULL, 0);
	return r;
}

static int revoke_one(const struct all *a, const char *prefix)
{
	const json_t *g = find_prefix(a, prefix), *ref;
	int r;

	if (!g)
		return -ENOENT;
	ref = json_object_get(g, "ref");
	r = ref ? revoke_by_helper(&a->refs[json_integer_value(ref)], json_str(g, "id"))
		: revoke_by_file(a, g);
	if (r < 0)
		return r;
	printf("revoked ");
	put_id(g);
	printf("  ");
	print_rule(g);
	return 0;
}

static int revoke_run(const struct options *o, int argc, char **argv)
{
	struct all a = { 0 };
	int bad = 0, r;

	(void)o;
	if (argc < 1) {
		talk("revoke needs the id of a grant; see: pale grants");
		return EXIT_USAGE;
	}
	r = gather_grants(&a);
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
	.operands = OPERANDS_NONE,
	.usage_status = EXIT_USAGE,
	.outside = true,
	.run = grants_run,
};

const struct subcommand subcommand_revoke = {
	.name = "revoke",
	.args = "ID...",
	.summary = "take a grant back",
	.usage_status = EXIT_USAGE,
	.run = revoke_run,
};
