/*
 * pale session show: one session on a page, from its start to its end.  The numbers come from the helper of
 * a running session, or from an ended session's description; all else (programs, denials, changes) is read
 * from the ledger.
 */
#include "session_show.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "policy/base/util.h"
#include "policy/system/cleanup.h"

#include "tools/base/options.h"
#include "tools/base/output.h"
#include "tools/ledgers/denial.h"
#include "tools/ledgers/ledgers.h"
#include "tools/ledgers/unwritten.h"
#include "tools/run/end/changed.h"
#include "tools/sessions/sessions.h"

#define DENIED_SHOWN 12
#define LATER_SHOWN  20

/* What is read from a ledger; each set is keyed by the text under which two records count as equal. */
struct story {
	json_t *denied;	   /* {op, target, rule, id, count, hook, kernel, around} */
	json_t *changed;   /* count by path */
	bool observing;	   /* --observe: only secrets were held */
	uint64_t observed; /* number of acts that only --observe allowed */
};

struct page {
	struct ledger_ref ref;
	bool alive;
	json_t *facts; /* session.json, or session/info of a running session */
	struct story story;
	struct unwritten_files unwritten;
};

/* --- from the ledger ------------------------------------------------------------------------------------ */

static void set_add(json_t *set, const char *key, uint64_t n)
{
	json_int_t had = json_integer_value(json_object_get(set, key));

	(void)json_object_set_new(set, key, json_integer(had + (json_int_t)n));
}

/* "id=4c81d20e; went around the hooks" */
static void take_id(const char *detail, char *id, size_t size)
{
	size_t n = strncmp(detail, "id=", 3) == 0 ? strcspn(detail + 3, " ;") : 0;

	snprintf(id, size, "%.*s", (int)(n < size ? n : size - 1), n ? detail + 3 : "");
}

static void add_denied(struct story *s, const struct record *r)
{
	_cleanup_free_ char *key = NULL;
	char id[16];
	json_t *entry;

	if (asprintf(&key, "%s %s %s", r->op, r->rule, r->target) < 0) {
		key = NULL;
		return;
	}
	entry = json_object_get(s->denied, key);
	if (!entry) {
		take_id(r->detail, id, sizeof(id));
		entry = json_pack("{ss, ss, ss, ss, si, si, si, si}", "op", r->op, "target", r->target,
				  "rule", r->rule, "id", id, "count", 0, "hook", 0, "kernel", 0, "around", 0);
		if (!entry || json_object_set_new(s->denied, key, entry) < 0)
			return;
	}
	set_add(entry, "count", r->count);
	set_add(entry, strcmp(r->via, "kernel") == 0 ? "kernel" : "hook", r->count);
	set_add(entry, "around", strstr(r->detail, "went around the hooks") ? r->count : 0);
}

/* Writing to a terminal or /dev/null changes no file. */
static bool is_file(const char *path)
{
	return strncmp(path, "/dev/", 5) != 0 || strncmp(path, "/dev/shm/", 9) == 0;
}

/* "level=full; observing; ...": the text after that may come from anyone, so it is not searched. */
static bool says_observing(const char *detail)
{
	static const char word[] = "; observing;";

	return strncmp(detail + strcspn(detail, ";"), word, sizeof(word) - 1) == 0;
}

static int add_record(void *ctx, struct record_owned *rec)
{
	struct story *s = ctx;
	const struct record *r = &rec->r;
	enum op op = op_by_name(r->op);

	if (strcmp(r->op, "session/start") == 0)
		s->observing = says_observing(r->detail);
	if (op == OP_NONE || op == OP_ATTACH)
		return 0;
	s->observed += strstr(r->detail, " observed=") ? r->count : 0;
	if (strcmp(r->verdict, "deny") == 0 && !denial_is_quiet(r))
		add_denied(s, r);
	if (strcmp(r->verdict, "allow") == 0 && op != OP_EXEC && op != OP_CONNECT && op != OP_UNIX &&
	    strpbrk(r->access, "wd") && is_file(r->target))
		set_add(s->changed, r->target, r->count);
	return 0;
}

