/*
 * Changes to a file itself: size, mode, owner, times.
 *
 * Landlock has no right for chmod, chown and utimes, so no floor stands behind these.  The file is held,
 * and changed by AT_EMPTY_PATH or by its magic link; both reach exactly the held file, wherever its name
 * leads by then.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "policy/system/cleanup.h"

#include "tools/supervisor/answer.h"
#include "tools/supervisor/caller.h"
#include "tools/supervisor/handlers.h"
#include "tools/supervisor/listener.h"
#include "tools/supervisor/threads/confined.h"
#include "tools/wall/numbers.h"

#include "held.h"

#define AT_BOTH (AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH)

/* Holds the file.  0 or -errno; held_done() must be called in each case. */
static long object_for(struct held *h, struct caller *c, const struct naming *n)
{
	int flags = n ? naming_flags(n, c) : -ENOSYS;

	return flags < 0 ? flags : h ? held_object(h, c, n, (unsigned)flags) : -ENOMEM;
}

/* --- size --------------------------------------------------------------------------------------- */

/* The kinds of file that truncate(2) refuses before it checks rights. */
static long check_kind(const struct held *h)
{
	struct stat st;

	if (fstat(h->fd, &st) < 0)
		return -errno;
	return S_ISDIR(st.st_mode) ? -EISDIR : S_ISREG(st.st_mode) ? 0 : -EINVAL;
}

/*
 * The caller's limit applies, and its signal goes to the caller (setrlimit(2)); the supervisor ignores that
 * signal for itself.
 */
static long check_limit(struct caller *c, const struct held *h, off_t size)
{
	pid_t tgid = caller_tgid(c);
	struct rlimit limit;
	struct stat st;

	/* Process 0 would mean the supervisor. */
	if (tgid <= 0)
		return -ESRCH;
	if (fstat(h->fd, &st) < 0 || prlimit(tgid, RLIMIT_FSIZE, NULL, &limit) < 0)
		return -errno;
	if (size <= st.st_size || limit.rlim_cur == RLIM_INFINITY || (rlim_t)size <= limit.rlim_cur)
		return 0;
	if (!caller_alive(c))
		return -ESRCH;
	(void)syscall(SYS_tgkill, tgid, c->tid, SIGXFSZ);
	return -EFBIG;
}

