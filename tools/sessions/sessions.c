/*
 * Running sessions, found by their runtime directories.  Only directories that belong to this user and are
 * closed to others count, and those of a helper that runs as another user: any user may make /tmp/pale-N
 * first.
 */
#include "sessions.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "policy/base/path.h"
#include "policy/base/util.h"
#include "policy/system/cleanup.h"
#include "policy/wire/wire.h"

#include "tools/base/foreign.h"
#include "tools/base/paths.h"

#include "control_client.h"

struct list {
	struct session_ref *refs;
	size_t n;
};

static bool is_session_id(const char *name)
{
	size_t len = strlen(name);

	if (len < 4 || len >= SESSION_ID_MAX)
		return false;
	for (size_t i = 0; i < len; i++)
		if (!islower((unsigned char)name[i]) && !isdigit((unsigned char)name[i]))
			return false;
	return true;
}

static int add_session(struct list *l, const char *id, const char *dir)
{
	struct session_ref *ref = LIST_NEW(l->refs, l->n);

	if (!ref)
		return -ENOMEM;
	l->n++;
	strcpy(ref->id, id);
	strcpy(ref->dir, dir);
	return 0;
}

static int dir_check_session(const char *dir)
{
	int r = dir_check_private(dir);

	return r == 0 ? 0 : foreign_check_dir(dir);
}

static int scan_sessions(struct list *l, const char *base)
{
	struct dirent *e;
	DIR *dir;
	int r = 0;

	if (dir_check_session(base) < 0)
		return 0;
	dir = opendir(base);
	if (!dir)
		return 0;
	while (r == 0 && (e = readdir(dir))) {
		char path[PATH_MAX];

		if (is_session_id(e->d_name) && path_join(path, sizeof(path), base, e->d_name) == 0 &&
		    dir_check_session(path) == 0)
			r = add_session(l, e->d_name, path);
	}
	(void)closedir(dir);
	return r;
}

int sessions_list(struct session_ref **ret, size_t *ret_n)
{
	char bases[RUNTIME_CANDIDATES + 1][PATH_MAX];
	size_t n = runtime_candidates(bases);
	struct list l = { 0 };
	int r = 0;

	if (foreign_runtime(bases[n], sizeof(bases[n])) == 0)
		n++;

	for (size_t i = 0; r == 0 && i < n; i++) {
		bool seen = false;

		for (size_t j = 0; j < i; j++)
			seen = seen || strcmp(bases[i], bases[j]) == 0;
		if (!seen)
			r = scan_sessions(&l, bases[i]);
	}
	if (r < 0) {
		free(l.refs);
		return r;
	}
	*ret = l.refs;
	*ret_n = l.n;
	return 0;
}

/* Makes a whole call: a connection without one would be recorded as a refused one. */
json_t *session_ask(const struct session_ref *ref)
{
	_cleanup_close_ int fd = control_open(ref->dir);
	json_t *info = NULL;
	char why[256];

	return fd >= 0 && control_call(fd, "session/info", NULL, &info, why, sizeof(why)) == 0 ? info : NULL;
}

bool session_is_alive(const struct session_ref *ref)
{
	_cleanup_json_ json_t *info = session_ask(ref);

	return info != NULL;
}

int sessions_live(struct session_ref **ret, size_t *ret_n)
{
	size_t kept = 0;
	int r = sessions_list(ret, ret_n);

	for (size_t i = 0; r == 0 && i < *ret_n; i++)
		if (session_is_alive(&(*ret)[i]))
			(*ret)[kept++] = (*ret)[i];
	if (r == 0)
		*ret_n = kept;
	return r;
}

const char *session_around(void)
{
	const char *dir = getenv(ENV_SESSION_DIR);

	/* The variable may be left over from a session that has ended. */
	if (!dir || dir[0] != '/' || dir_check_session(dir) < 0 || !is_session_id(path_basename(dir)))
		return NULL;
	return path_basename(dir);
}

int session_id_new(char *buf, size_t size)
{
	static const char alphabet[] = "abcdefghijklmnopqrstuvwxyz234567";
	unsigned char bytes[6];

	if (size <= sizeof(bytes))
		return -EINVAL;
	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return errno ? -errno : -EIO;
	for (size_t i = 0; i < sizeof(bytes); i++)
		buf[i] = alphabet[bytes[i] & 31];
	buf[sizeof(bytes)] = '\0';
	return 0;
}
