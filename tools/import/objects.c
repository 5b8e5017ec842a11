/*
 * Reads JSON objects by a table: a member that is not in the table is reported, never ignored.
 */
#include <string.h>

#include "policy/base/util.h"
#include "policy/system/cleanup.h"

#include "tools/base/readfile.h"

#include "import.h"

#define FILE_MAX (4u << 20)

json_t *object_load(const char *file, char *why, size_t size)
{
	_cleanup_free_ char *text = NULL;
	json_error_t error;
	json_t *root;
	size_t len;
	int r = file_read(file, FILE_MAX, &text, &len);

	if (r < 0) {
		(void)snprintf(why, size, "%s", strerror(-r));
		return NULL;
	}
	jsonc_strip(text, len);
	root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &error);
	if (!root)
		(void)snprintf(why, size, "line %d, column %d: %s", error.line, error.column, error.text);
	else if (!json_is_object(root)) {
		(void)snprintf(why, size, "no object");
		json_decref(TAKE_PTR(root));
	}
	return root;
}

static const struct member *find(const struct member *table, const char *name)
{
	for (; table->name; table++)
		if (strcmp(table->name, name) == 0)
			return table;
	return NULL;
}

static void list_read(struct import *im, const struct member *m, const char *path, const json_t *list)
{
	size_t i;
	json_t *value;

	if (!json_is_array(list))
		carry_tell(im, TOLD_LOST, path, "is no list: not understood");
	json_array_foreach((json_t *)list, i, value)
	{
		_cleanup_free_ char *at = format("%s[%zu]", path, i);

		if (json_is_string(value))
			m->each(im, m, at, json_string_value(value));
		else
			carry_tell(im, TOLD_LOST, at, "is no string: not understood");
	}
}

static void member_read(struct import *im, const struct member *m, const char *path, const json_t *value)
{
	if (m->each)
		list_read(im, m, path, value);
	else if (m->members)
		members_read(im, path, value, m->members);
	else if (m->read)
		m->read(im, path, value);
	else if (m->said && !json_is_false(value) && !json_is_null(value))
		carry_tell(im, m->kind, path, "%s", m->said);
}

void members_read(struct import *im, const char *path, const json_t *object, const struct member *table)
{
	const char *name;
	json_t *value;

	if (!json_is_object(object))
		carry_tell(im, TOLD_LOST, path, "is no object: not understood");
	json_object_foreach((json_t *)object, name, value)
	{
		_cleanup_free_ char *at = format("%s%s%s", path, path[0] ? "." : "", name);
		const struct member *m = find(table, name);

		if (m)
			member_read(im, m, at, value);
		else
			carry_tell(im, TOLD_LOST, at, "not understood");
	}
}

bool flag_read(struct import *im, const char *path, const json_t *value)
{
	if (!json_is_boolean(value))
		carry_tell(im, TOLD_LOST, path, "is neither true nor false: not understood");
	return json_is_true(value);
}

void rule_read(struct import *im, const struct member *m, const char *from, const char *text)
{
	_cleanup_free_ char *path = strcmp(m->section, "files") == 0 ? path_of(text) : NULL;

	(void)carry_rule(im, m->section, m->key, from, path ? path : text);
}
