/*
 * Symbolic links on the way to a branch: see trunk.h.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "policy/base/path.h"

#include "trunk.h"

#define LINKS_MAX 8 /* on the way to a branch */

/* A rule can name the path to the letter. */
static int keep(struct bundle *b, const char *path, const char *below)
{
	char name[PATH_MAX];

	if (strpbrk(path, "*?[\\") || snprintf(name, sizeof(name), "%s%s", path, below) >= (int)sizeof(name))
		return -ELOOP;
	return b ? bundle_add_git_keep(b, name) : 0;
}

int trunk_locate(const char *common, const char *branch, char path[PATH_MAX], struct bundle *keeps)
{
	char file[PATH_MAX], target[PATH_MAX], next[PATH_MAX], todo[PATH_MAX], *at = todo;
	int n = 0, r = 0;

	snprintf(file, sizeof(file), "/%s", branch);
	if (snprintf(todo, sizeof(todo), "%s/refs/heads%s", common, file) >= (int)sizeof(todo))
		return -ELOOP;
	for (path[0] = '\0'; r == 0 && *(at += strspn(at, "/"));) {
		size_t len = strcspn(at, "/"), above = strlen(path);
		ssize_t size;

		if (snprintf(next, sizeof(next), "%s/%.*s", path, (int)len, at) >= PATH_MAX)
			return -ELOOP;
		at += len;
		/* What is gone back from is no link. */
		if (path_normalise("/", next, path, PATH_MAX) < 0)
			return -ELOOP;
		size = readlink(path, target, sizeof(target) - 1);
		if (size < 0)
			continue;
		target[size] = '\0';
		/* A file below is kept, and by that the link. */
		r = ++n > LINKS_MAX ? -ELOOP : keep(keeps, path, file);
		path[target[0] == '/' ? 0 : above] = '\0';
		if (snprintf(next, sizeof(next), "%s%s", target, at) >= (int)sizeof(next))
			return -ELOOP;
		at = strcpy(todo, next);
	}
	if (r == 0 && n > 0)
		r = keep(keeps, path, "");
	return r < 0 ? r : n;
}
