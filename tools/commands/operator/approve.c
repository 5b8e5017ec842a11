/*
 * Commands of the operator: `pale pending`, `approve`, `deny`, `grants`, `revoke` and `passphrase`.
 *
 * pale approve, deny: the operator's answer to a question.
 *
 * The answer carries the digest of the card, computed over what is shown here: if another question has
 * taken its place meanwhile, the helper refuses the answer.  `pale approve ID` is the consent for one
 * caller, once.  For a wider consent, the rule and what else of this session it covers are shown, and on a
 * terminal the operator must confirm.  The helper refuses an answer from inside a session; this side only
 * reports that early.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <termios.h>
#include <time.h>

#include "policy/base/expiry.h"
#include "policy/grant/grant_file.h"
#include "policy/question/carddigest.h"
#include "policy/system/cleanup.h"

#include "tools/base/options.h"
#include "tools/base/output.h"
#include "tools/cards/card.h"
#include "tools/cards/stepup.h"
#include "tools/sessions/control_client.h"
#include "tools/sessions/sessions.h"

#include "pending.h"

struct answer {
	const char *decision, *scope;
	const struct options *o;
	size_t callers;	   /* callers that the operator was shown: one yes allows that many */
	const char *until; /* when the grant is over, as the helper takes it; or NULL */
};

/* The question to answer, with a connection to its session. */
struct found {
	struct session_ref ref;
	int fd;
	json_t *card;	/* owned */
	json_t *others; /* the session's other waiting questions; owned */
};

static void found_done(struct found *f)
{
	if (f->fd >= 0)
		(void)close(f->fd);
	json_decref(f->card);
	json_decref(f->others);
}

/* --- which question --- */

/* Looks for open cards of one session whose id has this prefix.  Returns how many, or -errno after a
 * message. */
static int look_in_session(const struct session_ref *ref, const char *id, struct found *ret)
{
	int fd = control_open(ref->dir), count = 0;
	_cleanup_json_ json_t *cards = NULL;
	char why[512];
	int r = fd < 0 ? fd : cards_fetch(fd, &cards, why, sizeof(why));
	json_t *j;
	size_t i;

	if (r < 0) {
		talk("session %s: %s", ref->id, fd < 0 ? strerror(-r) : why);
		if (fd >= 0)
			(void)close(fd);
		return r;
	}
	json_array_foreach(cards, i, j)
	{
		if (!card_is_open(j) || strncmp(json_str(j, "id"), id, strlen(id)) != 0)
			continue;
		if (count++ > 0 || ret->card)
			continue;
		ret->card = json_incref(j);
		ret->others = json_incref(cards);
		ret->ref = *ref;
		ret->fd = fd;
	}
	if (ret->fd != fd)
		(void)close(fd);
	return count;
}

/* No such question is open: prints how it ended, if a session still knows. */
static void tell_missing(const struct session_ref *refs, size_t n, const char *id)
{
	for (size_t i = 0; i < n; i++) {
		_cleanup_close_ int fd = control_open(refs[i].dir);
		_cleanup_json_ json_t *shown = NULL;
		char why[512];

		if (fd >= 0 && control_call(fd, "approval/show", json_pack("{ss}", "id", id), &shown, why,
					    sizeof(why)) == -EALREADY) {
			talk("%s: %s", id, why);
			return;
		}
	}
	talk("no question %s waits", id);
}

static int find_card(const char *id, struct found *ret)
{
	_cleanup_free_ struct session_ref *refs = NULL;
	bool failed = false;
	size_t n = 0;
	int count = 0;

	if (sessions_live(&refs, &n) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		int r = look_in_session(&refs[i], id, ret);

		failed |= r < 0;
		count += r > 0 ? r : 0;
	}
	if (count == 1)
		return 0;
	if (count > 1)
		talk("%s names %d questions; give more of its digits", id, count);
	else if (!failed)
		tell_missing(refs, n, id);
	return -ENOENT;
}

