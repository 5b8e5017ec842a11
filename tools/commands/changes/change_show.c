/* One change, shown: what is known of it, its commits, its files. */
#include <errno.h>
#include <string.h>

#include "policy/record/record.h"
#include "policy/system/cleanup.h"

#include "tools/base/output.h"
#include "tools/gate/courier.h"

#include "changes.h"

json_t *change_told(const struct change *c)
{
	_cleanup_free_ char *url = courier_shown(c->url);
	json_t *j = change_facts(c);

	(void)json_object_set_new(j, "url", json_text(url));
	(void)json_object_del(j, "repository");
	return j;
}

static void print_field(const char *name, const char *value)
{
	printf("%-9s", name);
	print_escaped(stdout, value);
	putchar('\n');
}

static void print_facts(const struct change *c, const struct view *v)
{
	_cleanup_free_ char *url = courier_shown(c->url);
	char made[32];
	struct tm tm;

	gmtime_r(&c->made, &tm);
	strftime(made, sizeof(made), "%Y-%m-%d %H:%M:%SZ", &tm);
	printf("%schange %u%s, %s, of %s\n", paint_on(stdout, PAINT_BOLD), c->number, paint_off(stdout),
	       change_state_name(c->state), made);
	print_field("to", c->ref);
	print_field("of", url ?: "?");
	if (strcmp(c->asked, c->ref) != 0)
		print_field("asked", c->asked);
	print_field("session", c->session);
	print_field("agent", c->agent);
	print_field("commit", c->new_oid);
	print_field("against", *c->base ? c->base : "nothing: all of it is new");
	if (*c->text)
		print_field("said", c->text);
	printf("%zu commit%s, %zu file%s, +%lu -%lu lines, %zu that run%s later\n", v->n_commits,
	       v->n_commits == 1 ? "" : "s", v->n_files - v->n_earlier,
	       v->n_files - v->n_earlier == 1 ? "" : "s", v->added, v->deleted, v->n_later,
	       v->n_later == 1 ? "s" : "");
}

/* --- commits, as they are stored: git log would end a message at a NUL --- */

struct commit {
	struct object o;
	const char *author, *committer, *message; /* in o; the first two end at a line's end */
};

/* The value of a header line, or NULL. */
static const char *header_of(const struct object *o, const char *word)
{
	const char *p = o->data, *end = strstr(p, "\n\n");
	size_t n = strlen(word);

	for (; p && (!end || p < end); p = strchr(p, '\n'), p += p != NULL)
		if (strncmp(p, word, n) == 0 && p[n] == ' ')
			return p + n + 1;
	return NULL;
}

static int read_commit(struct plumbing *batch, const char *oid, struct commit *ret)
{
	int e = batch_get(batch, oid, OBJECT_MAX, &ret->o);

	if (e < 0)
		return e;
	ret->author = header_of(&ret->o, "author") ?: "";
	ret->committer = header_of(&ret->o, "committer") ?: "";
	ret->message = memmem(ret->o.data, ret->o.len, "\n\n", 2);
	ret->message = ret->message ? ret->message + 2 : ret->o.data + ret->o.len;
	return 0;
}

/* A person's name and address, without the time. */
static int person_len(const char *p)
{
	size_t line = strcspn(p, "\n");
	const char *end = memrchr(p, '>', line);

	return (int)(end ? (size_t)(end + 1 - p) : line);
}

static int print_commit(struct plumbing *batch, const char *oid)
{
	struct commit c;
	int e = read_commit(batch, oid, &c);
	size_t left;

	if (e < 0)
		return e;
	printf("  %.12s  ", oid);
	print_bytes(c.author, (size_t)person_len(c.author));
	if (person_len(c.author) != person_len(c.committer) ||
	    memcmp(c.author, c.committer, (size_t)person_len(c.author)) != 0) {
		fputs(", committed by ", stdout);
		print_bytes(c.committer, (size_t)person_len(c.committer));
	}
	putchar('\n');
	left = c.o.len - (size_t)(c.message - c.o.data);
	for (const char *p = c.message; left > 0;) {
		const char *end = memchr(p, '\n', left);
		size_t n = end ? (size_t)(end - p) : left;

		fputs("      ", stdout);
		print_bytes(p, n);
		putchar('\n');
		n += end != NULL;
		p += n;
		left -= n;
	}
	object_done(&c.o);
	return 0;
}

int change_print(const struct change *c, struct view *v)
{
	struct plumbing batch;
	int e = batch_start(&batch, &v->depot);

	print_facts(c, v);
	printf("\n%sCommits:%s\n", paint_on(stdout, PAINT_BOLD), paint_off(stdout));
	for (size_t i = 0; i < v->n_commits && e == 0; i++)
		e = print_commit(&batch, v->commits[i]);
	e = e ?: change_files(v, &batch);
	(void)plumbing_end(&batch, true);
	return e;
}

json_t *bytes_to_json(const char *p, size_t n)
{
	_cleanup_free_ char *copy = memchr(p, '\0', n) ? record_escape(p, n) : strndup(p, n);

	return copy ? json_text(copy) : NULL;
}

static json_t *commit_to_json(struct plumbing *batch, const char *oid)
{
	struct commit c;
	json_t *j;

	if (read_commit(batch, oid, &c) < 0)
		return NULL;
	j = json_pack("{ss, so, so, so}", "commit", oid, "author",
		      bytes_to_json(c.author, (size_t)person_len(c.author)), "committer",
		      bytes_to_json(c.committer, (size_t)person_len(c.committer)), "message",
		      bytes_to_json(c.message, c.o.len - (size_t)(c.message - c.o.data)));
	object_done(&c.o);
	return j;
}

json_t *change_to_json(const struct change *c, struct view *v)
{
	json_t *j = change_told(c), *list = json_array();
	struct plumbing batch;
	bool ok = batch_start(&batch, &v->depot) == 0;

	for (size_t i = 0; i < v->n_commits && ok; i++)
		ok = json_array_append_new(list, commit_to_json(&batch, v->commits[i])) == 0;
	json_object_set_new(j, "commits", list);
	ok = ok && json_object_set_new(j, "files", change_files_json(v, &batch)) == 0;
	(void)plumbing_end(&batch, true);
	if (!ok)
		json_decref(j);
	return ok ? j : NULL;
}