static int by_count(const void *a, const void *b)
{
	json_int_t x = json_integer_value(json_object_get(*(json_t *const *)a, "count"));
	json_int_t y = json_integer_value(json_object_get(*(json_t *const *)b, "count"));

	return x < y ? 1 : -(x > y);
}

/* The values of a set, most frequent first. */
static json_t *sorted(json_t *set)
{
	size_t n = json_object_size(set), i = 0;
	json_t **list = calloc(n + 1, sizeof(*list)), *out = json_array(), *value;
	const char *key;

	if (!list)
		return out;
	json_object_foreach(set, key, value) list[i++] = value;
	qsort(list, n, sizeof(*list), by_count);
	for (i = 0; i < n; i++)
		json_array_append(out, list[i]);
	free(list);
	return out;
}

/* --- finding it --- */

/* The helper's own report on a running session.  New reference, or NULL. */
static json_t *ask_helper(const char *session)
{
	_cleanup_free_ struct session_ref *refs = NULL;
	json_t *info = NULL;
	size_t n = 0;

	if (sessions_list(&refs, &n) < 0)
		return NULL;
	for (size_t i = 0; i < n && !info; i++)
		info = strcmp(refs[i].id, session) == 0 ? session_ask(&refs[i]) : NULL;
	return info;
}

/* Finds a ledger, without an id the newest: 0 with *ret, or -ENOENT, -EEXIST after a message. */
static int find_ledger(const char *id, struct ledger_ref *ret)
{
	_cleanup_free_ struct ledger_ref *refs = NULL;
	size_t n = 0, at;
	int r = ledgers_list(id, &refs, &n);

	if (r < 0) {
		talk("the sessions cannot be read: %s", strerror(-r));
		return r;
	}
	if (n == 0) {
		talk(id ? "there is no session %s" : "no session has been run yet", id);
		return -ENOENT;
	}
	at = n - 1;
	for (size_t i = 0; id && i < n; i++)
		if (strcmp(refs[i].session, id) == 0)
			at = i;
	if (id && n > 1 && strcmp(refs[at].session, id) != 0) {
		talk("more than one session begins with %s", id);
		return -EEXIST;
	}
	*ret = refs[at];
	return 0;
}

static int page_init(struct page *p, const char *id)
{
	int r = find_ledger(id, &p->ref);

	if (r < 0)
		return r;
	p->story.denied = json_object();
	p->story.changed = json_object();
	p->facts = ask_helper(p->ref.session);
	p->alive = p->facts != NULL;
	if (!p->facts)
		p->facts = session_facts(p->ref.dir);
	unwritten_open(&p->unwritten);
	r = ledger_each(p->ref.dir, NULL, add_record, &p->story);
	if (r < 0)
		talk("the ledger of session %s cannot be read: %s", p->ref.session, strerror(-r));
	return r;
}

static void page_done(struct page *p)
{
	unwritten_close(&p->unwritten);
	json_decref(p->facts);
	json_decref(p->story.denied);
	json_decref(p->story.changed);
}

/* --- showing it --- */

static const char *fact_of(const struct page *p, const char *key)
{
	const char *s = json_string_value(json_object_get(p->facts, key));

	return s ? s : "";
}

/* counts.GROUP.KEY; GROUP NULL: counts.KEY. */
static uint64_t count_of(const struct page *p, const char *group, const char *key)
{
	const json_t *j = json_object_get(p->facts, "counts");
	json_int_t v = json_integer_value(json_object_get(group ? json_object_get(j, group) : j, key));

	return v > 0 ? (uint64_t)v : 0;
}

static void label(const char *name)
{
	printf("  %s%-10s%s ", paint_on(stdout, PAINT_DIM), name, paint_off(stdout));
}

