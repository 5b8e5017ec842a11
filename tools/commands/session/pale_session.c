/*
 * Commands about sessions: `pale session` and `pale turn`.
 *
 * pale session: lists running and ended sessions, shows one, stops one, and removes what ended ones left.
 * A session whose helper does not answer is listed as dead.
 */
#include <errno.h>
#include <string.h>

#include "policy/base/util.h"
#include "policy/system/cleanup.h"

#include "tools/base/options.h"
#include "tools/base/output.h"
#include "tools/ledgers/ledgers.h"
#include "tools/sessions/sessions.h"
#include "tools/sweep/sweep.h"

#include "session_show.h"
#include "session_stop.h"

enum row_state { ROW_LIVE, ROW_DEAD, ROW_ENDED };

static const struct {
	const char *word, *shown;
	enum paint paint;
} states[] = {
	[ROW_LIVE] = { "live", "runs", PAINT_GREEN },
	[ROW_DEAD] = { "dead", "dead", PAINT_RED },
	[ROW_ENDED] = { "ended", "ended", PAINT_DIM },
};

struct row {
	char id[SESSION_ID_MAX];
	enum row_state state;
	json_t *facts; /* session/info of a running session, else session.json */
};

static const char *fact_of_row(const struct row *row, const char *key)
{
	return json_string_value(json_object_get(row->facts, key));
}

static json_int_t number(const struct row *row, const char *key)
{
	return json_integer_value(json_object_get(row->facts, key));
}

/* An ended session's description has its denials by feed. */
static json_int_t denied(const struct row *row)
{
	const json_t *by = json_object_get(json_object_get(row->facts, "counts"), "denied"), *value;
	json_int_t n = 0;
	const char *key;

	if (json_object_get(row->facts, "denied"))
		return number(row, "denied");
	json_object_foreach((json_t *)by, key, value) n += json_integer_value(value);
	return n;
}

static void print_argv(const struct row *row)
{
	const json_t *argv = json_object_get(row->facts, "argv"), *word;
	size_t i;

	json_array_foreach(argv, i, word)
	{
		putchar(' ');
		print_recorded(stdout, json_string_value(word) ? json_string_value(word) : "?");
	}
}

static void row_print(const struct row *row)
{
	const char *const cells[] = { fact_of_row(row, "level"), fact_of_row(row, "started"),
				      fact_of_row(row, "agent"), fact_of_row(row, "workspace") };

	printf("%s%s%s  %s  %" JSON_INTEGER_FORMAT, paint_on(stdout, states[row->state].paint), row->id,
	       paint_off(stdout), states[row->state].shown, number(row, "pid"));
	for (size_t i = 0; i < NELEM(cells); i++) {
		fputs("  ", stdout);
		print_escaped(stdout, cells[i] ? cells[i] : "-");
	}
	printf("  %" JSON_INTEGER_FORMAT " records  %" JSON_INTEGER_FORMAT " denied ", number(row, "records"),
	       denied(row));
	print_argv(row);
	putchar('\n');
}

static json_t *row_to_json(const struct row *row)
{
	json_t *argv = json_object_get(row->facts, "argv");

	return json_pack("{ss, sb, ss, so, so, so, so, sI, sO*, sI, sI}", "session", row->id, "alive",
			 row->state == ROW_LIVE, "state", states[row->state].word, "agent",
			 json_text(fact_of_row(row, "agent")), "workspace",
			 json_text(fact_of_row(row, "workspace")), "started",
			 json_text(fact_of_row(row, "started")), "level",
			 json_text(fact_of_row(row, "level")), "pid", number(row, "pid"), "command", argv,
			 "records", number(row, "records"), "denied", denied(row));
}

static void row_tell(const struct row *row, json_t *list)
{
	if (list)
		json_array_append_new(list, row_to_json(row));
	else
		row_print(row);
}

static bool is_listed(const struct session_ref *refs, size_t n, const char *id)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(refs[i].id, id) == 0)
			return true;
	return false;
}

