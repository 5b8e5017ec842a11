/*
 * Counts wrong passphrases in a file beside the hash, over all sessions of the owner and across restarts.
 *
 * A try is counted before its check and settled afterwards, each under the file's lock, so that checks in
 * many helpers at the same time allow no more tries than one after another.  After every third wrong try no
 * passphrase is checked for a while, first for a minute, then twice as long each time, up to sixteen minutes.
 * A right one, or an hour without a try, resets the count.  Only an operator's connection can use up tries,
 * so neither an agent nor another user can lock the owner out; a process of the owner outside every session
 * can, for sixteen minutes.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/record/passphrase.h"
#include "policy/system/cleanup.h"
#include "policy/system/system.h"

#include "helper/base/places.h"

#include "stepup_check.h"

#define TRIES_FILE PASSPHRASE_FILE ".tries"
#define WAIT_S	   60u
#define DOUBLINGS  4u
#define FORGET_S   3600u

struct tries {
	uint64_t wrong, last_s; /* wrong tries in a row; time of the last try (CLOCK_REALTIME) */
};

/* Seconds until the next try is allowed. */
static unsigned wait_of(const struct tries *t, uint64_t now_s)
{
	uint64_t rounds = t->wrong / STEPUP_TRIES, wait, gone = now_s - t->last_s;

	if (rounds == 0 || t->wrong % STEPUP_TRIES != 0)
		return 0;
	wait = (uint64_t)WAIT_S << (rounds - 1 < DOUBLINGS ? rounds - 1 : DOUBLINGS);
	return gone < wait ? (unsigned)(wait - gone) : 0;
}

/* Opens and locks the file, and reads it: the descriptor or -errno. */
static int open_tries(const struct helper *h, struct tries *ret, uint64_t *ret_now_s)
{
	int dir = places_open_user(h), fd, r;
	struct stat st;

	if (dir < 0)
		return dir;
	fd = openat(dir, TRIES_FILE, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	r = file_lock(fd, LOCK_MOMENT_MS);
	if (r == 0 && (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid()))
		r = -EBADMSG;
	if (r < 0) {
		close(fd);
		return r;
	}
	*ret_now_s = clock_real_ns() / NS_S;
	*ret = (struct tries){ 0 };
	/* A damaged file counts as three wrong tries just now. */
	if (st.st_size != 0 && pread(fd, ret, sizeof(*ret), 0) != (ssize_t)sizeof(*ret))
		*ret = (struct tries){ .wrong = STEPUP_TRIES, .last_s = *ret_now_s };
	/* If the clock was set back, the last try must not be in the future. */
	if (ret->last_s > *ret_now_s)
		ret->last_s = *ret_now_s;
	if (*ret_now_s - ret->last_s >= FORGET_S)
		ret->wrong = 0;
	return fd;
}

static int keep_tries(int fd, const struct tries *t)
{
	ssize_t n = pwrite(fd, t, sizeof(*t), 0);

	if (n == (ssize_t)sizeof(*t))
		return 0;
	return n < 0 ? -errno : -EIO;
}

int tries_charge(const struct helper *h, unsigned *ret_wait_s)
{
	struct tries t;
	uint64_t now_s;
	_cleanup_close_ int fd = open_tries(h, &t, &now_s);
	int r;

	if (fd < 0)
		return fd;
	*ret_wait_s = wait_of(&t, now_s);
	if (*ret_wait_s > 0) {
		r = keep_tries(fd, &t);
		return r < 0 ? r : -EAGAIN;
	}
	t = (struct tries){ .wrong = t.wrong + 1, .last_s = now_s };
	return keep_tries(fd, &t);
}

void tries_settle(const struct helper *h, int result)
{
	struct tries t;
	uint64_t now_s;
	_cleanup_close_ int fd = result == -EACCES ? -1 : open_tries(h, &t, &now_s);

	if (fd < 0)
		return;
	/* A right passphrase resets the count; a try that was not checked is taken off it. */
	t.wrong = result == 0 || t.wrong == 0 ? 0 : t.wrong - 1;
	(void)keep_tries(fd, &t);
}

unsigned tries_left(const struct helper *h)
{
	struct tries t;
	uint64_t now_s;
	_cleanup_close_ int fd = open_tries(h, &t, &now_s);

	if (fd < 0)
		return fd == -EPERM ? STEPUP_TRIES : 0;
	return wait_of(&t, now_s) > 0 ? 0 : STEPUP_TRIES - (unsigned)(t.wrong % STEPUP_TRIES);
}
