/*
 * The file of grants: see grant_file.h.
 *
 * Guarantees that a file which is not wholly understood gives no grant at all, and that what is not known
 * of a good one is there again when it is written.
 */
#include "grant_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))
#define DAY_S	 86400ull
#define PRUNE_S	 (30 * DAY_S)
#define VERSION	 1

static const char *text_of(const json_t *o, const char *name)
{
	return json_string_value(json_object_get(o, name));
}

static bool is_id(const char *s)
{
	return strlen(s) == GRANT_ID_HEX - 1 && s[strspn(s, "0123456789abcdef")] == '\0';
}

static bool read_entry(const json_t *o, struct grant_entry *e)
{
	const struct {
		const char *name, **to;
	} texts[] = {
		{ "id", &e->id },	{ "section", &e->section }, { "line", &e->line },
		{ "agent", &e->agent }, { "made", &e->made },	    { "workspace", &e->workspace },
		{ "by", &e->by },	{ "until", &e->until },
	};
	const json_t *used = json_object_get(o, "used");
	uint64_t end;

	for (size_t i = 0; i < NELEM(texts); i++) {
		*texts[i].to = text_of(o, texts[i].name);
		if (!*texts[i].to)
			return false;
	}
	/* Whoever wrote it before there was such a thing; it does not hold then. */
	e->bound = text_of(o, "bound") ? text_of(o, "bound") : "";
	e->binding = text_of(o, "binding") ? text_of(o, "binding") : "";
	e->scope = grant_scope_by_name(text_of(o, "scope"));
	e->used = json_integer_value(used) > 0 ? (uint64_t)json_integer_value(used) : 0;
	if (used && !json_is_integer(used))
		return false;
	/* A grant whose bounds are not there is not one without bounds. */
	if (e->scope == GRANT_PROJECT)
		return is_id(e->id) && e->workspace[0] && day_end(e->until, &end) == 0;
	return e->scope == GRANT_ALWAYS && is_id(e->id) && !e->workspace[0] && !e->until[0];
}

static const char *fault(const json_t *file)
{
	const json_t *list = json_object_get(file, "grants"), *o;
	struct grant_entry e;
	size_t i;

	if (!json_is_object(file) || !json_is_array(list))
		return "it is no list of grants";
	if (json_integer_value(json_object_get(file, "version")) != VERSION)
		return "another version of pale wrote it";
	if (json_array_size(list) > GRANT_ENTRIES)
		return "it has too many grants";
	json_array_foreach(list, i, o)
	{
		if (!read_entry(o, &e))
			return "one of its grants cannot be read";
	}
	return NULL;
}

json_t *grant_file_parse(const char *text, size_t len, const char **ret_why)
{
	json_t *file = len > 0 ? json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL)
			       : json_pack("{s:i, s:[]}", "version", VERSION, "grants");

	*ret_why = file ? fault(file) : "it is no JSON";
	if (!*ret_why)
		return file;
	json_decref(file);
	return NULL;
}

static json_t *list_of(const json_t *file)
{
	return json_object_get(file, "grants");
}

size_t grant_file_count(const json_t *file)
{
	return json_array_size(list_of(file));
}

bool grant_file_get(const json_t *file, size_t i, struct grant_entry *ret)
{
	const json_t *o = json_array_get(list_of(file), i);

	return o && read_entry(o, ret);
}

int grant_file_add(json_t *file, const struct grant_entry *e)
{
	json_t *o;

	if (grant_file_count(file) >= GRANT_ENTRIES)
		return -ENOSPC;
	o = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:I}", "id", e->id, "scope",
		      grant_scope_name(e->scope), "section", e->section, "line", e->line, "agent", e->agent,
		      "workspace", e->workspace, "made", e->made, "until", e->until, "by", e->by, "bound",
		      e->bound, "binding", e->binding, "used", (json_int_t)e->used);
	return json_array_append_new(list_of(file), o) < 0 ? -ENOMEM : 0;
}

int grant_file_find(const json_t *file, const char *prefix, size_t *ret_index)
{
	size_t found = SIZE_MAX, len = strlen(prefix);
	struct grant_entry e;

	if (len < GRANT_ID_PREFIX)
		return -ENOENT;
	for (size_t i = 0; grant_file_get(file, i, &e); i++) {
		if (strncmp(e.id, prefix, len) != 0)
			continue;
		if (found != SIZE_MAX)
			return -EEXIST;
		found = i;
	}
	if (found == SIZE_MAX)
		return -ENOENT;
	*ret_index = found;
	return 0;
}

