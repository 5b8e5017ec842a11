/*
 * The patch of a change, as a person reads it.
 *
 * Each line of a file stands behind its numbers, and only what git itself says stands at the left edge: so no
 * line of a file passes for the head of another file, or for the end of its own.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#include "policy/system/cleanup.h"

#include "tools/base/output.h"

#include "changes.h"

#define PARENTS_MAX 64
#define PATCH_MAX   (512u << 20)

/* Where a patch is: how many lines of each side the hunk still has; side n is the new one. */
struct hunk {
	size_t n; /* parents: more than one in the combined patch of a merge */
	unsigned long left[PARENTS_MAX + 1], at[PARENTS_MAX + 1];
};

void print_bytes(const char *p, size_t n)
{
	for (size_t i = 0, len; i < n; i += len + 1) {
		_cleanup_free_ char *piece = NULL;

		len = 0;
		while (i + len < n && p[i + len] != '\0' && p[i + len] != '\t')
			len++;
		piece = strndup(p + i, len);
		print_escaped(stdout, piece ?: "?");
		if (i + len < n)
			fputs(p[i + len] ? "\t" : "\\x00", stdout);
	}
}

static bool is_open(const struct hunk *h)
{
	for (size_t i = 0; i <= h->n; i++)
		if (h->left[i] > 0)
			return true;
	return false;
}

/* `@@ -1,2 +3,4 @@ ...`, or with more @ and more `-1,2` for a merge. */
static bool begin_hunk(const char *line, struct hunk *h)
{
	size_t ats = strspn(line, "@");
	const char *p = line + ats;

	if (ats < 2 || ats > PARENTS_MAX)
		return false;
	h->n = ats - 1;
	for (size_t i = 0; i <= h->n; i++) {
		char *end;

		if (p[0] != ' ' || p[1] != (i < h->n ? '-' : '+'))
			return false;
		h->at[i] = strtoul(p + 2, &end, 10);
		h->left[i] = *end == ',' ? strtoul(end + 1, &end, 10) : 1;
		p = end;
	}
	printf("%s%.*s%s\n", paint_on(stdout, PAINT_DIM), (int)(p - line), line, paint_off(stdout));
	return true;
}

static void print_number(unsigned long n, bool shown)
{
	if (shown)
		printf("%6lu ", n);
	else
		fputs("       ", stdout);
}

/* A line of a file: its marks, one for each parent, and its text. */
static void print_line(struct hunk *h, const char *line, size_t len)
{
	size_t marks = len < h->n ? len : h->n;
	bool added = memchr(line, '+', marks), gone = memchr(line, '-', marks);
	unsigned long old = h->at[0];
	bool has_old = false;

	for (size_t i = 0; i < h->n; i++) {
		bool has = gone ? i < marks && line[i] == '-' : !(i < marks && line[i] == '+');

		has_old |= i == 0 && has;
		h->left[i] -= has && h->left[i] > 0;
		h->at[i] += has;
	}
	if (added || gone)
		fputs(paint_on(stdout, gone ? PAINT_RED : PAINT_GREEN), stdout);
	print_number(old, has_old);
	print_number(h->at[h->n], !gone);
	h->left[h->n] -= !gone && h->left[h->n] > 0;
	h->at[h->n] += !gone;
	printf("|%.*s ", (int)marks, line);
	print_bytes(line + marks, len - marks);
	printf("%s\n", added || gone ? paint_off(stdout) : "");
}

static void print_head(const char *line)
{
	bool is_file = strncmp(line, "diff ", 5) == 0 || strncmp(line, "commit ", 7) == 0;

	if (is_file)
		printf("\n%s", paint_on(stdout, PAINT_BOLD));
	/* git quoted the names, so that a backslash is its own. */
	print_recorded(stdout, line);
	printf("%s\n", is_file ? paint_off(stdout) : "");
}

static int print_patch(FILE *from)
{
	struct hunk h = { .n = 0 };
	_cleanup_free_ char *line = NULL;
	size_t cap = 0;

	for (ssize_t n; (n = getline(&line, &cap, from)) >= 0;) {
		n -= n > 0 && line[n - 1] == '\n';
		line[n] = '\0';
		if (*line == '\\')
			printf("              |(no line end here)\n");
		else if (is_open(&h))
			print_line(&h, line, (size_t)n);
		else if (!begin_hunk(line, &h) && n > 0)
			print_head(line);
	}
	return ferror(from) ? -EIO : is_open(&h) ? -EBADMSG : 0;
}

