/*
 * Where the logs of which session lie: a link STATE/outputs/ID to DIR/ID for each, which no agent sees.
 */
#include "outputs.h"

#include <errno.h>
#include <string.h>

#include "tools.h"

static int index_path(const char *id, char buf[PATH_MAX])
{
	char name[64 + SESSION_ID_MAX];
	struct dirs dirs;
	int r = strlen(id) < SESSION_ID_MAX ? dirs_find(&dirs) : -ENAMETOOLONG;

	snprintf(name, sizeof(name), "outputs/%s", r == 0 ? id : "");
	return r < 0 ? r : path_join(buf, PATH_MAX, dirs.state, name);
}

int outputs_find(const char *id, char ret[PATH_MAX])
{
	char link[PATH_MAX];
	int r = index_path(id, link);
	ssize_t n;

	if (r < 0)
		return r;
	n = readlink(link, ret, PATH_MAX - 1);
	if (n < 0)
		return -errno;
	ret[n] = '\0';
	return 0;
}

bool outputs_is_ours(const char *id, const char *dir)
{
	char at[PATH_MAX], stem[PATH_MAX];

	return outputs_find(id, at) == 0 && path_join(stem, sizeof(stem), dir, id) == 0 &&
	       strcmp(at, stem) == 0;
}

int outputs_note(const char *id, const char *dir)
{
	char stem[PATH_MAX], link[PATH_MAX], up[PATH_MAX];
	int r = index_path(id, link);

	if (r == 0)
		r = path_join(stem, sizeof(stem), dir, id);
	if (r < 0)
		return r;
	snprintf(up, sizeof(up), "%.*s", (int)(strrchr(link, '/') - link), link);
	r = dir_make(up);
	if (r < 0)
		return r;
	return symlink(stem, link) < 0 ? -errno : 0;
}

void outputs_forget(const char *id)
{
	char link[PATH_MAX];

	if (index_path(id, link) == 0)
		(void)unlink(link);
}
