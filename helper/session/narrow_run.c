/*
 * Nested runs: a process of the session asks for an image inside its own.
 *
 * The bundle comes from inside the fence and so is hostile (inner.c).  Only sealed memory is read (a file of
 * another kind could block), and sizes and numbers are bounded.
 *
 * Where there is a supervisor, the process may start its command only when the supervisor has applied the
 * new image to it: the helper tells the supervisor through the launcher, and the answer waits for its
 * reply.
 */
#include "narrow_run.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "policy/system/cleanup.h"
#include "policy/system/system.h"
#include "policy/wire/wire.h"

#include "helper/base/images.h"
#include "helper/base/packet.h"
#include "helper/base/stamp.h"
#include "helper/base/state.h"
#include "helper/control/conn.h"
#include "helper/ledger/event.h"
#include "helper/ledger/ledger.h"
#include "helper/ledger/programs.h"
#include "helper/policy/incoming.h"
#include "helper/policy/inner.h"

#include "files.h"
#include "reload.h"

#define NARROW_BUNDLE_MAX (1u << 20)
#define BUNDLES_KEPT	  (16u << 20)
#define NS_NOTED	  (5 * NS_S)
#define UNREAD_MAX	  16 /* most answers with descriptors that are not received yet */
#define SEALS		  (F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK)

/* --- the image --- */

/* Keeps the bundle, to compile it again with the session's own policy; at most BUNDLES_KEPT together. */
static void keep_bundle(const struct helper *h, struct narrowed *n, char **text, size_t len)
{
	size_t kept = len;

	for (size_t i = 0; i < h->n_narrowed; i++)
		kept += h->narrowed[i].bundle_len;
	if (kept > BUNDLES_KEPT)
		return;
	n->bundle = *text;
	n->bundle_len = len;
	*text = NULL;
}

static int read_inner(struct helper *h, uint32_t outer, int fd, struct inner *ret, const char **ret_err)
{
	_cleanup_free_ char *text = NULL;
	int seals = fcntl(fd, F_GET_SEALS), r;
	size_t len = 0;

	*ret_err = "the bundle of a nested run must be sealed memory of at most 1 MiB";
	if (seals < 0 || (seals & SEALS) != SEALS || bundle_read(fd, NARROW_BUNDLE_MAX, &text, &len) < 0)
		return -EINVAL;
	r = inner_make(image_of(h, outer), image_may_ask(h, outer), text, len, ret, ret_err);
	if (r == 0)
		keep_bundle(h, &ret->made, &text, len);
	ret->made.outer = outer;
	return r;
}

/* The number of the image that has these bytes, or 0: the same run again uses no further number. */
static uint32_t find_same(const struct helper *h, const struct narrowed *n)
{
	for (uint32_t i = 0; i < h->n_narrowed; i++)
		if (h->narrowed[i].image.size == n->image.size && h->narrowed[i].no_prompt == n->no_prompt &&
		    memcmp(h->narrowed[i].bytes, n->bytes, n->image.size) == 0)
			return i + 1;
	return 0;
}

/* Takes over the result, and gives it a number. */
static int adopt_inner(struct helper *h, struct inner *in, uint32_t *ret_number, const char **ret_err)
{
	uint32_t number = find_same(h, &in->made);
	int r;

	if (number == 0) {
		*ret_err = "this session has had its 64 different nested runs";
		if (h->n_narrowed == WIRE_IMAGE_MAX)
			return -ENOSPC;
		*ret_err = "the image of the nested run cannot be written";
		number = (uint32_t)h->n_narrowed + 1;
		r = files_add_image(h, number, &in->made.image);
		if (r < 0)
			return r;
		h->narrowed[h->n_narrowed++] = in->made;
		in->made.bytes = NULL;
		in->made.bundle = NULL;
	}
	*ret_number = number;
	return 0;
}

/* --- the answer --- */

/*
 * Image and ring are sent along, because the programs of the session cannot open the directory that holds
 * them.  The connection stays until they are received: the kernel limits the number of descriptors that the
 * helpers of all users together have sent and that were not received yet.
 */
