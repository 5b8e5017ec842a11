/*
 * pale pending: the waiting questions of all sessions; --follow continues with new ones.
 *
 * What the agent wants to do is shown whole and escaped, one argument a line, so that nothing can hide
 * behind a long line or a control character.
 */
#include "pending.h"

#include <errno.h>
#include <string.h>

#include "policy/system/cleanup.h"

#include "tools/base/options.h"
#include "tools/base/output.h"
#include "tools/cards/card.h"
#include "tools/sessions/control_client.h"
#include "tools/sessions/follow.h"
#include "tools/sessions/sessions.h"

#define RESCAN_MS 1000

static int told(const struct session_ref *ref, int r, const char *why)
{
	talk("session %s: %s", ref->id, why);
	return r;
}

int cards_fetch(int fd, json_t **ret, char *why, size_t size)
{
	json_t *cards = json_array();
	json_int_t from = 0;

	for (;;) {
		_cleanup_json_ json_t *page = NULL;
		const json_t *next;
		int r = control_call(fd, "approval/list", json_pack("{sI}", "from", from), &page, why, size);

		if (r < 0) {
			json_decref(cards);
			return r;
		}
		json_array_extend(cards, json_object_get(page, "approvals"));
		next = json_object_get(page, "next");
		if (!next || json_integer_value(next) <= from)
			break;
		from = json_integer_value(next);
	}
	*ret = cards;
	return 0;
}

/* --- one card ------------------------------------------------------------------------------------------- */

static void print_card(const struct session_ref *ref, const json_t *j)
{
	struct card_text t;

	if (card_text_init(&t, j) == 0)
		card_print(stdout, j, ref->id, &t);
	else
		talk("out of memory");
	card_text_done(&t);
}

/* Shows the cards of this session.  Returns how many, or -errno. */
static int show_session(const struct session_ref *ref, json_t *all)
{
	_cleanup_close_ int fd = control_open(ref->dir);
	_cleanup_json_ json_t *cards = NULL;
	char why[512];
	int shown = 0, r;
	json_t *j;
	size_t i;

	if (fd < 0)
		return told(ref, fd, strerror(-fd));
	r = cards_fetch(fd, &cards, why, sizeof(why));
	if (r < 0)
		return told(ref, r, why);
	json_array_foreach(cards, i, j)
	{
		if (!card_is_open(j))
			continue;
		shown++;
		json_object_set_new(j, "session", json_string(ref->id));
		if (all)
			json_array_append(all, j);
		else
			print_card(ref, j);
	}
	return shown;
}

static int show_all(const struct options *o)
{
	_cleanup_free_ struct session_ref *refs = NULL;
	json_t *all = o->json ? json_array() : NULL;
	size_t n = 0, shown = 0;
	bool failed = false;

	if (sessions_live(&refs, &n) < 0) {
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

#define ID_OFFERED   8
#define WHAT_OFFERED 60

static void name_cards(const struct session_ref *ref, named_fn *fn, void *ctx)
{
	_cleanup_close_ int fd = control_open(ref->dir);
	_cleanup_json_ json_t *cards = NULL;
	char why[512], id[ID_OFFERED + 1], line[WHAT_OFFERED + 16];
	json_t *j;
	size_t i;

	if (fd < 0 || cards_fetch(fd, &cards, why, sizeof(why)) < 0)
		return;
	json_array_foreach(cards, i, j)
	{
		_cleanup_free_ char *what = recorded_visible(json_str(j, "target"));

		if (!card_is_open(j) || !what)
			continue;
		(void)snprintf(id, sizeof(id), "%s", json_str(j, "id"));
		(void)snprintf(line, sizeof(line), "%.12s %.*s", json_str(j, "op"), WHAT_OFFERED, what);
		fn(ctx, id, line);
	}
}

void cards_each(named_fn *fn, void *ctx)
{
	_cleanup_free_ struct session_ref *refs = NULL;
	size_t n = 0;

	if (sessions_live(&refs, &n) == 0)
		for (size_t i = 0; i < n; i++)
			name_cards(&refs[i], fn, ctx);
}

/* --- as they come --------------------------------------------------------------------------------------- */

static void print_event(const json_t *event)
{
	_cleanup_free_ char *text = json_dumps(event, JSON_COMPACT | JSON_ENSURE_ASCII);

	if (text)
		print_json_line(text, strlen(text));
}

static void tell_closed(const struct followed *f, const json_t *params)
{
	_cleanup_free_ char *id = recorded_visible(json_str(params, "id"));
	_cleanup_free_ char *state = recorded_visible(json_str(params, "state"));
	_cleanup_free_ char *by = recorded_visible(json_str(params, "by"));

	printf("%.4s  session %s  %s%s%s\n", id ? id : "?", f->ref.id, state ? state : "?",
	       by && *by ? " by " : "", by ? by : "");
}

static void tell_refused(const struct followed *f, const json_t *params)
{
	_cleanup_free_ char *exe = recorded_visible(json_str(params, "exe"));
	_cleanup_free_ char *why = recorded_visible(json_str(params, "why"));
	long long pid = json_integer_value(json_object_get(params, "pid"));

	printf("session %s: process %lld (%s) was refused as operator: %s\n", f->ref.id, pid,
	       exe && *exe ? exe : "?", why ? why : "?");
}

static void tell_event(void *ctx, struct followed *f, json_t *note)
{
	const struct options *o = ctx;
	const char *method = json_str(note, "method");
	json_t *params = json_object_get(note, "params");

	json_object_set_new(params, "session", json_string(f->ref.id));
	if (o->json) {
		print_event(note);
	} else if (strcmp(method, "approval/request") == 0) {
		print_card(&f->ref, params);
	} else if (strcmp(method, "approval/resolved") == 0) {
		tell_closed(f, params);
	} else if (strcmp(method, "approval/refused") == 0) {
		tell_refused(f, params);
	}
	(void)fflush(stdout);
}

/* The session's notices are received already: a card that comes meanwhile is shown twice rather than
 * missed. */
static void show_waiting(void *ctx, struct followed *f)
{
	const struct options *o = ctx;
	_cleanup_json_ json_t *all = o->json ? json_array() : NULL;
	json_t *j;
	size_t i;

	(void)show_session(&f->ref, all);
	json_array_foreach(all, i, j)
	{
		_cleanup_json_ json_t *event =
			json_pack("{ss, sO}", "method", "approval/request", "params", j);

		print_event(event);
	}
	(void)fflush(stdout);
}

static int follow_cards(const struct options *o)
{
	struct follow *f = calloc(1, sizeof(*f));

	if (!f)
		return EXIT_USAGE;
	follow_init(f);
	f->begun = show_waiting;
	f->told = tell_event;
	f->ctx = (void *)o;
	while (!ferror(stdout))
		(void)follow_step(f, -1, RESCAN_MS);
	follow_done(f);
	free(f);
	return EXIT_FINDINGS;
}

static int pending_run(const struct options *o, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return o->follow ? follow_cards(o) : show_all(o);
}

static const struct opt pending_opts[] = {
	OPT_FLAG("follow", 'f', follow, "go on with questions as they come, and with how they end"),
	OPT_JSON,
	{ 0 },
};

const struct subcommand subcommand_pending = {
	.name = "pending",
	.args = "[--follow] [--json]",
	.summary = "show the questions that wait for an answer",
	.opts = pending_opts,
	.operands = OPERANDS_NONE,
	.usage_status = EXIT_USAGE,
	.outside = true,
	.run = pending_run,
};
