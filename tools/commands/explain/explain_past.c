/*
 * pale explain ID: prints the denial with that id from the ledgers, and what the policy decides now.
 */
#include <errno.h>
#include <string.h>

#include "policy/judge/eval.h"
#include "policy/system/cleanup.h"

#include "tools/base/options.h"
#include "tools/base/output.h"
#include "tools/ledgers/denial.h"
#include "tools/ledgers/ledgers.h"
#include "tools/question/question.h"
#include "tools/sessions/sessions.h"

#include "explain.h"

/* Which part of pale reported the denial. */
static const char *attested(const struct record *r)
{
	if (strcmp(r->via, "kernel") == 0)
		return "seen by the supervisor";
	return strcmp(r->level, level_name(LEVEL_HOOKS)) == 0 ? "claimed by the process itself, as is the id"
							      : "reported by the process's hooks";
}

static void print_past(const struct past_denial *p)
{
	const struct record *r = &p->rec.r;

	fputs(paint_on(stdout, paint_of_verdict(r->verdict)), stdout);
	print_recorded(stdout, r->verdict);
	printf("%s ", paint_off(stdout));
	print_recorded(stdout, r->op);
	putchar(' ');
	print_recorded(stdout, r->target);
	printf("\nby     ");
	print_recorded(stdout, r->exe);
	printf(r->exe[0] ? " (pid %lld), " : "pid %lld, ", (long long)r->pid);
	print_recorded(stdout, r->time);
	fputs(", session ", stdout);
	print_recorded(stdout, r->session);
	printf("; %s\nwhy    ", attested(r));
	print_recorded(stdout, r->rule);
	if (strstr(r->detail, " image="))
		printf("\nnote   this was in a nested run: its own policy is not judged below");
	if (p->times > 1)
		printf("\ntimes  %llu", (unsigned long long)p->times);
	putchar('\n');
}

/* "id=0215ab3c addr=140.82.112.4": the address (the caller must free it), or NULL. */
static char *recorded_addr(const char *detail)
{
	const char *at = strstr(detail, " addr=");

	return at ? strndup(at + 6, strcspn(at + 6, " ;")) : NULL;
}

/* Evaluates the recorded act by the current policy, in the same workspace. */
static int explain_now(const struct options *o, const struct past_denial *p)
{
	_cleanup_free_ char *workspace = session_fact(p->dir, "workspace");
	_cleanup_free_ char *there = workspace ? text_unescape(workspace) : NULL;
	_cleanup_free_ char *target = text_unescape(p->rec.r.target), *addr = NULL;
	struct options again = *o;

	if (!target)
		return EXIT_USAGE;
	if (!o->json)
		puts("now, by the policy as it stands:");
	/* Relative paths of the command are resolved in the directory of the recorded act. */
	if (!again.workspace && there && chdir(there) == 0)
		again.workspace = ".";
	addr = recorded_addr(p->rec.r.detail);
	return explain_words(&again, op_by_name(p->rec.r.op), addr ? 2 : 1, (char *[]){ target, addr });
}

static json_t *past_json(const struct past_denial *p)
{
	const struct record *r = &p->rec.r;

	return json_pack("{ss, ss, ss, ss, ss, ss, ss, sI}", "session", r->session, "time", r->time, "op",
			 r->op, "target", r->target, "verdict", r->verdict, "rule", r->rule, "via", r->via,
			 "times", (json_int_t)p->times);
}

/* Several denials have this id: all are printed. */
static int explain_several(const struct options *o, const struct past_denials *d)
{
	json_t *list = json_array();
	int code = EXIT_ASK;

	for (size_t i = 0; i < d->n; i++) {
		if (o->json)
			json_array_append_new(list, past_json(&d->list[i]));
		else
			print_past(&d->list[i]);
		if (strcmp(d->list[i].rec.r.verdict, "deny") == 0)
			code = EXIT_FINDINGS;
	}
	if (o->json)
		print_json(json_incref(list));
	else
		talk("%zu have this id, newest first; name one session by --session ID, or ask: pale explain "
		     "OP TARGET",
		     d->n + d->more);
	json_decref(list);
	return code;
}

int explain_past(const struct options *o, const char *id)
{
	struct past_denials d;
	int code = EXIT_USAGE, r;

	if (session_around()) {
		talk("the ledger is closed to the session; ask the operator to run: pale explain %s", id);
		return EXIT_USAGE;
	}
	r = denials_find((uint32_t)strtoul(id, NULL, 16), o->session, &d);
	if (r == -ENOENT && o->session) {
		talk("there is no session %s", o->session);
	} else if (r < 0 || d.n == 0) {
		talk(r < 0 ? "the ledgers cannot be read" : "no denial and no question %s in the ledgers",
		     id);
	} else if (d.n > 1) {
		code = explain_several(o, &d);
	} else {
		if (!o->json)
			print_past(&d.list[0]);
		code = explain_now(o, &d.list[0]);
	}
	denials_done(&d);
	return code;
}

/* An id has DENIAL_ID_HEX digits; in older ledgers it has four. */
bool explain_is_id(const char *text)
{
	size_t n = strspn(text, "0123456789abcdef");

	return (n == DENIAL_ID_HEX || n == 4) && !text[n];
}
