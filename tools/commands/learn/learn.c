/*
 * pale learn: makes rules that allow what a session was denied, what it asked for, or what was only
 * observed.
 *
 * It prints the text that --write appends to the policy, and, in comments, what is left out.  The text was
 * replayed: each line allows what it is for, and nothing that was left out.
 */
#include "learn.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "policy/system/cleanup.h"

#include "tools/base/output.h"

#define LEFT_SHOWN 20
#define NAME_BYTES "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"

/* --- reading --- */

static int note_start(struct learn *l, const struct record *r)
{
	_cleanup_free_ char *workspace = text_unescape(r->target);

	if (!workspace)
		return -ENOMEM;
	snprintf(l->workspace, sizeof(l->workspace), "%s", workspace);
	snprintf(l->agent, sizeof(l->agent), "%s", r->agent);
	/* The text goes into a comment of the policy. */
	snprintf(l->from, sizeof(l->from), "session %.*s", (int)strspn(r->session, NAME_BYTES), r->session);
	return 0;
}

static int learn_record(void *ctx, struct record_owned *rec)
{
	const struct record *r = &rec->r;
	struct learn *l = ctx;

	if (strcmp(r->op, "session/start") == 0)
		return note_start(l, r);
	return lessons_add(&l->lessons, r);
}

static int on_ledger(const char *path, void *ctx)
{
	struct learn *l = ctx;

	return ledger_walk(&l->o, path, learn_record, l);
}

/* Loads the policy for the ledger's workspace and agent. */
static int load_policy(struct learn *l)
{
	struct stat st;
	int r;

	if (!l->o.workspace && l->workspace[0] && stat(l->workspace, &st) == 0 && S_ISDIR(st.st_mode))
		l->o.workspace = l->workspace;
	if (!l->o.agent && l->agent[0])
		l->o.agent = l->agent;
	r = policy_file_find(&l->file, &l->o);
	if (r == 0)
		r = policy_file_open(&l->file);
	if (r < 0) {
		policy_file_tell(&l->file, r);
		return r;
	}
	r = policy_load_with(&l->file, NULL, 0, &l->now, &l->known);
	if (r < 0) {
		print_diags(stderr, &l->known);
		talk("nothing is learnt for a policy with errors");
	}
	return r;
}

static int study(struct learn *l)
{
	l->lessons.img = &l->now.image;
	l->lessons.workspace = l->workspace[0] ? l->workspace : l->now.bundle.workspace;
	if (lessons_group(&l->lessons) == 0)
		return learn_replay(l);
	talk("out of memory");
	return -ENOMEM;
}

/* --- the report --- */

static uint64_t covered_count(const struct learn *l)
{
	uint64_t n = 0;

	for (size_t i = 0; i < l->lessons.n_events; i++)
		n += l->lessons.events[i].covered;
	return n;
}

static json_t *events_to_json(const struct learn *l, const struct lesson *g)
{
	json_t *list = json_array();

	for (size_t k = 0; k < g->n_events; k++) {
		const struct lesson_event *e = &l->lessons.events[g->events[k]];

		json_array_append_new(list, json_pack("{ss, so, sI}", "op", e->r.op, "target",
						      json_text(e->r.target), "count", (json_int_t)e->count));
	}
	return list;
}

static json_t *lesson_to_json(const struct learn *l, const struct lesson *g)
{
	return json_pack("{ss, so, sI, so, sb, so}", "section", g->section, "line", json_text(g->line),
			 "count", (json_int_t)g->count, "events", events_to_json(l, g), "taken", !g->why[0],
			 "why_not", json_text(g->why[0] ? g->why : NULL));
}

static json_t *left_to_json(const struct learn *l)
{
	json_t *list = json_array();

	for (size_t i = 0; i < l->lessons.n_events; i++) {
		const struct lesson_event *e = &l->lessons.events[i];

		if (!e->covered && e->why)
			json_array_append_new(list,
					      json_pack("{ss, so, sI, so}", "op", e->r.op, "target",
							json_text(e->r.target), "count", (json_int_t)e->count,
							"why", json_text(e->why)));
	}
	return list;
}

static void print_report_json(const struct learn *l, const char *written)
{
	json_t *list = json_array();

	for (size_t i = 0; i < l->lessons.n; i++)
		json_array_append_new(list, lesson_to_json(l, &l->lessons.list[i]));
	print_json(json_pack("{so, so, sI, sI, sI, so, so, sI, so}", "from", json_text(l->from), "policy",
			     json_text(l->file.path), "events", (json_int_t)l->lessons.n_events, "covered",
			     (json_int_t)covered_count(l), "beyond", (json_int_t)l->lessons.beyond,
			     "proposals", list, "left", left_to_json(l), "replayed", (json_int_t)l->replayed,
			     "written", json_text(written)));
}

