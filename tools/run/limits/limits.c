/*
 * The limits of a session: taken from the policy, lowered by the command line, given to the best means that
 * this machine has, and told.
 *
 * A limit that this machine cannot hold is an error, unless the policy says `enforce = best`: then it is
 * reported as not held.
 */
#include "limits.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "policy/base/buf.h"
#include "policy/base/path.h"
#include "policy/base/util.h"
#include "policy/system/cleanup.h"

#include "tools/base/options.h"
#include "tools/base/output.h"

/* --- what is wanted ------------------------------------------------------------------------------------ */

static int copy_limits(struct limits *to, const struct limits *from)
{
	to->best_effort = from->best_effort;
	for (unsigned r = 0; r < RESOURCE_COUNT; r++) {
		to->of[r] = from->of[r];
		to->of[r].file = from->of[r].file ? strdup(from->of[r].file) : NULL;
		if (from->of[r].file && !to->of[r].file)
			return -ENOMEM;
	}
	return 0;
}

static void told_place(const struct limit *l, char *buf, size_t size)
{
	_cleanup_free_ char *shown = text_visible(l->file ? path_basename(l->file) : "?");

	if (l->line)
		snprintf(buf, size, "%s:%u", shown ? shown : "?", l->line);
	else
		snprintf(buf, size, "%s", shown ? shown : "?");
}

/* The operator's option for this session: it may not exceed the files' limit. */
static int lower(struct session_limits *s, enum resource r, const char *text, const char *option)
{
	struct limit *l = &s->want.of[r];
	char now[32], place[PATH_MAX];
	uint64_t value;

	if (resource_parse(r, text, &value) < 0) {
		_cleanup_free_ char *shown = text_visible(text);

		talk("%s: invalid %s `%s`: expected %s", option, resource_name(r), shown ? shown : "?",
		     resource_expected(r));
		return -EINVAL;
	}
	/* Of two such options the lower holds. */
	if (l->value && value > l->value && l->line == 0 && strncmp(l->file, "--", 2) == 0)
		return 0;
	if (l->value && value > l->value) {
		told_place(l, place, sizeof(place));
		talk("%s: %s limits %s to %s: the command line may only lower it", option, place,
		     resource_name(r), resource_text(r, l->value, now, sizeof(now)));
		return -EPERM;
	}
	if (value == l->value)
		return 0;
	free(l->file);
	*l = (struct limit){ .value = value, .file = strdup(option) };
	return l->file ? 0 : -ENOMEM;
}

static int lower_by(struct session_limits *s, const char *word)
{
	const char *equals = strchr(word, '=');
	_cleanup_free_ char *name = strndup(word, equals ? (size_t)(equals - word) : strlen(word));
	const char *names[RESOURCE_COUNT + 1] = { NULL };
	enum resource r;

	if (!name)
		return -ENOMEM;
	r = resource_by_name(name);
	if (equals && r != RESOURCE_COUNT)
		return lower(s, r, equals + 1, "--limit");
	for (unsigned i = 0; i < RESOURCE_COUNT; i++)
		names[i] = resource_name((enum resource)i);
	if (r == RESOURCE_COUNT)
		options_unknown("limit", name, names);
	else
		talk("--limit %s: write %s=VALUE (%s)", name, name, resource_expected(r));
	return -EINVAL;
}

int limits_take(struct session_limits *s, const struct policy *p, const struct options *o)
{
	int r = copy_limits(&s->want, &p->limits);

	for (size_t i = 0; r == 0 && i < o->limits.n; i++)
		r = lower_by(s, o->limits.v[i]);
	if (r == 0 && o->timeout)
		r = lower(s, RESOURCE_TIME, o->timeout, "--timeout");
	return r;
}

/* --- by what means ------------------------------------------------------------------------------------- */

static bool wants_any(const struct session_limits *s)
{
	for (unsigned r = 0; r < RESOURCE_COUNT; r++)
		if (s->want.of[r].value)
			return true;
	return false;
}

static void tell_all(struct session_limits *s)
{
	struct out o = out_of(s->text, sizeof(s->text));
	bool first = true;
	char value[32];

	for (unsigned r = 0; r < RESOURCE_COUNT; r++) {
		if (!s->want.of[r].value)
			continue;
		text_str(&o, first ? "" : ", ");
		first = false;
		text_str(&o, resource_name(r));
		text_str(&o, " ");
		text_str(&o, resource_text(r, s->want.of[r].value, value, sizeof(value)));
		if (s->by[r] == MEANS_NONE) {
			text_str(&o, " NOT ENFORCED");
			continue;
		}
		if (s->by[r] == MEANS_CLOCK)
			continue;
		text_str(&o, " by ");
		text_str(&o, means_text(s->by[r], r));
	}
	text_end(&o);
}

static int refuse_resource(const struct session_limits *s, enum resource r)
{
	char value[32], place[PATH_MAX];

	told_place(&s->want.of[r], place, sizeof(place));
	talk("cannot enforce %s = %s (%s) on this machine; see: pale doctor; `enforce = best` in [limits] "
	     "runs without limits that cannot be enforced",
	     resource_name(r), resource_text(r, s->want.of[r].value, value, sizeof(value)), place);
	return -ENOTSUP;
}

