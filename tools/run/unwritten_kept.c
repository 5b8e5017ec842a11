/*
 * The decisions that a helper had not written when it died.  `pale run` has both rings, and appends what is
 * still in them to a file beside the ledgers, one JSON object a line.  Of a command it keeps only the
 * program, since nothing masks secrets here.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/record/record.h"
#include "policy/system/cleanup.h"
#include "policy/wire/ring.h"

#include "tools/base/output.h"
#include "tools/base/paths.h"
#include "tools/ledgers/lines.h"
#include "tools/ledgers/unwritten.h"

#include "run_impl.h"

/* A full file replaces the old one. */
#define FILE_FULL ((off_t)32 << 20)

struct unwritten {
	uint64_t n;	  /* decisions that were in the rings and are now in the file */
	uint64_t repeats; /* repeats of recorded decisions, counted by the helper: their number is lost */
	char path[PATH_MAX];
};

static json_t *line_of(const char *session, const char *via, const struct ring_record *r)
{
	size_t len = r->op == OP_EXEC ? strcspn(r->target, " ") : r->target_len;
	_cleanup_free_ char *target = record_escape(r->target, len);

	return json_pack("{ss, ss, sI, sI, ss, ss, ss*}", "session", session, "via", via, "pid",
			 (json_int_t)r->pid, "time_ns", (json_int_t)r->time_ns, "op", op_name(r->op),
			 "verdict", verdict_name(r->verdict), "target", target);
}

/* No process writes to the ring any more.  Two reads with times far apart make the reader skip a record that
 * its writer never finished. */
static bool has_more(struct ring_reader *rd, struct ring_record *ret)
{
	return ring_read(rd, 1, NULL, ret) == 1 || ring_read(rd, UINT64_MAX, NULL, ret) == 1;
}

static uint64_t keep_ring(FILE *to, const char *session, const char *via, struct ring_header *ring)
{
	_cleanup_free_ struct ring_reader *rd = calloc(1, sizeof(*rd));
	struct ring_record r;
	uint64_t n = 0;

	if (!rd || !ring)
		return 0;
	rd->h = ring;
	rd->keeps = true;
	/* Start where the helper stopped.  The session can write this word too: that only misplaces records
	 * of its own. */
	rd->next = rd->seen = rd->freed = rd->last = atomic_load(&ring->tail);
	for (size_t i = 0; i < RING_SLOTS && has_more(rd, &r); i++) {
		/* Above level hooks the supervisor reports what a hook denied, as a claim. */
		bool is_claim = r.kind == RING_CLAIM, is_decision = is_claim || r.kind == RING_DECISION;
		_cleanup_json_ json_t *j = is_decision ? line_of(session, is_claim ? "hook" : via, &r) : NULL;

		if (j && json_dumpf(j, to, JSON_COMPACT) == 0 && fputc('\n', to) != EOF)
			n++;
	}
	return n;
}

static int unwritten_keep(const struct dirs *dirs, const struct launch *l, struct unwritten *ret)
{
	_cleanup_close_ int fd = -1;
	_cleanup_file_ FILE *to = NULL;
	char old[PATH_MAX], reserve[PATH_MAX];
	struct stat st;
	int e = dir_make(dirs->state);

	*ret = (struct unwritten){ .repeats = l->kernel_ring ? atomic_load(&l->kernel_ring->unwritten) : 0 };
	if (e == 0)
		e = path_join(ret->path, sizeof(ret->path), dirs->state, UNWRITTEN_FILE);
	if (e == 0)
		e = path_join(old, sizeof(old), dirs->state, UNWRITTEN_OLD);
	if (e < 0)
		return e;
	/* The room that was kept for the helper's last records serves these, where the disk is full. */
	if (path_join(reserve, sizeof(reserve), l->state_dir, LEDGER_RESERVE) == 0)
		(void)unlink(reserve);
	if (lstat(ret->path, &st) == 0 && st.st_size > FILE_FULL)
		(void)rename(ret->path, old);
	fd = open(ret->path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK,
		  0600);
	to = fd < 0 ? NULL : fdopen(fd, "a");
	if (!to)
		return -errno;
	fd = -1;
	ret->n = keep_ring(to, l->session, "hook", l->ring) +
		 keep_ring(to, l->session, "kernel", l->kernel_ring);
	return fflush(to) == 0 ? 0 : -errno;
}

void unwritten_tell(const struct dirs *dirs, const struct launch *l)
{
	struct unwritten u;
	int e = unwritten_keep(dirs, l, &u);

	if (e < 0)
		talk("session %s: cannot save in %s the decisions that its helper had not written: %s",
		     l->session, dirs->state, strerror(-e));
	else
		talk("session %s: %llu decisions that its helper had not written are saved in %s; %llu "
		     "repeats of recorded decisions were not written",
		     l->session, (unsigned long long)u.n, u.path, (unsigned long long)u.repeats);
}
