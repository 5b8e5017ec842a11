/* Reads the decisions that helpers had not written when they died (tools/run/unwritten_kept.c). */
#include "unwritten.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/base/util.h"
#include "policy/system/cleanup.h"

#include "tools/base/paths.h"
#include "tools/base/readfile.h"

#define FILE_MAX ((size_t)64 << 20)

void unwritten_open(struct unwritten_files *ret)
{
	static const char *const names[] = { UNWRITTEN_OLD, UNWRITTEN_FILE };
	struct dirs dirs;
	size_t len;

	*ret = (struct unwritten_files){ 0 };
	if (dirs_find(&dirs) < 0)
		return;
	for (size_t i = 0; i < NELEM(names); i++)
		if (path_join(ret->path, sizeof(ret->path), dirs.state, names[i]) == 0)
			(void)file_read(ret->path, FILE_MAX, &ret->text[i], &len);
}

void unwritten_close(struct unwritten_files *f)
{
	free(f->text[0]);
	free(f->text[1]);
}

uint64_t unwritten_count(const struct unwritten_files *f, const char *session)
{
	_cleanup_free_ char *begin = NULL;
	uint64_t n = 0;

	if (asprintf(&begin, "{\"session\":\"%s\",", session) < 0)
		return 0;
	for (size_t i = 0; i < NELEM(f->text); i++)
		for (const char *at = f->text[i]; at && *at;
		     at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL)
			n += strncmp(at, begin, strlen(begin)) == 0;
	return n;
}
