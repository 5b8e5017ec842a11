/*
 * The file of grants: see grant_file.h.
 *
 * Guarantees that a text with a part that cannot be read gives no grant at all.
 */
#include "grant_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/base/util.h"
#include "policy/record/record.h"

#define DAY_S	86400ull
#define PRUNE_S (30 * DAY_S)

static const char head[] =
	"# What was allowed beyond one question: see pale-grants(1).  pale writes this file anew "
	"with each change.\n\n";

/* --- reading --- */

/* Takes the text before end.  Only the rule, which is the last part, may contain a tab. */
static bool next(char **at, const char *end, const char **ret)
{
	const char stop[] = { end[0], '\n', end[1] ? '\t' : '\n', '\0' };
	char *p = *at + strcspn(*at, stop);
	size_t n = strlen(end);

	if (strncmp(p, end, n) != 0)
		return false;
	*ret = *at;
	*p = '\0';
	*at = p + n;
	return true;
}

/* Sets the scope from the bounds; false if a bound is missing, which must not make the grant unbounded. */
static bool find_scope(struct grant_entry *e)
{
	static const enum grant_scope named[] = { GRANT_SESSION, GRANT_ALWAYS };
	uint64_t end;

	e->scope = e->until[0] ? GRANT_PROJECT : GRANT_ALWAYS;
	for (size_t i = 0; e->scope == GRANT_PROJECT && i < NELEM(named); i++) {
		size_t n = strlen(grant_scope_name(named[i]));

		if (strncmp(e->until, grant_scope_name(named[i]), n) != 0)
			continue;
		e->scope = named[i];
		e->until += n + (e->until[n] == ' ');
	}
	return (e->scope == GRANT_PROJECT) == (e->workspace[0] != '\0') &&
	       (!e->until[0] || until_end(e->until, &end) == 0);
}

static bool read_entry(char **at, struct grant_entry *e)
{
	const char *begin;
	const struct {
		const char **to, *end;
	} parts[] = {
		{ &begin, " " },      { &e->id, "\t" },	      { &e->agent, "\t" }, { &e->workspace, "\t" },
		{ &e->until, "\t" },  { &e->by, "\t" },	      { &e->made, "\t" },  { &e->binding, "\t" },
		{ &e->bound, "\n[" }, { &e->section, "]\n" }, { &e->line, "\n" },
	};

	for (size_t i = 0; i < NELEM(parts); i++)
		if (!next(at, parts[i].end, parts[i].to))
			return false;
	return strcmp(begin, "#") == 0 && strlen(e->id) == GRANT_ID_HEX - 1 &&
	       e->id[strspn(e->id, "0123456789abcdef")] == '\0' && e->line[0] && find_scope(e);
}

/* Skips empty lines, and comments that do not belong to a grant. */
static char *skip(char *at)
{
	for (;;) {
		size_t n = strcspn(at, "\n");

		if ((n > 0 && at[0] != '#') || memchr(at, '\t', n))
			return at;
		if (!at[n])
			return at + n;
		at += n + 1;
	}
}

int grant_list_parse(char *text, struct grant_list *ret, const char **ret_why)
{
	char *at = text ? skip(text) : NULL;

	*ret = (struct grant_list){ .text = text, .list = calloc(GRANT_ENTRIES, sizeof(*ret->list)) };
	*ret_why = "out of memory";
	if (!text || !ret->list) {
		grant_list_done(ret);
		return -ENOMEM;
	}
	*ret_why = "one of its grants cannot be read, or it has too many";
	for (; *at; at = skip(at), ret->n++)
		if (ret->n == GRANT_ENTRIES || !read_entry(&at, &ret->list[ret->n])) {
			grant_list_done(ret);
			return -EBADMSG;
		}
	return 0;
}

void grant_list_done(struct grant_list *l)
{
	free(l->text);
	free(l->list);
	*l = (struct grant_list){ 0 };
}

const struct grant_entry *grant_list_find(const struct grant_list *l, const char *id)
{
	for (size_t i = 0; i < l->n; i++)
		if (strcmp(l->list[i].id, id) == 0)
			return &l->list[i];
	return NULL;
}

/* --- writing --- */

static void put_entry(FILE *f, const struct grant_entry *e)
{
	bool named = e->scope == GRANT_SESSION || (e->scope == GRANT_ALWAYS && e->until[0]);

	fprintf(f, "# %s\t%s\t%s\t%s%s%s\t%s\t%s\t%s\t%s\n[%s]\n%s\n\n", e->id, e->agent, e->workspace,
		named ? grant_scope_name(e->scope) : "", named && e->until[0] ? " " : "", e->until, e->by,
		e->made, e->binding, e->bound, e->section, e->line);
}

