/*
 * pale log prune: removes the ledgers of sessions that ended long ago, as the helper does when a session
 * starts.  Never a live one's, never through a link, and of each directory only what a helper made.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

#include "tools.h"

#define KEEP_DAYS 90 /* as the helper's RETENTION_DAYS */

struct old {
	const char *session;
	int dirfd;
	long days;
	off_t bytes;
};

/* Its helper lives, or nobody can say that it does not. */
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

/* 0 or -errno. */
static int remove_session(const struct old *old)
{
	_cleanup_close_ int up = openat(old->dirfd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (up < 0)
		return -errno;
	each_file(old->dirfd, remove_file, NULL);
	return unlinkat(up, old->session, AT_REMOVEDIR) < 0 ? -errno : 0;
}

/* True where this ledger is old enough and its session over. */
static bool is_old(struct old *old)
{
	time_t now = time(NULL);
	struct stat st;

	if (fstatat(old->dirfd, LEDGER_NAME, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
		return false;
	old->days = (long)((now - st.st_mtime) / 86400);
	return now > st.st_mtime && old->days >= KEEP_DAYS && !is_live(old->dirfd);
}

static int prune(const struct options *o, const struct ledger_ref *ref, json_t *list)
{
	_cleanup_close_ int fd = open(ref->dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct old old = { .session = ref->session, .dirfd = fd };
	int e = 0;

	if (fd < 0 || !is_old(&old))
		return 0;
	each_file(fd, add_size, &old.bytes);
	if (!o->dry_run)
		e = remove_session(&old);
	if (o->json)
		json_array_append_new(list, json_pack("{ss, sI, sI, sb}", "session", ref->session, "days",
						      (json_int_t)old.days, "bytes", (json_int_t)old.bytes,
						      "removed", !o->dry_run && e == 0));
	else if (e == 0)
		printf("%s %s: %lld bytes, nothing was written for %ld days\n",
		       o->dry_run ? "would remove" : "removed", ref->session, (long long)old.bytes, old.days);
	if (e < 0)
		talk("session %s cannot be removed: %s", ref->session, strerror(-e));
	return e;
}

int log_prune(const struct options *o, int argc)
{
	_cleanup_free_ struct ledger_ref *refs = NULL;
	json_t *list = o->json ? json_array() : NULL;
	size_t n = 0;
	int e = argc > 0 ? -EINVAL : ledgers_list(o->session, &refs, &n), worst = 0;

	if (e < 0) {
		json_decref(list);
		talk(argc > 0 ? "log prune takes no operands" : "the ledgers cannot be read: %s",
		     strerror(-e));
		return EXIT_USAGE;
	}
	for (size_t i = 0; i < n; i++)
		if (prune(o, &refs[i], list) < 0)
			worst = -1;
	if (o->json)
		print_json(list);
	return worst < 0 ? EXIT_FINDINGS : EXIT_OK;
}
