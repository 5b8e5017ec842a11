/*
 * What may be granted: the lines that are offered for a question, and the check of a line that a human
 * wrote.
 *
 * Guarantees that every line that is offered passes the check.
 */
#include "grant_impl.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/parse/ini.h"

void candidate_add(struct candidates *c, const char *fmt, ...)
{
	va_list ap;
	int n;

	if (c->n == sizeof(c->line) / sizeof(c->line[0]))
		return;
	va_start(ap, fmt);
	n = vsnprintf(c->line[c->n], sizeof(c->line[0]), fmt, ap);
	va_end(ap);
	/* A line that is cut would have another meaning. */
	if (n > 0 && (size_t)n < sizeof(c->line[0]))
		c->n++;
}

/* --- the check --- */

static int say_why(char *why, size_t size, const char *text)
{
	snprintf(why, size, "%s", text);
	return -EINVAL;
}

static int say_finding(char *why, size_t size, const struct diags *d)
{
	for (size_t i = 0; i < d->n; i++) {
		const struct diag *g = &d->list[i];

		if (g->severity != SEVERITY_ERROR)
			continue;
		snprintf(why, size, "%s%s%s", g->text, g->hint ? ": " : "", g->hint ? g->hint : "");
		return -EINVAL;
	}
	return say_why(why, size, "this is no rule");
}

static const char *broad(const struct image *img, const struct image *grant)
{
	for (uint32_t i = 0;; i++) {
		const struct image_rule *r = image_rule(grant, i);
		const char *pattern, *why;

		if (!r)
			return NULL;
		pattern = image_str(grant, r->pattern);
		if (r->kind == RULE_CMD_ALLOW)
			why = grant_broad_command(pattern);
		else if (r->kind == RULE_NET_ALLOW || r->kind == RULE_NET_UDP)
			why = grant_broad_host(pattern);
		else if (r->kind == RULE_TOOL_ALLOW)
			why = pattern[0] == '*' ? "it names tools of any kind" : NULL;
		else
			why = grant_broad_path(img, pattern);
		if (why)
			return why;
	}
}

static int check_image(const struct image *img, const struct image *grant, const struct request *req,
		       char *why, size_t size)
{
	const char *too_much = broad(img, grant);
	size_t index;

	if (too_much)
		return say_why(why, size, too_much);
	if (req && eval(img, req).verdict != VERDICT_ASK)
		return say_why(why, size, "the policy does not ask about this");
	if (req && !grants_allow(grant, img, req, &index))
		return say_why(why, size, "it does not cover what is asked");
	return 0;
}

int grant_check(const struct image *img, const char *section, const char *line, const struct request *req,
		char *why, size_t size)
{
	const struct grant_line g = { section, line };
	struct image grant;
	struct diags d;
	uint8_t *bytes = NULL;
	size_t n;
	int err;

	if (strlen(line) > INI_LINE_MAX)
		return say_why(why, size, "a line of a policy has at most 190 bytes");
	diags_init(&d);
	err = grants_compile(img, &g, 1, &d, &bytes, &n);
	if (err == 0)
		err = image_open(&grant, bytes, n);
	if (err == 0)
		err = check_image(img, &grant, req, why, size);
	else if (err != -ENOMEM)
		err = say_finding(why, size, &d);
	free(bytes);
	diags_done(&d);
	return err;
}

/* --- offers --- */

static void candidates_of(const struct image *img, const struct request *req, struct candidates *c)
{
	switch ((int)req->op) {
	case OP_EXEC:
		grant_candidates_command(img, req, c);
		break;
	case OP_CONNECT:
	case OP_RESOLVE:
	case OP_BIND:
		grant_candidates_host(req, c);
		break;
	case OP_PUSH:
		c->why_none = "a yes pushes this commit alone; [git] push = allow pushes all that the checks "
			      "let through";
		break;
	case OP_TOOL:
		c->section = "tools";
		candidate_add(c, "allow = %s", req->path);
		break;
	default:
		grant_candidates_path(img, req, c);
	}
}

int grant_offer(const struct image *img, const struct request *req, struct grant_offers *ret)
{
	struct candidates c = { .section = "" };
	char why[256];

	memset(ret, 0, sizeof(*ret));
	candidates_of(img, req, &c);
	ret->section = c.section;
	for (size_t i = 0; i < c.n && ret->n < GRANT_OFFERS; i++) {
		int err = grant_check(img, c.section, c.line[i], req, why, sizeof(why));

		if (err == -ENOMEM)
			return err;
		/* If the line for the file alone fails, its directory is not offered instead. */
		if (err < 0 && c.first_or_none && i == 0)
			break;
		if (err < 0)
			continue;
		ret->line[ret->n] = strdup(c.line[i]);
		if (!ret->line[ret->n])
			return -ENOMEM;
		ret->n++;
	}
	if (ret->n == 0)
		ret->why_none = c.why_none ? c.why_none : "no line of a policy says just this";
	return 0;
}

void grant_offers_done(struct grant_offers *o)
{
	for (size_t i = 0; i < o->n; i++)
		free(o->line[i]);
	memset(o, 0, sizeof(*o));
}