static bool is_long_over(const struct grant_entry *e, uint64_t now_s)
{
	uint64_t end;

	return e->until[0] && until_end(e->until, &end) == 0 &&
	       end + (e->scope == GRANT_SESSION ? 0 : PRUNE_S) < now_s;
}

char *grant_list_text(const struct grant_list *l, const char *without, const struct grant_entry *with,
		      uint64_t now_s)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	fputs(head, f);
	for (size_t i = 0; i < l->n; i++)
		if ((!without || strcmp(l->list[i].id, without) != 0) && !is_long_over(&l->list[i], now_s))
			put_entry(f, &l->list[i]);
	if (with)
		put_entry(f, with);
	if (fclose(f) == 0)
		return text;
	free(text);
	return NULL;
}

json_t *grant_entry_json(const struct grant_entry *e)
{
	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s}", "id", e->id, "scope",
			 grant_scope_name(e->scope), "section", e->section, "line", e->line, "agent",
			 e->agent, "workspace", e->workspace, "made", e->made, "until", e->until, "by", e->by,
			 "bound", e->bound);
}

/* --- which grants hold --- */

static bool says(const char *escaped, const char *name)
{
	char *s = record_escape(name, strlen(name));
	bool same = s && strcmp(s, escaped) == 0;

	free(s);
	return same;
}

const char *grant_entry_off(const struct grant_entry *e, const char *agent, const char *workspace,
			    uint64_t now_s)
{
	uint64_t end;

	if (agent && !says(e->agent, agent))
		return "for another agent";
	if (e->scope == GRANT_PROJECT && !says(e->workspace, workspace))
		return "for another project";
	if (e->until[0] && (until_end(e->until, &end) < 0 || now_s >= end))
		return "over";
	return strcmp(e->section, "commands") == 0 && !e->binding[0] ? "it names no directory and program"
								     : NULL;
}

/* --- times --- */

void until_day(uint64_t s, char day[GRANT_DAY])
{
	/* To a civil date with years that begin in March: gmtime() would read time zone files. */
	uint64_t z = s / DAY_S + 719468, era = z / 146097, of_era = z % 146097;
	uint64_t y = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
	unsigned of_year = (unsigned)(of_era - (365 * y + y / 4 - y / 100)), m = (5 * of_year + 2) / 153;
	unsigned month = m < 10 ? m + 3 : m - 9, year = (unsigned)(y + era * 400) + (month <= 2);
	unsigned d = of_year - (153 * m + 2) / 5 + 1;

	snprintf(day, GRANT_DAY, "%04u-%02u-%02u", year % 10000, month % 100, d % 100);
}

/* Days sort like their texts, so a binary search finds the day; a text that is not a day is not found. */
static int day_end(const char *day, uint64_t *ret_s)
{
	uint64_t low = 10957, high = 47482; /* 2000-01-01 and 2100-01-01 */
	char text[GRANT_DAY];

	while (low < high) {
		uint64_t middle = (low + high) / 2;
		int order;

		until_day(middle * DAY_S, text);
		order = strcmp(text, day);
		*ret_s = (middle + 1) * DAY_S;
		if (order == 0)
			return 0;
		low = order < 0 ? middle + 1 : low;
		high = order < 0 ? high : middle;
	}
	return -EINVAL;
}

void until_second(uint64_t s, char until[GRANT_UNTIL])
{
	unsigned of_day = (unsigned)(s % DAY_S);

	until_day(s, until);
	snprintf(until + GRANT_DAY - 1, GRANT_UNTIL - GRANT_DAY + 1, "T%02u:%02u:%02uZ", of_day / 3600 % 24,
		 of_day / 60 % 60, of_day % 60);
}

int until_end(const char *until, uint64_t *ret_s)
{
	char day[GRANT_DAY], again[GRANT_UNTIL];
	unsigned h, m, s;

	snprintf(day, sizeof(day), "%.10s", until);
	if (day_end(day, ret_s) < 0)
		return -EINVAL;
	if (strlen(until) < GRANT_DAY)
		return 0;
	if (sscanf(until + GRANT_DAY - 1, "T%2u:%2u:%2uZ", &h, &m, &s) != 3)
		return -EINVAL;
	*ret_s += h * 3600 + m * 60 + s - DAY_S;
	/* Only what is written in this one form is read, so equal times have equal texts. */
	until_second(*ret_s, again);
	return strcmp(again, until) == 0 ? 0 : -EINVAL;
}