/* Adds sessions that have a ledger and are not listed yet. */
static int list_ended(const struct session_ref *refs, size_t n, json_t *list)
{
	_cleanup_free_ struct ledger_ref *ledgers = NULL;
	size_t n_ledgers = 0;
	int r = ledgers_list(NULL, &ledgers, &n_ledgers);

	for (size_t i = 0; r == 0 && i < n_ledgers; i++) {
		struct row row = { .state = ROW_ENDED };

		if (is_listed(refs, n, ledgers[i].session))
			continue;
		strcpy(row.id, ledgers[i].session);
		row.facts = session_facts(ledgers[i].dir);
		row_tell(&row, list);
		json_decref(row.facts);
	}
	return r;
}

static int list_sessions(const struct options *o)
{
	_cleanup_free_ struct session_ref *refs = NULL;
	json_t *list = o->json ? json_array() : NULL;
	size_t n = 0;
	int r = sessions_list(&refs, &n);

	for (size_t i = 0; r == 0 && i < n; i++) {
		struct row row = { .facts = session_ask(&refs[i]) };

		strcpy(row.id, refs[i].id);
		row.state = row.facts ? ROW_LIVE : ROW_DEAD;
		if (!row.facts)
			row.facts = session_facts(refs[i].dir);
		row_tell(&row, list);
		json_decref(row.facts);
	}
	if (r == 0 && o->all)
		r = list_ended(refs, n, list);
	if (r < 0)
		talk("sessions cannot be listed: %s", strerror(-r));
	if (list)
		print_json(list);
	else if (r == 0 && n == 0 && !o->all)
		talk("no session runs");
	return r < 0 ? EXIT_USAGE : EXIT_OK;
}

static int list_verb(const struct options *o, int argc, char **argv)
{
	(void)argv;
	return argc == 0 ? list_sessions(o) : -EINVAL;
}

static int show_verb(const struct options *o, int argc, char **argv)
{
	return argc <= 1 ? session_show(o, argc == 1 ? argv[0] : NULL) : -EINVAL;
}

static int stop_verb(const struct options *o, int argc, char **argv)
{
	return argc == 1 ? session_stop(o, argv[0]) : -EINVAL;
}

static int gc_verb(const struct options *o, int argc, char **argv)
{
	(void)argv;
	return session_gc(o, argc);
}

static const struct {
	const char *name, *takes;
	int (*run)(const struct options *o, int argc, char **argv); /* -EINVAL: wrong number of operands */
} verbs[] = {
	{ "list", "no operand", list_verb },
	{ "show", "one session", show_verb },
	{ "stop", "the session that is to end", stop_verb },
	{ "gc", "no operand", gc_verb },
};

static int session_run(const struct options *o, int argc, char **argv)
{
	const char *names[NELEM(verbs) + 1] = { NULL };

	if (argc == 0)
		return list_sessions(o);
	for (size_t i = 0; i < NELEM(verbs); i++) {
		int r;

		names[i] = verbs[i].name;
		if (strcmp(argv[0], verbs[i].name) != 0)
			continue;
		r = verbs[i].run(o, argc - 1, argv + 1);
		if (r >= 0)
			return r;
		talk("session %s takes %s", verbs[i].name, verbs[i].takes);
		return EXIT_USAGE;
	}
	options_unknown("session command", argv[0], names);
	return EXIT_USAGE;
}

static const struct opt opts[] = {
	OPT_FLAG("all", 'a', all, "list: those that have ended, too"),
	OPT_FLAG("now", 0, now, "stop: kill what is inside, without a grace"),
	OPT_JSON,
	OPTS_POLICY,
	OPT_FLAG("dry-run", 0, dry_run, "gc: list what would go, remove nothing"),
	OPT_VALUE("older-than", 0, "AGE", older_than, "gc: in place of the policy's expiry, as 48h"),
	{ 0 },
};

const struct subcommand subcommand_session = {
	.name = "session",
	.args = "list [--all] | show [ID] | stop ID [--now] | "
		"gc [--dry-run] [--older-than AGE] [--json]",
	.summary = "list the sessions that run now, show what one came to, stop one, sweep up what old ones "
		   "left",
	.opts = opts,
	.usage_status = EXIT_USAGE,
	.run = session_run,
};