/* For git's -O: the files that run later, one a line, as patterns that match only themselves. */
static int order_file(const struct view *v)
{
	_cleanup_free_ char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	int fd = memfd_create("order", MFD_CLOEXEC);

	for (size_t i = 0; f && i < v->n_files; i++) {
		const char *p = v->files[i].path;

		if (!v->files[i].runner || strchr(p, '\n'))
			continue;
		for (; *p; p++)
			fprintf(f, strchr("*?[]\\#", *p) ? "\\%c" : "%c", *p);
		fputc('\n', f);
	}
	if (!f || fclose(f) != 0 || fd < 0 || write(fd, text, size) != (ssize_t)size) {
		cleanup_close(&fd);
		return -ENOMEM;
	}
	return fd;
}

static int show(const struct view *v, const char *const words[], int order)
{
	struct plumbing p;
	int e = plumbing_start(&p, &v->depot, words, false, order), end;

	if (e == 0)
		e = print_patch(p.from);
	end = plumbing_end(&p, e < 0);
	return e ?: end;
}

/* Text that git takes for binary, since it has a NUL.  0, 1 or -errno. */
static int is_hidden_text(struct plumbing *batch, const struct view_file *f)
{
	struct object o;
	int e;

	if ((f->added >= 0 && f->status != 'H') || oid_is_none(f->new_oid))
		return 0;
	e = batch_get(batch, f->new_oid, OBJECT_MAX, &o);
	if (e < 0)
		return e;
	e = is_text_like(&o) && memchr(o.data, '\0', o.len);
	object_done(&o);
	return e;
}

/* Shows those as text; *ret_earlier: earlier versions are among them. */
static int show_as_text(const struct change *c, const struct view *v, bool *ret_earlier)
{
	struct plumbing batch;
	int e = batch_start(&batch, &v->depot);

	for (size_t i = 0; i < v->n_files && e >= 0; i++) {
		const struct view_file *f = &v->files[i];
		_cleanup_free_ char *only = NULL;

		e = is_hidden_text(&batch, f);
		*ret_earlier |= e > 0 && f->status == 'H';
		if (e <= 0 || f->status == 'H')
			continue;
		if (asprintf(&only, ":(top,literal)%s", f->path) < 0)
			only = NULL;
		fputs("\nText that git takes for binary:", stdout);
		e = show(v,
			 (const char *const[]){ "diff-tree", "-p", "--text", VIEW_DIFF, v->base, c->new_oid,
						"--", only, NULL },
			 -1);
	}
	(void)plumbing_end(&batch, true);
	return e < 0 ? e : 0;
}

int change_patch(const struct change *c, struct view *v)
{
	const char *const ends[] = { "diff-tree", "-p", "-O/dev/fd/3", VIEW_DIFF, v->base, c->new_oid, NULL };
	bool as_text = false;
	_cleanup_close_ int order = order_file(v);
	int e = order < 0 ? order : show(v, ends, order);

	e = e ?: show_as_text(c, v, &as_text);
	if (e == 0 && v->n_earlier > 0) {
		const char *const each[] = { "log",
					     "-p",
					     VIEW_LOG,
					     "--reverse",
					     "--format=commit %H",
					     "--no-renames",
					     VIEW_PLAIN,
					     as_text ? "--text" : "--no-text",
					     c->new_oid,
					     "--not",
					     v->is_whole ? NULL : v->base,
					     NULL };

		printf("\n%sEach commit by itself, since the history has earlier versions:%s\n",
		       paint_on(stdout, PAINT_BOLD), paint_off(stdout));
		e = show(v, each, -1);
	}
	return e;
}

int change_patch_text(const struct change *c, struct view *v, char **ret, size_t *ret_len)
{
	const char *const ends[] = { "diff-tree", "-p", "--text", VIEW_DIFF, v->base, c->new_oid, NULL };

	return plumbing_read(&v->depot, ends, NULL, PATCH_MAX, ret, ret_len);
}
