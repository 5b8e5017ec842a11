/*
 * Commands about policies: `pale policy`, `pale lint` and `pale trust`.
 *
 * pale policy show, edit, reload, test.  `show` prints the settings and rules that hold here, each with the
 * line that it comes from.
 */
#include <errno.h>
#include <string.h>

#include "policy/base/util.h"
#include "policy/judge/eval.h"
#include "policy/lint/lint.h"

#include "tools/base/options.h"
#include "tools/base/output.h"
#include "tools/edit/edit.h"
#include "tools/gather/load.h"

#include "policy_reload.h"

static const char *const modes[] = { "none", "read-only", "workspace-write", "danger" };
static const char *const approvals[] = { "never", "ask" };
static const char *const homes[] = { [HOME_OPEN] = "open", [HOME_KNOWN] = "known", [HOME_CLOSED] = "closed" };
static const char *const reads[] = { "notify", "floor" };
static const char *const stepups[] = { "passphrase", "pam", "auto", "none" };
static const char *const launches[] = { "judged", "trusted" };
static const char *const gcs[] = { "off", "own", "all" };
static const char *const layers[] = { "floor", "user", "project" };

json_t *settings_to_json(const struct policy *p)
{
	const struct settings *s = &p->s;

	return json_pack("{so, so, so, ss, ss, si, ss, ss, so, ss, ss, ss, ss, so, si, ss, ss, ss, ss, si, "
			 "si, so, si}",
			 "preset", json_text(p->preset), "workspace", json_text(p->workspace), "home",
			 json_text(p->home), "mode", modes[s->mode], "approvals", approvals[s->approvals],
			 "timeout", (int)s->timeout_s, "reads", reads[s->reads], "stepup", stepups[s->stepup],
			 "level", s->demands ? json_string(level_name(s->demands)) : json_null(), "launch",
			 launches[s->launch], "commands_default", verdict_name(s->cmd_default),
			 "commands_read_only", s->children_in_ro ? "rules" : "deny", "network_mode",
			 network_name(s->network), "network_file", json_text(p->network_file), "network_line",
			 (int)p->network_line, "network_default", verdict_name(s->net_default), "paths",
			 s->relative_only ? "relative" : "any", "files_home", homes[s->home], "gc",
			 gcs[s->gc], "expiry", (int)s->expiry_s, "log_size", (int)s->log_mib, "logs",
			 json_text(p->logs), "ledger_size", (int)s->ledger_mib);
}

static json_t *limits_to_json(const struct limits *l)
{
	json_t *j = json_object();
	char value[32];

	for (unsigned r = 0; r < RESOURCE_COUNT; r++)
		if (l->of[r].value)
			(void)json_object_set_new(j, resource_name((enum resource)r),
						  json_string(resource_text((enum resource)r, l->of[r].value,
									    value, sizeof(value))));
	(void)json_object_set_new(j, "enforce", json_string(l->best_effort ? "best" : "all"));
	return j;
}

static json_t *rule_to_json(const struct rule *r)
{
	return json_pack("{ss, ss, so, so, ss, ss, so, si, si, so}", "section", rule_section(r->kind), "key",
			 rule_key(r->kind), "text", json_text(r->text), "pattern", json_text(r->pattern),
			 "verdict", verdict_name(rule_verdict(r->kind)), "layer", layers[r->layer], "file",
			 json_text(r->file), "line", (int)r->line, "column", (int)r->col, "message",
			 json_text(r->message));
}

/* The rule at that place of the trace, where rule i overrides it: one of another kind, and of a line that no
 * earlier rule in the trace comes from; or NULL. */
static const struct rule *overridden(const struct policy *p, size_t i, const struct trace *t, size_t at)
{
	const struct rule *r = t->list[at].rule < p->n_rules ? &p->rules[t->list[at].rule] : NULL;

	if (!r || r->kind == p->rules[i].kind)
		return NULL;
	for (size_t j = 0; j < at; j++) {
		const struct rule *other = t->list[j].rule < p->n_rules ? &p->rules[t->list[j].rule] : NULL;

		if (other && r->line && other->line == r->line && strcmp(other->file, r->file) == 0)
			return NULL;
	}
	return r;
}

static json_t *overrides_to_json(const struct policy *p, size_t i, const struct trace *t)
{
	json_t *list = json_array();

	for (size_t j = 0; j < t->n; j++) {
		const struct rule *r = overridden(p, i, t, j);

		if (r)
			json_array_append_new(list, rule_to_json(r));
	}
	return list;
}

