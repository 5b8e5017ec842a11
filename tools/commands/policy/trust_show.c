/*
 * What the operator sees before trusting a file of a project: all of it, what is new in it, and what it
 * could open that is closed now.
 *
 * The project's authors wrote this text, so it is shown escaped, line by line.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "policy/record/record.h"
#include "policy/record/replacefile.h"
#include "policy/system/cleanup.h"

#include "tools/base/output.h"
#include "tools/edit/edit.h"
#include "tools/gather/gather.h"
#include "tools/gather/load.h"

#include "policy_past.h"

/* --- the text ----------------------------------------------------------------------------------------- */

/* A .env is blanked except for the lines about pale, so no others are shown. */
static void print_line(const struct trustee *t, char mark, const char *line, size_t len)
{
	_cleanup_free_ char *shown = record_escape(line, len);
	enum paint paint = mark == '+' ? PAINT_GREEN : mark == '-' ? PAINT_RED : PAINT_DIM;

	if (t->is_env && strspn(line, " ") >= len)
		return;
	printf("%s%c%s ", paint_on(stdout, paint), mark, paint_off(stdout));
	print_recorded(stdout, shown ? shown : "?");
	putchar('\n');
}

static int memory_of(const char *text, size_t len)
{
	int fd = memfd_create("trust", 0), r;

	if (fd < 0)
		return -errno;
	r = write_all(fd, text, len);
	if (r < 0)
		(void)close(fd);
	return r < 0 ? r : fd;
}

/* Prints the output of diff(1), with all lines as context.  False if there is no difference. */
static bool print_diff(const struct trustee *t)
{
	_cleanup_close_ int old = memory_of(t->old, t->old_len), new = memory_of(t->text, t->len);
	_cleanup_free_ char *line = NULL;
	char command[128];
	size_t cap = 0;
	ssize_t n;
	FILE *f;

	snprintf(command, sizeof(command), "exec /usr/bin/diff --text -U99999999 -- /dev/fd/%d /dev/fd/%d",
		 old, new);
	f = old < 0 || new < 0 ? NULL : popen(command, "re"); /* NOLINT(cert-env33-c): numbers alone */
	if (!f)
		return false;
	/* Skips the names of both files and the line numbers. */
	for (unsigned at = 0; (n = getline(&line, &cap, f)) > 0; at++)
		if (at >= 3 && line[0] != '\\')
			print_line(t, line[0], line + 1, (size_t)n - 1 - (line[n - 1] == '\n'));
	n = pclose(f);
	return WIFEXITED(n) && WEXITSTATUS(n) == 1;
}

static void print_lines(const struct trustee *t, const char *at, size_t len)
{
	const char *end = at + len;

	while (at < end) {
		const char *nl = memchr(at, '\n', (size_t)(end - at));

		print_line(t, ' ', at, (size_t)((nl ? nl : end) - at));
		at = nl ? nl + 1 : end;
	}
}

static void print_text(const struct trustee *t)
{
	print_escaped(stdout, t->path);
	puts(t->old ? ", with what changed since it was trusted:" : " says:");
	if (!t->old || !print_diff(t))
		print_lines(t, t->text, t->len);
}

/* What the file takes in is trusted with it. */
static bool is_taken_in(const struct trustee *t, const struct source *s)
{
	return !t->is_env && s->as && s->layer == SOURCE_PROJECT_TRUSTED;
}

static void print_taken_in(const struct trustee *t, const struct bundle *b)
{
	for (size_t i = 0; i < b->n_sources; i++) {
		const struct source *s = &b->sources[i];

		if (!is_taken_in(t, s))
			continue;
		print_escaped(stdout, s->path);
		puts(", which it takes in, says:");
		print_lines(t, s->text, s->len);
	}
}

/* --- what it opens ------------------------------------------------------------------------------------ */

static bool is_opening(const struct trustee *t, const struct bundle *b, const struct rule *r)
{
	bool own = r->file && strcmp(r->file, t->path) == 0;

	for (size_t i = 0; i < b->n_sources && r->file && !own; i++)
		own = is_taken_in(t, &b->sources[i]) && strcmp(r->file, b->sources[i].path) == 0;
	return r->line && own && rule_verdict(r->kind) != VERDICT_DENY;
}

static void print_rule(const struct trustee *t, const struct rule *r)
{
	fputs("  ", stdout);
	if (strcmp(r->file, t->path) != 0) {
		print_escaped(stdout, r->file);
		putchar(' ');
	}
	printf("line %u: [%s] %s = ", r->line, rule_section(r->kind), rule_key(r->kind));
	print_escaped(stdout, r->text ? r->text : "");
	putchar('\n');
}

/* Prints the settings that differ, in the words of `policy show`. */
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

		/* These are the place of a setting, and no setting. */
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
	const struct rule *last = NULL;
	unsigned n = 0;

	printf("if trusted, it could open the following, unless the machine's policy or a hard rule forbids "
	       "it:\n");
	for (size_t i = 0; i < after->policy.n_rules; i++) {
		const struct rule *r = &after->policy.rules[i];

		/* Two rules for two spellings of one path come from one line. */
		if (!is_opening(t, &after->bundle, r) ||
		    (last && r->line == last->line && strcmp(r->file, last->file) == 0))
			continue;
		last = r;
		print_rule(t, r);
		n++;
	}
	n += print_settings(before, after);
	n += print_passed(before, after);
	if (n == 0)
		printf("  nothing: it only tightens, trusted or not\n");
}

/* --- together ----------------------------------------------------------------------------------------- */

static int load_as(const struct trustee *t, enum source_layer layer, struct loaded *l, struct diags *d)
{
	struct bundle b;
	int r = bundle_gather(t->o, NULL, &b, d);

	if (r == -EBADMSG && b.workspace && b.home)
		r = 0;
	if (r == 0)
		r = bundle_put_source(&b, layer, t->path, t->text, t->len, d);
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
	print_taken_in(t, &after.bundle);
	fflush(stdout);
	print_diags(stderr, &d);
	if (r == 0 && s == 0) {
		print_opened(t, &before, &after);
		past_report(&before, &after);
	} else {
		talk("what it could open is unknown: the policy here does not load");
	}
	r = has_errors_of(&d, t->path) ? -EBADMSG : 0;
	fflush(stdout);
	diags_done(&d);
	diags_done(&same);
	loaded_done(&before);
	loaded_done(&after);
	return r;
}
