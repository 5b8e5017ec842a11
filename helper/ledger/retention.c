/*
 * Removes the ledgers of sessions that ended long ago, when a session starts.  It takes a bounded time,
 * removes no ledger of a live session (its helper holds a lock on it), follows no link, and removes only
 * files that a helper made.  Each removal is recorded.
 */
#include "retention.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/system/cleanup.h"
#include "policy/system/system.h"

#include "helper/base/smallfile.h"
#include "helper/base/stamp.h"
#include "helper/base/state.h"

#include "bounds.h"
#include "event.h"
#include "ledger.h"

#define NS_BUDGET   (50 * NS_MS)
#define HEAD_LATE_S 5	 /* a head is kept so long after its ledger was last written, at most */
#define LOOK_MAX    5000 /* entries read of the directory of sessions, and of each session's */

bool retention_is_helpers(const char *name)
{
	return strncmp(name, "ledger.", 7) == 0 || strncmp(name, "session.json", 12) == 0;
}

/* Seconds since the last write to the ledger in this directory, or -1 where it has none. */
static int64_t age_of(int dirfd)
{
	uint64_t now = clock_real_ns() / NS_S;
	struct stat st;

	if (fstatat(dirfd, LEDGER_FILE, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
		return -1;
	return st.st_mtime > 0 && now > (uint64_t)st.st_mtime ? (int64_t)(now - (uint64_t)st.st_mtime) : -1;
}

/* True where the session's helper lives, or may live. */
bool retention_is_live(int dirfd)
{
	_cleanup_close_ int fd =
		openat(dirfd, LEDGER_FILE, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);

	if (fd < 0)
		return errno != ENOENT;
	return flock(fd, LOCK_SH | LOCK_NB) < 0;
}

static void empty(int dirfd)
{
	_cleanup_dir_ DIR *dir = dir_open(dirfd, ".");
	const char *name;

	for (int i = 0; i < LOOK_MAX && (name = dir_next(dir)); i++)
		if (retention_is_helpers(name))
			file_drop(dirfd, name);
}

/* True where the session's directory changed in the last RETENTION_DAYS.  One call excludes most sessions. */
static bool is_young(int sessions, const char *name)
{
	int64_t now = (int64_t)(clock_real_ns() / NS_S);
	struct stat st;

	return fstatat(sessions, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	       st.st_mtime > now - (int64_t)RETENTION_DAYS * 86400;
}

bool retention_remove(struct helper *h, int sessions, const char *name, const char *why)
{
	_cleanup_close_ int dirfd = openat(sessions, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	char detail[192], until[32];
	const struct event e = { .op = "ledger/removed", .via = "helper", .target = name, .detail = detail };
	struct stat st;

	if (dirfd < 0 || retention_is_live(dirfd) ||
	    fstatat(dirfd, LEDGER_FILE, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return false;
	/* The oldest are removed first: `pale log verify` reports no missing ledger that ended by `until`. */
	time_format(((uint64_t)st.st_mtime + HEAD_LATE_S) * NS_S, until);
	snprintf(detail, sizeof(detail), "%s; until=%s", why, until);
	empty(dirfd);
	if (unlinkat(sessions, name, AT_REMOVEDIR) < 0)
		return false;
	(void)ledger_append(h->ledger, &e);
	return true;
}

static void remove_old(struct helper *h, int sessions, const char *name)
{
	_cleanup_close_ int dirfd = openat(sessions, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	char detail[64];
	int64_t age = dirfd < 0 ? -1 : age_of(dirfd);

	if (age < (int64_t)RETENTION_DAYS * 86400)
		return;
	snprintf(detail, sizeof(detail), "nothing was written for %lld days", (long long)age / 86400);
	(void)retention_remove(h, sessions, name, detail);
}

void retention_run(struct helper *h)
{
	uint64_t until = clock_boot_ns() + NS_BUDGET;
	_cleanup_dir_ DIR *dir = dir_open(h->state_fd, "..");
	const char *name;

	for (int i = 0; i < LOOK_MAX && clock_boot_ns() < until && (name = dir_next(dir)); i++)
		if (strcmp(name, h->session) != 0 && !is_young(dirfd(dir), name))
			remove_old(h, dirfd(dir), name);
}

off_t retention_sum(const struct helper *h)
{
	_cleanup_dir_ DIR *dir = dir_open(h->state_fd, "..");
	const char *name;
	off_t sum = 0;

	while ((name = dir_next(dir)))
		sum += ledger_bytes(dirfd(dir), name);
	return sum;
}
