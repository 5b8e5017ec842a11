/*
 * What can be seen of a file without opening it: where a link leads, extended attributes, events.
 *
 * Landlock has no right for these.  For a file that may not be read, links and events are refused.  Its
 * attributes are reported as missing; that is not recorded, since ls -l asks for attributes of every file
 * that it lists.  Allowed calls are not recorded either: realpath(3) looks at each component.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "policy/base/path.h"
#include "policy/system/cleanup.h"

#include "tools/supervisor/answer.h"
#include "tools/supervisor/caller.h"
#include "tools/supervisor/datagrams/line.h"
#include "tools/supervisor/files/held.h"
#include "tools/supervisor/handlers.h"
#include "tools/supervisor/listener.h"
#include "tools/supervisor/place.h"
#include "tools/supervisor/procfs.h"
#include "tools/supervisor/threads/workers.h"
#include "tools/supervisor/verdict/verdict.h"
#include "tools/wall/numbers.h"

#define NAME_SIZE  256	 /* of an attribute, with its NUL: linux/limits.h */
#define VALUE_SIZE 65536 /* XATTR_SIZE_MAX, XATTR_LIST_MAX */

enum what { LINK, VALUE, NAMES, EVENTS };

struct looking {
	struct naming at; /* rest: the arguments that follow the path */
	enum what what;
};

static const struct looking lookings[] = {
	{ { __NR_readlink, .path = 0, .dirfd = NO_ARG, .flags = NO_ARG, .rest = 1,
	    .fixed = AT_SYMLINK_NOFOLLOW },
	  LINK },
	{ { __NR_readlinkat, .path = 1, .dirfd = 0, .flags = NO_ARG, .rest = 2,
	    .fixed = AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH },
	  LINK },
	{ { __NR_getxattr, .path = 0, .dirfd = NO_ARG, .flags = NO_ARG, .rest = 1 }, VALUE },
	{ { __NR_lgetxattr, .path = 0, .dirfd = NO_ARG, .flags = NO_ARG, .rest = 1,
	    .fixed = AT_SYMLINK_NOFOLLOW },
	  VALUE },
	{ { __NR_listxattr, .path = 0, .dirfd = NO_ARG, .flags = NO_ARG, .rest = 1 }, NAMES },
	{ { __NR_llistxattr, .path = 0, .dirfd = NO_ARG, .flags = NO_ARG, .rest = 1,
	    .fixed = AT_SYMLINK_NOFOLLOW },
	  NAMES },
	{ { __NR_inotify_add_watch, .path = 1, .dirfd = NO_ARG, .flags = NO_ARG, .rest = 2 }, EVENTS },
};

/* Copies the kernel's result to addr, as far as there is room. */
static long give(struct caller *c, uint64_t addr, const void *buf, long n, size_t room)
{
	int r = n > 0 && room > 0 ? line_write(c, addr, buf, (size_t)n) : 0;

	return r < 0 ? r : n;
}

static long give_link(struct held *h, struct caller *c, const uint64_t *arg)
{
	char to[LIMIT_PATH] UNINITIALIZED;
	size_t room = arg[1] < sizeof(to) ? (size_t)arg[1] : sizeof(to);

	return give(c, arg[0], to, call_result(readlinkat(h->fd, "", to, room)), room);
}

static long give_attr(struct held *h, struct caller *c, const uint64_t *arg, const char *name)
{
	uint64_t asked = arg[name ? 2 : 1], to = arg[name ? 1 : 0];
	size_t room = asked < VALUE_SIZE ? (size_t)asked : VALUE_SIZE;
	struct self_path self = held_self(h);
	char *buf = caller_scratch(c, VALUE_SIZE);

	if (!buf)
		return -ENOMEM;
	return give(
		c, to, buf,
		call_result(name ? getxattr(self.text, name, buf, room) : listxattr(self.text, buf, room)),
		room);
}

static long add_watch(struct held *h, struct caller *c, const uint64_t *arg)
{
	_cleanup_close_ int fd = caller_fd(c, (int)c->arg[0]);

	if (fd < 0 || !caller_alive(c))
		return fd < 0 ? fd : -ESRCH;
	return call_result(inotify_add_watch(fd, held_self(h).text, (uint32_t)arg[0] & ~IN_DONT_FOLLOW));
}

