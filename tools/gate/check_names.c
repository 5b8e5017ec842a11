/* Checks of names: paths, what links name, and the URLs of submodules. */
#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "policy/base/path.h"
#include "policy/system/cleanup.h"

#include "tools/base/output.h"

#include "checks_impl.h"

/* Characters that a screen does not show, or by which it shows others in another order. */
static const struct {
	uint32_t from, to;
} unseen[] = { { 0x80, 0x9f },	   { 0xad, 0xad },     { 0x34f, 0x34f },   { 0x61c, 0x61c },
	       { 0x115f, 0x1160 }, { 0x17b4, 0x17b5 }, { 0x180b, 0x180f }, { 0x200b, 0x200f },
	       { 0x2028, 0x202e }, { 0x2060, 0x206f }, { 0x3164, 0x3164 }, { 0xfe00, 0xfe0f },
	       { 0xfeff, 0xfeff }, { 0xffa0, 0xffa0 }, { 0xfff9, 0xfffb }, { 0xe0000, 0xe0fff } };

/* The character at p, which moves on; a byte that begins none stands for itself, above all characters. */
static uint32_t next_char(const unsigned char **p)
{
	size_t more = **p >= 0xf0 ? 3 : **p >= 0xe0 ? 2 : **p >= 0xc0 ? 1 : 0;
	uint32_t c = *(*p)++;

	if (c < 0x80)
		return c;
	if (more == 0)
		return UINT32_MAX;
	c &= 0x3fu >> more;
	for (; more > 0; more--) {
		if ((**p & 0xc0) != 0x80)
			return UINT32_MAX;
		c = c << 6 | (*(*p)++ & 0x3f);
	}
	return c;
}

static const char *unseen_in(const char *s)
{
	for (const unsigned char *p = (const unsigned char *)s; *p;) {
		uint32_t c = next_char(&p);

		if (c < 0x20 || c == 0x7f)
			return "a control character";
		for (size_t i = 0; i < NELEM(unseen); i++)
			if (c >= unseen[i].from && c <= unseen[i].to)
				return "a character that a screen does not show";
	}
	return NULL;
}

/* `.git` as any file system spells it: in any case, with dots, blanks or a stream's name after it, as GIT~1.
 */
static bool is_dot_git(const char *name, size_t n)
{
	const char *colon = memchr(name, ':', n);

	n = colon ? (size_t)(colon - name) : n;
	while (n > 0 && (name[n - 1] == '.' || name[n - 1] == ' '))
		n--;
	return (n == 4 && strncasecmp(name, ".git", 4) == 0) ||
	       (n == 5 && strncasecmp(name, "git~1", 5) == 0);
}

/* What is wrong with a component of a path. */
static const char *unsafe_component(const char *name, size_t n)
{
	if (n == 0 || (n == 1 && *name == '.') || (n == 2 && memcmp(name, "..", 2) == 0))
		return "a part that is no name";
	return is_dot_git(name, n) ? "a part that a file system may take for .git" : NULL;
}

static void check_deny(struct checks *ck, const char *path)
{
	for (size_t i = 0; i < ck->rules->n_deny; i++) {
		_cleanup_free_ char *pattern = NULL, *name = strdup(path);
		const char *p = ck->rules->deny[i];
		char *lists[2];

		if (asprintf(&pattern, "%s%s", strchr(p, '/') ? "" : "**/", p) < 0)
			pattern = NULL;
		lists[0] = pattern;
		lists[1] = name;
		for (size_t k = 0; k < 2; k++)
			for (char *c = lists[k]; c && *c; c++)
				*c = (char)tolower((unsigned char)*c);
		if (!pattern || !name || path_is_covered(name, pattern))
			check_finding(ck, path, 0, "[changes] deny = %s", p);
	}
}

