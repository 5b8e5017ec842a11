/*
 * pale log: what was decided, from every session's ledger, oldest session first.
 *
 * Without --all and filters only what matters is shown: what was denied, asked, executed and changed; with
 * --follow, of what was before, the last few.  It shows what is recorded and verifies nothing; `pale log
 * verify` does.  A line that is no record is reported and skipped.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <time.h>

#include "policy/base/path.h"
#include "policy/base/util.h"
#include "policy/record/checkpoint.h"
#include "policy/system/cleanup.h"

#include "tools/base/options.h"
#include "tools/base/output.h"
#include "tools/base/paths.h"
#include "tools/ledgers/denial.h"
#include "tools/ledgers/ledgers.h"
#include "tools/ledgers/lines.h"
#include "tools/ledgers/prune.h"

#include "log_verify.h"

#define FOLLOW_MS 250
#define KEPT	  10 /* as tail(1) */

struct filter {
	bool matters; /* what is of no interest is left out */
	bool printed; /* and denials that were not printed */
	const char *op, *verdict;
	char *path; /* in the ledger's spelling */
	char since[32];
};

struct viewer {
	const struct options *o;
	struct filter filter;
	const char *last;  /* session of the last heading */
	bool keeps;	   /* what is wanted is kept, and not shown yet */
	size_t at, n_kept; /* at: the ledger that is read */
	struct {
		size_t at;
		char *line;
	} kept[KEPT]; /* a ring */
};

/* A ledger being read. */
struct tail {
	struct ledger_ref ref;
	struct line_reader reader;
};

struct tails {
	struct tail *list;
	size_t n;
};

static bool parse_duration(const char *text, time_t *ret)
{
	static const struct {
		char unit;
		long seconds;
	} units[] = { { 's', 1 }, { 'm', 60 }, { 'h', 3600 }, { 'd', 86400 }, { 'w', 604800 } };
	char *end;
	long n = strtol(text, &end, 10);

	if (end == text || n < 0 || n > 1000000 || !*end || end[1])
		return false;
	for (size_t i = 0; i < NELEM(units); i++)
		if (units[i].unit == *end) {
			*ret = time(NULL) - n * units[i].seconds;
			return true;
		}
	return false;
}

static int set_since(struct filter *f, const char *text)
{
	struct tm tm;
	time_t at;

	if (!text)
		return 0;
	if (!parse_duration(text, &at) && !instant_parse(text, &at)) {
		talk("--since wants a span such as 10m, 2h or 3d, or a time such as 2026-11-21T14:00:00Z");
		return -EINVAL;
	}
	gmtime_r(&at, &tm);
	strftime(f->since, sizeof(f->since), "%Y-%m-%dT%H:%M:%S", &tm);
	return 0;
}

/* Sets the path prefix in the form of records: absolute, normalised, escaped. */
static int set_path(struct filter *f, const char *text)
{
	char cwd[PATH_MAX], path[PATH_MAX];

	if (!text)
		return 0;
	if (!getcwd(cwd, sizeof(cwd)) || path_normalise(cwd, text, path, sizeof(path)) < 0) {
		talk("--path: `%s` is no path", text);
		return -EINVAL;
	}
	f->path = record_escape(path, strlen(path));
	return f->path ? 0 : -ENOMEM;
}

static int set_filter(struct filter *f, const struct options *o)
{
	static const char *const verdicts[] = { "allow", "ask", "deny", NULL };
	bool known = !o->verdict;

	for (size_t i = 0; !known && verdicts[i]; i++)
		known = strcmp(verdicts[i], o->verdict) == 0;
	if (!known) {
		options_unknown("verdict", o->verdict, verdicts);
		return -EINVAL;
	}
	if (o->op && op_by_name(o->op) == OP_NONE && !strchr(o->op, '/') && strcmp(o->op, "loss") != 0 &&
	    strcmp(o->op, CHECKPOINT_OP) != 0) {
		talk("unknown operation `%s`; see pale(1) for their names", o->op);
		return -EINVAL;
	}
	f->matters = !o->all && !o->op && !o->verdict && !o->path;
	f->printed = !o->all && o->verdict;
	f->op = o->op;
	f->verdict = o->verdict;
	if (set_since(f, o->since) < 0)
		return -EINVAL;
	return set_path(f, o->path);
}

/* Writing to a terminal or /dev/null changes no file. */
static bool is_file(const char *path)
{
	return path[0] == '/' && (strncmp(path, "/dev/", 5) != 0 || strncmp(path, "/dev/shm/", 9) == 0);
}

static bool matters(const struct record *r)
{
	enum op op = op_by_name(r->op);

	if (op == OP_ATTACH || strcmp(r->op, CHECKPOINT_OP) == 0)
		return false;
	if (op == OP_NONE || strcmp(r->verdict, "allow") != 0 || r->approval[0])
		return !denial_is_quiet(r);
	return op == OP_EXEC || op == OP_CONNECT ||
	       (op != OP_UNIX && strpbrk(r->access, "wd") && is_file(r->target));
}

