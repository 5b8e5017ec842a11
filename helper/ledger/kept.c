/*
 * Ledgers of ended sessions: compresses parts that are not compressed yet, and removes the oldest ledgers
 * where all together exceed `[ledger] size`.
 *
 * A thread of low priority reads the directory and compresses, so that no call and no start waits for it.
 * It stops when the session ends, and the next session does the rest.  The loop removes ledgers, since only
 * the loop may record a removal.
 */
#include "kept.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/system/cleanup.h"

#include "helper/base/images.h"
#include "helper/base/smallfile.h"
#include "helper/base/state.h"

#include "ledger.h"
#include "retention.h"
#include "rotate.h"

#define NICE	  10
#define KEPT_MAX  100000 /* sessions */
#define FILES_MAX 5000	 /* of one session */

struct kept {
	char name[64];
	int64_t ended; /* CLOCK_REALTIME, seconds: the ledger's last change */
	uint64_t bytes;
};

static struct look {
	pthread_t thread;
	bool made; /* the thread runs, or is not joined yet */
	_Atomic bool stop, done;
	int sessions; /* the directory of all sessions; only the thread uses it until `done` */
	mode_t mode;
	char own[64];	   /* this session's name */
	struct kept *list; /* the thread's; the loop's after `done` */
	size_t n;
} look;

/* --- the thread --- */

/* The number of an uncompressed part, by its file name, or -1. */
static long plain_part(const char *name)
{
	unsigned part;
	int end = 0;

	return sscanf(name, "ledger.%u.jsonl%n", &part, &end) == 1 && end && !name[end] ? (long)part : -1;
}

/* Compresses the file if it is an uncompressed part.  Its bytes on the disk. */
static uint64_t look_at_file(struct look *l, int dirfd, const char *name)
{
	long part = plain_part(name);
	char compressed[PART_NAME_MAX];
	struct stat st;

	if (part >= 0 && ledger_compress(dirfd, (unsigned)part, l->mode, &l->stop) == 0) {
		ledger_part_name(compressed, (unsigned)part, ".gz");
		name = compressed;
	}
	if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
		return 0;
	return (uint64_t)st.st_blocks * 512;
}

static uint64_t look_at_files(struct look *l, int dirfd)
{
	_cleanup_dir_ DIR *dir = dir_open(dirfd, ".");
	const char *name;
	uint64_t bytes = 0;

	for (int i = 0; i < FILES_MAX && !l->stop && (name = dir_next(dir)); i++)
		if (retention_is_helpers(name))
			bytes += look_at_file(l, dirfd, name);
	return bytes;
}

static void look_at_session(struct look *l, const char *name)
{
	_cleanup_close_ int dirfd =
		openat(l->sessions, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	struct kept *k;

	if (dirfd < 0 || strlen(name) >= sizeof(k->name) || retention_is_live(dirfd) ||
	    fstatat(dirfd, LEDGER_FILE, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	k = LIST_NEW(l->list, l->n);
	if (!k)
		return;
	*k = (struct kept){ .ended = st.st_mtime };
	strcpy(k->name, name);
	k->bytes = look_at_files(l, dirfd);
	l->n++;
}

static int by_age(const void *a, const void *b)
{
	const struct kept *x = a, *y = b;

	return x->ended < y->ended ? -1 : x->ended > y->ended;
}

static void *look_around(void *arg)
{
	struct look *l = arg;
	_cleanup_dir_ DIR *dir = dir_open(l->sessions, ".");
	const char *name;

	(void)setpriority(PRIO_PROCESS, (id_t)gettid(), NICE);
	while (!l->stop && l->n < KEPT_MAX && (name = dir_next(dir)))
		if (strcmp(name, l->own) != 0)
			look_at_session(l, name);
	if (l->n)
		qsort(l->list, l->n, sizeof(*l->list), by_age);
	l->done = !l->stop;
	return NULL;
}

/* --- the loop --- */

void kept_look(struct helper *h)
{
	struct look *l = &look;

	l->sessions = openat(h->state_fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	l->mode = h->ledger->mode;
	snprintf(l->own, sizeof(l->own), "%s", h->session);
	if (l->sessions >= 0)
		l->made = pthread_create(&l->thread, NULL, look_around, l) == 0;
}

void kept_tick(struct helper *h)
{
	struct look *l = &look;
	const uint64_t most = (uint64_t)h->kept_mib << 20;
	uint64_t sum = 0;

	if (!l->made || !l->done)
		return;
	for (size_t i = 0; i < l->n; i++)
		sum += l->list[i].bytes;
	for (size_t i = 0; i < l->n && sum > most; i++) {
		char detail[128];

		snprintf(detail, sizeof(detail), "ended sessions kept %llu MiB, [ledger] size is %u MiB",
			 (unsigned long long)(sum >> 20), h->kept_mib);
		if (retention_remove(h, l->sessions, l->list[i].name, detail))
			sum -= l->list[i].bytes;
	}
	kept_done();
}

void kept_done(void)
{
	struct look *l = &look;

	l->stop = true;
	if (l->made)
		(void)pthread_join(l->thread, NULL);
	if (l->sessions > 0)
		close(l->sessions);
	free(l->list);
	*l = (struct look){ 0 };
}
