/*
 * Protected branches of the workspace's own repository, as the files that they are: `[git] protect` judges
 * commands by their words, and this is the wall behind the words.
 *
 * A protected branch moves where it is checked out, or was when somebody left it in this session (a rebase
 * leaves it and comes back); else its file, its line in packed-refs and what HEAD names stay as they are.
 * What is put in place is the text that was judged, in a new file.
 */
#include "tools/supervisor/git.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/git.h"
#include "policy/path.h"
#include "tools/tools.h"

#define REF_MAX	   256
#define PACKED_MAX (64u << 20)
#define HEADS	   "refs/heads/"
#define HEAD_REF   "ref: " HEADS
#define LEFT_MAX   16

/* Protected branches that were checked out; under the turn of git.c. */
static char left[LEFT_MAX][REF_MAX];
static size_t n_left;

/* --- what is there ------------------------------------------------------------------------------------- */

static bool is_trunk(const struct image *img, const char *name, size_t len)
{
	size_t n = 0;
	const struct branch_pattern *p = image_sec(img, SEC_BRANCH, &n);

	for (size_t i = 0; p && i < n / sizeof(*p); i++) {
		const char *pattern = image_str(img, p[i].pattern);

		if (strncmp(pattern, HEADS, strlen(HEADS)) == 0)
			pattern += strlen(HEADS);
		if (glob_match(pattern, strlen(pattern), name, len))
			return true;
	}
	return false;
}

/* The first line of a small file below dir; false where there is none. */
static bool first_line(int dir, const char *name, char buf[REF_MAX])
{
	_cleanup_close_ int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, buf, REF_MAX - 1) : -1;

	if (n < 0)
		return false;
	buf[n] = '\0';
	buf[strcspn(buf, "\n")] = '\0';
	return true;
}

/* The value of refs/heads/NAME in packed-refs, of which len bytes are text: its length, 0: not there. */
static size_t packed_value(const char *text, size_t len, const char *name, const char **ret)
{
	const char *end = text + len;
	size_t n = strlen(name);

	for (const char *p = text; p < end;) {
		const char *stop = memchr(p, '\n', (size_t)(end - p)), *space;

		stop = stop ? stop : end;
		space = memchr(p, ' ', (size_t)(stop - p));
		if (space && (size_t)(stop - space) == 1 + strlen(HEADS) + n &&
		    memcmp(space + 1, HEADS, strlen(HEADS)) == 0 &&
		    memcmp(space + 1 + strlen(HEADS), name, n) == 0) {
			*ret = p;
			return (size_t)(space - p);
		}
		p = stop + 1;
	}
	return 0;
}

/* The branch's value by packed-refs alone. */
static bool value_packed(int git, const char *name, char buf[REF_MAX])
{
	_cleanup_free_ char *text = NULL;
	const char *value;
	size_t len = 0, n;
	mode_t mode;

	if (git_file_read(git, "packed-refs", PACKED_MAX, &text, &len, &mode) < 0)
		return false;
	n = packed_value(text, len, name, &value);
	if (n == 0 || n >= REF_MAX)
		return false;
	memcpy(buf, value, n);
	buf[n] = '\0';
	return true;
}

static bool value_loose(int git, const char *name, char buf[REF_MAX])
{
	char path[PATH_MAX];

	return snprintf(path, sizeof(path), HEADS "%s", name) < (int)sizeof(path) &&
	       first_line(git, path, buf);
}

static bool value_of(int git, const char *name, char buf[REF_MAX])
{
	return value_loose(git, name, buf) || value_packed(git, name, buf);
}

/* It is checked out, or was. */
static bool may_go(int git, const char *name)
{
	char line[REF_MAX];

	for (size_t i = 0; i < n_left; i++)
		if (strcmp(left[i], name) == 0)
			return true;
	return first_line(git, "HEAD", line) && strncmp(line, HEAD_REF, strlen(HEAD_REF)) == 0 &&
	       strcmp(line + strlen(HEAD_REF), name) == 0;
}

/* --- what may be --------------------------------------------------------------------------------------- */

