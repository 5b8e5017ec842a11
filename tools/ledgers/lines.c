/* The lines of a ledger, part after part; see lines.h. */
#include "lines.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#include "policy/base/path.h"
#include "policy/base/util.h"
#include "policy/system/cleanup.h"

#include "tools/base/paths.h"

/* A record is far shorter; a file with a longer line is no ledger. */
#define LINE_MAX_BYTES (8u << 20)

static int open_plain(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	return fd < 0 ? -errno : fd;
}

static void close_part(struct line_reader *r)
{
	if (r->gz)
		(void)gzclose_r(r->gz); /* also closes its descriptor */
	else if (r->fd >= 0)
		(void)close(r->fd);
	r->gz = NULL;
	r->fd = -1;
}

/* DIR/ledger.N.jsonl with this ending; N = 0 is the file that grows. */
static int part_path(const struct line_reader *r, unsigned part, const char *ending, char path[PATH_MAX])
{
	char name[64];

	if (part == 0)
		snprintf(name, sizeof(name), LEDGER_NAME);
	else
		snprintf(name, sizeof(name), "ledger.%u.jsonl%s", part, ending);
	return path_join(path, PATH_MAX, r->dir, name);
}

/* 0, -ENOENT where there is no such part, -errno. */
static int open_part(struct line_reader *r, unsigned part)
{
	char path[PATH_MAX];
	int fd = part_path(r, part, "", path);

	if (fd == 0)
		fd = open_plain(path);
	if (fd >= 0) {
		r->fd = fd;
		return 0;
	}
	if (part == 0 || fd != -ENOENT)
		return fd;
	fd = part_path(r, part, ".gz", path);
	if (fd == 0)
		fd = open_plain(path);
	if (fd < 0)
		return fd;
	r->gz = gzdopen(fd, "r");
	if (!r->gz) {
		(void)close(fd);
		return -ENOMEM;
	}
	r->fd = fd;
	return 0;
}

/* Goes on to the part after the finished one that has been read to its end. */
static int open_next(struct line_reader *r)
{
	int e;

	close_part(r);
	e = open_part(r, r->next_part);
	if (e == 0) {
		r->part = r->next_part++;
		return 0;
	}
	r->part = 0;
	return e == -ENOENT ? open_part(r, 0) : e;
}

int line_reader_open(struct line_reader *r, const char *path)
{
	_cleanup_free_ char *copy = strdup(path);
	char *slash = copy ? strrchr(copy, '/') : NULL;
	int e;

	memset(r, 0, sizeof(*r));
	r->fd = -1;
	if (!copy)
		return -ENOMEM;
	if (strcmp(path_basename(path), LEDGER_NAME) != 0) {
		size_t len = strlen(path);

		/* A single finished part. */
		r->fd = open_plain(path);
		if (r->fd >= 0 && len > 3 && strcmp(path + len - 3, ".gz") == 0)
			r->gz = gzdopen(r->fd, "r");
		return r->fd < 0 ? r->fd : 0;
	}
	if (slash == copy)
		slash++;
	if (slash)
		*slash = '\0';
	r->dir = slash ? TAKE_PTR(copy) : strdup(".");
	r->next_part = 1;
	e = r->dir ? open_next(r) : -ENOMEM;
	if (e < 0)
		line_reader_close(r);
	return e;
}

/* True where the open file is no longer the one that grows: it has become a finished part. */
static bool was_set_aside(const struct line_reader *r)
{
	struct stat here, there;
	char path[PATH_MAX];

	return r->dir && r->part == 0 && r->fd >= 0 && part_path(r, 0, "", path) == 0 &&
	       fstat(r->fd, &here) == 0 && stat(path, &there) == 0 &&
	       (here.st_ino != there.st_ino || here.st_dev != there.st_dev);
}

static ssize_t read_part(struct line_reader *r, char *to, size_t n)
{
	int got;

	if (!r->gz)
		return read(r->fd, to, n);
	got = gzread(r->gz, to, (unsigned)n);
	if (got >= 0)
		return got;
	errno = EBADMSG;
	return -1;
}

static int make_room(struct line_reader *r)
{
	if (r->used) {
		memmove(r->buf, r->buf + r->used, r->len - r->used);
		r->len -= r->used;
		r->used = 0;
	}
	if (r->len == r->cap) {
		size_t cap = r->cap ? r->cap * 2 : 64 * 1024;
		char *grown;

		if (cap > LINE_MAX_BYTES)
			return -EMSGSIZE;
		grown = realloc(r->buf, cap);
		if (!grown)
			return -ENOMEM;
		r->buf = grown;
		r->cap = cap;
	}
	return 0;
}

/* 1 where more was read, 0 at the end. */
static int fill_buffer(struct line_reader *r)
{
	int e = make_room(r);
	ssize_t n;

	for (; e == 0; e = open_next(r)) {
		bool aside = was_set_aside(r);

		if (r->fd < 0)
			return 0;
		n = read_part(r, r->buf + r->len, r->cap - r->len);
		if (n < 0)
			return errno == EINTR ? 1 : -errno;
		r->len += (size_t)n;
		if (n > 0)
			return 1;
		if (aside)
			r->part = r->next_part++;
		else if (r->part == 0)
			return 0;
		/* A finished part ends with a whole record. */
		if (r->len > 0)
			return -EBADMSG;
	}
	/* For a moment between two parts no file grows. */
	return e == -ENOENT ? 0 : e;
}

int line_reader_next(struct line_reader *r, const char **ret_line, size_t *ret_len)
{
	size_t searched = 0;

	for (;;) {
		size_t have = r->len - r->used;
		char *start = r->buf + r->used;
		char *end = have > searched ? memchr(start + searched, '\n', have - searched) : NULL;
		int n;

		if (end) {
			*ret_line = start;
			*ret_len = (size_t)(end - start);
			r->used += *ret_len + 1;
			return 1;
		}
		searched = have;
		n = fill_buffer(r);
		if (n <= 0)
			return n;
	}
}

size_t line_reader_torn(const struct line_reader *r)
{
	return r->len - r->used;
}

void line_reader_close(struct line_reader *r)
{
	close_part(r);
	free(r->buf);
	free(r->dir);
	r->buf = r->dir = NULL;
}
