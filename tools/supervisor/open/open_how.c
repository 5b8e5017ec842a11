/*
 * The constraints of openat2(2): what the caller's lookup may go through.
 *
 * The kernel itself looks up the parent, from the caller's own directory and under the caller's own
 * constraints.  Only a last symbolic link is substituted here and looked up again, so that in the end one
 * name below a held directory is opened.  On procfs only, the kernel would take the supervisor for the
 * caller: there the resolver is used, and the constraints are checked afterwards.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tools/supervisor/caller.h"
#include "tools/supervisor/place.h"
#include "tools/supervisor/procfs.h"

#include "open.h"

#define MAX_LINKS 40 /* as the kernel's MAXSYMLINKS */
#define SCOPED	  (RESOLVE_BENEATH | RESOLVE_IN_ROOT)
#define GO_ON	  1

static int lookup(int base, const char *path, int flags, uint64_t resolve)
{
	struct open_how how = { .flags = (unsigned)flags | O_PATH | O_CLOEXEC, .resolve = resolve };
	long fd = syscall(SYS_openat2, base, path, &how, sizeof(how));

	return fd < 0 ? -errno : (int)fd;
}

/* Under RESOLVE_IN_ROOT an absolute path starts from the directory too. */
static int base_of(struct caller *c, struct place *p, const struct opening *o)
{
	if (!(o->resolve & RESOLVE_IN_ROOT) || p->base >= 0)
		return place_base(p, c);
	p->base = caller_dir(c, p->dirfd);
	return p->base;
}

/* The offset of the last component; the end of the path where its text means a directory ("x/", "..",
 * "/"). */
static size_t last_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *last = slash ? slash + 1 : path;

	if (!*last || strcmp(last, ".") == 0 || strcmp(last, "..") == 0)
		return strlen(path);
	return (size_t)(last - path);
}

/* Replaces the last component by the text of its link. */
static int substitute(char *path, size_t dir, const char *text)
{
	size_t n = strlen(text);

	if (text[0] == '/')
		dir = 0;
	if (dir + n >= LIMIT_PATH)
		return -ENAMETOOLONG;
	memcpy(path + dir, text, n + 1);
	return GO_ON;
}

/* The parent is held: looks at the entry in it, and finds its path. */
static int arrive(struct place *p, const char *last)
{
	struct resolved *r = &p->r;
	size_t n = strlen(last);
	int len;

	if (n >= sizeof(r->name))
		return -ENAMETOOLONG;
	memcpy(r->name, *last ? last : ".", n + 1 + !*last);
	len = procfs_fd_path(r->parent, r->path, sizeof(r->path));
	if (len < 0)
		return len;
	if (r->path[0] != '/')
		return -ENOENT;
	r->same = true;
	r->magic = false;
	if (!*last)
		return 0;
	len -= len == 1;
	if ((size_t)len + 1 + n >= sizeof(r->path))
		return -ENAMETOOLONG;
	r->path[len] = '/';
	memcpy(r->path + len + 1, last, n + 1);
	return 0;
}

/* GO_ON where path, whose last component begins at dir, ends in a link that was substituted. */
static int follow_last(int base, struct place *p, const struct opening *o, char *path, size_t dir)
{
	char text[LIMIT_PATH] UNINITIALIZED;
	ssize_t n;
	int fd;

	if (!path[dir] || open_follow(o) == RESOLVE_NOFOLLOW_LAST || open_creates_directory(p, o))
		return 0;
	n = readlinkat(p->r.parent, path + dir, text, sizeof(text) - 1);
	if (n < 0)
		return errno == EINVAL || errno == ENOENT ? 0 : -errno;
	text[n] = '\0';
	/* The kernel decides whether the link may be followed; a missing file is not an error here. */
	fd = lookup(base, path, 0, o->resolve);
	if (fd >= 0)
		close(fd);
	return fd < 0 && fd != -ENOENT ? fd : substitute(path, dir, text);
}

/* One look-up of the parent.  0: found; GO_ON: path has changed. */
static int look_up_parent(int base, struct place *p, const struct opening *o, char *path)
{
	size_t dir = last_of(path);
	char keep = path[dir];
	int e;

	place_release(p);
	path[dir] = '\0';
	p->r.parent = lookup(base, dir ? path : ".", O_DIRECTORY, o->resolve);
	path[dir] = keep;
	if (p->r.parent < 0)
		return p->r.parent;
	p->r.parent_owned = true;
	if (procfs_holds(p->r.parent))
		return -EREMOTE;
	e = follow_last(base, p, o, path, dir);
	return e == 0 ? arrive(p, path + dir) : e;
}

/* On procfs: resolves as the caller sees it, and never leaves the procfs that the kernel's look-up
 * reached. */
static int by_hand(struct caller *c, struct place *p, const struct opening *o)
{
	struct stat want, got;
	int e = fstat(p->r.parent, &want) < 0 ? -errno : place_resolve(p, c, open_follow(o));

	if (e < 0)
		return e;
	if (p->crossed)
		return o->resolve & SCOPED ? -EXDEV : -ELOOP;
	if (fstat(p->r.parent, &got) < 0)
		return -errno;
	return want.st_dev == got.st_dev ? 0 : -EXDEV;
}

int open_constrained(struct caller *c, struct place *p, const struct opening *o)
{
	char path[LIMIT_PATH] UNINITIALIZED;
	int base = base_of(c, p, o);
	int e = GO_ON;
	size_t n;

	if (base < 0 && base != AT_FDCWD)
		return base;
	if (!p->raw[0])
		return -ENOENT;
	p->foreign = p->crossed = p->beyond = false;
	n = strlen(p->raw);
	while (open_creates_directory(p, o) && p->raw[n - 1] == '/')
		n--;
	memcpy(path, p->raw, n);
	path[n] = '\0';
	for (int links = 0; e == GO_ON; links++)
		e = links > MAX_LINKS ? -ELOOP : look_up_parent(base, p, o, path);
	return e == -EREMOTE ? by_hand(c, p, o) : e;
}
