/*
 * Findings as data: collected here, printed by the caller.
 *
 * Guarantees that a finding is either stored whole or only counted (so that a hostile file cannot fill the
 * memory with findings), and that n_errors is right in both cases.  Prints nothing.
 */
#include "parse_impl.h"
#include "policy/base/util.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The findings that are stored; the others are only counted. */
#define DIAGS_MAX 1000

void diags_init(struct diags *d)
{
	memset(d, 0, sizeof(*d));
}

static void diag_done(struct diag *g)
{
	free(g->file);
	free(g->text);
	free(g->hint);
}

void diags_done(struct diags *d)
{
	for (size_t i = 0; i < d->n; i++)
		diag_done(&d->list[i]);
	free(d->list);
	memset(d, 0, sizeof(*d));
}

int diag_add(struct diags *d, enum severity sev, const char *code, const char *file, unsigned line,
	     unsigned col, const char *hint, const char *fmt, ...)
{
	struct diag g = { .severity = sev, .code = code, .line = line, .col = col }, *new;
	va_list ap;
	int n;

	/* Counted first: a finding that cannot be stored must still refuse the file. */
	if (sev == SEVERITY_ERROR)
		d->n_errors++;
	if (d->n >= DIAGS_MAX)
		return 0;
	new = LIST_NEW(d->list, d->n);
	if (!new)
		return -ENOMEM;
	va_start(ap, fmt);
	n = vasprintf(&g.text, fmt, ap);
	va_end(ap);
	if (n < 0)
		return -ENOMEM;
	g.file = strdup(file ? file : "");
	g.hint = hint ? strdup(hint) : NULL;
	if (!g.file || (hint && !g.hint)) {
		free(g.text);
		free(g.file);
		free(g.hint);
		return -ENOMEM;
	}
	*new = g;
	d->n++;
	return 0;
}

void diags_forget(struct diags *d, const char *file)
{
	size_t kept = 0;

	for (size_t i = 0; i < d->n; i++) {
		if (strcmp(d->list[i].file, file) != 0) {
			d->list[kept++] = d->list[i];
			continue;
		}
		d->n_errors -= d->list[i].severity == SEVERITY_ERROR;
		diag_done(&d->list[i]);
	}
	d->n = kept;
}

/* --- of a line of a policy --- */

static int pair_finding(struct parser *ps, enum severity sev, const struct ini_pair *pair, const char *code,
			const char *hint, const char *fmt, va_list ap)
{
	char *text;
	int err;

	if (vasprintf(&text, fmt, ap) < 0)
		return -ENOMEM;
	err = diag_add(ps->d, sev, code, ps->src->path, pair->line, pair->value_col, hint, "%s", text);
	free(text);
	return err;
}

int parser_error(struct parser *ps, const struct ini_pair *pair, const char *code, const char *hint,
		 const char *fmt, ...)
{
	va_list ap;
	int err;

	va_start(ap, fmt);
	err = pair_finding(ps, SEVERITY_ERROR, pair, code, hint, fmt, ap);
	va_end(ap);
	return err;
}

int parser_warning(struct parser *ps, const struct ini_pair *pair, const char *code, const char *hint,
		   const char *fmt, ...)
{
	va_list ap;
	int err;

	va_start(ap, fmt);
	err = pair_finding(ps, SEVERITY_WARNING, pair, code, hint, fmt, ap);
	va_end(ap);
	return err;
}