static void line(const char *name, const char *value)
{
	if (!*value)
		return;
	label(name);
	print_recorded(stdout, value);
	putchar('\n');
}

static void print_command(const struct page *p)
{
	const json_t *argv = json_object_get(p->facts, "argv"), *word;
	size_t i;

	if (json_array_size(argv) == 0)
		return;
	label("command");
	json_array_foreach(argv, i, word)
	{
		if (i > 0)
			putchar(' ');
		print_recorded(stdout, json_string_value(word) ? json_string_value(word) : "?");
	}
	putchar('\n');
}

static void print_counts(const struct page *p)
{
	if (!json_is_object(json_object_get(p->facts, "counts"))) {
		label("counts");
		printf("none: the session was cut short\n");
		return;
	}
	label("processes");
	printf("%" PRIu64 " hooked, %" PRIu64 " held by the kernel alone, %" PRIu64 " static\n",
	       count_of(p, "processes", "hooked"), count_of(p, "processes", "kernel_only"),
	       count_of(p, "processes", "static"));
	label("calls");
	printf("%" PRIu64 " judged by the hooks, %" PRIu64 " denied\n", count_of(p, "calls", "hook"),
	       count_of(p, "denied", "hook"));
	if (strcmp(fact_of(p, "level"), level_name(LEVEL_HOOKS)) != 0) {
		label("");
		printf("%" PRIu64 " carried by the supervisor, %" PRIu64 " denied",
		       count_of(p, "calls", "kernel"), count_of(p, "denied", "kernel"));
		if (count_of(p, NULL, "around"))
			printf(" (%" PRIu64 " of them went around the hooks)", count_of(p, NULL, "around"));
		putchar('\n');
	}
	if (count_of(p, "approvals", "asked") == 0)
		return;
	label("asked");
	printf("%" PRIu64 " times: %" PRIu64 " approved, %" PRIu64 " denied, %" PRIu64 " not answered\n",
	       count_of(p, "approvals", "asked"), count_of(p, "approvals", "approved"),
	       count_of(p, "approvals", "denied"), count_of(p, "approvals", "expired"));
}

static void print_runs_later(const struct page *p)
{
	_cleanup_json_ json_t *list = changed_runners(p->story.changed, fact_of(p, "workspace"));
	size_t n = json_object_size(list), i = 0;
	json_t *runner;
	const char *key;

	json_object_foreach(list, key, runner)
	{
		if (i == LATER_SHOWN)
			break;
		label(i++ == 0 ? "runs later" : "");
		print_recorded(stdout, key);
		printf(" (");
		print_recorded(stdout, json_string_value(runner));
		printf(")\n");
	}
	if (n > i) {
		label("");
		printf("and %zu more; see: --json\n", n - i);
	}
}

static void print_denied(const struct page *p)
{
	_cleanup_json_ json_t *list = sorted(p->story.denied);
	size_t n = json_array_size(list), i;
	const json_t *d;

	json_array_foreach(list, i, d)
	{
		if (i == DENIED_SHOWN)
			break;
		label(i == 0 ? "denied" : "");
		printf("%4" JSON_INTEGER_FORMAT "x ", json_integer_value(json_object_get(d, "count")));
		print_recorded(stdout, json_string_value(json_object_get(d, "op")));
		putchar(' ');
		print_recorded(stdout, json_string_value(json_object_get(d, "target")));
		printf("%s  (", paint_on(stdout, PAINT_DIM));
		print_recorded(stdout, json_string_value(json_object_get(d, "rule")));
		printf(")%s%s\n",
		       json_integer_value(json_object_get(d, "around")) ? "  went around the hooks" : "",
		       paint_off(stdout));
	}
	if (n > i) {
		label("");
		printf("and %zu more; see: pale log --session %s --verdict deny\n", n - i, p->ref.session);
	}
}