/* True where the link itself is the denied path (~/.ssh) and its directory may be read.  Then readlink(2)
 * is allowed, because realpath(3) calls it. */
static bool is_border(const struct held *h, struct caller *c)
{
	char dir[LIMIT_PATH] UNINITIALIZED;
	struct request req = { .op = OP_READ, .access = ACCESS_READ, .path = dir };
	size_t n = strlen(h->req.path) - strlen(path_basename(h->req.path));

	memcpy(dir, h->req.path, n);
	dir[n > 1 ? n - 1 : n] = '\0';
	return verdict_of(c, &req).verdict != VERDICT_DENY;
}

static long look_at_name(struct held *h, struct caller *c, const struct looking *row, const char *name)
{
	const uint64_t *arg = &c->arg[row->at.rest];
	struct stat st;

	if (fstat(h->fd, &st) < 0)
		return -errno;
	if (row->what == LINK && !S_ISLNK(st.st_mode))
		return h->place.raw[0] ? -EINVAL : -ENOENT;
	if (!h->is_free && h->d.verdict == VERDICT_DENY && !(row->what == LINK && is_border(h, c)))
		return row->what == VALUE ? -ENODATA : row->what == NAMES ? 0 : held_allow(h, c);
	if (row->what == LINK)
		return give_link(h, c, arg);
	return row->what == EVENTS ? add_watch(h, c, arg)
				   : give_attr(h, c, arg, row->what == VALUE ? name : NULL);
}

/* The mask of inotify_add_watch(2) has no known bit, or two that exclude each other. */
static bool is_nonsense(uint32_t mask)
{
	const uint32_t known = IN_ALL_EVENTS | IN_UNMOUNT | IN_Q_OVERFLOW | IN_IGNORED | IN_ONLYDIR |
			       IN_DONT_FOLLOW | IN_EXCL_UNLINK | IN_MASK_ADD | IN_MASK_CREATE | IN_ISDIR |
			       IN_ONESHOT;

	return !(mask & known) || (mask & IN_MASK_ADD && mask & IN_MASK_CREATE);
}

/* The kernel's checks that come before it looks at the path. */
static long check_words(struct caller *c, const struct looking *row, char name[NAME_SIZE])
{
	const uint64_t *arg = &c->arg[row->at.rest];
	int n = row->what == VALUE ? caller_string(c, arg[0], name, NAME_SIZE) : 1;

	if (n <= 0)
		return n == 0 || n == -ENAMETOOLONG ? -ERANGE : n;
	if (row->what == EVENTS)
		return is_nonsense((uint32_t)arg[0]) ? -EINVAL : 0;
	return row->what == LINK && (int)arg[1] <= 0 ? -EINVAL : 0;
}

struct answer carry_look(struct caller *c)
{
	const struct looking *row = ROW_OF(lookings, c->nr);
	struct held *h = held_new(c, OP_READ, ACCESS_READ);
	unsigned flags = row ? row->at.fixed : 0;
	char name[NAME_SIZE];
	bool proc = false;
	long r = !row ? -ENOSYS : h ? check_words(c, row, name) : -ENOMEM;

	/* The mask tells whether a last link is meant itself. */
	if (row && row->what == EVENTS && c->arg[2] & IN_DONT_FOLLOW)
		flags |= AT_SYMLINK_NOFOLLOW;
	if (r == 0) {
		h->place.raw[0] = '\0';
		r = held_object(h, c, &row->at, flags);
	}
	/* The links of a process depend on the process that reads them; the kernel itself hides those of
	 * others, also where a descriptor of the link is read. */
	if (r == 0)
		proc = procfs_holds(h->fd);
	if (proc && h->is_far && place_is_foreign(&h->place, c))
		r = -ENOENT;
	if (r == 0 && !proc)
		r = look_at_name(h, c, row, name);
	held_done(h);
	return r == 0 && proc ? answer_continue() : answer_result(r);
}
