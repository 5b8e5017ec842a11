/*
 * Sets a full ledger file aside and compresses it; the chain continues in a new file.  A file is set aside
 * only when it ends with a checkpoint and is on the disk.  A thread compresses, so that no call waits for
 * that; until it is done, or if it fails, the part stays uncompressed.
 */
#include "rotate.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "policy/system/cleanup.h"
#include "policy/system/system.h"

#include "ledger.h"
#include "signing.h"

#define CHUNK (64u << 10)
#define NICE  10

static struct compressor {
	pthread_mutex_t lock;
	pthread_t thread;
	bool running, made; /* the thread compresses; the thread is not joined yet */
	_Atomic bool stop;
	int dirfd;
	mode_t mode;
	unsigned next, last; /* numbers of the parts to compress */
} compressor = { .lock = PTHREAD_MUTEX_INITIALIZER };

void ledger_part_name(char name[PART_NAME_MAX], unsigned part, const char *ending)
{
	snprintf(name, PART_NAME_MAX, LEDGER_PART "%s", part, ending);
}

/* --- the thread --- */

static int copy_compressed(int from, gzFile to, const _Atomic bool *stop)
{
	char buf[CHUNK];
	ssize_t n;

	while ((n = read(from, buf, sizeof(buf))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (gzwrite(to, buf, (unsigned)n) != n)
			return -EIO;
		if (*stop)
			return -EINTR;
	}
	return gzflush(to, Z_FINISH) == Z_OK ? 0 : -EIO;
}

int ledger_compress(int dirfd, unsigned part, mode_t mode, const _Atomic bool *stop)
{
	char plain[PART_NAME_MAX], done[PART_NAME_MAX], made[PART_NAME_MAX];
	_cleanup_close_ int from = -1, to = -1;
	gzFile gz;
	int r;

	ledger_part_name(plain, part, "");
	ledger_part_name(done, part, ".gz");
	ledger_part_name(made, part, ".gz.new");
	from = openat(dirfd, plain, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	to = openat(dirfd, made, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (from < 0 || to < 0 || fchmod(to, mode) < 0)
		return -errno;
	gz = gzdopen(fcntl(to, F_DUPFD_CLOEXEC, 0), "wb1");
	r = gz ? copy_compressed(from, gz, stop) : -ENOMEM;
	if (gz && gzclose(gz) != Z_OK && r == 0)
		r = -EIO;
	if (r == 0 && (fsync(to) < 0 || renameat(dirfd, made, dirfd, done) < 0 || fsync(dirfd) < 0))
		r = -errno;
	/* Not cut: who follows the ledger reads the part to its end. */
	(void)unlinkat(dirfd, r == 0 ? plain : made, 0);
	return r;
}

static void *compress_parts(void *arg)
{
	struct compressor *c = arg;

	(void)setpriority(PRIO_PROCESS, (id_t)gettid(), NICE);
	for (;;) {
		unsigned part;

		pthread_mutex_lock(&c->lock);
		c->running = !c->stop && c->next <= c->last;
		part = c->next++;
		if (!c->running) {
			pthread_mutex_unlock(&c->lock);
			return NULL;
		}
		pthread_mutex_unlock(&c->lock);
		(void)ledger_compress(c->dirfd, part, c->mode, &c->stop);
	}
}

static void compress_later(const struct ledger *l, unsigned part)
{
	struct compressor *c = &compressor;
	bool idle;

	pthread_mutex_lock(&c->lock);
	idle = !c->running;
	c->last = part;
	c->running = true;
	pthread_mutex_unlock(&c->lock);
	if (!idle)
		return;
	if (c->made)
		(void)pthread_join(c->thread, NULL);
	c->next = part;
	c->dirfd = l->dirfd;
	c->mode = l->mode;
	c->made = pthread_create(&c->thread, NULL, compress_parts, c) == 0;
	/* Without a thread the parts stay uncompressed. */
	if (!c->made)
		c->running = false;
}

void rotate_stop(void)
{
	struct compressor *c = &compressor;

	pthread_mutex_lock(&c->lock);
	c->stop = true;
	pthread_mutex_unlock(&c->lock);
	if (c->made)
		(void)pthread_join(c->thread, NULL);
	c->made = false;
}

/* --- the file --- */

int ledger_file_make(const struct ledger *l)
{
	int fd = openat(l->dirfd, LEDGER_FILE,
			O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	int err;

	if (fd < 0)
		return -errno;
	/* The lock is held as long as the helper lives: it shows that the session is live
	 * (retention_is_live()). */
	err = fchmod(fd, l->mode) < 0 ? -errno : file_lock(fd, LOCK_MOMENT_MS);
	if (err == 0)
		return fd;
	close(fd);
	return err;
}

static int set_aside(struct ledger *l)
{
	char name[PART_NAME_MAX];
	int fd;

	ledger_part_name(name, l->part, "");
	if (renameat2(l->dirfd, LEDGER_FILE, l->dirfd, name, RENAME_NOREPLACE) < 0)
		return -errno;
	fd = ledger_file_make(l);
	if (fd < 0) {
		(void)renameat(l->dirfd, name, l->dirfd, LEDGER_FILE); /* replaces the new file, if any */
		return fd;
	}
	(void)fsync(l->dirfd);
	close(l->fd);
	l->fd = fd;
	l->good = 0;
	return 0;
}

bool rotate_due(const struct ledger *l)
{
	return !l->error && !l->rotating && l->good + (off_t)l->len >= l->full_at;
}

void rotate(struct ledger *l)
{
	int r;

	l->rotating = true;
	r = checkpoint_add(l);
	if (r == 0)
		r = ledger_sync(l);
	if (r == 0)
		r = set_aside(l);
	l->rotating = false;
	/* If no new file can be made, this one continues; the next try is after another l->size bytes. */
	l->full_at = r == 0 ? l->size : l->good + (off_t)l->len + l->size;
	if (r == 0)
		compress_later(l, l->part++);
}