static json_t *policy_to_json(const struct loaded *l, bool effective)
{
	json_t *rules = json_array(), *sources = json_array(), *pass = json_array();
	struct trace t;

	for (size_t i = 0; i < l->policy.n_rules; i++) {
		bool holds = !effective || policy_rule_holds(&l->policy, &l->bundle, &l->image, i, &t);
		json_t *j = holds ? rule_to_json(&l->policy.rules[i]) : NULL;

		if (j && effective)
			json_object_set_new(j, "overrides", overrides_to_json(&l->policy, i, &t));
		if (j)
			json_array_append_new(rules, j);
	}
	for (size_t i = 0; i < l->bundle.n_sources; i++)
		json_array_append_new(sources, json_text(l->bundle.sources[i].path));
	for (size_t i = 0; i < l->policy.n_environ; i++)
		if (l->policy.environ[i].kind == ENVIRON_PASS)
			json_array_append_new(pass, json_text(l->policy.environ[i].pattern));
	return json_pack("{so, so, so, so, so}", "settings", settings_to_json(&l->policy), "sources", sources,
			 "rules", rules, "pass", pass, "limits", limits_to_json(&l->policy.limits));
}

static void print_settings(const struct policy *p)
{
	const struct settings *s = &p->s;

	printf("# preset %s, workspace ", p->preset ? p->preset : "agent");
	print_escaped(stdout, p->workspace);
	printf("\n[session]\nmode = %s\napprovals = %s\ntimeout = %us\nreads = %s\nstepup = %s\nlaunch = "
	       "%s\n",
	       modes[s->mode], approvals[s->approvals], s->timeout_s, reads[s->reads], stepups[s->stepup],
	       launches[s->launch]);
	if (s->demands) {
		printf("level = %s\t%s# ", level_name(s->demands), paint_on(stdout, PAINT_DIM));
		print_escaped(stdout, p->level_file);
		printf(":%u%s\n", p->level_line, paint_off(stdout));
	}
	if (p->state) {
		fputs("state = ", stdout);
		print_escaped(stdout, p->state);
		putchar('\n');
	}
	printf("gc = %s\nexpiry = %u%s\n", gcs[s->gc], s->expiry_s % 3600 ? s->expiry_s : s->expiry_s / 3600,
	       s->expiry_s % 3600 ? "s" : "h");
	if (p->logs) {
		fputs("logs = ", stdout);
		print_escaped(stdout, p->logs);
		printf("\nlog_size = %uM\n", s->log_mib);
	}
	printf("[ledger]\nsize = %uM\n", s->ledger_mib);
	printf("[files]\npaths = %s\nhome = %s\n", s->relative_only ? "relative" : "any", homes[s->home]);
	printf("[commands]\ndefault = %s\nread_only = %s\n", verdict_name(s->cmd_default),
	       s->children_in_ro ? "rules" : "deny");
	printf("[network]\nmode = %s\t%s# ", network_name(s->network), paint_on(stdout, PAINT_DIM));
	print_escaped(stdout, p->network_file);
	if (p->network_line)
		printf(":%u", p->network_line);
	printf("%s\ndefault = %s\n", paint_off(stdout), verdict_name(s->net_default));
}

static void print_limits(const struct limits *l)
{
	const char *head = "\n[limits]\n";
	char value[32];

	for (unsigned r = 0; r < RESOURCE_COUNT; r++) {
		if (!l->of[r].value)
			continue;
		printf("%s%s = %s\t%s# ", head, resource_name((enum resource)r),
		       resource_text((enum resource)r, l->of[r].value, value, sizeof(value)),
		       paint_on(stdout, PAINT_DIM));
		print_escaped(stdout, l->of[r].file);
		printf(":%u%s\n", l->of[r].line, paint_off(stdout));
		head = "";
	}
	if (l->best_effort)
		printf("%senforce = best\n", head);
}

/* before: what stands before it in the line, "" for a rule that holds. */
static void print_rule(const struct rule *r, const char *before)
{
	char *text = text_visible(r->text ? r->text : "");

	printf("%s%s = %s", before, rule_key(r->kind), text ? text : "?");
	free(text);
	printf("\t%s# %s, ", paint_on(stdout, PAINT_DIM), layers[r->layer]);
	print_escaped(stdout, r->file ? r->file : "?");
	if (r->line)
		printf(":%u", r->line);
	printf("%s\n", paint_off(stdout));
	if (!r->message || *before)
		return;
	fputs("message = ", stdout);
	print_escaped(stdout, r->message);
	putchar('\n');
}

