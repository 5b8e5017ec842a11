/*
 * Decides whether an entry of /dev/shm belongs to the session: see shm.h.  The floor grants nothing there, so
 * every call comes here.  An entry that the session made is recognised like a socket file, by inode and birth
 * time (made.c).  For a path below a directory the topmost directory decides.
 */
#include "shm.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "policy/system/cleanup.h"

#include "tools/supervisor/caller.h"

#include "verdict.h"
#include "made.h"

#define SHM_DIR "/dev/shm/"

static const char *below_shm(const char *path)
{
	size_t n = strlen(SHM_DIR);

	return path && strncmp(path, SHM_DIR, n) == 0 && path[n] ? path + n : NULL;
}

bool shm_is_entry(const char *path)
{
	const char *name = below_shm(path);

	return name && !strchr(name, '/');
}

/* True where the rule is about this place, not about all of /dev/shm. */
static bool is_place_named(struct caller *c, const struct decision *d)
{
	struct image img;
	const struct image_rule *r = decision_image(&c->image, d, &img) ? image_rule(&img, d->rule) : NULL;

	return r && below_shm(image_str(&img, r->pattern));
}

/* Connecting and executing have rules of their own; in mode danger there are no rules. */
static bool is_judged(struct caller *c, const struct request *req, const struct decision *d)
{
	return req->op != OP_UNIX && req->op != OP_EXEC && below_shm(req->path) &&
	       d->verdict == VERDICT_ALLOW && c->image.h->mode != MODE_DANGER && !is_place_named(c, d);
}

bool shm_is_others(struct caller *c, const struct request *req, const struct decision *d)
{
	char top[sizeof(SHM_DIR) + NAME_MAX];
	_cleanup_close_ int fd = -1;
	size_t n;

	if (!is_judged(c, req, d))
		return false;
	n = strcspn(below_shm(req->path), "/") + strlen(SHM_DIR);
	if (n >= sizeof(top))
		return true;
	memcpy(top, req->path, n);
	top[n] = '\0';
	fd = open(top, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? errno != ENOENT : !made_here(c->sup, fd);
}

bool shm_is_others_file(struct caller *c, const struct request *req, int fd)
{
	const struct decision d = verdict_of(c, req);

	return is_judged(c, req, &d) && !made_here(c->sup, fd);
}