static int choose(struct session_limits *s, const struct limits_host *h)
{
	for (unsigned r = 0; r < RESOURCE_COUNT; r++) {
		if (!s->want.of[r].value)
			continue;
		s->by[r] = limits_means(h, r);
		if (s->by[r] == MEANS_NONE && !s->want.best_effort)
			return refuse_resource(s, r);
		if (s->by[r] == MEANS_RLIMIT && r == RESOURCE_PROCESSES)
			s->others = threads_of(h->uid);
	}
	memcpy(s->bus, h->bus, sizeof(s->bus));
	return 0;
}

/* A cgroup that seemed possible could not be made: chooses the next best means. */
static int without_cgroup(struct session_limits *s, struct limits_host *h)
{
	cgroup_remove(s);
	h->v2[0] = '\0';
	return choose(s, h);
}

int limits_prepare(struct session_limits *s, const char *session)
{
	_cleanup_free_ struct limits_host *h = NULL;
	int r;

	if (!wants_any(s))
		return 0;
	h = calloc(1, sizeof(*h));
	if (!h)
		return -ENOMEM;
	limits_look(h, "", geteuid());
	snprintf(s->session, sizeof(s->session), "%s", session);
	r = choose(s, h);
	if (r == 0 && cgroup_make(s, h, session) < 0)
		r = without_cgroup(s, h);
	if (r == 0)
		tell_all(s);
	return r;
}

/* --- put on ------------------------------------------------------------------------------------------- */

static bool is_by(const struct session_limits *s, enum means m)
{
	for (unsigned r = 0; r < RESOURCE_COUNT; r++)
		if (s->by[r] == m)
			return true;
	return false;
}

/* The scope could not be made, so its limits are not held. */
static int without_scope(struct session_limits *s, const char *why)
{
	_cleanup_free_ char *shown = text_visible(why);

	if (!s->want.best_effort) {
		talk("cannot enforce the limits: systemd made no scope for them (%s); `enforce = best` in "
		     "[limits] runs without limits that cannot be enforced",
		     shown ? shown : "?");
		return -ENOTSUP;
	}
	for (unsigned r = 0; r < RESOURCE_COUNT; r++)
		if (s->by[r] == MEANS_SCOPE)
			s->by[r] = MEANS_NONE;
	tell_all(s);
	snprintf(s->instead, sizeof(s->instead), "systemd made no scope for the limits (%s): %s",
		 shown ? shown : "?", s->text);
	talk("%s", s->instead);
	return 0;
}

int limits_attach(struct session_limits *s, pid_t pid)
{
	const char *who = "cgroup";
	int r = cgroup_add(s, pid);
	char why[256];

	if (r == 0 && is_by(s, MEANS_SCOPE) && scope_make(s, pid, why, sizeof(why)) < 0) {
		r = without_scope(s, why);
		if (r < 0)
			return r;
	}
	if (r == 0 && is_by(s, MEANS_RLIMIT)) {
		who = "kernel";
		r = rlimits_set(s, pid);
	}
	if (r < 0)
		talk("cannot set the limits: %s: %s", who, strerror(-r));
	return r;
}

/* --- the end ------------------------------------------------------------------------------------------ */

static void report_end(const struct session_limits *s, enum end_why why,
		       void (*f)(void *ctx, const char *text), void *ctx)
{
	const struct limit *l = &s->want.of[RESOURCE_TIME];
	char text[PATH_MAX + 64], value[32], place[PATH_MAX];

	if (why == END_STOP || why == END_AT_ONCE)
		f(ctx, "the operator ended the session");
	if (why != END_TIME)
		return;
	told_place(l, place, sizeof(place));
	snprintf(text, sizeof(text), "time limit %s of %s reached: ended",
		 resource_text(RESOURCE_TIME, l->value, value, sizeof(value)), place);
	f(ctx, text);
}

void limits_report(const struct session_limits *s, enum end_why why, void (*f)(void *ctx, const char *text),
		   void *ctx)
{
	static const struct {
		enum resource r;
		const char *what;
	} rows[] = { { RESOURCE_MEMORY, "processes were ended by the kernel" },
		     { RESOURCE_PROCESSES, "new processes were refused by the kernel" } };
	char text[PATH_MAX + 128], value[32], place[PATH_MAX];

	report_end(s, why, f, ctx);
	for (size_t i = 0; i < NELEM(rows); i++) {
		const struct limit *l = &s->want.of[rows[i].r];
		uint64_t n = l->value ? cgroup_hit(s, rows[i].r) : 0;

		if (n == 0)
			continue;
		told_place(l, place, sizeof(place));
		snprintf(text, sizeof(text), "limit %s %s of %s reached: %llu %s", resource_name(rows[i].r),
			 resource_text(rows[i].r, l->value, value, sizeof(value)), place,
			 (unsigned long long)n, rows[i].what);
		f(ctx, text);
	}
}

void limits_done(struct session_limits *s)
{
	cgroup_remove(s);
	for (unsigned r = 0; r < RESOURCE_COUNT; r++)
		free(s->want.of[r].file);
	memset(s, 0, sizeof(*s));
}
