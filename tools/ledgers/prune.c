/*
 * pale log prune: removes the ledgers of sessions that ended long ago, as the helper does when a session
 * starts, and as `pale session gc` does.  It never removes a running session's ledger, follows no link, and
 * removes from each directory only files that a helper made.
 */
#include "prune.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

#include "policy/system/cleanup.h"

#include "tools/base/options.h"
#include "tools/base/output.h"

#include "ledgers.h"
#include "lines.h"

/* True where the session's helper runs, or where that is not known. */
static bool is_live(int dirfd)
{
	_cleanup_close_ int fd =
		openat(dirfd, LEDGER_NAME, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);

	if (fd < 0)
		return errno != ENOENT;
	return flock(fd, LOCK_SH | LOCK_NB) < 0;
}

static bool is_helpers(const char *name)
{
	return strncmp(name, "ledger.", 7) == 0 || strncmp(name, "session.json", 12) == 0;
}

/* Calls f for each file that a helper made. */
static void each_file(int dirfd, void (*f)(int dirfd, const char *name, void *ctx), void *ctx)
{
	int copy = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	const struct dirent *e;

	while (dir && (e = readdir(dir)))
		if (is_helpers(e->d_name))
			f(dirfd, e->d_name, ctx);
	if (dir)
		(void)closedir(dir);
}

static void add_size(int dirfd, const char *name, void *ctx)
{
	struct stat st;

	if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		*(off_t *)ctx += st.st_size;
}

static void remove_file(int dirfd, const char *name, void *ctx)
{
	(void)ctx;
	(void)unlinkat(dirfd, name, 0);
}

int ledger_remove(const struct old_ledger *old)
{
	_cleanup_close_ int up = openat(old->dirfd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (up < 0)
		return -errno;
	each_file(old->dirfd, remove_file, NULL);
	return unlinkat(up, old->ref->session, AT_REMOVEDIR) < 0 ? -errno : 0;
}

/* True where this ledger is old enough and its session is over. */
static bool is_old(struct old_ledger *old)
{
	time_t now = time(NULL);
	struct stat st;

	if (fstatat(old->dirfd, LEDGER_NAME, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
		return false;
	old->days = (long)((now - st.st_mtime) / 86400);
	return now > st.st_mtime && old->days >= LEDGER_DAYS && !is_live(old->dirfd);
}

int ledgers_each_old(const char *session, void (*f)(void *ctx, const struct old_ledger *old), void *ctx)
{
	_cleanup_free_ struct ledger_ref *refs = NULL;
	size_t n = 0;
	int r = ledgers_list(session, &refs, &n);

	for (size_t i = 0; r == 0 && i < n; i++) {
		_cleanup_close_ int fd = open(refs[i].dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		struct old_ledger old = { .ref = &refs[i], .dirfd = fd };

		if (fd >= 0 && is_old(&old))
			f(ctx, &old);
	}
	return r;
}

/* --- the command ---------------------------------------------------------------------------------------- */

struct pruning {
	const struct options *o;
	json_t *list; /* NULL: lines are printed */
	bool failed;
};

static void prune(void *ctx, const struct old_ledger *old)
{
	struct pruning *p = ctx;
	const char *session = old->ref->session;
	off_t bytes = 0;
	int e = 0;

	each_file(old->dirfd, add_size, &bytes);
	if (!p->o->dry_run)
		e = ledger_remove(old);
	if (p->list)
		json_array_append_new(p->list, json_pack("{ss, sI, sI, sb}", "session", session, "days",
							 (json_int_t)old->days, "bytes", (json_int_t)bytes,
							 "removed", !p->o->dry_run && e == 0));
	else if (e == 0)
		printf("%s %s: %lld bytes, nothing was written for %ld days\n",
		       p->o->dry_run ? "would remove" : "removed", session, (long long)bytes, old->days);
	if (e < 0)
		talk("session %s cannot be removed: %s", session, strerror(-e));
	p->failed = p->failed || e < 0;
}

int log_prune(const struct options *o, int argc)
{
	struct pruning p = { .o = o, .list = o->json ? json_array() : NULL };
	int e = argc > 0 ? -EINVAL : ledgers_each_old(o->session, prune, &p);

	if (e < 0) {
		json_decref(p.list);
		talk(argc > 0 ? "log prune takes no operands" : "the ledgers cannot be read: %s",
		     strerror(-e));
		return EXIT_USAGE;
	}
	if (p.list)
		print_json(p.list);
	return p.failed ? EXIT_FINDINGS : EXIT_OK;
}
