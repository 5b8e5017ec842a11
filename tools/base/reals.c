/*
 * Real paths of many names that share a few directories, as the literal paths of a policy do.
 *
 * Each directory is looked up once: a name that is no symbolic link lies where its directory lies, and
 * everything below a missing directory is missing.  The results are those of path_real().
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "policy/base/op.h"
#include "policy/base/path.h"

#include "paths.h"

/* Deeper paths go to path_real(): each level here holds two paths on the stack. */
#define DEPTH_MAX 40

static int find_real(struct reals *r, const char *path, char *buf, size_t size, bool *ret_missing,
		     unsigned depth);

static const struct real_dir *known(const struct reals *r, const char *path)
{
	for (size_t i = 0; i < r->n; i++)
		if (strcmp(r->dirs[i].path, path) == 0)
			return &r->dirs[i];
	return NULL;
}

static const struct real_dir *dir_of(struct reals *r, const char *path, unsigned depth)
{
	static const struct real_dir root = { .path = (char *)"", .real = (char *)"/" };
	const struct real_dir *old = known(r, path);
	struct real_dir new;
	char real[PATH_MAX] UNINITIALIZED;

	if (!*path || old)
		return *path ? old : &root;
	/* This look-up may fill the last place with a directory above. */
	if (find_real(r, path, real, sizeof(real), &new.missing, depth + 1) < 0 || r->n == REALS_MAX)
		return NULL;
	new.path = strdup(path);
	new.real = strdup(real);
	if (!new.path || !new.real) {
		free(new.path);
		free(new.real);
		return NULL;
	}
	r->dirs[r->n] = new;
	return &r->dirs[r->n++];
}

enum kind { KIND_PLAIN, KIND_MISSING, KIND_OTHER };

static enum kind kind_of_path(const struct real_dir *dir, const char *path)
{
	struct stat st;

	if (dir->missing)
		return KIND_MISSING;
	if (lstat(path, &st) < 0)
		return errno == ENOENT ? KIND_MISSING : KIND_OTHER;
	return S_ISLNK(st.st_mode) ? KIND_OTHER : KIND_PLAIN;
}

/* Symbolic links, and names that cannot be looked up, are resolved by the C library. */
static int find_real(struct reals *r, const char *path, char *buf, size_t size, bool *ret_missing,
		     unsigned depth)
{
	const char *slash = strrchr(path, '/');
	const struct real_dir *dir;
	char parent[PATH_MAX] UNINITIALIZED;
	enum kind kind;

	*ret_missing = false;
	if (!slash || !slash[1] || strcmp(slash, "/.") == 0 || strlen(path) >= sizeof(parent) ||
	    depth > DEPTH_MAX)
		return path_real(path, buf, size);
	memcpy(parent, path, (size_t)(slash - path));
	parent[slash - path] = '\0';
	dir = dir_of(r, parent, depth);
	kind = dir ? kind_of_path(dir, path) : KIND_OTHER;
	if (kind == KIND_OTHER)
		return path_real(path, buf, size);
	*ret_missing = kind == KIND_MISSING;
	return path_join(buf, size, dir->real, slash + 1);
}

int reals_find(struct reals *r, const char *path, char *buf, size_t size)
{
	bool missing;

	if (path[0] != '/' || path_has_dotdot(path) || strstr(path, "//") || strstr(path, "/./"))
		return path_real(path, buf, size);
	return find_real(r, path, buf, size, &missing, 0);
}

void reals_done(struct reals *r)
{
	for (size_t i = 0; i < r->n; i++) {
		free(r->dirs[i].path);
		free(r->dirs[i].real);
	}
	r->n = 0;
}