static bool is_wanted(const struct filter *f, const struct record *r)
{
	if ((f->matters && !matters(r)) || (f->printed && denial_is_quiet(r)))
		return false;
	if (f->op && strcmp(f->op, r->op) != 0)
		return false;
	if (f->verdict && strcmp(f->verdict, r->verdict) != 0)
		return false;
	if (f->since[0] && strcmp(r->time, f->since) < 0)
		return false;
	return !f->path || (r->target[0] == '/' && path_is_under(r->target, f->path));
}

/* Converts "2026-11-21T14:02:11.123456Z" to a short local time. */
static void local_time(const char *utc, char *buf, size_t size)
{
	struct tm tm = { 0 };
	time_t at;

	if (!strptime(utc, "%Y-%m-%dT%H:%M:%S", &tm)) {
		snprintf(buf, size, "%s", "?");
		return;
	}
	at = timegm(&tm);
	localtime_r(&at, &tm);
	strftime(buf, size, "%Y-%m-%d %H:%M:%S", &tm);
}

static void print_heading(struct viewer *v, const struct ledger_ref *ref)
{
	_cleanup_free_ char *agent = NULL;

	if (v->last == ref->session || v->o->session || v->o->machine)
		return;
	v->last = ref->session;
	agent = session_fact(ref->dir, "agent");
	printf("%ssession ", paint_on(stdout, PAINT_BOLD));
	print_recorded(stdout, ref->session);
	fputs("  ", stdout);
	print_escaped(stdout, agent ? agent : "");
	printf("%s\n", paint_off(stdout));
}

static void print_field(const char *before, const char *value, const char *after)
{
	if (!*value)
		return;
	fputs(before, stdout);
	print_recorded(stdout, value);
	fputs(after, stdout);
}

/* A record's verdict, taken from the table, so that it can be printed without escaping. */
static const char *verdict_word(const char *verdict)
{
	static const char *const words[] = { "allow", "ask", "deny" };

	for (size_t i = 0; i < NELEM(words); i++)
		if (strcmp(words[i], verdict) == 0)
			return words[i];
	return *verdict ? "?" : "-";
}

/* Values were escaped when they were recorded; they are printed as they were hashed. */
static void print_record(const struct record *r)
{
	char when[32];
	const char *exe = strrchr(r->exe, '/');

	local_time(r->time, when, sizeof(when));
	printf("#%-5" PRIu64 " %s  %s%-5s%s ", r->seq, when, paint_on(stdout, paint_of_verdict(r->verdict)),
	       verdict_word(r->verdict), paint_off(stdout));
	print_field("", r->op, " ");
	print_field("", r->target, "");
	if (r->count > 1)
		printf("  x%" PRIu64, r->count);
	printf("%s", paint_on(stdout, PAINT_DIM));
	print_field("  (", r->rule, ")");
	print_field("  <", exe ? exe + 1 : r->exe, "");
	print_field("  ", r->detail, "");
	printf("%s\n", paint_off(stdout));
}

static void show_line(struct viewer *v, const struct ledger_ref *ref, const char *line, size_t len)
{
	struct record_owned rec;
	const char *err;

	if (record_from_line(line, len, &rec, &err) < 0) {
		talk("session %s has a line that is no record (%s); see: pale log verify", ref->session, err);
		return;
	}
	if (is_wanted(&v->filter, &rec.r)) {
		if (v->keeps) {
			free(v->kept[v->n_kept % KEPT].line);
			v->kept[v->n_kept % KEPT].line = strndup(line, len);
			v->kept[v->n_kept++ % KEPT].at = v->at;
		} else if (v->o->json) {
			print_json_line(line, len);
		} else {
			print_heading(v, ref);
			print_record(&rec.r);
		}
	}
	record_done(&rec);
}

static int show_new(struct viewer *v, struct tail *s)
{
	const char *line;
	size_t len;
	int r;

	while ((r = line_reader_next(&s->reader, &line, &len)) == 1)
		show_line(v, &s->ref, line, len);
	if (r < 0)
		talk("the ledger of session %s cannot be read: %s", s->ref.session, strerror(-r));
	return r;
}

static void show_kept(struct viewer *v, const struct tails *all)
{
	v->keeps = false;
	for (size_t i = v->n_kept > KEPT ? v->n_kept - KEPT : 0; i < v->n_kept; i++) {
		_cleanup_free_ char *line = TAKE_PTR(v->kept[i % KEPT].line);

		if (line)
			show_line(v, &all->list[v->kept[i % KEPT].at].ref, line, strlen(line));
	}
}

static bool has_tail(const struct tails *all, const char *session)
{
	for (size_t i = 0; i < all->n; i++)
		if (strcmp(all->list[i].ref.session, session) == 0)
			return true;
	return false;
}