static void print_observed(const struct page *p)
{
	if (!p->story.observing)
		return;
	label("observed");
	printf("all was allowed except what pale-run(1) lists for --observe; %" PRIu64
	       " times the policy would have denied or asked; ",
	       p->story.observed);
	printf("see: pale learn --session %s\n", p->ref.session);
}

/* Decisions that are not in the ledger, because its helper ended before it wrote them. */
static void print_unwritten(const struct page *p)
{
	uint64_t n = unwritten_count(&p->unwritten, p->ref.session);

	if (n == 0)
		return;
	label("not written");
	printf("%" PRIu64 " decisions: they are in %s\n", n, p->unwritten.path);
}

/* Decisions that no process could hand over in time, or that no disk had room for. */
static void print_lost(const struct page *p)
{
	json_int_t n = json_integer_value(json_object_get(p->facts, "lost"));

	if (n == 0)
		return;
	label("lost");
	printf("%" JSON_INTEGER_FORMAT " records; see: pale log --session %s\n", n, p->ref.session);
}

static const char *how_it_is(const struct page *p)
{
	if (p->alive)
		return "runs";
	return *fact_of(p, "status") ? fact_of(p, "status") : "was cut short";
}

static void page_print(const struct page *p)
{
	size_t n = json_object_size(p->story.changed);
	char changed[64];

	printf("%ssession %s%s  ", paint_on(stdout, PAINT_BOLD), p->ref.session, paint_off(stdout));
	print_recorded(stdout, fact_of(p, "agent"));
	printf("  %s", paint_on(stdout, p->alive ? PAINT_GREEN : PAINT_DIM));
	print_recorded(stdout, how_it_is(p));
	printf("%s\n", paint_off(stdout));
	print_command(p);
	line("workspace", fact_of(p, "workspace"));
	line("preset", fact_of(p, "preset"));
	line("started", fact_of(p, "started"));
	line("ended", fact_of(p, "ended"));
	line("level", fact_of(p, "level"));
	line("not held", fact_of(p, "not_enforced"));
	print_observed(p);
	line("limits", fact_of(p, "limits"));
	line("machine", fact_of(p, "facts"));
	line("tampered", fact_of(p, "tampered"));
	print_unwritten(p);
	print_lost(p);
	print_counts(p);
	snprintf(changed, sizeof(changed), "%zu paths written, made, moved or removed", n);
	line("changed", n ? changed : "");
	print_runs_later(p);
	print_denied(p);
}

static json_t *page_json(const struct page *p)
{
	json_t *j = json_object();
	const char *const kept[] = { "agent",  "argv",	 "workspace", "preset",	 "level", "not_enforced",
				     "limits", "facts",	 "pid",	      "started", "ended", "status",
				     "turns",  "counts", "lost",      "tampered" };

	for (size_t i = 0; i < NELEM(kept); i++) {
		json_t *value = json_object_get(p->facts, kept[i]);

		(void)json_object_set_new(j, kept[i], value ? json_incref(value) : json_null());
	}
	(void)json_object_set_new(j, "session", json_string(p->ref.session));
	(void)json_object_set_new(j, "unwritten",
				  json_integer((json_int_t)unwritten_count(&p->unwritten, p->ref.session)));
	(void)json_object_set_new(j, "alive", json_boolean(p->alive));
	(void)json_object_set_new(j, "observing", json_boolean(p->story.observing));
	(void)json_object_set_new(j, "observed", json_integer((json_int_t)p->story.observed));
	(void)json_object_set(j, "changed", p->story.changed);
	(void)json_object_set_new(j, "runs_later",
				  changed_runners(p->story.changed, fact_of(p, "workspace")));
	(void)json_object_set_new(j, "denied", sorted(p->story.denied));
	return j;
}

int session_show(const struct options *o, const char *id)
{
	struct page p = { 0 };
	int r = page_init(&p, id);

	if (r == 0 && o->json)
		print_json(page_json(&p));
	else if (r == 0)
		page_print(&p);
	page_done(&p);
	return r < 0 ? EXIT_USAGE : EXIT_OK;
}
