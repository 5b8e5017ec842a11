/*
 * pale pending, approve, deny: the operator's side of a question.
 *
 * What the agent asks for is shown whole and escaped, one argument a line, so that nothing can
 * hide behind a long line or a control character.  The helper refuses an answer that comes from
 * inside a session; this side only says so early.
 */
#include <errno.h>
#include <string.h>

#include "tools/card.h"
#include "tools/tools.h"

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
	return card_str(j, key);
}

/* The whole of what is asked, with a connection for its pieces where one packet did not hold it. */
static int fetch_whole(const struct session_ref *ref, const json_t *j, struct card_whole *ret)
{
	_cleanup_close_ int fd = -1;
	char why[512];
	int r;

	if (card_is_whole(j)) {
		ret->target = strdup(text_of(j, "target"));
		return ret->target ? 0 : -ENOMEM;
	}
	fd = control_open(ref->dir);
	if (fd < 0)
		return fd;
	r = card_fetch(fd, j, ret, why, sizeof(why));
	if (r < 0)
		talk("session %s: %s", ref->id, why);
	return r;
}

static void print_card(const struct session_ref *ref, const json_t *j)
{
	struct card_whole whole = { 0 };
	struct card_text t;

	(void)fetch_whole(ref, j, &whole);
	if (card_text_init(&t, j, whole.target) == 0)
		card_print(stdout, j, ref->id, &t);
	else
		talk("out of memory");
	card_text_done(&t);
	card_whole_done(&whole);
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
		if (!card_is_open(j))
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

	json_array_foreach(cards, i, j) count +=
		card_is_open(j) && strncmp(text_of(j, "id"), id, strlen(id)) == 0;
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
