/*
 * The ledger's file: append only, whole records only, chained.
 *
 * Records are collected in a buffer and written by one write(2) (group commit).  When a write fails, the
 * file is cut back to its last whole record, and the ledger counts what it cannot write.  Meanwhile
 * everything that needs a record is refused, and the first record after the failure says how many are
 * missing.  The chain continues from what is really in the file.
 *
 * RESERVE_FILE keeps room on the disk: while the disk is full, denials, questions and answers are written
 * into a part of that room as it is given back, and the last records into the rest.
 */
#include "ledger.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/record/replacefile.h"
#include "policy/system/cleanup.h"
#include "policy/system/system.h"

#include "helper/base/stamp.h"

#include "event.h"
#include "rotate.h"
#include "signing.h"

#define BUF_MAX	     (256u << 10)
#define NS_SYNC	     (200 * NS_MS)
#define NS_RETRY     NS_S
#define RESERVE_LAST (64u << 10)  /* for the last records */
#define RESERVE_KEPT (192u << 10) /* for what is_kept() names, about 400 records */
#define BLOCK	     4096u

/* Keeps room on the disk, anew if some of it was given back.  -errno where the disk has none; a file system
 * that cannot keep room is no error. */
static int reserve_make(struct ledger *l)
{
	_cleanup_close_ int fd =
		openat(l->dirfd, RESERVE_FILE, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	int r = fd >= 0 && fallocate(fd, 0, 0, RESERVE_LAST + RESERVE_KEPT) == 0 ? 0 : -errno;

	if (r == 0)
		l->spare = RESERVE_KEPT;
	return r == -ENOSPC || r == -EDQUOT ? r : 0;
}

/* Gives back the blocks that the buffer needs, or all for the last records. */
static int reserve_give(struct ledger *l)
{
	size_t blocks = (l->len + BLOCK - 1) & ~(size_t)(BLOCK - 1);
	_cleanup_close_ int fd = -1;

	if (l->last)
		return unlinkat(l->dirfd, RESERVE_FILE, 0) < 0 ? -errno : 0;
	if (!l->is_keeping || l->spare < blocks)
		return -ENOSPC;
	l->spare -= blocks;
	fd = openat(l->dirfd, RESERVE_FILE, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
	return fd < 0 || ftruncate(fd, RESERVE_LAST + (off_t)l->spare) < 0 ? -errno : 0;
}

void ledger_limit(struct ledger *l, off_t size)
{
	struct rlimit files;

	/* Well below the limit on a file's size, at which no more records could be written. */
	if (getrlimit(RLIMIT_FSIZE, &files) == 0 && files.rlim_cur != RLIM_INFINITY &&
	    files.rlim_cur / 2 < (rlim_t)size)
		size = (off_t)(files.rlim_cur / 2);
	l->size = l->full_at = size < LEDGER_SIZE_MIN ? LEDGER_SIZE_MIN : size;
}

int ledger_open(struct ledger *l, int dirfd, mode_t mode, const char *session, const char *agent,
		const char *level)
{
	memset(l, 0, sizeof(*l));
	l->dirfd = dirfd;
	l->mode = mode;
	ledger_limit(l, LEDGER_SIZE);
	l->part = 1;
	l->session = session;
	l->agent = agent;
	l->level = level;
	l->turn = 1;
	l->point_ns = clock_boot_ns();
	l->fd = ledger_file_make(l);
	if (l->fd < 0)
		return l->fd;
	record_genesis(session, l->prev);
	memcpy(l->good_prev, l->prev, sizeof(l->prev));
	return reserve_make(l);
}

/* Cuts off a half-written record; the records in the buffer are lost and counted.  Returns err. */
static int fail(struct ledger *l, int err)
{
	l->error = err;
	l->retry_ns = clock_boot_ns() + NS_RETRY;
	l->lost += l->buffered;
	l->lost_total += l->buffered;
	l->buffered = 0;
	l->len = 0;
	l->seq = l->good_seq;
	memcpy(l->prev, l->good_prev, sizeof(l->prev));
	if (l->point_seq > l->seq)
		l->point_seq = l->seq;
	/* Repeated before the next write: on a full disk some file systems refuse even this. */
	(void)!ftruncate(l->fd, l->good);
	return err;
}

/* Writes again, with the room that was kept for it; `error` is the result of the first try. */
static int write_reserved(struct ledger *l, int error)
{
	if (reserve_give(l) < 0)
		return error;
	return ftruncate(l->fd, l->good) < 0 ? -errno : write_all(l->fd, l->buf, l->len);
}

/* Asks l->room from time to time.  The last records are always written: they say what is missing. */
static int find_room(struct ledger *l)
{
	int r = 0;

	l->unasked += (off_t)l->len;
	if (l->room && !l->last && l->unasked > l->size / 4)
		r = l->room(l->room_ctx);
	if (r == 0 && l->unasked > l->size / 4)
		l->unasked = 0;
	l->is_over = r < 0;
	return r;
}

int ledger_flush(struct ledger *l)
{
	int r;

	if (l->error)
		return l->error;
	if (l->len == 0)
		return 0;
	r = find_room(l);
	if (r < 0)
		return fail(l, r);
	r = write_all(l->fd, l->buf, l->len);
	if (r < 0)
		r = write_reserved(l, r);
	if (r < 0)
		return fail(l, r);
	l->good += (off_t)l->len;
	l->good_seq = l->seq;
	memcpy(l->good_prev, l->prev, sizeof(l->prev));
	if (l->written)
		l->written(l->ctx, l->buf, l->len);
	l->len = 0;
	l->buffered = 0;
	if (l->dirty_ns == 0)
		l->dirty_ns = clock_boot_ns();
	return 0;
}

int ledger_sync(struct ledger *l)
{
	int r = ledger_flush(l);

	if (r < 0)
		return r;
	if (fdatasync(l->fd) < 0)
		return fail(l, -errno);
	l->dirty_ns = 0;
	checkpoint_synced(l);
	return 0;
}

/* After a failure: truncates the file and records what is missing.  0 when writing works again. */
static int revive(struct ledger *l)
{
	char detail[96];
	struct event e = { .op = "loss", .via = "helper", .detail = detail, .count = l->lost };
	uint64_t lost = l->lost;

	if (clock_boot_ns() < l->retry_ns)
		return l->error;
	if (ftruncate(l->fd, l->good) < 0)
		return fail(l, -errno);
	/* Before anything else, or other records would take what the reserve has given back. */
	if (!l->last && reserve_make(l) < 0)
		return fail(l, l->error);
	snprintf(detail, sizeof(detail), "%llu records could not be written: %s", (unsigned long long)lost,
		 strerrordesc_np(-l->error) ?: "unknown error");
	l->error = 0;
	if (lost == 0)
		return 0;
	/* fail() also counts the loss record, which must not be counted. */
	if (line_add(l, &e) < 0 || ledger_sync(l) < 0) {
		l->lost_total -= l->lost - lost;
		l->lost = lost;
		return fail(l, l->error ? l->error : -ENOMEM);
	}
	l->lost = 0;
	return 0;
}

static int append(struct ledger *l, const struct event *e)
{
	int r = l->error ? revive(l) : 0;

	if (r == 0)
		r = line_add(l, e);
	if (r < 0) {
		l->lost++;
		l->lost_total++;
		/* A record that could not be built (no memory) is a loss like any other. */
		l->error = r;
		return r;
	}
	if (checkpoint_due(l, 0))
		return checkpoint_add(l);
	if (rotate_due(l))
		rotate(l);
	return l->len >= BUF_MAX ? ledger_flush(l) : 0;
}

/* Denials, questions and answers. */
static bool is_kept(const struct event *e)
{
	return (e->verdict && strcmp(e->verdict, "deny") == 0) || strncmp(e->op, "approval/", 9) == 0;
}

/* Writes to the disk an event that append() has counted as lost.  The ledger's error stays: what is not kept
 * cannot be written yet. */
static int append_kept(struct ledger *l, const struct event *e)
{
	int error = l->error, r;

	/* The reserve is for a full disk; a session that may store no more gets none of it. */
	if ((error != -ENOSPC && error != -EDQUOT) || l->is_over)
		return error;
	l->error = 0;
	r = line_add(l, e);
	if (r == 0) {
		/* fail() counts it again. */
		l->lost--;
		l->lost_total--;
		l->is_keeping = true;
		r = ledger_sync(l);
		l->is_keeping = false;
	}
	l->error = error;
	return r;
}

int ledger_append(struct ledger *l, const struct event *e)
{
	int r = append(l, e);

	if (!is_kept(e))
		return r;
	/* At once, or it would be lost with all that is in the buffer. */
	if (r == 0)
		r = ledger_flush(l);
	return r < 0 ? append_kept(l, e) : 0;
}

/* What is kept is on the disk already where nothing else can be written. */
int ledger_sync_kept(struct ledger *l)
{
	return l->error ? 0 : ledger_sync(l);
}

int ledger_append_durable(struct ledger *l, const struct event *e)
{
	int r = ledger_append(l, e);

	return r < 0 ? r : is_kept(e) ? ledger_sync_kept(l) : ledger_sync(l);
}

void ledger_tick(struct ledger *l, uint64_t now_ns)
{
	if (l->error)
		(void)revive(l);
	if (!l->error && checkpoint_due(l, now_ns))
		(void)checkpoint_add(l);
	(void)ledger_flush(l);
	/* What was flushed just now is newer than now_ns. */
	if (l->dirty_ns != 0 && now_ns >= l->dirty_ns + NS_SYNC)
		(void)ledger_sync(l);
}

void ledger_last(struct ledger *l)
{
	l->last = true;
	l->retry_ns = 0;
}

void ledger_unreserve(const struct ledger *l)
{
	(void)unlinkat(l->dirfd, RESERVE_FILE, 0);
}

void ledger_close(struct ledger *l)
{
	rotate_stop();
	if (l->fd >= 0)
		close(l->fd);
	l->fd = -1;
	explicit_bzero(&l->key, sizeof(l->key));
	l->sealed = false;
	line_done(l);
}
