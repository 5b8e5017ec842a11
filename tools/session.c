/*
 * pale session: list what runs now, show one, sweep up after those that are over.  A directory whose helper
 * does not answer is told as dead.
 */
#include <errno.h>
#include <string.h>

#include "sweep.h"
#include "tools.h"

struct row {
	const char *id;
	char *agent, *workspace, *started, *pid, *level;
	bool alive;
};

static void row_init(struct row *row, const struct session_ref *ref)
{
	row->alive = session_is_alive(ref);
	row->id = ref->id;
	row->agent = session_fact(ref->dir, "agent");
	row->workspace = session_fact(ref->dir, "workspace");
	row->started = session_fact(ref->dir, "started");
	row->level = session_fact(ref->dir, "level");
	row->pid = session_fact(ref->dir, "pid");
}

static void row_done(struct row *row)
{
	free(row->agent);
	free(row->workspace);
	free(row->started);
	free(row->level);
	free(row->pid);
}

static void row_print(const struct row *row)
{
	const char *const cells[] = { row->pid, row->level, row->started, row->agent, row->workspace };

	printf("%s%s%s  %s", paint_on(stdout, row->alive ? PAINT_GREEN : PAINT_RED), row->id,
	       paint_off(stdout), row->alive ? "runs" : "dead");
	for (size_t i = 0; i < NELEM(cells); i++) {
		fputs("  ", stdout);
		print_escaped(stdout, cells[i] ? cells[i] : "-");
	}
	putchar('\n');
}

static json_t *row_to_json(const struct row *row)
{
	return json_pack("{ss, sb, so, so, so, so, so}", "session", row->id, "alive", row->alive, "agent",
			 json_text(row->agent), "workspace", json_text(row->workspace), "started",
			 json_text(row->started), "level", json_text(row->level), "pid", json_text(row->pid));
}

static int list_sessions(const struct options *o)
{
	_cleanup_free_ struct session_ref *refs = NULL;
	json_t *list = o->json ? json_array() : NULL;
	size_t n = 0;
	int r = sessions_list(&refs, &n);

	if (r < 0) {
		talk("sessions cannot be listed: %s", strerror(-r));
		return EXIT_USAGE;
	}
	for (size_t i = 0; i < n; i++) {
		struct row row = { 0 };

		row_init(&row, &refs[i]);
		if (o->json)
			json_array_append_new(list, row_to_json(&row));
		else
			row_print(&row);
		row_done(&row);
	}
	if (o->json)
		print_json(list);
	else if (n == 0)
		talk("no session runs");
	return EXIT_OK;
}

static int session_run(const struct options *o, int argc, char **argv)
{
	static const char *const verbs[] = { "list", "show", "gc", "stdout", NULL };

	if (argc == 0 || (argc == 1 && strcmp(argv[0], "list") == 0))
		return list_sessions(o);
	if (argc <= 2 && strcmp(argv[0], "show") == 0)
		return session_show(o, argc == 2 ? argv[1] : NULL);
	if (strcmp(argv[0], "stdout") == 0)
		return session_stdout(o, argc - 1, argv + 1);
	if (strcmp(argv[0], "gc") == 0)
		return session_gc(o, argc - 1);
	if (strcmp(argv[0], "list") == 0 || strcmp(argv[0], "show") == 0)
		talk("session %s takes %s", argv[0], *argv[0] == 'l' ? "no operand" : "one session");
	else
		options_unknown("session command", argv[0], verbs);
	return EXIT_USAGE;
}

static const struct opt opts[] = {
	OPT_JSON,
	OPTS_POLICY,
	OPT_FLAG("dry-run", 0, dry_run, "gc: list what would go, remove nothing"),
	OPT_VALUE("older-than", 0, "AGE", older_than, "gc: in place of the policy's expiry, as 48h"),
	OPT_FLAG("follow", 'f', follow, "stdout: go on as it is written"),
	OPT_FLAG("stderr", 0, use_stderr, "stdout: what was written on standard error"),
	{ 0 },
};

const struct subcommand subcommand_session = {
	.name = "session",
	.args = "list | show [ID] | stdout [ID] [--follow] [--stderr] | "
		"gc [--dry-run] [--older-than AGE] [--json]",
	.summary = "list the sessions that run now, show what one came to, sweep up what old ones left",
	.opts = opts,
	.usage_status = EXIT_USAGE,
	.run = session_run,
};