/* --- what it would allow --- */

static const char *chosen_rule(const struct found *f, const struct options *o)
{
	const json_t *offers = json_object_get(f->card, "offers");

	if (o->rule)
		return o->rule;
	return json_string_value(json_array_get(json_object_get(offers, "lines"), 0));
}

/* Asks on the terminal, where only the operator can answer; keys typed before are discarded. */
static bool confirmed(const char *what)
{
	_cleanup_close_ int fd = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
	char line[16] = "";
	ssize_t n;

	if (fd < 0)
		return false;
	dprintf(fd, "Allow this for %s? [y/N] ", what);
	(void)tcflush(fd, TCIFLUSH);
	n = read(fd, line, sizeof(line) - 1);
	return n > 0 && (line[0] == 'y' || line[0] == 'Y');
}

/* More callers may wait than `pale pending` showed, and a yes would allow each of them. */
static int consent_to_all(const struct found *f, const struct answer *a)
{
	size_t n = json_array_size(json_object_get(f->card, "askers"));
	char what[48];

	if (n <= a->callers)
		return 0;
	snprintf(what, sizeof(what), "all %zu callers", n);
	if (isatty(STDIN_FILENO) && confirmed(what))
		return 0;
	talk("nothing was approved: %zu callers wait for this; see: pale pending, pale approve %s --callers "
	     "%zu",
	     n, json_str(f->card, "short"), n);
	return -ECANCELED;
}

static int consent(const struct found *f, const struct answer *a)
{
	const char *rule = chosen_rule(f, a->o);
	_cleanup_free_ char *shown = rule ? text_visible(rule) : NULL;

	if (strcmp(a->decision, "approved") != 0)
		return 0;
	if (strcmp(a->scope, "once") == 0)
		return consent_to_all(f, a);
	/* The helper decides whether the rule, or its own offer if there is no rule, can be granted. */
	if (rule)
		fprintf(stderr, "  %-12s %s\n", a->scope, shown ? shown : "?");
	if (a->until)
		fprintf(stderr, "  %-12s %s\n", "until", a->until);
	if (a->o->yes)
		return 0;
	if (isatty(STDIN_FILENO)) {
		if (confirmed(strcmp(a->scope, "session") == 0	 ? "the session"
			      : strcmp(a->scope, "project") == 0 ? "this project"
								 : "always"))
			return 0;
		talk("nothing was approved");
		return -ECANCELED;
	}
	/* A session's grant ends with it; a longer one needs a confirmation. */
	if (strcmp(a->scope, "session") == 0)
		return 0;
	talk("a grant that outlives the session needs --yes where no terminal can confirm it");
	return -ECANCELED;
}

/* --- the answer --- */

static int show_card(const struct found *f, const json_t *card)
{
	struct card_text t;
	int r;

	if (!isatty(STDERR_FILENO))
		return 0;
	r = card_text_init(&t, card);
	if (r == 0)
		card_print(stderr, card, f->ref.id, &t);
	card_text_done(&t);
	return r;
}

/* Shows the questions that may be answered together, and adds their digests to the answer, which covers no
 * others. */
static int add_others(const struct found *f, json_t *with)
{
	char digest[DIGEST_HEX];
	int r = 0;
	json_t *j;
	size_t i;

	json_array_foreach(f->others, i, j)
	{
		if (r < 0 || j == f->card || strcmp(json_str(j, "state"), "pending") != 0)
			continue;
		r = show_card(f, j);
		if (r == 0)
			r = card_digest(j, digest);
		if (r == 0)
			r = json_array_append_new(with, json_string(digest));
	}
	return r;
}

static int set_text(json_t *params, const char *key, const char *value)
{
	return value && *value ? json_object_set_new(params, key, json_text(value)) : 0;
}

