/*
 * What the operator is told before he trusts a file of a project: all of it, what is new in it, and what it
 * could open that is closed now.
 *
 * Whoever wrote the project wrote this text: it is shown escaped, line by line.
 */
#include <errno.h>
#include <string.h>

#include "edit.h"

#define COMPARE_MAX (1ULL << 32) /* half a second */

/* --- the text --------------------------------------------------------------------------------------------
 */

static enum paint paint_of(char mark)
{
	return mark == '+' ? PAINT_GREEN : mark == '-' ? PAINT_RED : PAINT_DIM;
}

/* A .env is blank where it is not about us: nothing of it is shown. */
static bool is_blank(const char *line, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (line[i] != ' ')
			return false;
	return true;
}

static void print_line(const struct trustee *t, char mark, unsigned number, const char *line, size_t len)
{
	_cleanup_free_ char *shown = record_escape(line, len);
	char digits[16] = "";

	if (t->is_env && is_blank(line, len))
		return;
	if (number)
		snprintf(digits, sizeof(digits), "%u", number);
	printf("%s%c%5s%s  ", paint_on(stdout, paint_of(mark)), mark, digits, paint_off(stdout));
	print_recorded(stdout, shown ? shown : "?");
	putchar('\n');
}

/* A walk over lines, each with the section that it stands in. */
struct walk {
	const char *at, *end, *line, *section;
	size_t len, section_len;
};

static bool next_line(struct walk *w)
{
	const char *nl = w->at < w->end ? memchr(w->at, '\n', (size_t)(w->end - w->at)) : NULL;

	if (w->at >= w->end)
		return false;
	w->line = w->at;
	w->len = (size_t)((nl ? nl : w->end) - w->at);
	w->at = nl ? nl + 1 : w->end;
	if (w->len && w->line[0] == '[') {
		w->section = w->line;
		w->section_len = w->len;
	}
	return true;
}

static bool has_line(const char *text, size_t len, const struct walk *wanted)
{
	struct walk w = { .at = text, .end = text + len };

	while (next_line(&w))
		if (w.len == wanted->len && memcmp(w.line, wanted->line, w.len) == 0 &&
		    w.section_len == wanted->section_len &&
		    (w.section_len == 0 || memcmp(w.section, wanted->section, w.section_len) == 0))
			return true;
	return false;
}

/* The order of lines means nothing to a policy, but their section does.  Of huge texts all is told as new. */
static void print_text(const struct trustee *t)
{
	struct walk new = { .at = t->text, .end = t->text + t->len };
	struct walk old = { .at = t->old, .end = t->old ? t->old + t->old_len : NULL };
	bool compares = t->old && (uint64_t)t->len * t->old_len < COMPARE_MAX;

	print_escaped(stdout, t->path);
	printf(t->old ? ", with what changed since it was trusted:\n" : " says:\n");
	for (unsigned n = 1; next_line(&new); n++) {
		bool known = !t->old || (compares && has_line(t->old, t->old_len, &new));

		print_line(t, known ? ' ' : '+', n, new.line, new.len);
	}
	while (next_line(&old))
		if (!compares || !has_line(t->text, t->len, &old))
			print_line(t, '-', 0, old.line, old.len);
}

/* --- what it opens ---------------------------------------------------------------------------------------
 */

static bool is_opening(const struct trustee *t, const struct rule *r)
{
	return r->line && r->file && strcmp(r->file, t->path) == 0 && rule_verdict(r->kind) != VERDICT_DENY;
}

static void print_rule(const struct rule *r)
{
	printf("  line %u: [%s] %s = ", r->line, rule_section(r->kind), rule_key(r->kind));
	print_escaped(stdout, r->text ? r->text : "");
	putchar('\n');
}