/* Truncates without waiting for the holder of a lease. */
static long truncate_at_once(const struct held *h, off_t size)
{
	_cleanup_close_ int fd = open(held_self(h).text, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	return fd < 0 ? -errno : call_result(ftruncate(fd, size));
}

struct answer carry_truncate(struct caller *c)
{
	static const struct naming n = { __NR_truncate, .path = 0, .dirfd = NO_ARG, .flags = NO_ARG };
	struct held *h = held_new(c, OP_TRUNCATE, op_access(OP_TRUNCATE));
	off_t size = (off_t)c->arg[1];
	long r = size < 0 ? -EINVAL : h ? held_object(h, c, &n, 0) : -ENOMEM;

	if (r == 0)
		r = check_kind(h);
	if (r == 0) {
		held_does(h, c, "length %lld", (long long)size);
		r = held_allow(h, c);
	}
	if (r == 0)
		r = caller_enter(c);
	if (r == 0)
		r = check_limit(c, h, size);
	if (r == 0)
		r = c->git_turn ? truncate_at_once(h, size) : call_result(truncate(held_self(h).text, size));
	held_done(h);
	return answer_result(r);
}

/* --- mode --------------------------------------------------------------------------------------- */

static const struct naming chmods[] = {
	{ __NR_chmod, .path = 0, .dirfd = NO_ARG, .flags = NO_ARG, .rest = 1 },
	{ __NR_fchmod, .path = NO_ARG, .dirfd = 0, .flags = NO_ARG, .rest = 1 },
	{ __NR_fchmodat, .path = 1, .dirfd = 0, .flags = NO_ARG, .rest = 2 },
	{ __NR_fchmodat2, .path = 1, .dirfd = 0, .flags = 3, .rest = 2, .known = AT_BOTH },
};

/* Before Linux 6.6 by the magic link: some file systems then change the mode of a symbolic link. */
static long change_mode(const struct held *h, mode_t mode)
{
	long r = call_result(syscall(__NR_fchmodat2, h->fd, "", mode, AT_EMPTY_PATH));
	struct stat st;

	if (r != -ENOSYS)
		return r;
	if (fstat(h->fd, &st) < 0)
		return -errno;
	return S_ISLNK(st.st_mode) ? -EOPNOTSUPP : call_result(chmod(held_self(h).text, mode));
}

struct answer carry_chmod(struct caller *c)
{
	const struct naming *n = ROW_OF(chmods, c->nr);
	struct held *h = held_new(c, OP_CHMOD, op_access(OP_CHMOD));
	long r = object_for(h, c, n);

	if (r == 0) {
		held_does(h, c, "mode %04o", (unsigned)c->arg[n->rest] & 07777);
		r = held_allow(h, c);
	}
	if (r == 0)
		r = change_mode(h, (mode_t)c->arg[n->rest]);
	held_done(h);
	return answer_result(r);
}

/* --- owner -------------------------------------------------------------------------------------- */

static const struct naming chowns[] = {
	{ __NR_chown, .path = 0, .dirfd = NO_ARG, .flags = NO_ARG, .rest = 1 },
	{ __NR_lchown, .path = 0, .dirfd = NO_ARG, .flags = NO_ARG, .rest = 1, .fixed = AT_SYMLINK_NOFOLLOW },
	{ __NR_fchown, .path = NO_ARG, .dirfd = 0, .flags = NO_ARG, .rest = 1 },
	{ __NR_fchownat, .path = 1, .dirfd = 0, .flags = 4, .rest = 2, .known = AT_BOTH },
};

/* -1 leaves the id unchanged. */
static const char *id_text(char text[16], uint64_t id)
{
	(void)snprintf(text, 16, (uint32_t)id == UINT32_MAX ? "-" : "%u", (unsigned)id);
	return text;
}

struct answer carry_chown(struct caller *c)
{
	const struct naming *n = ROW_OF(chowns, c->nr);
	struct held *h = held_new(c, OP_CHOWN, op_access(OP_CHOWN));
	char user[16], group[16];
	long r = object_for(h, c, n);

	if (r == 0) {
		held_does(h, c, "owner %s:%s", id_text(user, c->arg[n->rest]),
			  id_text(group, c->arg[n->rest + 1]));
		r = held_allow(h, c);
	}
	if (r == 0) {
		const uint64_t *id = &c->arg[n->rest];

		r = call_result(fchownat(h->fd, "", (uid_t)id[0], (gid_t)id[1], AT_EMPTY_PATH));
	}
	held_done(h);
	return answer_result(r);
}

/* --- times -------------------------------------------------------------------------------------- */

enum times_form { TIMES_SECONDS, TIMES_MICRO, TIMES_NANO };

struct timing {
	struct naming at;
	enum times_form form;
};

static const struct timing timings[] = {
	{ { __NR_utime, .path = 0, .dirfd = NO_ARG, .flags = NO_ARG, .rest = 1 }, TIMES_SECONDS },
	{ { __NR_utimes, .path = 0, .dirfd = NO_ARG, .flags = NO_ARG, .rest = 1 }, TIMES_MICRO },
	{ { __NR_futimesat, .path = 1, .dirfd = 0, .flags = NO_ARG, .rest = 2 }, TIMES_MICRO },
	{ { __NR_utimensat, .path = 1, .dirfd = 0, .flags = 3, .rest = 2, .known = AT_BOTH }, TIMES_NANO },
};

/* Access and modification; `now` where the caller named none. */
struct times {
	struct timespec ts[2];
	bool now;
};

/*
 * Reads the times: 0 or -errno.  Microseconds out of range are refused before the path is looked at;
 * nanoseconds are checked by the kernel, after that.
 */
static int read_times(struct caller *c, uint64_t addr, enum times_form form, struct times *ret)
{
	bool seconds = form == TIMES_SECONDS;
	long v[4];
	int r;

	ret->now = addr == 0;
	r = ret->now ? 0 : caller_read(c, addr, v, seconds ? 2 * sizeof v[0] : sizeof v);
	if (r < 0 || ret->now)
		return r;
	for (int i = 0; i < 2; i++) {
		long sub = seconds ? 0 : v[2 * i + 1];

		if (form == TIMES_MICRO && (sub < 0 || sub >= 1000000))
			return -EINVAL;
		ret->ts[i].tv_sec = v[seconds ? i : 2 * i];
		ret->ts[i].tv_nsec = form == TIMES_MICRO ? sub * 1000 : sub;
	}
	return 0;
}

/* True where nothing is to change: the kernel does not even look at the path then. */
static bool is_nothing(const struct times *t)
{
	return !t->now && t->ts[0].tv_nsec == UTIME_OMIT && t->ts[1].tv_nsec == UTIME_OMIT;
}

/* A NULL path means the descriptor itself, if there is one; no flag is valid with that. */
static struct naming timing_naming(const struct timing *row, const struct caller *c)
{
	struct naming n = row->at;

	if (n.dirfd != NO_ARG && c->arg[n.path] == 0 && (int)c->arg[n.dirfd] != AT_FDCWD) {
		n.path = NO_ARG;
		n.known = 0;
	}
	return n;
}

static const char *time_text(char text[48], const struct times *t, int i)
{
	const struct timespec *ts = &t->ts[i];

	if (t->now || ts->tv_nsec == UTIME_NOW)
		return "now";
	if (ts->tv_nsec == UTIME_OMIT)
		return "-";
	(void)snprintf(text, 48, "%lld.%09ld", (long long)ts->tv_sec, ts->tv_nsec);
	return text;
}

static long set_times(struct held *h, struct caller *c, const struct timing *row)
{
	struct naming n = timing_naming(row, c);
	struct times t;
	long r = read_times(c, c->arg[row->at.rest], row->form, &t);
	char read[48], written[48];

	if (r < 0 || is_nothing(&t))
		return r;
	r = object_for(h, c, &n);
	if (r == 0) {
		held_does(h, c, "read %s, written %s", time_text(read, &t, 0), time_text(written, &t, 1));
		r = held_allow(h, c);
	}
	if (r < 0)
		return r;
	return call_result(utimensat(h->fd, "", t.now ? NULL : t.ts, AT_EMPTY_PATH));
}

struct answer carry_utime(struct caller *c)
{
	const struct timing *row = ROW_OF(timings, c->nr);
	struct held *h = held_new(c, OP_UTIME, op_access(OP_UTIME));
	long r = row ? h ? set_times(h, c, row) : -ENOMEM : -ENOSYS;

	held_done(h);
	return answer_result(r);
}
