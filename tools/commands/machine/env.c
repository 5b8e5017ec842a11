/*
 * pale env: the environment that `pale run` would give an agent here, each name with its reason.
 *
 * Standard variables are shown with their values, all others only with their length.
 */
#include <errno.h>
#include <string.h>

#include "policy/base/path.h"
#include "policy/base/util.h"

#include "tools/base/options.h"
#include "tools/base/output.h"
#include "tools/base/paths.h"
#include "tools/environment/environment.h"
#include "tools/environment/relocate.h"
#include "tools/gather/environment_file.h"
#include "tools/gather/gather.h"
#include "tools/git/ghosts.h"
#include "tools/sessions/sessions.h"

#define MASKED "****"

/* A value is shown if the variable is a standard one, or one that pale, a profile or a preset sets, and its
 * name does not suggest a secret. */
static bool is_shown(const struct environment_entry *e)
{
	static const char *const ours[] = { "[session] ", "agent ", "preset " };
	bool is_ours = false;

	for (size_t i = 0; e->why == WHY_SET && e->where && i < NELEM(ours); i++)
		is_ours = is_ours || strncmp(e->where, ours[i], strlen(ours[i])) == 0;
	return e->given && (is_ours || e->why == WHY_STANDARD || e->why == WHY_TOOLCHAIN) &&
	       !environ_name_is_secret(e->name);
}

static int compare_entries(const void *a, const void *b)
{
	return strcmp(((const struct environment_entry *)a)->name,
		      ((const struct environment_entry *)b)->name);
}

static json_t *entry_to_json(const struct environment_entry *e)
{
	return json_pack("{so, sb, so, sI, ss, so}", "name", json_text(e->name), "given", e->given, "value",
			 json_text(is_shown(e) ? e->value : MASKED), "length", (json_int_t)strlen(e->value),
			 "why", environ_why_text(e->why), "where", json_text(e->where));
}

static void print_entry(const struct environment_entry *e)
{
	print_escaped(stdout, e->name);
	putchar('=');
	if (is_shown(e))
		print_escaped(stdout, e->value);
	else
		printf(MASKED " (%zu bytes)", strlen(e->value));
	printf("\t%s# %s%s", paint_on(stdout, PAINT_DIM),
	       e->given ? "" : "withheld: ", environ_why_text(e->why));
	if (e->where) {
		putchar(' ');
		print_escaped(stdout, e->where);
	}
	printf("%s\n", paint_off(stdout));
}

static void print_environment(const struct options *o, struct environment *env)
{
	json_t *list = o->json ? json_array() : NULL;

	qsort(env->list, env->n, sizeof(*env->list), compare_entries);
	for (size_t i = 0; i < env->n; i++) {
		const struct environment_entry *e = &env->list[i];

		if (!e->given && !o->all)
			continue;
		if (list)
			json_array_append_new(list, entry_to_json(e));
		else
			print_entry(e);
	}
	if (list)
		print_json(list);
}

/* What a session at level full would be told of its remotes. */
static int tell_ghosts(struct environment *env, const struct bundle *b, const struct policy *p)
{
	const char *config = environment_get(env, "XDG_CONFIG_HOME");
	struct ghosts ghosts;
	int r = session_around() ? -EEXIST : ghosts_find(&ghosts, b);

	if (r < 0)
		return r == -EEXIST ? 0 : r;
	ghosts_keep(&ghosts, ghost_is_named, p);
	r = config ? ghosts_tell(&ghosts, config, env) : 0;
	ghosts_done(&ghosts);
	return r == -EEXIST ? 0 : r;
}

static int gather_environment(const struct options *o, struct environment *env, struct diags *d)
{
	struct relocation rel = { 0 };
	struct dirs dirs;
	struct policy p;
	struct bundle b;
	int r;

	policy_init(&p);
	bundle_init(&b);
	r = dirs_find(&dirs);
	if (r == 0)
		r = bundle_gather(o, NULL, &b, d);
	if (r == 0)
		r = policy_parse(&b, &p, d);
	if (r == 0) {
		const struct environment_source s = {
			.o = o, .p = &p, .b = &b, .dirs = &dirs, .d = d, .from_files = environment_from_files
		};

		r = environment_gather(env, &s);
		if (r == 0)
			r = relocation_plan(&rel, o, &b, &p);
		if (r == 0)
			r = relocation_tell(&rel, &b, env);
		if (r == 0 && rel.state)
			r = tell_ghosts(env, &b, &p);
	}
	relocation_done(&rel);
	policy_done(&p);
	bundle_done(&b);
	return r;
}

static int run_env(const struct options *given, int argc, char **argv)
{
	struct options o = *given;
	struct environment env;
	struct diags d;
	int r;

	if (!o.agent && argc > 0)
		o.agent = path_basename(argv[0]);
	environment_init(&env);
	diags_init(&d);
	r = gather_environment(&o, &env, &d);
	print_diags(stderr, &d);
	if (r == 0)
		print_environment(&o, &env);
	else if (r != -EBADMSG)
		talk("the environment cannot be determined: %s", strerror(-r));
	environment_done(&env);
	diags_done(&d);
	return r == 0 ? EXIT_OK : EXIT_USAGE;
}

static const struct opt opts[] = {
	OPTS_POLICY, OPT_ENV, OPT_KEEP_HOME, OPT_FLAG("all", 'a', all, "also what is withheld, and why"),
	OPT_JSON,    { 0 },
};

const struct subcommand subcommand_env = {
	.name = "env",
	.args = "[options] [-- CMD]",
	.summary = "show the variables that an agent would get, and why",
	.opts = opts,
	.operands = OPERANDS_STOP,
	.usage_status = EXIT_USAGE,
	.run = run_env,
};