int card_answer(int fd, const json_t *card, const struct card_reply *a, json_t **ret, char *why, size_t size)
{
	char digest[DIGEST_HEX];
	json_t *params = card_digest(card, digest) < 0
				 ? NULL
				 : json_pack("{ss, ss, ss, ss, so, sb}", "id", json_str(card, "id"), "digest",
					     digest, "decision", a->decision, "scope", a->scope, "by",
					     json_text(operator_name()), "group", a->with != NULL);
	_cleanup_json_ json_t *mine = json_incref(params);
	int r = params ? 0 : -ENOMEM;

	*why = '\0';
	if (r == 0 && (set_text(params, "reason", a->reason) < 0 || set_text(params, "rule", a->rule) < 0 ||
		       set_text(params, "until", a->until) < 0 ||
		       (a->with && json_object_set(params, "with", a->with) < 0)))
		r = -ENOMEM;
	if (r == 0 && strcmp(a->decision, "approved") == 0)
		r = stepup_confirm(fd, card, params);
	if (r < 0) {
		json_decref(params);
		return r;
	}
	r = control_call(fd, "approval/respond", params, ret, why, size);
	stepup_wipe(mine);
	return r;
}

static void tell_result(const struct found *f, const struct answer *a, const json_t *result)
{
	const json_t *also = json_object_get(result, "also"), *j;
	const char *grant = json_str(result, "grant");
	size_t i;

	talk("%s %s%s%s%s%s in session %s%s%s%s", a->decision, json_str(f->card, "short"),
	     strcmp(a->scope, "once") == 0 ? "" : " for ",
	     strcmp(a->scope, "once") == 0	? ""
	     : strcmp(a->scope, "session") == 0 ? "the session"
						: a->scope,
	     a->until ? " until " : "", a->until ? a->until : "", f->ref.id, *grant ? " (grant " : "", grant,
	     *grant ? ": pale revoke takes it back)" : "");
	json_array_foreach((json_t *)also, i, j)
		talk("%s %.4s with it", a->decision, json_string_value(j) ?: "");
	if (json_is_true(json_object_get(result, "late")))
		talk("no process waits for it any more: the next attempt goes through");
}

static int send_answer(const struct found *f, const struct answer *a)
{
	_cleanup_json_ json_t *with = a->o->group ? json_array() : NULL, *result = NULL;
	/* The rule that was shown is escaped, so it is not sent: without --rule the helper uses its own
	 * offer. */
	const struct card_reply reply = { .decision = a->decision,
					  .scope = a->scope,
					  .rule = strcmp(a->scope, "once") == 0 ? NULL : a->o->rule,
					  .until = a->until,
					  .reason = a->o->reason,
					  .with = with };
	char why[512];
	int r = with ? add_others(f, with) : 0;

	if (r == 0)
		r = card_answer(f->fd, f->card, &reply, &result, why, sizeof(why));
	if (r == 0)
		tell_result(f, a, result);
	else if (*why)
		talk("session %s: %s", f->ref.id, why);
	return r;
}

static int answer_card(const char *id, const struct answer *a)
{
	struct found f = { .fd = -1 };
	int r;

	if (session_around()) {
		talk("a session does not answer its own questions; use another terminal");
		return EXIT_FINDINGS;
	}
	if (!*id)
		return EXIT_USAGE;
	r = find_card(id, &f);
	if (r == 0)
		r = show_card(&f, f.card);
	if (r == 0)
		r = consent(&f, a);
	if (r == 0)
		r = send_answer(&f, a);
	found_done(&f);
	return r < 0 ? EXIT_FINDINGS : EXIT_OK;
}

/* Finds when the grant is over: what --for says counts from now, and a date is sent as it is.  False after a
 * message. */