static void answer_narrowed(struct helper *h, struct conn *c, struct wire_narrowed a)
{
	_cleanup_close_ int image = -1;
	char frame[512], name[WIRE_IMAGE_NAME];
	int n;

	if (a.image != WIRE_IMAGE_NONE) {
		wire_image_name(name, a.image);
		image = openat(h->dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
		if (image < 0)
			a = (struct wire_narrowed){ WIRE_IMAGE_NONE, "the session's files are gone" };
	}
	n = wire_put_narrowed(frame, sizeof(frame), &a);
	if (n > 0 &&
	    send_fds(c->fd, frame, (size_t)n, (const int[2]){ image, h->ring_fd },
		     image >= 0 && h->ring_fd >= 0 ? 2 : 0, MSG_DONTWAIT) == 0 &&
	    image >= 0) {
		c->stage = STAGE_SENT;
		c->narrows = 0;
		c->deadline_ns = 0;
	} else {
		conn_drop(c);
	}
}

bool narrow_may_send(struct helper *h)
{
	size_t n = 0;
	int unread;

	for (size_t i = 0; i < CONNS_MAX; i++) {
		struct conn *c = &h->conns[i];

		if (c->kind != CONN_AGENT || (c->stage != STAGE_SENT && c->narrows == 0))
			continue;
		if (c->stage == STAGE_SENT && ioctl(c->fd, SIOCOUTQ, &unread) == 0 && unread == 0)
			conn_drop(c);
		else
			n++;
	}
	return n < UNREAD_MAX;
}

static void record_narrowed(struct helper *h, const struct conn *c, const struct inner *in, uint32_t outer,
			    uint32_t number)
{
	static const char *const modes[] = { [MODE_NONE] = "none",
					     [MODE_READ_ONLY] = "read-only",
					     [MODE_WORKSPACE_WRITE] = "workspace-write",
					     [MODE_DANGER] = "danger" };
	_cleanup_free_ char *detail = NULL;
	const struct proc *who = program_of(h, c->pid);
	struct event e = { .pid = c->pid,
			   .ppid = who->ppid,
			   .exe = who->exe,
			   .op = "session/narrow",
			   .target = in->workspace,
			   .via = "helper" };

	if (asprintf(&detail, "image=%u inside=%u mode=%s%s; %s", number, outer, modes[in->mode],
		     in->made.no_prompt ? " no-prompt" : "", in->sources) < 0)
		return;
	e.detail = detail;
	(void)ledger_append(h->ledger, &e);
}

/* --- the supervisor's reply --- */

static void answer_unheld(struct helper *h, struct conn *c, const char *why)
{
	answer_narrowed(h, c, (struct wire_narrowed){ WIRE_IMAGE_NONE, why });
}

static void tell_supervisor(struct helper *h, struct conn *c, uint32_t image)
{
	json_t *told = json_pack("{s:s, s:i, s:I}", "type", "narrowed", "pid", (int)c->pid, "image",
				 (json_int_t)image);

	if (packet_send_json(h->session_fd, told) < 0) {
		answer_unheld(h, c, "the nested run cannot be reported to the supervisor");
		return;
	}
	c->narrows = image;
	c->deadline_ns = clock_boot_ns() + NS_NOTED;
}

void narrow_noted(struct helper *h, pid_t pid, uint32_t image, enum noted how)
{
	for (size_t i = 0; i < CONNS_MAX; i++) {
		struct conn *c = &h->conns[i];

		if (c->kind != CONN_AGENT || c->narrows == 0 || c->narrows != image || c->pid != pid)
			continue;
		if (how == NOTED_HELD)
			answer_narrowed(h, c, (struct wire_narrowed){ image, "" });
		else
			answer_unheld(h, c, "the supervisor cannot hold the nested run");
	}
}

void narrow_expire(struct helper *h, struct conn *c)
{
	answer_unheld(h, c, "the supervisor does not answer");
}

void narrow_serve(struct helper *h, struct conn *c, uint32_t outer, int fd)
{
	struct wire_narrowed a = { .image = WIRE_IMAGE_NONE, .text = "" };
	struct inner in = { .made.bytes = NULL };

	if (!image_of(h, outer)) {
		a.text = "the session has no such image";
	} else if (fd >= 0 && reload_is_under_way(h)) {
		a.text = "the policy of the session is being loaded again: try later";
	} else if (fd < 0) {
		a.image = outer;
	} else if (read_inner(h, outer, fd, &in, &a.text) == 0 &&
		   adopt_inner(h, &in, &a.image, &a.text) == 0) {
		a.text = "";
		record_narrowed(h, c, &in, outer, a.image);
	}
	if (a.image != WIRE_IMAGE_NONE && a.image != outer && h->level > LEVEL_HOOKS)
		tell_supervisor(h, c, a.image);
	else
		answer_narrowed(h, c, a);
	free(in.made.bytes);
	free(in.made.bundle);
	free(in.workspace);
	free(in.sources);
}
