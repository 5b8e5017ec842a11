/*
 * pale pending, approve, deny: the operator's side of a question.
 *
 * What the agent asks for is shown whole and escaped, one argument a line, so that nothing can
 * hide behind a long line or a control character.  The helper refuses an answer that comes from
 * inside a session; this side only says so early.
 */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "tools.h"

/* A question with the session it belongs to. */
struct card {
	const struct session_ref *session;
	json_t *j; /* borrowed from the list */
};

/* Calls method of one session: 0 with *ret, or -errno after telling. */
static int call(const struct session_ref *ref, const char *method, json_t *params, json_t **ret)
{
	char why[512];
	int fd = control_open(ref->dir);
	int r;

	if (fd < 0) {
		json_decref(params);
		talk("session %s does not answer: %s", ref->id, strerror(-fd));
		return fd;
	}
	r = control_call(fd, method, params, ret, why, sizeof(why));
	(void)close(fd);
	if (r < 0)
		talk("session %s: %s", ref->id, why);
	return r;
}

static json_t *cards_of(json_t *result)
{
	return json_is_array(result) ? result : json_object_get(result, "approvals");
}

static const char *text_of(const json_t *j, const char *key)
{
	const char *s = json_string_value(json_object_get(j, key));

	return s ? s : "";
}

static void print_field(const char *label, const char *text)
{
	if (!*text)
		return;
	printf("  %-9s ", label);
	print_escaped(stdout, text);
	putchar('\n');
}

/* A command one argument a line; anything else as it is. */
static void print_target(const json_t *j)
{
	const json_t *argv = json_object_get(j, "argv");
	const char *label = text_of(j, "op");
	json_t *word;
	size_t i;

	if (!json_is_array(argv) || json_array_size(argv) == 0) {
		print_field(label, text_of(j, "target"));
		return;
	}
	json_array_foreach(argv, i, word)
	{
		print_field(label, json_string_value(word) ? json_string_value(word) : "?");
		label = "";
	}
}

static void print_card(const struct session_ref *ref, const json_t *j)
{
	const json_t *left = json_object_get(j, "left_s");
	const char *state = text_of(j, "state");

	printf("%s%s%s  session %s", paint_on(stdout, PAINT_BOLD), text_of(j, "id"), paint_off(stdout),
	       ref->id);
	if (strcmp(state, "expired") == 0)
		printf("  expired: approving lets the next try through");
	else if (json_is_integer(left))
		printf("  denied in %lld s", (long long)json_integer_value(left));
	putchar('\n');
	print_target(j);
	print_field("in", text_of(j, "cwd"));
	print_field("by", text_of(j, "exe"));
	print_field("rule", text_of(j, "rule"));
}

static int pending_run(const struct options *o, int argc, char **argv)
{
	_cleanup_free_ struct session_ref *refs = NULL;
	json_t *all = o->json ? json_array() : NULL;
	size_t n = 0, shown = 0;
	int failed = 0, r = sessions_list(&refs, &n);

	(void)argv;
	for (size_t i = 0; r == 0 && argc == 0 && i < n; i++) {
		_cleanup_json_ json_t *result = NULL;
		json_t *j;
		size_t k;

		if (call(&refs[i], "approval/list", NULL, &result) < 0) {
			failed = 1;
			continue;
		}
		json_array_foreach(cards_of(result), k, j)
		{
			shown++;
			if (!o->json) {
				print_card(&refs[i], j);
				continue;
			}
			json_object_set_new(j, "session", json_string(refs[i].id));
			json_array_append(all, j);
		}
	}
	if (o->json)
		print_json(all);
	else if (shown == 0 && !failed)
		talk("nothing waits");
	return r < 0 || argc ? EXIT_USAGE : failed ? EXIT_FINDINGS : EXIT_OK;
}

struct answer {
	const char *decision, *scope, *reason;
};

static const char *operator_name(void)
{
	const char *name = getenv("USER");

	return name && *name ? name : "operator";
}

/* Has this session exactly the question?  The number of its cards whose id begins so. */
static int matches(const struct session_ref *ref, const char *id)
{
	_cleanup_json_ json_t *result = NULL;
	int count = 0;
	json_t *j;
	size_t i;

	if (call(ref, "approval/list", NULL, &result) < 0)
		return 0;
	json_array_foreach(cards_of(result), i, j) count += strncmp(text_of(j, "id"), id, strlen(id)) == 0;
	return count;
}

static int respond(const struct session_ref *ref, const char *id, const struct answer *a)
{
	_cleanup_json_ json_t *result = NULL;
	json_t *params =
		json_pack("{ss, ss, ss, so, so}", "id", id, "decision", a->decision, "scope", a->scope,
			  "reason", json_text(a->reason), "by", json_text(operator_name()));

	if (call(ref, "approval/respond", params, &result) < 0)
		return EXIT_FINDINGS;
	talk("%s %s%s in session %s", a->decision, id,
	     strcmp(a->scope, "session") == 0 ? " for the session" : "", ref->id);
	return EXIT_OK;
}

static int answer(const char *id, const struct answer *a)
{
	_cleanup_free_ struct session_ref *refs = NULL;
	const struct session_ref *owner = NULL;
	size_t n = 0;
	int found = 0;

	if (session_around()) {
		talk("a session does not answer its own questions; use another terminal");
		return EXIT_FINDINGS;
	}
	if (!*id || sessions_list(&refs, &n) < 0)
		return EXIT_USAGE;
	for (size_t i = 0; i < n; i++) {
		int here = matches(&refs[i], id);

		found += here;
		if (here)
			owner = &refs[i];
	}
	if (found != 1) {
		talk(found ? "%s names %d questions; give more of its digits" : "no question %s waits", id,
		     found);
		return EXIT_FINDINGS;
	}
	return respond(owner, id, a);
}

static int approve_run(const struct options *o, int argc, char **argv)
{
	const struct answer a = { .decision = "approved",
				  .scope = o->for_session ? "session" : "once",
				  .reason = "" };

	if (argc == 1)
		return answer(argv[0], &a);
	talk("approve needs the id of one question; see: pale pending");
	return EXIT_USAGE;
}

static int deny_run(const struct options *o, int argc, char **argv)
{
	const struct answer a = { .decision = "denied",
				  .scope = "once",
				  .reason = o->reason ? o->reason : "" };

	if (argc == 1)
		return answer(argv[0], &a);
	talk("deny needs the id of one question; see: pale pending");
	return EXIT_USAGE;
}

static const struct opt pending_opts[] = { OPT_JSON, { 0 } };
static const struct opt approve_opts[] = {
	OPT_FLAG("session", 's', for_session, "the same again until the session ends"),
	{ 0 },
};
static const struct opt deny_opts[] = {
	OPT_VALUE("reason", 'r', "TEXT", reason, "what the agent is told"),
	{ 0 },
};

const struct subcommand subcommand_pending = {
	.name = "pending",
	.args = "[--json]",
	.summary = "show the questions that wait for an answer",
	.opts = pending_opts,
	.usage_status = EXIT_USAGE,
	.run = pending_run,
};

const struct subcommand subcommand_approve = {
	.name = "approve",
	.args = "ID [--session]",
	.summary = "let what is asked happen, once or for the session",
	.opts = approve_opts,
	.usage_status = EXIT_USAGE,
	.run = approve_run,
};

const struct subcommand subcommand_deny = {
	.name = "deny",
	.args = "ID [--reason TEXT]",
	.summary = "refuse what is asked, and say why",
	.opts = deny_opts,
	.usage_status = EXIT_USAGE,
	.run = deny_run,
};
