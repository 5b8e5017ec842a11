/*
 * Where the logs of which session lie: a link STATE/outputs/ID to DIR/ID for each, which no agent sees.
 */
#include "outputs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

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

/* The directory of the links, as a stream, or NULL. */
static DIR *open_index(void)
{
	char path[PATH_MAX];
	struct dirs dirs;

	if (dirs_find(&dirs) < 0 || path_join(path, sizeof(path), dirs.state, "outputs") < 0)
		return NULL;
	return opendir(path);
}

int outputs_pick(const char *prefix, char ret[SESSION_ID_MAX])
{
	DIR *dir = open_index();
	const struct dirent *e;
	int64_t newest = -1;
	size_t n = 0;

	while (dir && (e = readdir(dir))) {
		struct stat st;
		int64_t at;

		if (e->d_name[0] == '.' || strlen(e->d_name) >= SESSION_ID_MAX ||
		    strncmp(e->d_name, prefix, strlen(prefix)) != 0 ||
		    fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		n++;
		at = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
		if (at > newest) {
			newest = at;
			strcpy(ret, e->d_name);
		}
	}
	if (dir)
		(void)closedir(dir);
	return n == 0 ? -ENOENT : n > 1 && *prefix ? -EEXIST : 0;
}