static bool deny(char *why, size_t size, const char *name)
{
	snprintf(why, size, "%s is a protected branch and is not checked out", name);
	return false;
}

/* now NULL: it goes. */
static bool may_become(int git, const char *name, const char *now, char *why, size_t size)
{
	char before[REF_MAX];
	bool is_there = now ? value_of(git, name, before) : value_loose(git, name, before);

	if (!is_there || (now && strcmp(before, now) == 0) || may_go(git, name))
		return true;
	/* pack-refs takes away what it has packed */
	if (!now) {
		char packed[REF_MAX];

		if (value_packed(git, name, packed) && strcmp(packed, before) == 0)
			return true;
	}
	return deny(why, size, name);
}

/* Each protected branch that `before` or `now` names has the same value by now, or may go. */
static bool may_be_packed(const struct image *img, int git, const char *names, size_t names_len,
			  const char *now, size_t len, char *why, size_t size)
{
	const char *end = names + names_len;

	for (const char *p = names; p < end;) {
		const char *stop = memchr(p, '\n', (size_t)(end - p));
		const char *ref = memchr(p, ' ', (size_t)((stop ? stop : end) - p)), *value;
		char name[REF_MAX], before[REF_MAX];
		size_t n;

		stop = stop ? stop : end;
		p = stop + 1;
		if (!ref || (size_t)(stop - ref) <= 1 + strlen(HEADS) ||
		    memcmp(ref + 1, HEADS, strlen(HEADS)) != 0)
			continue;
		ref += 1 + strlen(HEADS);
		if (!is_trunk(img, ref, (size_t)(stop - ref)) || (size_t)(stop - ref) >= sizeof(name))
			continue;
		memcpy(name, ref, (size_t)(stop - ref));
		name[stop - ref] = '\0';
		n = packed_value(now, len, name, &value);
		if (may_go(git, name) || !value_of(git, name, before) ||
		    (n == 0 && value_loose(git, name, before)))
			continue;
		if (n != strlen(before) || memcmp(value, before, n) != 0)
			return deny(why, size, name);
	}
	return true;
}

static bool may_replace_packed(const struct image *img, int git, const char *now, size_t len, char *why,
			       size_t size)
{
	_cleanup_free_ char *before = NULL;
	size_t before_len = 0;
	mode_t mode;
	int r = git_file_read(git, "packed-refs", PACKED_MAX, &before, &before_len, &mode);

	if (r < 0 && r != -ENOENT)
		return deny(why, size, "packed-refs");
	return may_be_packed(img, git, now, len, now, len, why, size) &&
	       (!before || may_be_packed(img, git, before, before_len, now, len, why, size));
}

/* HEAD comes to name a protected branch by its file alone: that is a checkout. */
static bool may_be_head(const struct image *img, int git, const char *now, char *why, size_t size)
{
	const char *name = now + strlen(HEAD_REF);
	char before[REF_MAX];

	if (first_line(git, "HEAD", before) && strncmp(before, HEAD_REF, strlen(HEAD_REF)) == 0 &&
	    is_trunk(img, before + strlen(HEAD_REF), strlen(before) - strlen(HEAD_REF)) &&
	    !may_go(-1, before + strlen(HEAD_REF)) && n_left < LEFT_MAX)
		snprintf(left[n_left++], REF_MAX, "%s", before + strlen(HEAD_REF));
	if (strncmp(now, HEAD_REF, strlen(HEAD_REF)) != 0 || !is_trunk(img, name, strlen(name)))
		return true;
	return !value_of(git, name, before) || may_go(git, name) || deny(why, size, name);
}

/* --- the calls ----------------------------------------------------------------------------------------- */

/* refs/heads/NAME of the workspace's own repository; a lock is judged once it is put in place. */
static const char *ref_name(const char *path)
{
	static const char heads[] = "/.git/" HEADS;
	const char *name = strstr(path, heads);
	size_t n;

	if (!name)
		return NULL;
	name += strlen(heads);
	n = strlen(name);
	return n < REF_MAX && !(n > 5 && strcmp(name + n - 5, ".lock") == 0) ? name : NULL;
}

