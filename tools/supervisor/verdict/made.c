/*
 * The socket files that the session made itself, and what it made in /dev/shm (shm.c).
 *
 * That a directory is writable does not tell which program listens in it: /tmp and the agents' state
 * contain sockets of the operator's own, unfenced agents and multiplexers, which execute what they receive.
 * So a file rule allows connecting only to a socket that was bound inside the session.
 *
 * A file is known by its inode and its birth time.  A bound name can be exchanged for another file before
 * it is looked at, but a file that was there before is older than the bind.
 */
#include "made.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "tools/supervisor/supervisor.h"

/* When the table is full, the oldest file is forgotten. */
#define MADE_MAX 8192

struct made_file {
	uint64_t dev, ino;
	int64_t born_s;
	uint32_t born_ns;
};

struct made_files {
	pthread_mutex_t lock;
	struct made_file list[MADE_MAX];
	size_t n;
};

int made_new(struct supervisor *s)
{
	s->made = calloc(1, sizeof(*s->made));
	if (!s->made)
		return -ENOMEM;
	pthread_mutex_init(&s->made->lock, NULL);
	return 0;
}

void made_done(struct supervisor *s)
{
	pthread_mutex_destroy(&s->made->lock);
	free(s->made);
}

static struct made_file identity(const struct statx *x)
{
	bool born = x->stx_mask & STATX_BTIME;

	return (struct made_file){
		.dev = (uint64_t)x->stx_dev_major << 32 | x->stx_dev_minor,
		.ino = x->stx_ino,
		.born_s = born ? x->stx_btime.tv_sec : 0,
		.born_ns = born ? x->stx_btime.tv_nsec : 0,
	};
}

static bool is_older(const struct made_file *m, const struct timespec *than)
{
	if (m->born_s == 0) /* the file system has no birth times */
		return false;
	return m->born_s < than->tv_sec || (m->born_s == than->tv_sec && m->born_ns < than->tv_nsec);
}

/* The clock that file systems use. */
struct timespec made_now(void)
{
	struct timespec now = { 0 };

	clock_gettime(CLOCK_REALTIME_COARSE, &now);
	return now;
}

void made_at(struct supervisor *s, int dirfd, const char *name, const struct timespec *since)
{
	struct made_files *made = s->made;
	struct statx x;
	struct made_file m;

	if (statx(dirfd, name, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH, STATX_INO | STATX_BTIME, &x) < 0)
		return;
	m = identity(&x);
	if (is_older(&m, since))
		return;
	pthread_mutex_lock(&made->lock);
	made->list[made->n++ % MADE_MAX] = m;
	pthread_mutex_unlock(&made->lock);
}

static bool is_made(const struct supervisor *s, struct made_file m)
{
	struct made_files *made = s->made;
	bool found = false;

	pthread_mutex_lock(&made->lock);
	for (size_t i = 0; i < MADE_MAX && i < made->n && !found; i++) {
		const struct made_file *f = &made->list[i];

		found = f->ino == m.ino && f->dev == m.dev && f->born_s == m.born_s &&
			f->born_ns == m.born_ns;
	}
	pthread_mutex_unlock(&made->lock);
	return found;
}

bool made_here(struct supervisor *s, int file)
{
	struct statx x;

	return statx(file, "", AT_EMPTY_PATH, STATX_INO | STATX_BTIME, &x) == 0 && is_made(s, identity(&x));
}

bool made_socket(struct supervisor *s, int socket, uint32_t inode)
{
	struct statx x;

	if (inode == 0 || statx(socket, "", AT_EMPTY_PATH, STATX_INO | STATX_BTIME, &x) < 0)
		return false;
	x.stx_ino = inode;
	return is_made(s, identity(&x));
}