/* The settings that are another, by the words that `policy show` has for them. */
static unsigned print_settings(const struct loaded *before, const struct loaded *after)
{
	_cleanup_json_ json_t *was = settings_to_json(&before->policy),
			      *is = settings_to_json(&after->policy);
	const char *key;
	json_t *value;
	unsigned n = 0;

	json_object_foreach(is, key, value)
	{
		json_t *old = json_object_get(was, key);
		_cleanup_free_ char *a = NULL, *b = NULL;

		/* Where a setting was said is none. */
		if (strcmp(key, "network_file") == 0 || strcmp(key, "network_line") == 0 ||
		    json_equal(old, value))
			continue;
		a = json_dumps(old, JSON_ENCODE_ANY | JSON_ENSURE_ASCII);
		b = json_dumps(value, JSON_ENCODE_ANY | JSON_ENSURE_ASCII);
		printf("  %s: %s in place of %s\n", key, b ? b : "?", a ? a : "nothing");
		n++;
	}
	return n;
}

static bool has_environ(const struct policy *p, const struct environ_rule *wanted)
{
	for (size_t i = 0; i < p->n_environ; i++)
		if (p->environ[i].kind == wanted->kind && strcmp(p->environ[i].pattern, wanted->pattern) == 0)
			return true;
	return false;
}

static unsigned print_passed(const struct loaded *before, const struct loaded *after)
{
	unsigned n = 0;

	for (size_t i = 0; i < after->policy.n_environ; i++) {
		const struct environ_rule *r = &after->policy.environ[i];

		if (r->kind == ENVIRON_DENY || has_environ(&before->policy, r))
			continue;
		fputs(r->kind == ENVIRON_SET ? "  sets the variable " : "  passes the variable ", stdout);
		print_escaped(stdout, r->pattern);
		putchar('\n');
		n++;
	}
	return n;
}

static void print_opened(const struct trustee *t, const struct loaded *before, const struct loaded *after)
{
	unsigned n = 0, last = 0;

	printf("trusted, it could open, where no floor and no hard rule forbids:\n");
	for (size_t i = 0; i < after->policy.n_rules; i++) {
		const struct rule *r = &after->policy.rules[i];

		/* A rule that stands for two spellings of one path is one line. */
		if (!is_opening(t, r) || r->line == last)
			continue;
		last = r->line;
		print_rule(r);
		n++;
	}
	n += print_settings(before, after);
	n += print_passed(before, after);
	if (n == 0)
		printf("  nothing: it tightens alone, trusted or not\n");
}

/* --- together --------------------------------------------------------------------------------------------
 */

static int load_as(const struct trustee *t, enum source_layer layer, struct loaded *l, struct diags *d)
{
	struct bundle b;
	int r = bundle_gather(t->o, NULL, &b, d);

	if (r == -EBADMSG && b.workspace && b.home)
		r = 0;
	if (r == 0)
		r = bundle_put_source(&b, layer, t->path, t->text, t->len);
	if (r == 0)
		r = loaded_from_bundle(l, &b, d);
	bundle_done(&b);
	return r;
}

static bool has_errors_of(const struct diags *d, const char *path)
{
	for (size_t i = 0; i < d->n; i++)
		if (d->list[i].severity == SEVERITY_ERROR && d->list[i].file &&
		    strcmp(d->list[i].file, path) == 0)
			return true;
	return false;
}

int trust_show(const struct trustee *t)
{
	struct loaded before = { 0 }, after = { 0 };
	struct diags d, same;
	int r, s;

	print_text(t);
	diags_init(&d);
	diags_init(&same);
	r = load_as(t, t->is_env ? SOURCE_ENV : SOURCE_PROJECT_TRUSTED, &after, &d);
	s = load_as(t, t->is_env ? SOURCE_ENV_PROJECT : SOURCE_PROJECT, &before, &same);
	diags_drop(&d, diag_is_of_preset, NULL);
	fflush(stdout);
	print_diags(stderr, &d);
	if (r == 0 && s == 0) {
		print_opened(t, &before, &after);
		past_report(&before, &after);
	} else {
		talk("what it could open cannot be told: the policy here does not load");
	}
	r = has_errors_of(&d, t->path) ? -EBADMSG : 0;
	fflush(stdout);
	diags_done(&d);
	diags_done(&same);
	loaded_done(&before);
	loaded_done(&after);
	return r;
}
