/*
 * pale init: the first run.  It finds the installed agents, writes a commented policy, lints it, reports
 * what this machine can enforce, and says what to type next.
 *
 * It overwrites a policy only with --force, and then keeps the old one.
 */
#include "pale_init.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "policy/base/util.h"
#include "policy/presets/agents.h"
#include "policy/system/cleanup.h"

#include "tools/base/options.h"
#include "tools/base/output.h"
#include "tools/edit/edit.h"
#include "tools/gather/load.h"
#include "tools/sessions/sessions.h"

#include "doctor.h"

#define AGENTS_MAX  16
#define BACKUPS_MAX 100

struct init {
	const struct options *o;
	struct agent_found agents[AGENTS_MAX];
	size_t n_agents;
	struct policy_file file;
	const char *preset;
	char *text;
	char backup[PATH_MAX];
	bool existed, written;
	bool kept; /* a policy exists: only report what is missing */
	struct loaded loaded;
	struct diags diags;
	struct checkup *machine;
	char next[PATH_MAX];
	const char *needs; /* what else the agent needs, or NULL */
};

/* --- the policy --- */

static int check_preset(const char *name)
{
	const char *names[16] = { NULL };

	for (size_t i = 0; i + 1 < NELEM(names) && preset_name(i); i++) {
		if (strcmp(preset_name(i), name) == 0)
			return 0;
		names[i] = preset_name(i);
	}
	options_unknown("preset", name, names);
	return -EINVAL;
}

