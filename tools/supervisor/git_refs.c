/*
 * Protected branches of the workspace's own repository, as the files that they are: `[git] protect` judges
 * commands by their words, and this is the wall behind the words.
 *
 * What is done to a file that says where a branch is, call by call; git_rules.c says what may come of it.
 * What is put in place is the text that was judged, in a new file.
 */
#include "tools/supervisor/git_refs.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "policy/path.h"
#include "tools/tools.h"

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
	return git_say(why, size, "the repository's branches would be exchanged as a whole");
}

#define BY_GIT "git alone writes it, as a new file"

static bool is_about(const struct request *req)
{
	return req->op != OP_CHMOD && req->op != OP_CHOWN && req->op != OP_UTIME && req->op != OP_XATTR &&
	       req->op != OP_UNIX;
}

/* Another name for what somebody may write, or what says something else each time it is read. */
static bool is_odd(const struct request *req)
{
	return req->op == OP_LINK || req->op == OP_MKNOD || req->op == OP_TRUNCATE ||
	       (req->op == OP_RENAME && req->access & ACCESS_WRITE);
}

/* What says where branches are, `.git`, `refs` and `refs/heads`: made, and stays where a repository is. */
static bool may_touch_way(const struct git_ref *ref, const struct request *req, int dir, char *why,
			  size_t size)
{
	const char *last = path_basename(req->path);

	if (req->op == OP_MKDIR || (!exists(dir, last) && !(ref->kind == REF_DIR && req->op == OP_SYMLINK)))
		return true;
	if (req->op != OP_DELETE || !is_directory(dir, last))
		return exchanged(why, size);
	return ref->kind != REF_DIR || !exists(dir, strcmp(last, "heads") == 0 ? "../objects" : "objects") ||
	       exchanged(why, size);
}

/* A directory that git fills: it comes as an empty one.  `git init` looks whether it can make a link. */
static bool may_touch_place(const struct git_ref *ref, const struct request *req, int dir, char *why,
			    size_t size)
{
	bool is_init = req->op == OP_SYMLINK && !strchr(ref->name, '/') && !exists(dir, "objects");
	bool moves = req->op == OP_RENAME &&
		     (req->access & ACCESS_WRITE || is_directory(dir, path_basename(req->path)));

	return is_init || (req->op != OP_SYMLINK && !moves) || exchanged(why, size);
}

static bool may_touch_named(const struct image *img, const struct git_store *s, const struct request *req,
			    const char *ref, int dir, bool *ret_late, char *why, size_t size)
{
	const char *branch = git_branch_of(ref);
	bool is_trunk = git_is_protected(img, branch), goes = !(req->access & ACCESS_WRITE);

	/* A directory or a link would bring branches along, or take them away. */
	if (req->op == OP_SYMLINK || (req->op == OP_RENAME && is_directory(dir, path_basename(req->path))))
		return exchanged(why, size);
	if (req->op == OP_MKDIR)
		return ((!is_trunk || !git_has_branch(s, branch)) && !git_is_under_trunk(img, s, ref)) ||
		       git_say(why, size, "it would stand in the way of a protected branch");
	if (is_trunk && !git_may_touch_trunk(s, ref, goes, why, size))
		return false;
	if (goes)
		return true;
	*ret_late = req->op == OP_WRITE;
	return (!is_odd(req) || git_say(why, size, BY_GIT)) && git_may_be_called(img, s, ref, why, size);
}

/* HEAD is put there by git as a new file, or made where there is no repository yet; and stays. */
static bool may_touch_head(const struct git_store *s, const struct request *req, int dir, bool *ret_late,
			   char *why, size_t size)
{
	bool is_whole = exists(dir, "objects") || exists(dir, "commondir");

	if (!(req->access & ACCESS_WRITE))
		return !s->is_home || !is_whole ||
		       git_say(why, size, "without HEAD git would look for another repository");
	*ret_late = req->op == OP_WRITE;
	return req->op == OP_MKDIR || (*ret_late && !(is_whole && exists(dir, "HEAD"))) ||
	       git_say(why, size, BY_GIT);
}

static bool may_touch_packed(const struct image *img, const struct git_store *s, const struct request *req,
			     char *why, size_t size)
{
	if (!git_may_pack(img, s, "", 0, why, size))
		return false;
	return !(req->access & ACCESS_WRITE) || !exists(s->common, "objects") || git_say(why, size, BY_GIT);
}

static bool may_touch_pseudo(const struct request *req, bool *ret_late, char *why, size_t size)
{
	*ret_late = req->op == OP_WRITE;
	return (!is_odd(req) && req->op != OP_SYMLINK) || git_say(why, size, BY_GIT);
}

