/*
 * pale pending, approve, deny: the operator's side of a question.
 *
 * What the agent asks for is shown whole and escaped, one argument a line, so that nothing can
 * hide behind a long line or a control character.  The helper refuses an answer that comes from
 * inside a session; this side only says so early.
 */
#include <errno.h>
#include <string.h>

#include "policy/argv.h"

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
	print_recorded(stdout, text);
	putchar('\n');
}

/* The whole target, escaped (caller frees), or NULL: the list holds the first bytes of a long one. */
static char *whole_target(const struct session_ref *ref, const json_t *j)
{
	_cleanup_free_ char *text = NULL;
	json_int_t at = 0, size = 1;

	if (json_integer_value(json_object_get(j, "target_cut")) <= 0)
		return strdup(text_of(j, "target"));
	/* Offsets count bytes before escaping, so all of it is fetched anew. */
	while (at < size) {
		_cleanup_json_ json_t *piece = NULL;
		char *longer;
		json_int_t next;

		if (call(ref, "approval/show", json_pack("{ss, sI}", "id", text_of(j, "id"), "offset", at),
			 &piece) < 0)
			return NULL;
		next = json_integer_value(json_object_get(piece, "next"));
		if (next <= at || asprintf(&longer, "%s%s", text ? text : "", text_of(piece, "text")) < 0)
			return NULL;
		free(text);
		text = longer;
		at = next;
		size = json_integer_value(json_object_get(piece, "size"));
	}
	return TAKE_PTR(text);
}

/* Prints words one a line, if they are exactly what the joined target says. */
static bool print_words(const char *target)
{
	struct shell_part *parts = NULL;
	_cleanup_free_ char *joined = NULL;
	bool same = false;
	size_t n = 0;

	if (shell_split(target, &parts, &n) < 0)
		return false;
	if (n == 1 && parts[0].op == OP_EXEC && (joined = malloc(strlen(target) + 1))) {
		size_t len = argv_join((const char *const *)parts[0].words, parts[0].n, joined,
				       strlen(target) + 1);

		same = len == strlen(target) && strcmp(joined, target) == 0;
	}
	for (size_t i = 0; same && i < parts[0].n; i++) {
		printf("  %-9s ", i ? "" : "exec");
		print_escaped(stdout, parts[0].words[i]);
		putchar('\n');
	}
	shell_parts_done(parts, n);
	return same;
}

static void print_target(const struct session_ref *ref, const json_t *j)
{
	_cleanup_free_ char *text = whole_target(ref, j);
	_cleanup_free_ char *raw = text ? text_unescape(text) : NULL;

	if (!text)
		puts("  (the whole of it cannot be shown: do not approve)");
	else if (strcmp(text_of(j, "op"), "exec") != 0 || !raw || !print_words(raw))
		print_field(text_of(j, "op"), text);
}

static void print_card(const struct session_ref *ref, const json_t *j)
{
	json_int_t count = json_integer_value(json_object_get(j, "count"));

	printf("%s%s%s  session %s", paint_on(stdout, PAINT_BOLD), text_of(j, "short"), paint_off(stdout),
	       ref->id);
	if (strcmp(text_of(j, "state"), "expired") == 0)
		printf("  expired: approving lets the next try through");
	else
		printf("  denied in %lld s", (long long)json_integer_value(json_object_get(j, "left_s")));
	if (count > 1)
		printf("  asked %lld times", (long long)count);
	putchar('\n');
	print_target(ref, j);
	print_field("in", text_of(j, "cwd"));
	print_field("by", text_of(j, "exe"));
	print_field("rule", text_of(j, "rule"));
}

/* All cards of a session, page by page, into one array (caller drops), or NULL after telling. */
static json_t *fetch_cards(const struct session_ref *ref)
{
	json_t *cards = json_array();
	json_int_t from = 0;

	for (;;) {
		_cleanup_json_ json_t *page = NULL;
		const json_t *next;

		if (call(ref, "approval/list", json_pack("{sI}", "from", from), &page) < 0) {
			json_decref(cards);
			return NULL;
		}
		json_array_extend(cards, json_object_get(page, "approvals"));
		next = json_object_get(page, "next");
		if (!next || json_integer_value(next) <= from)
			return cards;
		from = json_integer_value(next);
	}
}

/* Answered and cancelled ones are none of the operator's business any more. */
static bool is_open(const json_t *j)
{
	return strcmp(text_of(j, "state"), "pending") == 0 || strcmp(text_of(j, "state"), "expired") == 0;
}

/* How many cards of this session are shown, or -EIO. */
static int show_session(const struct session_ref *ref, json_t *all)
{
	_cleanup_json_ json_t *cards = fetch_cards(ref);
	int shown = 0;
	json_t *j;
	size_t i;

	if (!cards)
		return -EIO;
	json_array_foreach(cards, i, j)
	{
		if (!is_open(j))
			continue;
		shown++;
		if (!all) {
			print_card(ref, j);
			continue;
		}
		json_object_set_new(j, "session", json_string(ref->id));
		json_array_append(all, j);
	}
	return shown;
}

static int pending_run(const struct options *o, int argc, char **argv)
{
	_cleanup_free_ struct session_ref *refs = NULL;
	json_t *all = o->json ? json_array() : NULL;
	size_t n = 0, shown = 0;
	bool failed = false;

	(void)argv;
	if (argc || sessions_live(&refs, &n) < 0) {
		json_decref(all);
		return EXIT_USAGE;
	}
	for (size_t i = 0; i < n; i++) {
		int r = show_session(&refs[i], all);

		failed |= r < 0;
		shown += r > 0 ? (size_t)r : 0;
	}
	if (o->json)
		print_json(all);
	else if (shown == 0 && !failed)
		talk("nothing waits");
	return failed ? EXIT_FINDINGS : EXIT_OK;
}

struct answer {
	const char *decision, *scope, *reason;
};

static const char *operator_name(void)
{
	const char *name = getenv("USER");

	return name && *name ? name : "operator";
}

/* The number of a session's open cards whose id begins so. */
static int matches(const struct session_ref *ref, const char *id)
{
	_cleanup_json_ json_t *cards = fetch_cards(ref);
	int count = 0;
	json_t *j;
	size_t i;

	json_array_foreach(cards, i, j) count += is_open(j) && strncmp(text_of(j, "id"), id, strlen(id)) == 0;
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
	if (!*id || sessions_live(&refs, &n) < 0)
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
