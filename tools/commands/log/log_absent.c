/*
 * pale log verify: finds ledgers that are gone although a head of them was kept (heads.h), and decides whose
 * ledgers are verified.
 */
#include "log_absent.h"

#include <errno.h>
#include <inttypes.h>
#include <pwd.h>
#include <string.h>
#include <time.h>

#include "policy/base/util.h"
#include "policy/record/machine.h"
#include "policy/system/cleanup.h"

#include "tools/base/options.h"
#include "tools/base/output.h"
#include "tools/ledgers/heads.h"
#include "tools/ledgers/ledgers.h"
#include "tools/ledgers/lines.h"
#include "tools/sessions/sessions.h"

/* A user by name or uid, NO_OWNER where it does not exist. */
static uid_t user_of(const char *text)
{
	const struct passwd *pw = getpwnam(text);
	char *end;
	unsigned long uid = strtoul(text, &end, 10);

	if (pw)
		return pw->pw_uid;
	return *text >= '0' && *text <= '9' && !*end && uid < UINT32_MAX ? (uid_t)uid : NO_OWNER;
}

uid_t who_asks(const struct options *o)
{
	if (o->user)
		return user_of(o->user);
	return geteuid() == 0 ? NO_OWNER : geteuid();
}

/* --- ledgers that are gone ---------------------------------------------------------------------------- */

/* The latest head of a session whose ledger is gone. */
struct missing {
	char session[SESSION_ID_MAX], time[32];
	uint64_t count;
};

struct absent {
	const struct ledger_ref *refs; /* the ledgers that exist */
	size_t n_refs;
	const char *session; /* only sessions with this prefix; NULL: all */
	char oldest[32];     /* ledgers up to this time may have been removed by age or for room */
	struct missing *list;
	size_t n;
};

static bool is_there(const struct absent *a, const char *session)
{
	for (size_t i = 0; i < a->n_refs; i++)
		if (strcmp(a->refs[i].session, session) == 0)
			return true;
	return false;
}

static void look_for(void *ctx, const struct head *head)
{
	struct absent *a = ctx;
	struct missing *m = a->list;

	if (is_there(a, head->session) || strlen(head->session) >= sizeof(m->session) ||
	    (*head->time && strcmp(head->time, a->oldest) <= 0) ||
	    (a->session && strncmp(head->session, a->session, strlen(a->session)) != 0))
		return;
	for (; m < a->list + a->n && strcmp(m->session, head->session) != 0; m++)
		;
	if (m == a->list + a->n) {
		m = LIST_NEW(a->list, a->n);
		if (!m)
			return;
		a->n++;
	}
	snprintf(m->session, sizeof(m->session), "%s", head->session);
	snprintf(m->time, sizeof(m->time), "%s", head->time);
	m->count = head->count;
}

static void report_missing(const struct missing *m, json_t *list)
{
	static const char why[] = GONE ", although a head of it was kept";

	if (list) {
		json_array_append_new(list,
				      json_pack("{so, so, sb, sI, ss, so}", "session", json_text(m->session),
						"path", json_null(), "ok", 0, "records", (json_int_t)m->count,
						"why", why, "told", json_text(*m->time ? m->time : NULL)));
		return;
	}
	printf("%sbad%s: ", paint_on(stdout, PAINT_RED), paint_off(stdout));
	print_escaped(stdout, m->session);
	printf(": %s (%" PRIu64 " records", why, m->count);
	fputs(*m->time ? ", " : "", stdout);
	print_escaped(stdout, m->time);
	puts(")");
}

int log_absent(const struct options *o, const struct ledger_ref *refs, size_t n, const char *removed_until,
	       json_t *list)
{
	struct absent a = { .refs = refs, .n_refs = n, .session = o->machine ? MACHINE_PREFIX : o->session };
	char kept[32];
	time_t ago = time(NULL) - (time_t)LEDGER_DAYS * 86400;
	_cleanup_free_ struct ledger_ref *now = NULL;
	struct tm tm;
	int e, code;

	gmtime_r(&ago, &tm);
	strftime(kept, sizeof(kept), "%Y-%m-%dT%H:%M:%SZ", &tm);
	snprintf(a.oldest, sizeof(a.oldest), "%s", strcmp(kept, removed_until) > 0 ? kept : removed_until);
	e = heads_kept(NULL, look_for, &a);
	if (e < 0)
		talk("the kept heads cannot be read: %s", strerror(-e));
	e = o->journal ? heads_from_journal(NULL, geteuid(), who_asks(o), look_for, &a) : 0;
	if (e < 0)
		talk("the journal cannot be read: %s", strerror(-e));
	code = EXIT_OK;
	/* List the ledgers again: sessions may have started and ended since. */
	a.n_refs = 0;
	e = ledgers_list(NULL, &now, &a.n_refs);
	if (e == 0)
		e = ledgers_add_machine(&now, &a.n_refs);
	a.refs = e < 0 ? NULL : now;
	for (size_t i = 0; e >= 0 && i < a.n; i++)
		if (!is_there(&a, a.list[i].session)) {
			report_missing(&a.list[i], list);
			code = code < EXIT_FINDINGS ? EXIT_FINDINGS : code;
		}
	free(a.list);
	return code;
}