bool git_is_ref(const char *path)
{
	const char *last = path_basename(path);

	return strcmp(last, "HEAD") == 0 || strcmp(last, "packed-refs") == 0 || strstr(path, "/.git/refs");
}

/* The git directory above the directory that the ref is in. */
static int git_of(int dir, const char *name)
{
	char up[PATH_MAX] = "../..";

	for (const char *p = name; (p = strchr(p, '/')) != NULL; p++)
		if (strlen(up) + 4 < sizeof(up))
			strcat(up, "/..");
	return openat(dir, up, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static bool exists(int dir, const char *name)
{
	struct stat st;

	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

static bool is_directory(int dir, const char *name)
{
	struct stat st;

	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
}

static bool exchanged(char *why, size_t size)
{
	snprintf(why, size, "the repository's branches would be exchanged as a whole");
	return false;
}

static bool may_touch_dir(const struct request *req, int dir, char *why, size_t size)
{
	/* `refs` and `refs/heads` are made and, once they are empty, removed */
	if (req->op == OP_MKDIR || req->op == OP_DELETE || !exists(dir, path_basename(req->path)))
		return true;
	return exchanged(why, size);
}

static bool is_about(const struct request *req)
{
	return req->op != OP_CHMOD && req->op != OP_CHOWN && req->op != OP_UTIME && req->op != OP_XATTR &&
	       req->op != OP_UNIX;
}

bool git_ref_may(const struct image *img, const struct request *req, int dir, char *why, size_t size)
{
	const char *name = ref_name(req->path), *last = path_basename(req->path);
	bool goes = !(req->access & ACCESS_WRITE);
	_cleanup_close_ int git = name ? git_of(dir, name) : -1;

	if (!is_about(req))
		return true;
	/* A directory or a link would bring branches along, or take them away. */
	if (name && (req->op == OP_SYMLINK || (req->op == OP_RENAME && is_directory(dir, last))))
		return exchanged(why, size);
	if (name)
		return !is_trunk(img, name, strlen(name)) || req->op == OP_MKDIR ||
		       may_become(git, name, goes ? NULL : "", why, size);
	if (strcmp(last, "refs") == 0 || strcmp(last, "heads") == 0)
		return may_touch_dir(req, dir, why, size);
	if (strcmp(last, "packed-refs") == 0)
		return may_replace_packed(img, dir, "", 0, why, size) &&
		       (goes || !exists(dir, "objects") || deny(why, size, "what packed-refs holds"));
	if (strcmp(last, "HEAD") != 0 || goes || !exists(dir, "objects"))
		return true;
	snprintf(why, size, "HEAD is written by git alone, as a new file");
	return false;
}

bool git_ref_move(const struct image *img, const struct held *from, const struct held *to, struct git_move *m,
		  char *why, size_t size)
{
	const char *name = ref_name(to->req.path), *last = path_basename(to->req.path);
	_cleanup_close_ int git = name ? git_of(to->fd, name) : -1;
	bool is_packed = !name && strcmp(last, "packed-refs") == 0;
	char line[REF_MAX];
	int r;

	if (name && is_directory(from->fd, from->name))
		return exchanged(why, size);
	if (!(name ? is_trunk(img, name, strlen(name)) : is_packed || strcmp(last, "HEAD") == 0))
		return name || git_ref_may(img, &to->req, to->fd, why, size);
	r = git_file_read(from->fd, from->name, is_packed ? PACKED_MAX : REF_MAX - 1, &m->text, &m->len,
			  &m->mode);
	if (r < 0) {
		snprintf(why, size, "what would take its place is no file that can be judged");
		return false;
	}
	if (is_packed)
		return may_replace_packed(img, to->fd, m->text, m->len, why, size);
	snprintf(line, sizeof(line), "%.*s", (int)strcspn(m->text, "\n"), m->text);
	return name ? may_become(git, name, line, why, size) : may_be_head(img, to->fd, line, why, size);
}