static bool find_until(const struct options *o, char until[GRANT_UNTIL])
{
	int span = o->lasts ? expiry_parse(o->lasts) : 0;
	time_t now = time(NULL), at = now + span;
	uint64_t end;

	if (span < 0) {
		talk("--for wants a span such as 15m, 1h or 7d");
		return false;
	}
	if (o->until && strlen(o->until) < GRANT_DAY && until_end(o->until, &end) == 0) {
		strcpy(until, o->until);
		return true;
	}
	/* A date alone has its own meaning, above. */
	if (o->until && !instant_parse_hour(o->until, now, &at) &&
	    !(strchr(o->until, ':') && instant_parse(o->until, &at))) {
		talk("--until wants a date such as 2026-12-01, or a time such as 17:30 or 2026-12-01T17:30");
		return false;
	}
	until_second((uint64_t)at, until);
	return true;
}

static int approve_run(const struct options *o, int argc, char **argv)
{
	char until[GRANT_UNTIL];
	const bool ends = o->lasts || o->until;
	const struct answer a = { .decision = "approved",
				  .scope = o->for_always	    ? "always"
					   : o->for_project	    ? "project"
					   : o->for_session || ends ? "session"
								    : "once",
				  .o = o,
				  .until = ends ? until : NULL,
				  .callers = o->callers ? strtoul(o->callers, NULL, 10) : 1 };

	if (argc != 1)
		talk("approve needs the id of one question; see: pale pending");
	else if (o->for_session + o->for_project + o->for_always > 1)
		talk("--session, --project and --always cannot be used together");
	else if (a.callers == 0 || (o->callers && strcmp(a.scope, "once") != 0))
		talk("--callers needs a number above 0, and cannot be used with --session, --project, "
		     "--always, --for or --until");
	else if (o->lasts && o->until)
		talk("--for and --until cannot be used together");
	else if (o->rule && strcmp(a.scope, "once") == 0)
		talk("--rule needs --session, --project, --always, --for or --until");
	else if (!ends || find_until(o, until))
		return answer_card(argv[0], &a);
	return EXIT_USAGE;
}

static int deny_run(const struct options *o, int argc, char **argv)
{
	const struct answer a = { .decision = "denied", .scope = "once", .o = o };

	if (argc == 1)
		return answer_card(argv[0], &a);
	talk("deny needs the id of one question; see: pale pending");
	return EXIT_USAGE;
}

static const struct opt approve_opts[] = {
	OPT_FLAG("session", 's', for_session, "what the rule covers, until the session ends"),
	OPT_FLAG("project", 0, for_project, "what the rule covers, for this agent in this workspace"),
	OPT_FLAG("always", 0, for_always, "what the rule covers, for this agent everywhere"),
	OPT_VALUE("for", 0, "TIME", lasts,
		  "for this time: 15m, 1h or 7d; in this session unless --project or --always"),
	OPT_VALUE("until", 0, "TIME", until, "until that day (2026-12-01) or time (17:30, 2026-12-01T17:30)"),
	OPT_VALUE("rule", 0, "LINE", rule, "the policy line to grant, in place of the narrowest"),
	OPT_FLAG("group", 'g', group, "with all that wait and the rule covers"),
	OPT_VALUE("callers", 0, "N", callers, "once for each of up to N that ask the same; else for one"),
	OPT_FLAG("yes", 'y', yes, "do not ask whether the rule may be granted"),
	{ 0 },
};
static const struct opt deny_opts[] = {
	OPT_VALUE("reason", 'r', "TEXT", reason, "what the agent is told"),
	OPT_FLAG("group", 'g', group, "with all that wait by the same rule"),
	{ 0 },
};

const struct subcommand subcommand_approve = {
	.name = "approve",
	.args = "ID [--session | --project | --always] [--for TIME | --until TIME] [--rule LINE] [--group]",
	.summary = "let what is asked happen, once or for longer",
	.opts = approve_opts,
	.usage_status = EXIT_USAGE,
	.run = approve_run,
};

const struct subcommand subcommand_deny = {
	.name = "deny",
	.args = "ID [--reason TEXT] [--group]",
	.summary = "refuse what is asked, and say why",
	.opts = deny_opts,
	.usage_status = EXIT_USAGE,
	.run = deny_run,
};
