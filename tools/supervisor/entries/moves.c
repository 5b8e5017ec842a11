/*
 * The lock under which one rename(2) at a time happens, and the count that says whether one happened
 * meanwhile.
 */
#include "moves.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "tools/base/paths.h"
#include "tools/supervisor/setup.h"

/* Another session looks through a directory for a second or two at most, unless it is stopped. */
#define LOCK_TRIES  1000
#define LOCK_NAP_NS 5000000

static pthread_mutex_t one_moves = PTHREAD_MUTEX_INITIALIZER;
static _Atomic uint64_t own_moves;
static uint64_t counted; /* set by the moves_begin() that holds the lock */

int moves_open(const char *state_dir)
{
	char path[PATH_MAX];
	int fd = -1;

	if (dir_make(state_dir) == 0 && path_join(path, sizeof(path), state_dir, "moves") == 0)
		fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	return fd < 0 ? 0 : fd;
}

static int take_lock(int fd)
{
	const struct timespec nap = { .tv_nsec = LOCK_NAP_NS };

	for (int i = 0; i < LOCK_TRIES; i++) {
		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			return 0;
		if (errno != EWOULDBLOCK && errno != EINTR)
			break;
		nanosleep(&nap, NULL);
	}
	return -EBUSY;
}

uint64_t moves_count(const struct supervisor *s)
{
	int fd = session_setup(s)->moves_fd;
	uint64_t n = 0;

	if (fd <= 0)
		return own_moves;
	return pread(fd, &n, sizeof(n), 0) == (ssize_t)sizeof(n) ? n : 0;
}

int moves_begin(const struct supervisor *s, uint64_t seen)
{
	int fd = session_setup(s)->moves_fd, r;

	pthread_mutex_lock(&one_moves);
	r = fd > 0 ? take_lock(fd) : 0;
	if (r < 0) {
		pthread_mutex_unlock(&one_moves);
		return r;
	}
	counted = moves_count(s);
	return counted != seen;
}

void moves_end(const struct supervisor *s, bool moved)
{
	int fd = session_setup(s)->moves_fd;

	counted += moved;
	if (fd <= 0)
		own_moves = counted;
	else if (moved)
		(void)!pwrite(fd, &counted, sizeof(counted), 0);
	if (fd > 0)
		(void)flock(fd, LOCK_UN);
	pthread_mutex_unlock(&one_moves);
}