static int tails_add(struct tails *all, const struct ledger_ref *ref)
{
	struct tail *s = LIST_NEW(all->list, all->n);
	char path[PATH_MAX];

	if (!s)
		return -ENOMEM;
	s->ref = *ref;
	if (path_join(path, sizeof(path), ref->dir, LEDGER_NAME) == 0 &&
	    line_reader_open(&s->reader, path) == 0)
		all->n++;
	return 0;
}

/* Adds ledgers that are new since the last call. */
static int tails_update(struct tails *all, const char *session, bool machine)
{
	_cleanup_free_ struct ledger_ref *refs = NULL;
	size_t n = 0;
	int r = machine ? ledgers_add_machine(&refs, &n) : ledgers_list(session, &refs, &n);

	for (size_t i = 0; r == 0 && i < n; i++)
		if (!has_tail(all, refs[i].session))
			r = tails_add(all, &refs[i]);
	return r;
}

static int show_all(struct viewer *v, struct tails *all)
{
	size_t shown = 0;
	int r;

	do {
		r = tails_update(all, v->o->session, v->o->machine);
		/* The list may have moved, and with it the string of the heading. */
		if (all->n != shown)
			v->last = NULL;
		shown = all->n;
		for (v->at = 0; r == 0 && v->at < all->n; v->at++)
			if (show_new(v, &all->list[v->at]) < 0 && !v->o->follow)
				r = -EIO;
		if (v->keeps)
			show_kept(v, all);
		(void)fflush(stdout);
		if (v->o->follow)
			(void)poll(NULL, 0, FOLLOW_MS);
	} while (r == 0 && v->o->follow && !ferror(stdout));
	if (r == 0 && all->n == 0)
		talk(v->o->machine   ? "nothing outside of sessions is recorded yet"
		     : v->o->session ? "there is no session %s"
				     : "no session has been run yet",
		     v->o->session);
	return r;
}

static int show(const struct options *o)
{
	struct viewer v = { .o = o, .keeps = o->follow && !o->since };
	struct tails all = { 0 };
	int r = set_filter(&v.filter, o);
	FILE *pager = NULL;

	if (r == 0) {
		pager = o->json || o->follow ? NULL : pager_open();
		r = show_all(&v, &all);
		if (r < 0 && r != -EIO)
			talk("the ledgers cannot be read: %s", strerror(-r));
		if (r == 0 && all.n == 0 && o->session)
			r = -ENOENT;
	}
	pager_close(pager);
	for (size_t i = 0; i < all.n; i++)
		line_reader_close(&all.list[i].reader);
	free(all.list);
	free(v.filter.path);
	return r < 0 ? EXIT_USAGE : EXIT_OK;
}

static int log_run(const struct options *o, int argc, char **argv)
{
	static const char *const verbs[] = { "verify", "prune", NULL };

	if (o->machine && (o->session || (argc && strcmp(argv[0], "prune") == 0))) {
		talk("--machine cannot be used with --session or prune");
		return EXIT_USAGE;
	}
	if (argc == 0)
		return show(o);
	if (strcmp(argv[0], "verify") == 0)
		return log_verify(o, argc - 1, argv + 1);
	if (strcmp(argv[0], "prune") == 0)
		return log_prune(o, argc - 1);
	options_unknown("log command", argv[0], verbs);
	return EXIT_USAGE;
}

static const struct opt opts[] = {
	OPT_FLAG("all", 'a', all, "what was only read, too, and what was not printed"),
	OPT_VALUE("session", 0, "ID", session, "this session only"),
	OPT_FLAG("machine", 'm', machine, "what happened outside of sessions: trust, policies, passphrases"),
	OPT_VALUE("op", 0, "NAME", op, "this operation only: read, write, exec, connect ..."),
	OPT_VALUE("verdict", 0, "VERDICT", verdict, "allow, ask or deny"),
	OPT_VALUE("since", 0, "TIME", since, "10m, 2h, 3d, or a time as 2026-11-21T14:00:00Z"),
	OPT_VALUE("path", 0, "PREFIX", path, "files at or below PREFIX"),
	OPT_FLAG("follow", 'f', follow, "go on as records come, after the last ten or those of --since"),
	OPT_VALUE("key", 0, "FILE", key, "verify: the public key that must have sealed the ledger"),
	OPT_VALUE("head", 0, "HASH", head, "verify: a head that the ledger is known to have had"),
	OPT_VALUE("user", 0, "USER", user, "verify: whose ledger it must be, by name or uid"),
	OPT_FLAG("dry-run", 0, dry_run, "prune: only say what would be removed"),
	OPT_FLAG("journal", 0, journal, "verify: also against the heads in the system's journal"),
	OPT_JSON,
	{ 0 },
};

const struct subcommand subcommand_log = {
	.name = "log",
	.args = "[verify [FILE] | prune] [options]",
	.summary = "show what was decided; log verify proves that nothing was changed",
	.opts = opts,
	.usage_status = EXIT_USAGE,
	.outside = true,
	.run = log_run,
};
