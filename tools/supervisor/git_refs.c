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
#define LEFT_MAX   16
#define BLANKS	   " \t\n\v\f\r"

/* A repository's directories, held: of a linked worktree they are two. */
struct store {
	int own;    /* HEAD */
	int common; /* refs, packed-refs */
	int opened; /* the one of them that is to be closed, or -1 */
};

/* Protected branches that were checked out; under the turn of git.c. */
static char left[LEFT_MAX][REF_MAX];
static size_t n_left;

/* --- what is there ------------------------------------------------------------------------------------- */

bool git_is_trunk(const struct image *img, const char *name, size_t len)
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

/* Behind `ref:` git passes by line ends, too. */
static void end_line(char *buf)
{
	char *ref = buf + (strncmp(buf, "ref:", 4) == 0 ? 4 : strlen(buf));
	size_t blanks = strspn(ref, BLANKS), n;

	memmove(ref, ref + blanks, strlen(ref + blanks) + 1);
	n = strcspn(buf, "\n");
	while (n > 0 && strchr(BLANKS, buf[n - 1]))
		n--;
	buf[n] = '\0';
}

/* The first line of a small file below dir, without blanks at its end; false where there is none. */
static bool first_line(int dir, const char *name, char buf[REF_MAX])
{
	_cleanup_close_ int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, buf, REF_MAX - 1) : -1;

	if (n < 0)
		return false;
	buf[n] = '\0';
	end_line(buf);
	return true;
}

/* The branch that a HEAD of this line, of end_line(), names (refs/files-backend.c), or NULL. */
static const char *head_branch(const char *line)
{
	if (strncmp(line, "ref:", 4) != 0)
		return NULL;
	line += 4;
	return strncmp(line, HEADS, strlen(HEADS)) == 0 ? line + strlen(HEADS) : NULL;
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
	n = git_packed_value(text, len, name, &value);
	if (n == 0 || n >= REF_MAX)
		return false;
	memcpy(buf, value, n);
	buf[n] = '\0';
	return true;
}

static bool value_loose(int common, const char *name, char buf[REF_MAX])
{
	char path[PATH_MAX];

	return snprintf(path, sizeof(path), HEADS "%s", name) < (int)sizeof(path) &&
	       first_line(common, path, buf);
}

static bool value_of(const struct store *s, const char *name, char buf[REF_MAX])
{
	return value_loose(s->common, name, buf) || value_packed(s->common, name, buf);
}

static bool was_left(const char *name)
{
	for (size_t i = 0; i < n_left; i++)
		if (strcmp(left[i], name) == 0)
			return true;
	return false;
}

/* It is checked out, or was. */
static bool may_go(const struct store *s, const char *name)
{
	char line[REF_MAX];
	const char *head = first_line(s->own, "HEAD", line) ? head_branch(line) : NULL;

	return was_left(name) || (head && strcmp(head, name) == 0);
}

/* --- what may be --------------------------------------------------------------------------------------- */

static bool deny(char *why, size_t size, const char *name)
{
	snprintf(why, size, "%s is a protected branch and is not checked out", name);
	return false;
}

/* now NULL: it goes. */
static bool may_become(const struct store *s, const char *name, const char *now, char *why, size_t size)
{
	char before[REF_MAX], packed[REF_MAX];
	bool is_there = now ? value_of(s, name, before) : value_loose(s->common, name, before);

	if (!is_there || (now && strcmp(before, now) == 0) || may_go(s, name))
		return true;
	/* pack-refs takes away what it has packed */
	if (!now && value_packed(s->common, name, packed) && strcmp(packed, before) == 0)
		return true;
	return deny(why, size, name);
}

/* Each protected branch that `before` or `now` names has the same value by now, or may go. */
static bool may_be_packed(const struct image *img, const struct store *s, const char *names, size_t names_len,
			  const char *now, size_t len, char *why, size_t size)
{
	const char *end = names + names_len;

	for (const char *p = names; p < end;) {
		const char *stop = memchr(p, '\n', (size_t)(end - p));
		const char *ref = memchr(p, ' ', (size_t)((stop ? stop : end) - p)), *value;
		char name[PATH_MAX], before[REF_MAX];
		size_t n;

		stop = stop ? stop : end;
		p = stop + 1;
		if (!ref || (size_t)(stop - ref) <= 1 + strlen(HEADS) ||
		    memcmp(ref + 1, HEADS, strlen(HEADS)) != 0)
			continue;
		ref += 1 + strlen(HEADS);
		if (!git_is_trunk(img, ref, (size_t)(stop - ref)) || (size_t)(stop - ref) >= sizeof(name))
			continue;
		memcpy(name, ref, (size_t)(stop - ref));
		name[stop - ref] = '\0';
		n = git_packed_value(now, len, name, &value);
		if (may_go(s, name) || !value_of(s, name, before) ||
		    (n == 0 && value_loose(s->common, name, before)))
			continue;
		/* NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): where nothing was found, n is 0 */
		if (n != strlen(before) || memcmp(value, before, n) != 0)
			return deny(why, size, name);
	}
	return true;
}

