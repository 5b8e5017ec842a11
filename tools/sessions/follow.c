/* Keeps one connection to each session that runs, and looks for new sessions. */
#include "follow.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#include "policy/base/util.h"
#include "policy/system/cleanup.h"
#include "policy/system/system.h"

#include "tools/base/loop.h"

#include "control_client.h"

#define BATCH 200 /* notifications of one session before the other sessions' turn */

void follow_init(struct follow *f)
{
	for (size_t i = 0; i < FOLLOWED_MAX; i++)
		f->list[i].fd = -1;
}

static void session_drop(struct follow *f, struct followed *s)
{
	(void)close(s->fd);
	s->fd = -1;
	if (f->ended)
		f->ended(f->ctx, s);
	json_decref(TAKE_PTR(s->cards));
}

/* The number of new sessions: 0 or 1. */
static int session_add(struct follow *f, const struct session_ref *ref)
{
	struct followed *place = NULL;
	char why[512];
	int fd, r;

	for (size_t i = 0; i < FOLLOWED_MAX; i++) {
		if (f->list[i].fd >= 0 && strcmp(f->list[i].ref.dir, ref->dir) == 0)
			return 0;
		if (f->list[i].fd < 0 && !place)
			place = &f->list[i];
	}
	fd = place ? control_open(ref->dir) : -1;
	if (fd < 0)
		return 0;
	r = control_listen(fd, true, f->records, why, sizeof(why));
	if (r < 0 && f->failed)
		f->failed(f->ctx, ref, why);
	if (r < 0) {
		(void)close(fd);
		return 0;
	}
	*place = (struct followed){ .ref = *ref, .fd = fd };
	f->begun(f->ctx, place);
	return 1;
}

static int follow_scan(struct follow *f)
{
	_cleanup_free_ struct session_ref *refs = NULL;
	uint64_t now = clock_awake_ns();
	size_t n = 0;
	int new = 0;

	if ((f->scanned_ns && now - f->scanned_ns < NS_S) || sessions_list(&refs, &n) < 0)
		return 0;
	f->scanned_ns = now;
	for (size_t i = 0; i < n; i++)
		if (!f->only || strcmp(f->only, refs[i].id) == 0)
			new += session_add(f, &refs[i]);
	return new;
}

static void session_read(struct follow *f, struct followed *s)
{
	for (int i = 0; i < BATCH; i++) {
		_cleanup_json_ json_t *note = NULL;
		int r = control_next(s->fd, 0, &note);

		if (r == -EAGAIN)
			return;
		if (r < 0) {
			session_drop(f, s);
			return;
		}
		f->told(f->ctx, s, note);
	}
}

short follow_step(struct follow *f, int fd, int ms)
{
	struct pollfd p[FOLLOWED_MAX + 1] = { { .fd = fd, .events = POLLIN } };

	/* A new session's notifications are read at once. */
	if (follow_scan(f) > 0)
		ms = 0;
	for (size_t i = 0; i < FOLLOWED_MAX; i++)
		p[i + 1] = (struct pollfd){ .fd = f->list[i].fd, .events = POLLIN };
	if (poll(p, NELEM(p), ms) <= 0)
		return 0;
	for (size_t i = 0; i < FOLLOWED_MAX; i++)
		if (p[i + 1].revents)
			session_read(f, &f->list[i]);
	return p[0].revents;
}

void follow_done(struct follow *f)
{
	for (size_t i = 0; i < FOLLOWED_MAX; i++) {
		if (f->list[i].fd >= 0)
			(void)close(f->list[i].fd);
		json_decref(f->list[i].cards);
	}
}
