/*
 * The index of a repository: see git.h.
 *
 * A later checkout of the operator's writes what an index names.  git reads it by the repository's object
 * format, so a text that is sound by one format need not be by another.  `commondir` names the repository
 * whose configuration says it, so that file is judged by the index that lies beside it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/gitfiles/gitindex.h"
#include "policy/system/cleanup.h"

#include "git.h"

/* Bytes of an object's name in a repository with this configuration. */
static size_t hash_said(const char *text, size_t len)
{
	struct gitconfig config = { .n = 0 };
	const char *format = NULL;
	size_t hash;

	if (text && gitconfig_parse(text, len, &config, &(unsigned){ 0 }) == 0)
		format = gitconfig_value(&config, "extensions", NULL, "objectformat");
	hash = format && strcmp(format, "sha256") == 0 ? 32 : 20;
	gitconfig_done(&config);
	return hash;
}

/* Bytes of an object's name in the repository of dir.  way is the text of its `commondir`; NULL: it has none.
 * 0: its configuration cannot be found. */
static size_t hash_by(int dir, const char *way)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_close_ int common = -1;
	size_t len = 0;
	mode_t mode;
	int r;

	if (way) {
		char path[LIMIT_PATH];
		size_t n = strlen(way);

		while (n > 0 && (way[n - 1] == '\n' || way[n - 1] == '\r'))
			n--;
		if (n >= sizeof(path))
			return 0;
		snprintf(path, sizeof(path), "%.*s", (int)n, way);
		common = openat(dir, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (common < 0)
			return 0;
	}
	r = git_file_read(way ? common : dir, "config", GITCONFIG_MAX, &text, &len, &mode);
	return r == 0 || r == -ENOENT ? hash_said(text, len) : 0;
}

static size_t hash_of(int dir)
{
	_cleanup_free_ char *way = NULL;
	size_t len;
	mode_t mode;
	int r = git_file_read(dir, "commondir", GITCONFIG_MAX, &way, &len, &mode);

	return r == 0 || r == -ENOENT ? hash_by(dir, way) : 0;
}

static bool is_sound(const char *text, size_t len, size_t hash, char *why, size_t size)
{
	const char *text_why = "the object format of its repository cannot be read";

	if (hash > 0 && gitindex_is_sound(text, len, hash, &text_why))
		return true;
	snprintf(why, size, "%s", text_why);
	return false;
}

bool git_index_may_be(int dir, const char *text, size_t len, char *why, size_t size)
{
	return is_sound(text, len, hash_of(dir), why, size);
}

/* Judges an index that is there already, and puts it there anew, because a process may have it open. */
static bool renew(int dir, size_t hash, char *why, size_t size)
{
	const char *cannot = "`index` beside it is no file that can be judged";
	_cleanup_free_ char *text = NULL;
	size_t len = 0;
	mode_t mode = 0;
	int r = git_file_read(dir, "index", GIT_INDEX_MAX, &text, &len, &mode);

	if (r == -ENOENT)
		return true;
	if (r == 0 && !is_sound(text, len, hash, why, size))
		return false;
	if (r == 0) {
		cannot = "`index` beside it cannot be rewritten";
		r = git_file_install(dir, "index", text, len, mode);
	}
	if (r < 0)
		snprintf(why, size, "%s", cannot);
	return r == 0;
}

bool git_index_renew(int dir, char *why, size_t size)
{
	return renew(dir, hash_of(dir), why, size);
}

bool git_common_may_be(int dir, const char *text, char *why, size_t size)
{
	if (faccessat(dir, "objects", F_OK, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT) {
		snprintf(why, size, "`objects` beside it is of a repository of its own");
		return false;
	}
	return renew(dir, hash_by(dir, text), why, size);
}

bool git_index_fits(int dir, const char *before, size_t before_len, const char *now, size_t len, char *why,
		    size_t size)
{
	size_t hash = hash_said(now, len);
	_cleanup_free_ char *text = NULL;
	mode_t mode;
	int r;

	bool is_same = hash_said(before, before_len) == hash;

	if (before && is_same)
		return true;
	r = is_same ? 0 : faccessat(dir, "worktrees", F_OK, AT_SYMLINK_NOFOLLOW);
	if (!is_same && (r == 0 || errno != ENOENT)) {
		snprintf(why, size, "its worktrees have indexes of another object format");
		return false;
	}
	r = git_file_read(dir, "index", GIT_INDEX_MAX, &text, &len, &mode);
	if (r == 0)
		return is_sound(text, len, hash, why, size);
	snprintf(why, size, "the index beside it cannot be judged");
	return r == -ENOENT;
}