/* Keeps it as policy.ini.old, policy.ini.old1, ...: never overwrites an older one. */
static int keep_old(struct init *in)
{
	for (int i = 0; i < BACKUPS_MAX; i++) {
		char number[16] = "";
		int n;

		if (i)
			snprintf(number, sizeof(number), "%d", i);
		n = snprintf(in->backup, sizeof(in->backup), "%s.old%s", in->file.path, number);
		if (n < 0 || (size_t)n >= sizeof(in->backup))
			return -ENAMETOOLONG;
		if (link(in->file.path, in->backup) == 0)
			return 0;
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

static int judge_text(struct init *in)
{
	int r = policy_load_with(&in->file, in->text, strlen(in->text), &in->loaded, &in->diags);

	if (r < 0 && in->diags.n_errors == 0)
		talk("the policy cannot be judged: %s", strerror(-r));
	return r;
}

static int save_file(struct init *in)
{
	int r = in->existed ? keep_old(in) : 0;

	if (r < 0)
		in->backup[0] = '\0';
	if (r == 0)
		r = policy_file_save(&in->file, in->text, strlen(in->text));
	in->written = r == 0;
	return r;
}

/* 0, or an exit code after a message.  Faults of a policy that stays are reported with the rest. */
static int refuse_existing(struct init *in)
{
	if (!in->existed || in->o->force || in->o->dry_run)
		return 0;
	in->kept = true;
	if (policy_load_with(&in->file, NULL, 0, &in->loaded, &in->diags) < 0 || in->diags.n)
		print_diags(stderr, &in->diags);
	talk("%s is there already and stays as it is: `pale policy edit%s` changes it, `pale init%s --force` "
	     "puts a new one in its place and keeps the old one beside it",
	     in->file.path, in->o->for_project ? " --project" : "", in->o->for_project ? " --project" : "");
	return EXIT_FINDINGS;
}

/* A policy that pale would not load can be replaced, too: its content is kept as it is. */
static int write_policy(struct init *in)
{
	int r = policy_file_find(&in->file, in->o), code;

	in->existed = r == 0 && access(in->file.path, F_OK) == 0;
	code = r == 0 ? refuse_existing(in) : 0;
	if (code)
		return code;
	if (r == 0)
		r = judge_text(in);
	if (r == 0 && !in->o->dry_run) {
		r = policy_file_open(&in->file);
		if (r == 0)
			r = save_file(in);
	}
	if (r == 0)
		return 0;
	print_diags(stderr, &in->diags);
	if (r == -EBADMSG)
		talk("nothing was written: the policies beside it have errors");
	else
		policy_file_tell(&in->file, r);
	return EXIT_USAGE;
}

/* --- what to do next --- */

/* The seed's own agent if it is installed, else the first. */
static const char *likely_agent(const struct init *in)
{
	for (size_t i = 0; i < in->n_agents; i++)
		if (strcmp(in->agents[i].name, "opencode") == 0)
			return in->agents[i].name;
	return in->n_agents ? in->agents[0].name : "bash";
}

static void find_next(struct init *in)
{
	const char *agent = in->o->agent ? in->o->agent : likely_agent(in);
	const struct agent_profile *profile = agent_of_command(agent);
	const char *const argv[] = { agent, NULL };
	_cleanup_free_ char *shown = text_visible(agent);

	in->needs = profile ? agent_needs(profile, argv) : NULL;
	/* That preset needs a subfolder, which it does not make. */
	snprintf(in->next, sizeof(in->next), "%spale run -- %s",
		 strcmp(in->preset, "bridge") == 0 ? "mkdir -p workspace && " : "", shown ? shown : agent);
}

static bool agent_is_here(const struct init *in)
{
	struct program p;

	return !in->o->agent || program_find(in->o->agent, &p) == 0;
}

/* --- the report --- */

static void print_agents(const struct init *in)
{
	for (size_t i = 0; i < in->n_agents && !in->kept; i++) {
		const struct agent_found *a = &in->agents[i];

		printf("found  %-12s %-12s ", a->name, a->coverage);
		print_escaped(stdout, a->program.found);
		putchar('\n');
	}
	if (!in->n_agents)
		puts("found  no agent on PATH that pale knows by name; any command can be run");
	if (!agent_is_here(in)) {
		fputs("lacks  ", stdout);
		print_escaped(stdout, in->o->agent);
		puts(" is not on PATH: install it first");
	}
}

static void print_lint(const struct init *in)
{
	if (in->diags.n == 0)
		fputs("lint clean", stdout);
	else
		printf("%zu lint finding%s, see: pale lint", in->diags.n, in->diags.n == 1 ? "" : "s");
}

static void print_policy(const struct init *in)
{
	fputs(in->kept ? "keeps  " : in->written ? "wrote  " : "would write  ", stdout);
	print_escaped(stdout, in->file.path);
	if (in->kept)
		printf("  (%zu rules, ", in->loaded.policy.n_rules);
	else if (!in->o->for_project)
		printf("  (preset %s, %zu rules, ", in->preset, in->loaded.policy.n_rules);
	else
		fputs("  (it may only tighten, ", stdout);
	print_lint(in);
	puts(")");
	if (in->backup[0]) {
		fputs("kept   the old one as ", stdout);
		print_escaped(stdout, in->backup);
		putchar('\n');
	}
}

static void print_report(const struct init *in)
{
	print_agents(in);
	print_policy(in);
	checkup_print_short(in->machine);
	if (in->needs)
		printf("note   %s\n", in->needs);
	printf("next:  %s%s%s\n", paint_on(stdout, PAINT_BOLD), in->next, paint_off(stdout));
}

static json_t *agents_to_json(const struct init *in)
{
	json_t *list = json_array();

	for (size_t i = 0; i < in->n_agents; i++) {
		const struct agent_found *a = &in->agents[i];

		json_array_append_new(list, json_pack("{ss, so, so, ss, ss}", "name", a->name, "file",
						      json_text(a->program.found), "loaded",
						      json_text(a->program.loaded), "kind", a->kind,
						      "coverage", a->coverage));
	}
	return list;
}

static void print_report_json(const struct init *in)
{
	print_json(json_pack("{so, so, ss?, sb, sb, so, so, si, so, so, ss, ss?}", "agents",
			     agents_to_json(in), "policy", json_text(in->file.path), "preset",
			     in->o->for_project || in->kept ? NULL : in->preset, "written", in->written,
			     "kept", in->kept, "backup", json_text(in->backup[0] ? in->backup : NULL), "text",
			     json_text(in->kept ? NULL : in->text), "rules", (int)in->loaded.policy.n_rules,
			     "findings", diags_to_json(&in->diags), "machine", checkup_to_json(in->machine),
			     "next", in->next, "needs", in->needs));
}

static int init(struct init *in)
{
	int code;

	in->n_agents = agents_find(in->agents, AGENTS_MAX);
	in->text = init_text(in->o->for_project ? INIT_PROJECT : INIT_USER, in->preset);
	in->machine = checkup_new(NULL);
	if (!in->text || !in->machine)
		return EXIT_USAGE;
	code = write_policy(in);
	if (code && !in->kept)
		return code;
	find_next(in);
	if (in->o->json) {
		print_report_json(in);
		return code;
	}
	print_report(in);
	if (in->o->dry_run)
		printf("\n%s", in->text);
	return code;
}

static int init_run(const struct options *given, int argc, char **argv)
{
	struct options o = *given;
	struct init in = { .o = &o, .preset = o.preset ? o.preset : "agent", .file = { .lock = -1 } };
	int code;

	(void)argc;
	(void)argv;
	if (session_around()) {
		talk("a session may not write policies; run `pale init` outside");
		return EXIT_FINDINGS;
	}
	if (o.preset && (o.for_project || check_preset(o.preset) < 0)) {
		if (o.for_project)
			talk("a project's policy has no preset: --project or --preset");
		return EXIT_USAGE;
	}
	/* The policy as written is judged, without the effect of that flag. */
	o.preset = NULL;
	diags_init(&in.diags);
	code = init(&in);
	policy_file_done(&in.file);
	loaded_done(&in.loaded);
	diags_done(&in.diags);
	free(in.text);
	checkup_free(in.machine);
	return code;
}

static const struct opt opts[] = {
	OPT_FLAG("project", 0, for_project, "write .pale/policy.ini here in place of the user's policy"),
	OPT_VALUE("agent", 0, "NAME", agent, "the agent that will be run"),
	OPT_VALUE("preset", 0, "NAME", preset,
		  "what the policy lies on: agent, security-v0, review, ci, bridge or controller"),
	OPT_FLAG("force", 0, force, "in place of a policy that is there; the old one is kept beside it"),
	OPT_FLAG("dry-run", 'n', dry_run, "write nothing, show the policy"),
	OPT_JSON,
	{ 0 },
};

const struct subcommand subcommand_init = {
	.name = "init",
	.args = "[--project] [--agent NAME] [--preset NAME] [--force] [-n] [--json]",
	.summary = "find the agents here, write a first policy, and say what to do next",
	.opts = opts,
	.operands = OPERANDS_NONE,
	.usage_status = EXIT_USAGE,
	.run = init_run,
};