static bool is_gone_or_made(const struct request *req)
{
	return !(req->access & ACCESS_WRITE) || req->op == OP_MKDIR;
}

static bool may_touch(const struct image *img, const struct git_store *s, const struct git_ref *ref,
		      const struct request *req, int dir, bool *ret_late, char *why, size_t size)
{
	switch (ref->kind) {
	case REF_NAMED:
		return may_touch_named(img, s, req, ref->name, dir, ret_late, why, size);
	case REF_DIR:
	case REF_TOP:
		return may_touch_way(ref, req, dir, why, size);
	case REF_COMMONDIR:
		return exchanged(why, size);
	case REF_PACKED:
		return may_touch_packed(img, s, req, why, size);
	case REF_HEAD:
		return may_touch_head(s, req, dir, ret_late, why, size);
	case REF_PSEUDO:
	case REF_STATE:
	case REF_INDEX:
		return may_touch_pseudo(req, ret_late, why, size);
	case REF_PLACE:
		return may_touch_place(ref, req, dir, why, size);
	case REF_OLD:
		return is_gone_or_made(req) ||
		       git_say(why, size, "git reads it, and nobody writes it any more");
	case REF_SHADOW:
		return is_gone_or_made(req) || git_may_be_found(img, s, ref->name, why, size);
	case REF_NONE:
		break;
	}
	return true;
}

bool git_ref_may(const struct git_home *home, const struct image *img, const struct request *req, int dir,
		 bool *ret_late, char *why, size_t size)
{
	const struct git_ref ref = git_ref_of(home, img, req->path);
	struct git_store s;
	bool may;

	*ret_late = false;
	if (!is_about(req))
		return true;
	s = git_store_of(home, &ref, req->path, dir);
	may = may_touch(img, &s, &ref, req, dir, ret_late, why, size);
	git_store_done(&s, dir);
	return may;
}

/* A text takes the place of a ref, HEAD or packed-refs. */
static bool may_put(const struct image *img, const struct git_store *s, const struct git_ref *ref,
		    const char *text, size_t len, char *why, size_t size)
{
	char line[GIT_REF_MAX];

	if (ref->kind == REF_PACKED)
		return git_may_pack(img, s, text, len, why, size);
	if (ref->kind == REF_INDEX)
		return git_index_may_be(text, len, why, size);
	if (strlen(text) != len || (ref->kind != REF_STATE && len >= sizeof(line)))
		return git_say(why, size, "what would take its place is no file that can be judged");
	if (ref->kind == REF_STATE)
		return git_may_be_moved(img, s, text, why, size);
	snprintf(line, sizeof(line), "%s", text);
	git_end_line(line);
	if (ref->kind == REF_HEAD)
		return git_may_be_head(img, s, line, why, size);
	if (ref->kind == REF_PSEUDO)
		return !git_line_target(line) ||
		       git_say(why, size, "it is no other's name: git would move that");
	return git_may_say(img, s, ref->name, line, why, size);
}

static bool is_text(const struct git_ref *ref)
{
	return ref->kind == REF_PACKED || ref->kind == REF_HEAD || ref->kind == REF_NAMED ||
	       ref->kind == REF_PSEUDO || ref->kind == REF_STATE || ref->kind == REF_INDEX;
}

bool git_ref_may_put(const struct git_home *home, const struct image *img, const char *path, int dir,
		     const char *text, size_t len, char *why, size_t size)
{
	const struct git_ref ref = git_ref_of(home, img, path);
	struct git_store s = git_store_of(home, &ref, path, dir);
	bool may = !is_text(&ref) || may_put(img, &s, &ref, text, len, why, size);

	git_store_done(&s, dir);
	return may;
}

bool git_ref_move(const struct git_home *home, const struct image *img, const struct held *from,
		  const struct held *to, struct git_move *m, char *why, size_t size)
{
	const struct git_ref ref = git_ref_of(home, img, to->req.path);
	bool is_dir = is_directory(from->fd, from->name), late;
	int r;

	if (ref.kind == REF_DIR || (is_dir && (ref.kind == REF_NAMED || ref.kind == REF_PLACE)))
		return exchanged(why, size);
	if (ref.kind == REF_PLACE)
		return S_ISREG(held_mode(from)) || exchanged(why, size);
	if (!is_text(&ref))
		return git_ref_may(home, img, &to->req, to->fd, &late, why, size);
	r = git_file_read(from->fd, from->name, GIT_PACKED_MAX, &m->text, &m->len, &m->mode);
	if (r < 0)
		return git_say(why, size, "what would take its place is no file that can be judged");
	return git_ref_may_put(home, img, to->req.path, to->fd, m->text, m->len, why, size);
}