void check_name(struct checks *ck, const char *path)
{
	const char *why = unseen_in(path);

	/* Windows ends a name at a backslash, too. */
	for (const char *p = path;; p++) {
		size_t n = strcspn(p, "/\\");

		why = why ?: unsafe_component(p, n);
		p += n;
		if (!*p)
			break;
	}
	if (strlen(path) >= 4096)
		why = "more bytes than a path can have";
	if (why)
		check_finding(ck, path, 0, "the name has %s", why);
	check_deny(ck, path);
}

void check_link(struct checks *ck, const char *path, const char *target, size_t len)
{
	_cleanup_free_ char *shown = text_visible(target);
	size_t up = 0, depth = 0, n;
	const char *why = NULL;
	bool named = false;

	for (const char *p = path; *p; p++)
		depth += *p == '/';
	if (len == 0 || strlen(target) != len || unseen_in(target))
		why = "names no ordinary path";
	else if (*target == '/')
		why = "leaves the tree";
	for (const char *p = target; !why && *p; p += n + (p[n] != '\0')) {
		n = strcspn(p, "/");
		if (n == 2 && memcmp(p, "..", 2) == 0) {
			up++;
			/* What is before it may be a link, too: where it leads can then not be told. */
			why = up > depth || named ? "leaves the tree" : NULL;
		} else if (n > 0 && !(n == 1 && *p == '.')) {
			named = true;
			why = is_dot_git(p, n) ? "leads into .git" : NULL;
		}
	}
	if (why)
		check_finding(ck, path, 1, "the link %s: %s", why, shown ?: "?");
}

/* A URL of a submodule: git runs other programs for other schemes, and a path is of this machine. */
static bool is_safe_url(const char *url)
{
	static const char *const schemes[] = { "https://", "http://", "ssh://", "git://", "./", "../" };
	const char *colon = strchr(url, ':');

	if (*url == '-' || unseen_in(url))
		return false;
	for (size_t i = 0; i < NELEM(schemes); i++) {
		size_t n = strlen(schemes[i]);

		if (strncasecmp(url, schemes[i], n) == 0)
			return url[n] != '-' && !strstr(url, "@-");
	}
	/* host:path is ssh's. */
	return colon && colon > url && colon[1] != ':' && strncmp(colon, "://", 3) != 0 &&
	       strcspn(url, "/") > (size_t)(colon - url) && !strstr(url, "@-");
}

int check_modules(struct checks *ck, const char *path, const char *oid, const struct object *blob)
{
	const char *const words[] = { "config", "--blob", oid, "--no-includes", "--list", "-z", NULL };
	_cleanup_free_ char *list = NULL;
	size_t len = 0;
	int r = plumbing_read(&ck->depot, words, NULL, 1u << 20, &list, &len);

	if (r == -EIO) {
		check_finding(ck, path, 0, "git cannot read it");
		return 0;
	}
	for (const char *p = list, *end = list + len; r == 0 && p < end; p += strlen(p) + 1) {
		const char *value = strchr(p, '\n'), *key, *at;
		size_t n = value ? (size_t)(value - p) : strlen(p);
		_cleanup_free_ char *shown = text_visible(value ? value + 1 : "");

		for (key = p + n; key > p && key[-1] != '.'; key--)
			;
		n -= (size_t)(key - p);
		value = value ? value + 1 : "";
		at = *value ? memmem(blob->data, blob->len, value, strlen(value)) : NULL;
		if (n == 3 && memcmp(key, "url", 3) == 0 && !is_safe_url(value))
			check_finding(ck, path, at ? check_line(blob->data, (size_t)(at - blob->data)) : 0,
				      "the URL is not of https, http, ssh or git: %s", shown ?: "?");
		if (n == 6 && memcmp(key, "update", 6) == 0 && *value == '!')
			check_finding(ck, path, at ? check_line(blob->data, (size_t)(at - blob->data)) : 0,
				      "a command runs at an update: %s", shown ?: "?");
	}
	return r;
}
