/*
 * Logs of sessions: ID.stdout and ID.stderr.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>

#include "policy/base/util.h"
#include "policy/system/cleanup.h"

#include "tools/ledgers/ledgers.h"

#include "gc.h"

static const char *const suffixes[] = { ".stdout", ".stderr" };

/* The id before the suffix, or false. */
static bool split(const char *name, char id[NAME_MAX + 1])
{
	size_t len = strlen(name);

	for (size_t i = 0; i < NELEM(suffixes); i++) {
		size_t n = strlen(suffixes[i]);

		if (len > n && strcmp(name + len - n, suffixes[i]) == 0) {
			snprintf(id, NAME_MAX + 1, "%.*s", (int)(len - n), name);
			return true;
		}
	}
	return false;
}

/*
 * A read lease is granted only if no process has the file open for writing; it is given back at once.  If a
 * process opens the file in that moment, we get SIGIO, which the caller ignores.  A file system without
 * leases counts as quiet.
 */
bool gc_is_quiet(int fd)
{
	if (fcntl(fd, F_SETLEASE, F_RDLCK) < 0)
		return errno != EAGAIN;
	(void)fcntl(fd, F_SETLEASE, F_UNLCK);
	return true;
}

static bool is_written(int dirfd, const char *name)
{
	_cleanup_close_ int fd =
		openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	return fd >= 0 && !gc_is_quiet(fd);
}

/* A regular file or a link that is ours, is old, and belongs to no live session. */
static bool is_stale(const struct sweep *g, int dirfd, const char *name, const char *id)
{
	struct stat st;

	if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || st.st_uid != geteuid() ||
	    !gc_is_old(g, st.st_mtime) || gc_may_be_used(g, &st) || gc_is_live(g, id))
		return false;
	if (S_ISLNK(st.st_mode))
		return true;
	return S_ISREG(st.st_mode) && !is_written(dirfd, name);
}

/* A session of that id existed: its ledger does. */
static bool is_session(const char *id)
{
	_cleanup_free_ struct ledger_ref *refs = NULL;
	size_t n = 0;

	return ledgers_list(id, &refs, &n) == 0 && n > 0 && strcmp(refs[0].session, id) == 0;
}

struct logs {
	struct sweep *g;
	const char *dir;
	bool ids;
};

static void sweep_one(void *ctx, int at, const char *name)
{
	const struct logs *l = ctx;
	char id[NAME_MAX + 1];

	if (!split(name, id) || (l->ids && !is_session(id)) || !is_stale(l->g, at, name, id))
		return;
	if (l->g->mode == GC_REMOVE && unlinkat(at, name, 0) < 0) {
		/* ENOENT: another sweep removed it. */
		if (errno != ENOENT)
			gc_failed(l->g, l->dir, name, -errno);
		return;
	}
	gc_found(l->g, GC_LOG, id, l->dir, name);
}

void gc_logs(struct sweep *g, int fd, const char *dir, bool ids)
{
	const struct sigaction ignore = { .sa_handler = SIG_IGN };
	struct sigaction before;
	struct logs l = { .g = g, .dir = dir, .ids = ids };

	(void)sigaction(SIGIO, &ignore, &before);
	gc_each(g, fd, sweep_one, &l);
	(void)sigaction(SIGIO, &before, NULL);
}