static bool may_replace_packed(const struct image *img, const struct store *s, const char *now, size_t len,
			       char *why, size_t size)
{
	_cleanup_free_ char *before = NULL;
	size_t before_len = 0;
	mode_t mode;
	int r = git_file_read(s->common, "packed-refs", PACKED_MAX, &before, &before_len, &mode);

	if (r < 0 && r != -ENOENT)
		return deny(why, size, "packed-refs");
	if (!git_packed_is_sound(now, len)) {
		snprintf(why, size, "packed-refs is out of order, and git would not read it as it stands");
		return false;
	}
	return may_be_packed(img, s, now, len, now, len, why, size) &&
	       (!before || may_be_packed(img, s, before, before_len, now, len, why, size));
}

/* HEAD comes to name a protected branch by its file alone: that is a checkout. */
static bool may_be_head(const struct image *img, const struct store *s, const char *now, char *why,
			size_t size)
{
	const char *name = head_branch(now), *head;
	char before[REF_MAX];

	head = first_line(s->own, "HEAD", before) ? head_branch(before) : NULL;
	if (head && git_is_trunk(img, head, strlen(head)) && !was_left(head) && n_left < LEFT_MAX)
		snprintf(left[n_left++], REF_MAX, "%s", head);
	if (!name || !git_is_trunk(img, name, strlen(name)))
		return true;
	return !value_of(s, name, before) || may_go(s, name) || deny(why, size, name);
}

/* --- where it lies ------------------------------------------------------------------------------------- */

enum ref_kind {
	REF_NONE,
	REF_TOP,       /* `.git` of the workspace */
	REF_COMMONDIR, /* of the workspace's git directory */
	REF_HEAD,
	REF_PACKED,
	REF_DIR,    /* refs, refs/heads */
	REF_BRANCH, /* below that; a lock is judged once it is put in place */
};

struct ref {
	enum ref_kind kind;
	const char *name; /* of a branch */
};

/* path behind dir and a slash, or NULL */
static const char *below(const char *path, const char *dir)
{
	size_t n = dir ? strlen(dir) : 0;

	return n > 0 && strncmp(path, dir, n) == 0 && path[n] == '/' ? path + n + 1 : NULL;
}

bool git_is_at(const char *path, const char *dir, const char *name)
{
	const char *rest = below(path, dir);

	return rest && strcmp(rest, name) == 0;
}

static struct ref ref_below(const char *refs)
{
	const char *name = below(refs, "refs/heads");
	size_t n = name ? strlen(name) : 0;

	if (name)
		return (struct ref){ n > 5 && strcmp(name + n - 5, ".lock") == 0 ? REF_NONE : REF_BRANCH,
				     name };
	if (strcmp(refs, "refs") == 0 || strcmp(refs, "refs/heads") == 0)
		return (struct ref){ .kind = REF_DIR };
	return (struct ref){ .kind = REF_NONE };
}

static struct ref ref_of(const struct git_home *home, const char *path)
{
	static const char dot_git[] = "/.git/refs";
	const char *rest = below(path, home->common), *at = strstr(path, dot_git),
		   *last = path_basename(path);
	struct ref ref = { .kind = REF_NONE };

	if (rest && strncmp(rest, "refs", 4) == 0)
		ref = ref_below(rest);
	else if (at && (at[sizeof(dot_git) - 1] == '/' || !at[sizeof(dot_git) - 1]))
		ref = ref_below(at + strlen("/.git/"));
	else if (strcmp(last, "HEAD") == 0)
		ref.kind = REF_HEAD;
	else if (strcmp(last, "packed-refs") == 0)
		ref.kind = REF_PACKED;
	else if (git_is_at(path, home->own, "commondir") ||
		 git_is_at(path, home->workspace, ".git/commondir"))
		ref.kind = REF_COMMONDIR;
	else if (git_is_at(path, home->workspace, ".git"))
		ref.kind = REF_TOP;
	return ref;
}

bool git_is_ref(const struct git_home *home, const char *path)
{
	return ref_of(home, path).kind != REF_NONE;
}