/* Two rules for two spellings of one path come from one line of the file. */
static bool is_twin(const struct policy *p, size_t i)
{
	const struct rule *a = &p->rules[i], *b = i ? &p->rules[i - 1] : NULL;

	return b && a->line && a->line == b->line && a->kind == b->kind && a->file && b->file &&
	       strcmp(a->file, b->file) == 0 && a->text && b->text && strcmp(a->text, b->text) == 0;
}

static void print_holding(const struct policy *p, size_t i, const struct trace *t)
{
	print_rule(&p->rules[i], "");
	for (size_t j = 0; j < t->n; j++) {
		const struct rule *r = overridden(p, i, t, j);

		if (r)
			print_rule(r, "\t# overrides ");
	}
}

static void print_rules(const struct loaded *l, bool effective)
{
	const struct policy *p = &l->policy;
	struct trace t = { .n = 0 };
	const char *section = "";

	for (int kind = 0; kind < RULE_KIND_COUNT; kind++) {
		for (size_t i = 0; i < p->n_rules; i++) {
			const struct rule *r = &p->rules[i];

			if ((int)r->kind != kind || (!effective && is_twin(p, i)) ||
			    (effective && !policy_rule_holds(p, &l->bundle, &l->image, i, &t)))
				continue;
			if (strcmp(section, rule_section(r->kind)) != 0) {
				section = rule_section(r->kind);
				printf("\n[%s]\n", section);
			}
			print_holding(p, i, &t);
		}
	}
}

static int show_policy(const struct options *o)
{
	struct loaded l;
	struct diags d;
	int r;

	diags_init(&d);
	r = loaded_init(&l, o, &d);
	print_diags(stderr, &d);
	if (r < 0 && d.n_errors == 0)
		talk("the policy cannot be loaded: %s", strerror(-r));
	if (r == 0 && o->json)
		print_json(policy_to_json(&l, o->effective));
	if (r == 0 && !o->json) {
		print_settings(&l.policy);
		print_limits(&l.policy.limits);
		print_rules(&l, o->effective);
	}
	diags_done(&d);
	loaded_done(&l);
	return r < 0 ? EXIT_USAGE : EXIT_OK;
}

static int policy_run(const struct options *o, int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(const struct options *o);
	} table[] = { { "show", show_policy }, { "edit", policy_edit }, { "reload", policy_reload } };
	const char *verbs[NELEM(table) + 2] = { NULL };

	if (argc == 0)
		return show_policy(o);
	if (strcmp(argv[0], "diff") == 0)
		return policy_diff(o, argc - 1, argv + 1);
	for (size_t i = 0; i < NELEM(table); i++) {
		if (strcmp(argv[0], table[i].name) == 0)
			return table[i].run(o);
		verbs[i] = table[i].name;
	}
	verbs[NELEM(table)] = "diff";
	options_unknown("policy command", argv[0], verbs);
	return EXIT_USAGE;
}

static const struct opt opts[] = {
	OPTS_POLICY,
	OPT_FLAG("effective", 0, effective,
		 "show: only the rules that decide something, each with those that it overrides"),
	OPT_FLAG("project", 0, for_project, "edit: the project's .pale/policy.ini"),
	OPT_FLAG("floor", 0, floor, "edit: the machine's /etc/pale/policy.ini"),
	OPT_FLAG("yes", 'y', yes, "edit: load what was saved into running sessions without asking"),
	OPT_VALUE("session", 0, "ID", session, "reload: only this session; diff: by its ledger"),
	OPT_VALUE("ledger", 0, "FILE", ledger,
		  "diff: by this ledger (default: the newest of this workspace)"),
	OPT_FLAG("unverified", 0, unverified, "diff: take a ledger whose chain is broken as it is"),
	OPT_JSON,
	{ 0 },
};

const struct subcommand subcommand_policy = {
	.name = "policy",
	.args = "show | edit | reload | diff NEW [OLD] [options]",
	.summary = "show the rules that hold here, with their origin; edit and compare them; load "
		   "them into sessions that run",
	.opts = opts,
	.usage_status = EXIT_USAGE,
	.run = policy_run,
};