/* Prints comments, so that the whole output can be part of a policy. */
static void print_comment(const char *before, const char *a, const char *b, const char *why)
{
	printf("# %s: ", before);
	print_recorded(stdout, a);
	putchar(' ');
	print_recorded(stdout, b);
	fputs(": ", stdout);
	print_recorded(stdout, why);
	putchar('\n');
}

static void print_left(const struct learn *l)
{
	size_t n = 0;

	putchar('\n');
	for (size_t i = 0; i < l->lessons.n; i++) {
		const struct lesson *g = &l->lessons.list[i];

		if (g->why[0])
			print_comment("not taken", g->section, g->line, g->why);
	}
	for (size_t i = 0; i < l->lessons.n_events; i++) {
		const struct lesson_event *e = &l->lessons.events[i];

		if (!e->covered && e->why && n++ < LEFT_SHOWN)
			print_comment("left out", e->r.op, e->r.target, e->why);
	}
	if (n > LEFT_SHOWN)
		printf("# and %zu more (--json has all)\n", n - LEFT_SHOWN);
	if (l->lessons.beyond)
		printf("# %llu records were not looked at: too many different ones\n",
		       (unsigned long long)l->lessons.beyond);
}

static void print_report(const struct learn *l)
{
	printf("# %s: %zu different requests were denied, asked about or observed; %llu of them are now "
	       "allowed",
	       l->from[0] ? l->from : "the ledger", l->lessons.n_events,
	       (unsigned long long)covered_count(l));
	if (learn_taken(l))
		printf(", %llu more by these rules", (unsigned long long)l->replayed);
	putchar('\n');
	learn_print_lines(stdout, l);
	print_left(l);
	fflush(stdout);
}

/* --- together --- */

static int save_policy(const struct learn *l)
{
	int r = policy_file_save(&l->file, l->text, strlen(l->text));

	if (r < 0)
		policy_file_tell(&l->file, r);
	else if (!l->o.json)
		talk("%s is saved: %zu rule%s more; sessions that run keep the old one until `pale policy "
		     "reload`; `pale policy edit` changes them",
		     l->file.path, learn_taken(l), learn_taken(l) == 1 ? "" : "s");
	return r;
}

static int learn_ledgers(struct learn *l, int argc, char **argv)
{
	bool write;

	if (lessons_init(&l->lessons, &l->now.image, "") < 0)
		return EXIT_USAGE;
	if (ledgers_chosen(&l->o, argc, argv, on_ledger, l) < 0 || load_policy(l) < 0 || study(l) < 0)
		return EXIT_USAGE;
	write = l->o.yes && learn_taken(l);
	if (!l->o.json)
		print_report(l);
	if (write && save_policy(l) < 0)
		return EXIT_USAGE;
	if (l->o.json)
		print_report_json(l, write ? l->file.path : NULL);
	else if (!write && learn_taken(l))
		talk("nothing was written: --write appends these rules to %s", l->file.path);
	return EXIT_OK;
}

static int learn_run(const struct options *o, int argc, char **argv)
{
	struct learn l = { .o = *o, .file = { .lock = -1 } };
	int code;

	if (session_around()) {
		talk("a session may not change policies; run `pale learn` outside");
		return EXIT_FINDINGS;
	}
	diags_init(&l.known);
	code = learn_ledgers(&l, argc, argv);
	lessons_done(&l.lessons);
	loaded_done(&l.now);
	policy_file_done(&l.file);
	diags_done(&l.known);
	free(l.text);
	return code;
}

static const struct opt opts[] = {
	OPT_VALUE("policy", 'p', "FILE", policy, "the policy that learns, in place of the user's"),
	OPT_VALUE("session", 0, "ID", session,
		  "learn from this session (default: the newest of this workspace)"),
	OPT_VALUE("ledger", 0, "FILE", ledger, "learn from this ledger, and from those that follow"),
	OPT_FLAG("unverified", 0, unverified, "take a ledger whose chain is broken as it is"),
	OPT_VALUE("workspace", 'w', "DIR", workspace, "the workspace (default: the session's)"),
	OPT_VALUE("agent", 0, "NAME", agent,
		  "with the [agent \"NAME\" ...] sections (default: the session's)"),
	OPT_FLAG("write", 0, yes, "append the lines to the policy"),
	OPT_JSON,
	{ 0 },
};

const struct subcommand subcommand_learn = {
	.name = "learn",
	.args = "[--session ID | --ledger FILE...] [--write] [--json]",
	.summary = "propose rules for what was denied, asked about or observed",
	.opts = opts,
	.usage_status = EXIT_USAGE,
	.run = learn_run,
};
