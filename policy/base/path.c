/*
 * Paths as text.
 *
 * Guarantees: it works on bytes (names need not be UTF-8), never writes past the given size and never
 * recurses.  It does not look at the file system: `..` is removed by text alone, and only the resolver
 * knows whether the kernel would come to the same path.
 */
#include "path.h"

#include <errno.h>
#include <string.h>

struct builder {
	char *buf;
	size_t len, size;
};

/* Without strcspn: this is much of the time that a hooked call takes. */
static size_t component_length(const char *path)
{
	size_t n = 0;

	while (path[n] && path[n] != '/')
		n++;
	return n;
}

/* Appends the components of path to an absolute, normalised prefix without trailing slash. */
static int append(struct builder *b, const char *path)
{
	for (size_t n; *path; path += n) {
		while (*path == '/')
			path++;
		n = component_length(path);
		if (n == 0 || (n == 1 && path[0] == '.'))
			continue;
		if (n == 2 && path[0] == '.' && path[1] == '.') {
			while (b->len > 0 && b->buf[--b->len] != '/')
				;
			continue;
		}
		if (n >= b->size || b->len >= b->size - n - 1)
			return -ENAMETOOLONG;
		b->buf[b->len++] = '/';
		memcpy(b->buf + b->len, path, n);
		b->len += n;
	}
	return 0;
}

int path_normalise(const char *base, const char *path, char *buf, size_t size)
{
	struct builder b = { buf, 0, size };
	int r = 0;

	if (!path || path[0] == '\0' || size < 2)
		return size < 2 ? -ENAMETOOLONG : -EINVAL;
	if (path[0] != '/' && (!base || base[0] != '/'))
		return -EINVAL;
	if (path[0] != '/')
		r = append(&b, base);
	if (r == 0)
		r = append(&b, path);
	if (r < 0)
		return r;
	if (b.len == 0)
		buf[b.len++] = '/';
	buf[b.len] = '\0';
	return (int)b.len;
}

/* The length of path where it needs no normalising, else 0.  before: the character before path. */
static size_t plain_length(const char *path, char before)
{
	const char *p = path;

	for (; *p; before = *p++) {
		if (before != '/')
			continue;
		/* A component begins.  ".." and all names that begin with it are left to the normaliser. */
		if (*p == '/' || (*p == '.' && (p[1] == '/' || p[1] == '\0' || p[1] == '.')))
			return 0;
	}
	return before == '/' && p - path > 1 ? 0 : (size_t)(p - path);
}

size_t path_plain_length(const char *path)
{
	return *path == '/' ? plain_length(path, '\0') : 0;
}

size_t path_plain_relative(const char *path)
{
	return *path == '/' ? 0 : plain_length(path, '/');
}

bool path_is_under(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	if (n > 0 && dir[n - 1] == '/')
		n--; /* "/" contains every absolute path */
	return strncmp(path, dir, n) == 0 && (path[n] == '\0' ? n > 0 : path[n] == '/');
}

/* End of the bracket expression that opens at pat[0], or NULL where it is not closed. */
static const char *class_end(const char *pat, const char *end)
{
	const char *p = pat + 1;

	if (p < end && (*p == '!' || *p == '^'))
		p++;
	if (p < end && *p == ']')
		p++;
	while (p < end && *p != ']')
		p += *p == '\\' && p + 1 < end ? 2 : 1;
	return p < end ? p : NULL;
}

static unsigned char class_char(const char **p, const char *last)
{
	if (**p == '\\' && *p + 1 < last)
		(*p)++;
	return (unsigned char)*(*p)++;
}

/* pat stands on `[`, last on its `]`. */
static bool class_match(const char *pat, const char *last, unsigned char ch)
{
	const char *p = pat + 1;
	bool negate = p < last && (*p == '!' || *p == '^');
	bool hit = false;

	p += negate;
	while (p < last) {
		unsigned char lo = class_char(&p, last), hi = lo;

		if (p + 1 < last && *p == '-') {
			p++;
			hi = class_char(&p, last);
		}
		hit |= lo <= ch && ch <= hi;
	}
	return hit != negate;
}

/* Matches one pattern item other than `*` against ch; returns the next item or NULL. */
static const char *item_match(const char *p, const char *end, unsigned char ch)
{
	const char *last;

	if (*p == '?')
		return p + 1;
	if (*p == '[' && (last = class_end(p, end)))
		return class_match(p, last, ch) ? last + 1 : NULL;
	if (*p == '\\' && p + 1 < end)
		p++;
	return (unsigned char)*p == ch ? p + 1 : NULL;
}

bool glob_match(const char *pat, size_t pat_len, const char *name, size_t name_len)
{
	const char *p = pat, *end = pat + pat_len, *star = NULL;
	const char *s = name, *s_end = name + name_len, *mark = NULL;

	while (s < s_end) {
		const char *next = NULL;

		if (p < end && *p == '*') {
			star = ++p;
			mark = s;
			continue;
		}
		if (p < end)
			next = item_match(p, end, (unsigned char)*s);
		if (next) {
			p = next;
			s++;
			continue;
		}
		/* Only the last star needs to take more: it can take whatever an earlier one could. */
		if (!star)
			return false;
		p = star;
		s = ++mark;
	}
	while (p < end && *p == '*')
		p++;
	return p == end;
}

bool globs_overlap(const char *a, const char *b)
{
	static const char special[] = "*?[\\";
	size_t la = strcspn(a, special), lb = strcspn(b, special);

	return strncmp(a, b, la < lb ? la : lb) == 0;
}

bool glob_is_literal(const char *pat, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (pat[i] == '\\' && i + 1 < len)
			i++;
		else if (pat[i] == '*' || pat[i] == '?' || pat[i] == '[')
			return false;
	}
	return true;
}

bool path_has_open_class(const char *pattern)
{
	for (const char *end; *pattern; pattern = end + (*end == '/')) {
		end = pattern + component_length(pattern);
		for (const char *p = pattern; p < end; p++) {
			if (*p == '[' && !(p = class_end(p, end)))
				return true;
			if (*p == '\\')
				p++;
		}
	}
	return false;
}

bool path_has_dotdot(const char *path)
{
	for (size_t n; *path; path += n) {
		while (*path == '/')
			path++;
		n = component_length(path);
		if (n == 2 && path[0] == '.' && path[1] == '.')
			return true;
	}
	return false;
}

const char *path_basename(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

bool path_is_covered(const char *path, const char *pattern)
{
	size_t n, len;

	pattern += strspn(pattern, "/");
	path += strspn(path, "/");
	n = strcspn(pattern, "/");
	len = strcspn(path, "/");
	if (n == 0 || len == 0)
		return n == 0;
	if (n == 2 && memcmp(pattern, "**", 2) == 0)
		return path_is_covered(path, pattern + n) || path_is_covered(path + len, pattern);
	return glob_match(pattern, n, path, len) && path_is_covered(path + len, pattern + n);
}