/* The git directory above the directory that the branch is in. */
static int above(int dir, const char *name)
{
	char up[PATH_MAX] = "../..";

	for (const char *p = name; (p = strchr(p, '/')) != NULL; p++)
		if (strlen(up) + 4 < sizeof(up))
			strcat(up, "/..");
	return openat(dir, up, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static int open_dir(const char *path)
{
	return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* The repository of a ref in dir, which is borrowed; store_done().  What cannot be held has no values. */
static struct store store_of(const struct git_home *home, const struct ref *ref, const char *path, int dir)
{
	struct store s = { .own = dir, .common = dir, .opened = -1 };
	bool is_head = ref->kind == REF_HEAD, shared = below(path, home->common) != NULL;

	if (ref->kind == REF_BRANCH)
		s.own = s.common = s.opened = above(dir, ref->name);
	if (is_head && (shared || below(path, home->own)) && !git_is_at(path, home->common, "HEAD"))
		s.common = s.opened = open_dir(home->common);
	else if (!is_head && shared && home->own && strcmp(home->own, home->common) != 0)
		s.own = open_dir(home->own);
	return s;
}

static void store_done(const struct store *s, int dir)
{
	if (s->own >= 0 && s->own != dir && s->own != s->opened)
		close(s->own);
	if (s->opened >= 0)
		close(s->opened);
}

/* --- the calls ----------------------------------------------------------------------------------------- */

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

static bool is_about(const struct request *req)
{
	return req->op != OP_CHMOD && req->op != OP_CHOWN && req->op != OP_UTIME && req->op != OP_XATTR &&
	       req->op != OP_UNIX;
}

/* What says where branches are, `.git`, `refs` and `refs/heads`: made, and a directory is removed once it is
 * empty. */
static bool may_touch_way(const struct request *req, int dir, char *why, size_t size)
{
	const char *last = path_basename(req->path);

	return req->op == OP_MKDIR || !exists(dir, last) ||
	       (req->op == OP_DELETE && is_directory(dir, last)) || exchanged(why, size);
}

static bool may_touch_branch(const struct image *img, const struct store *s, const struct request *req,
			     const char *name, int dir, char *why, size_t size)
{
	bool goes = !(req->access & ACCESS_WRITE);

	/* A directory or a link would bring branches along, or take them away. */
	if (req->op == OP_SYMLINK || (req->op == OP_RENAME && is_directory(dir, path_basename(req->path))))
		return exchanged(why, size);
	return !git_is_trunk(img, name, strlen(name)) || req->op == OP_MKDIR ||
	       may_become(s, name, goes ? NULL : "", why, size);
}

/* HEAD goes, to come back by another name, or is made where there is no repository yet. */
static bool may_touch_head(const struct request *req, int dir, char *why, size_t size)
{
	if (!(req->access & ACCESS_WRITE) || !(exists(dir, "objects") || exists(dir, "commondir")))
		return true;
	snprintf(why, size, "HEAD is written by git alone, as a new file");
	return false;
}

static bool may_touch_packed(const struct image *img, const struct store *s, const struct request *req,
			     char *why, size_t size)
{
	if (!may_replace_packed(img, s, "", 0, why, size))
		return false;
	return !(req->access & ACCESS_WRITE) || !exists(s->common, "objects") ||
	       deny(why, size, "what packed-refs holds");
}

static bool may_touch(const struct image *img, const struct store *s, const struct ref *ref,
		      const struct request *req, int dir, char *why, size_t size)
{
	switch (ref->kind) {
	case REF_BRANCH:
		return may_touch_branch(img, s, req, ref->name, dir, why, size);
	case REF_DIR:
	case REF_TOP:
		return may_touch_way(req, dir, why, size);
	case REF_COMMONDIR:
		return exchanged(why, size);
	case REF_PACKED:
		return may_touch_packed(img, s, req, why, size);
	case REF_HEAD:
		return may_touch_head(req, dir, why, size);
	case REF_NONE:
		break;
	}
	return true;
}

bool git_ref_may(const struct git_home *home, const struct image *img, const struct request *req, int dir,
		 char *why, size_t size)
{
	const struct ref ref = ref_of(home, req->path);
	struct store s;
	bool may;

	if (!is_about(req))
		return true;
	s = store_of(home, &ref, req->path, dir);
	may = may_touch(img, &s, &ref, req, dir, why, size);
	store_done(&s, dir);
	return may;
}

/* A text takes the place of a branch, HEAD or packed-refs. */
static bool may_put(const struct image *img, const struct store *s, const struct ref *ref,
		    const struct git_move *m, char *why, size_t size)
{
	char line[REF_MAX];

	if (ref->kind == REF_PACKED)
		return may_replace_packed(img, s, m->text, m->len, why, size);
	snprintf(line, sizeof(line), "%s", m->text);
	end_line(line);
	return ref->kind == REF_BRANCH ? may_become(s, ref->name, line, why, size)
				       : may_be_head(img, s, line, why, size);
}

bool git_ref_move(const struct git_home *home, const struct image *img, const struct held *from,
		  const struct held *to, struct git_move *m, char *why, size_t size)
{
	const struct ref ref = ref_of(home, to->req.path);
	bool is_text = ref.kind == REF_PACKED || ref.kind == REF_HEAD ||
		       (ref.kind == REF_BRANCH && git_is_trunk(img, ref.name, strlen(ref.name)));
	struct store s;
	bool may;
	int r;

	if (ref.kind == REF_BRANCH && is_directory(from->fd, from->name))
		return exchanged(why, size);
	if (!is_text)
		return ref.kind == REF_BRANCH || git_ref_may(home, img, &to->req, to->fd, why, size);
	r = git_file_read(from->fd, from->name, ref.kind == REF_PACKED ? PACKED_MAX : REF_MAX - 1, &m->text,
			  &m->len, &m->mode);
	if (r < 0) {
		snprintf(why, size, "what would take its place is no file that can be judged");
		return false;
	}
	s = store_of(home, &ref, to->req.path, to->fd);
	may = may_put(img, &s, &ref, m, why, size);
	store_done(&s, to->fd);
	return may;
}