int grant_file_remove(json_t *file, size_t i)
{
	return json_array_remove(list_of(file), i) < 0 ? -ENOENT : 0;
}

void grant_file_used(json_t *file, const char *id, uint64_t n)
{
	json_t *o;
	size_t i;

	json_array_foreach(list_of(file), i, o)
	{
		const char *have = text_of(o, "id");

		if (have && strcmp(have, id) == 0)
			(void)json_object_set_new(
				o, "used",
				json_integer(json_integer_value(json_object_get(o, "used")) + (json_int_t)n));
	}
}

void grant_file_prune(json_t *file, uint64_t now_s)
{
	struct grant_entry e;

	for (size_t i = grant_file_count(file); i-- > 0;) {
		uint64_t end;

		if (grant_file_get(file, i, &e) && e.until[0] && day_end(e.until, &end) == 0 &&
		    end + PRUNE_S < now_s)
			(void)grant_file_remove(file, i);
	}
}

char *grant_file_text(const json_t *file)
{
	char *json = json_dumps(file, JSON_INDENT(2)), *text;

	if (!json || asprintf(&text, "%s\n", json) < 0)
		text = NULL;
	free(json);
	return text;
}

const char *grant_entry_off(const struct grant_entry *e, const char *agent, const char *workspace,
			    uint64_t now_s)
{
	uint64_t end;

	if (strcmp(e->agent, agent) != 0)
		return "for another agent";
	if (e->scope == GRANT_PROJECT && strcmp(e->workspace, workspace) != 0)
		return "for another project";
	if (e->scope == GRANT_PROJECT && (day_end(e->until, &end) < 0 || now_s >= end))
		return "over";
	if (strcmp(e->section, "commands") == 0 && !e->binding[0])
		return "made before grants named a directory and a program: approve it again";
	return NULL;
}

/* --- days --- */

/* Days since 1970-01-01 of the proleptic Gregorian calendar, by counting from the first of March. */
static int64_t day_number(unsigned year, unsigned month, unsigned day)
{
	unsigned y = year - (month <= 2), era = y / 400, of_era = y % 400;
	unsigned of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;

	return (int64_t)era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static void day_split(uint64_t number, unsigned *year, unsigned *month, unsigned *day)
{
	uint64_t z = number + 719468, era = z / 146097, of_era = z % 146097;
	uint64_t y = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
	unsigned of_year = (unsigned)(of_era - (365 * y + y / 4 - y / 100)), m = (5 * of_year + 2) / 153;

	*day = of_year - (153 * m + 2) / 5 + 1;
	*month = m < 10 ? m + 3 : m - 9;
	*year = (unsigned)(y + era * 400) + (*month <= 2);
}

void day_of(uint64_t s, char day[GRANT_DAY])
{
	unsigned year, month, d;

	day_split(s / DAY_S, &year, &month, &d);
	snprintf(day, GRANT_DAY, "%04u-%02u-%02u", year % 10000, month % 100, d % 100);
}

int day_end(const char *day, uint64_t *ret_s)
{
	char again[GRANT_DAY];
	unsigned part[3] = { 0 };
	uint64_t start;

	if (strlen(day) != GRANT_DAY - 1)
		return -EINVAL;
	for (size_t i = 0, at = 0; i < GRANT_DAY - 1; i++) {
		if (i == 4 || i == 7) {
			at++;
			continue;
		}
		if (day[i] < '0' || day[i] > '9')
			return -EINVAL;
		part[at] = part[at] * 10 + (unsigned)(day[i] - '0');
	}
	if (part[0] < 2000 || part[0] > 2099 || part[1] < 1 || part[1] > 12 || part[2] < 1)
		return -EINVAL;
	start = (uint64_t)day_number(part[0], part[1], part[2]) * DAY_S;
	/* the 31st of a month that has none, and what stands for the dashes */
	day_of(start, again);
	if (strcmp(again, day) != 0)
		return -EINVAL;
	*ret_s = start + DAY_S;
	return 0;
}
