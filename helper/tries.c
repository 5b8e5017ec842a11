/*
 * Wrong passphrases, counted in a file beside the hash: over all sessions of its owner together, and across
 * restarts.
 *
 * A try is charged before its check and settled afterwards, under the file's lock, so that checks in many
 * helpers at once are no more tries than one after another.  After every third wrong one none is looked at
 * for a while, which doubles from a minute to sixteen; an hour without a wrong one, or a right one, begins
 * anew.  Only an operator's connection can charge one: neither an agent nor another user can keep the owner
 * out, and what runs as the owner outside every session can do so for sixteen minutes.
 */
#include "stepup.h"

#include <errno.h>
#include <sys/stat.h>

#include "policy/passphrase.h"

#define TRIES_FILE PASSPHRASE_FILE ".tries"
#define WAIT_S	   60u
#define DOUBLINGS  4u
#define FORGET_S   3600u

struct tries {
	uint64_t wrong, last_s; /* in a row, CLOCK_REALTIME */
};

/* Seconds until the next one is looked at. */
static unsigned wait_of(const struct tries *t, uint64_t now_s)
{
	uint64_t rounds = t->wrong / STEPUP_TRIES, wait, gone = now_s - t->last_s;

	if (rounds == 0 || t->wrong % STEPUP_TRIES != 0)
		return 0;
	wait = (uint64_t)WAIT_S << (rounds - 1 < DOUBLINGS ? rounds - 1 : DOUBLINGS);
	return gone < wait ? (unsigned)(wait - gone) : 0;
}

/* The file, locked, and what it says by now: its descriptor or -errno. */
static int open_tries(const struct helper *h, struct tries *ret, uint64_t *ret_now_s)
{
	int dir = places_open_user(h), fd, r;
	struct stat st;

	if (dir < 0)
		return dir;
	fd = openat(dir, TRIES_FILE, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	r = file_lock(fd);
	if (r == 0 && (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid()))
		r = -EBADMSG;
	if (r < 0) {
		close(fd);
		return r;
	}
	*ret_now_s = clock_real_ns() / NS_S;
	*ret = (struct tries){ 0 };
	/* What is damaged counts as a round of wrong ones, now. */
	if (st.st_size != 0 && pread(fd, ret, sizeof(*ret), 0) != (ssize_t)sizeof(*ret))
		*ret = (struct tries){ .wrong = STEPUP_TRIES, .last_s = *ret_now_s };
	/* A clock that went back must not wait for its own future. */
	if (ret->last_s > *ret_now_s)
		ret->last_s = *ret_now_s;
	if (*ret_now_s - ret->last_s >= FORGET_S)
		ret->wrong = 0;
	return fd;
}

static int keep(int fd, const struct tries *t)
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
		r = keep(fd, &t);
		return r < 0 ? r : -EAGAIN;
	}
	t = (struct tries){ .wrong = t.wrong + 1, .last_s = now_s };
	return keep(fd, &t);
}

void tries_settle(const struct helper *h, int result)
{
	struct tries t;
	uint64_t now_s;
	_cleanup_close_ int fd = result == -EACCES ? -1 : open_tries(h, &t, &now_s);

	if (fd < 0)
		return;
	/* Right; or not judged at all, and given back. */
	t.wrong = result == 0 || t.wrong == 0 ? 0 : t.wrong - 1;
	(void)keep(fd, &t);
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
