/*
 * A socket under another name than its own: a daemon's socket that was linked or renamed to a place that a
 * rule allows.
 *
 * The name under which the socket was bound decides, as that name resolves now: where it still leads to the
 * judged path, there is no alias.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/lesson/known_sockets.h"

#include "tools/supervisor/threads/workers.h"
#include "tools/supervisor/verdict/verdict.h"

#include "net.h"
#include "unix_name.h"

#define DENIED_ALIAS (-EACCES)

struct alias {
	struct caller *c;
	const char *judged; /* the real path that was judged */
	bool by_place;	    /* allowed because it lies inside the workspace, not by a rule about sockets */
	char path[PATH_MAX];
};

/* The bound name as a real path: of the file, or, where it is gone, of the directory that contained it. */
static void real_place(const char *name, char ret[PATH_MAX])
{
	char copy[PATH_MAX];
	char *base;

	if (realpath(name, ret))
		return;
	snprintf(copy, sizeof(copy), "%s", name);
	base = strrchr(copy, '/');
	if (base == copy || !base) {
		snprintf(ret, PATH_MAX, "%s", name);
		return;
	}
	*base = '\0';
	if (!realpath(copy, ret) || strlen(ret) + strlen(base + 1) + 2 > PATH_MAX) {
		snprintf(ret, PATH_MAX, "%s", name);
		return;
	}
	strcat(ret, "/");
	strcat(ret, base + 1);
}

static struct decision deny_strangers(void)
{
	return (struct decision){ .verdict = VERDICT_DENY, .reason = REASON_PROCESS, .rule = RULE_NONE };
}

/* The policy's verdict on the place that the name means. */
static struct decision judge_place(struct alias *a, const struct request *req)
{
	struct decision d = verdict_of(a->c, req);

	if (is_strangers(a->c, &d))
		d = deny_strangers();
	if (d.verdict == VERDICT_ALLOW || d.reason == REASON_RULE || a->by_place || socket_known(a->path))
		return d;
	/* A rule allows the judged path.  No rule decides about the path where the socket was bound, and
	 * that is not the path of a known daemon. */
	return (struct decision){ .verdict = VERDICT_ALLOW, .reason = REASON_HOST, .rule = RULE_NONE };
}

static int judge_name(const char *name, void *arg)
{
	struct alias *a = arg;
	struct request req = { .op = OP_UNIX, .access = op_access(OP_UNIX), .path = a->path };
	struct decision d = deny_strangers();

	if (name[0] != '/') {
		/* The start of this relative name is not known, but its end may tell the owner. */
		snprintf(a->path, sizeof(a->path), "/%s", name);
		if (!socket_known(a->path) || socket_known(a->judged))
			return 0;
	} else {
		real_place(name, a->path);
		if (strcmp(a->path, a->judged) == 0)
			return 0;
		d = judge_place(a, &req);
		if (d.verdict == VERDICT_ALLOW)
			return 0;
		d.verdict = VERDICT_DENY;
	}
	(void)verdict_conclude(a->c, &req, a->path, d);
	return DENIED_ALIAS;
}

/* True where *d allows the socket by a `write` rule outside the workspace.  Such a rule tells which files
 * may be written, not which program listens, so it allows only sockets that the session itself made. */
bool is_strangers(struct caller *c, const struct decision *d)
{
	struct image img;
	const struct image_rule *r = decision_image(&c->image, d, &img) ? image_rule(&img, d->rule) : NULL;

	return d->verdict == VERDICT_ALLOW && d->reason != REASON_INSIDE && r && r->kind == RULE_FILE_WRITE;
}

bool alias_is_denied(struct caller *c, const struct request *req, const struct decision *d,
		     const struct stat *st)
{
	struct alias *a = caller_scratch(c, sizeof(*a));
	int r;

	if (!a)
		return true;
	a->c = c;
	a->judged = req->path;
	a->by_place = d->reason == REASON_INSIDE;
	r = unix_names(st, judge_name, a);
	if (r == DENIED_ALIAS)
		return true;
	/* The kernel does not tell the bound name: a file with one link is allowed, one of several links is
	 * not. */
	if (r == 0 || st->st_nlink == 1)
		return false;
	verdict_refuse(c, req, req->path, REASON_PROCESS);
	return true;
}
