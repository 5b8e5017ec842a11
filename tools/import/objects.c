/*
 * JSON objects read by table: what is not in the table is told, never passed over.
 */
#include <errno.h>
#include <string.h>

#include "import.h"

static const struct member *find(const struct member *table, const char *name)
{
	for (; table->name; table++)
		if (strcmp(table->name, name) == 0)
			return table;
	return NULL;
}

void members_read(struct import *im, const char *path, const json_t *object, const struct member *table)
{
	const char *name;
	json_t *value;

	if (!json_is_object(object)) {
		carry_tell(im, TOLD_LOST, path[0] ? path : "the file", "is no object: not understood");
		return;
	}
	json_object_foreach((json_t *)object, name, value)
	{
		const struct member *m = find(table, name);
		_cleanup_free_ char *at = NULL;

		if (asprintf(&at, path[0] ? "%s.%s" : "%s%s", path, name) < 0) {
			at = NULL;
			im->error = -ENOMEM;
			return;
		}
		if (!m)
			carry_tell(im, TOLD_LOST, at, "not understood");
		else if (m->fn)
			m->fn(im, at, value);
	}
}

void strings_read(struct import *im, const char *path, const json_t *list,
		  void (*fn)(struct import *im, const char *path, const char *text))
{
	size_t i;
	json_t *value;

	if (!json_is_array(list)) {
		carry_tell(im, TOLD_LOST, path, "is no list: not understood");
		return;
	}
	json_array_foreach((json_t *)list, i, value)
	{
		_cleanup_free_ char *at = NULL;

		if (asprintf(&at, "%s[%zu]", path, i) < 0) {
			at = NULL;
			im->error = -ENOMEM;
			return;
		}
		if (json_is_string(value))
			fn(im, at, json_string_value(value));
		else
			carry_tell(im, TOLD_LOST, at, "is no string: not understood");
	}
}

bool flag_read(struct import *im, const char *path, const json_t *value)
{
	if (!json_is_boolean(value))
		carry_tell(im, TOLD_LOST, path, "is neither true nor false: not understood");
	return json_is_true(value);
}
