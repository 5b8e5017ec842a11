/*
 * The index of a repository: see git.h.
 *
 * A later checkout of the operator's writes what an index names.  git reads it by the repository's object
 * format, so a text that is sound by one format need not be by another.  `commondir` names the repository
 * whose configuration says it; no process of the session can write that file beside an index.
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
	size_t hash = 20;

	if (text && gitconfig_parse(text, len, &config, &(unsigned){ 0 }) == 0)
		for (size_t i = 0; i < config.n; i++) {
			const struct gitconfig_entry *e = &config.entries[i];

			if (strcmp(e->section, "extensions") == 0 && !e->subsection &&
			    strcmp(e->name, "objectformat") == 0)
				hash = e->value && strcmp(e->value, "sha256") == 0 ? 32 : 20;
		}
	gitconfig_done(&config);
	return hash;
}

/* Bytes of an object's name in the repository of this directory; 0: its configuration cannot be found. */
static size_t hash_of(int dir)
{
	_cleanup_free_ char *way = NULL, *text = NULL;
	_cleanup_close_ int common = -1;
	size_t len = 0;
	mode_t mode;
	int r = git_file_read(dir, "commondir", GITCONFIG_MAX, &way, &len, &mode);

	if (r == 0) {
		way[strcspn(way, "\r\n")] = '\0';
		common = openat(dir, way, O_PATH | O_DIRECTORY | O_CLOEXEC);
	}
	if (common < 0 && r != -ENOENT)
		return 0;
	r = git_file_read(common < 0 ? dir : common, "config", GITCONFIG_MAX, &text, &len, &mode);
	return r == 0 || r == -ENOENT ? hash_said(text, len) : 0;
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

bool git_index_fits(int dir, const char *before, size_t before_len, const char *now, size_t len, char *why,
		    size_t size)
{
	size_t hash = hash_said(now, len);
	_cleanup_free_ char *text = NULL;
	mode_t mode;
	int r;

	if (before && hash_said(before, before_len) == hash)
		return true;
	r = faccessat(dir, "worktrees", F_OK, AT_SYMLINK_NOFOLLOW);
	if (before && (r == 0 || errno != ENOENT)) {
		snprintf(why, size, "its worktrees have indexes of another object format");
		return false;
	}
	r = git_file_read(dir, "index", GIT_INDEX_MAX, &text, &len, &mode);
	if (r == 0)
		return is_sound(text, len, hash, why, size);
	snprintf(why, size, "the index beside it cannot be judged");
	return r == -ENOENT;
}
