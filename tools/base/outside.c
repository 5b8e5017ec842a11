/*
 * Programs that pale starts by itself, outside the fence: tmux, notify-send, journalctl.
 *
 * They are found on the operator's PATH, which may name a directory that the agent writes (an activated
 * virtual environment, node_modules/.bin).  pale must never run a file that the agent put there.  So a
 * directory counts only where root alone may write it or the session's policy denies every write to it, and
 * the program is run by its real path, which is looked up once, before the agent runs.
 */
#include "outside.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/base/path.h"
#include "policy/judge/eval.h"
#include "policy/system/cleanup.h"

#include "foreign.h"
#include "paths.h"

static bool is_roots_alone(const char *path)
{
	struct stat st;

	return geteuid() != 0 && dir_chain_is_roots(path) && lstat(path, &st) == 0 && st.st_uid == 0 &&
	       (S_ISLNK(st.st_mode) || !(st.st_mode & (S_IWGRP | S_IWOTH)));
}

static bool is_denied(const struct image *img, const char *path)
{
	const struct request req = { .op = OP_WRITE, .access = ACCESS_WRITE, .path = path };

	return eval(img, &req).verdict == VERDICT_DENY;
}

bool outside_is(const struct image *img, const char *path)
{
	return is_roots_alone(path) || (img && is_denied(img, path));
}

/*
 * The directory as written, its real path and the real path of the file: the agent may write none of them.
 */
static int find_in(const struct image *img, const char *dir, const char *name, char *ret)
{
	char lexical[PATH_MAX], real[PATH_MAX], found[PATH_MAX];
	struct stat st;

	if (dir[0] != '/' || path_has_dotdot(dir) || !realpath(dir, real) ||
	    path_join(lexical, sizeof(lexical), dir, name) < 0 ||
	    path_join(found, sizeof(found), real, name) < 0 || !realpath(found, real))
		return -ENOENT;
	if (stat(real, &st) < 0 || !S_ISREG(st.st_mode) || faccessat(AT_FDCWD, real, X_OK, AT_EACCESS) < 0)
		return -ENOENT;
	if (!outside_is(img, lexical) || !outside_is(img, found) || !outside_is(img, real))
		return -EPERM;
	strcpy(ret, real);
	return 0;
}

int outside_find(const struct image *img, const char *name, char ret[PATH_MAX])
{
	const char *list = getenv("PATH");
	_cleanup_free_ char *copy = strdup(list && *list ? list : "/usr/local/bin:/usr/bin:/bin");
	char *rest = copy, *dir;
	int result = -ENOENT;

	while (copy && (dir = strsep(&rest, ":"))) {
		int r = find_in(img, dir, name, ret);

		if (r == 0)
			return 0;
		result = r == -EPERM ? r : result;
	}
	return result;
}
