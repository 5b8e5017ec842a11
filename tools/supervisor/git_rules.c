/*
 * What a ref, HEAD and packed-refs may come to say: see git_refs.h.
 *
 * A protected branch moves where it is checked out, or was when somebody left it in this session (a rebase
 * leaves it and comes back); else its file, its line in packed-refs and what HEAD names stay as they are.
 * No other ref leads to one, or stands where git looks first for one, so that whoever works with that works
 * with no other than he names.
 */
#include "tools/supervisor/git_refs.h"

#include <stdio.h>
#include <string.h>

#include "policy/git.h"
#include "policy/gitname.h"
#include "policy/path.h"
#include "tools/tools.h"

#define LEFT_MAX 16

/* Protected branches that were checked out; under the turn of git.c. */
static char left[LEFT_MAX][GIT_REF_MAX];
static size_t n_left;

/* --- which are protected ---------------------------------------------------------------------------------
 */

typedef bool (*pattern_is)(const char *pattern, const char *name, size_t len);

static bool matches(const char *pattern, const char *name, size_t len)
{
	return glob_match(pattern, strlen(pattern), name, len);
}

static bool is_literal(const char *pattern, const char *name, size_t len)
{
	return glob_is_literal(pattern, strlen(pattern)) && matches(pattern, name, len);
}

static bool is_below(const char *pattern, const char *name, size_t len)
{
	return strncmp(pattern, name, len) == 0 && pattern[len] == '/';
}

static bool overlaps(const char *pattern, const char *start, size_t len)
{
	size_t n = strcspn(pattern, "*?[\\");

	return strncmp(pattern, start, n < len ? n : len) == 0;
}

/* A pattern of this session's policy, or of one around it. */
static bool has_pattern(const struct image *img, pattern_is is, const char *name, size_t len)
{
	struct image at = *img;

	do {
		size_t n = 0;
		const struct branch_pattern *p = image_sec(&at, SEC_BRANCH, &n);

		for (size_t i = 0; p && i < n / sizeof(*p); i++) {
			const char *pattern = image_str(&at, p[i].pattern);

			if (is(pattern + gitname_skip(pattern), name, len))
				return true;
		}
	} while (image_outer(&at, &at));
	return false;
}

bool git_is_trunk(const struct image *img, const char *name, size_t len)
{
	return has_pattern(img, matches, name, len);
}

bool git_keeps(const void *img, const char *branch)
{
	return git_is_trunk(img, branch, strlen(branch));
}

bool git_is_above_trunk(const struct image *img, const char *name)
{
	return has_pattern(img, is_below, name, strlen(name));
}

bool git_is_protected(const struct image *img, const char *branch)
{
	return branch && git_is_trunk(img, branch, strlen(branch));
}

bool git_may_be_trunk(const struct image *img, const char *start, size_t len)
{
	return has_pattern(img, overlaps, start, len);
}

static bool was_left(const char *name)
{
	for (size_t i = 0; i < n_left; i++)
		if (strcmp(left[i], name) == 0)
			return true;
	return false;
}

/* It is checked out, or was. */
static bool may_go(const struct git_store *s, const char *branch)
{
	return was_left(branch) || git_is_checked_out(s, branch);
}

/* --- what may be --------------------------------------------------------------------------------------- */

static bool deny(char *why, size_t size, const char *name)
{
	snprintf(why, size, "%s is a protected branch and is not checked out", name);
	return false;
}

bool git_say(char *why, size_t size, const char *text)
{
	snprintf(why, size, "%s", text);
	return false;
}

/* now NULL: it goes. */
static bool may_become(const struct git_store *s, const char *ref, const char *now, char *why, size_t size)
{
	char before[GIT_REF_MAX], packed[GIT_REF_MAX];
	bool is_there = now ? git_value_of(s, ref, before) : git_value_loose(s, ref, before);

	if (!is_there || (now && strcmp(before, now) == 0) || may_go(s, git_branch_of(ref)))
		return true;
	/* pack-refs takes away what it has packed */
	if (!now && git_value_packed(s, ref, packed) && strcmp(packed, before) == 0)
		return true;
	return deny(why, size, git_branch_of(ref));
}

/* refs/heads/NAME is there. */
bool git_has_branch(const struct git_store *s, const char *name)
{
	char ref[GIT_REF_MAX], value[GIT_REF_MAX];

	return snprintf(ref, sizeof(ref), GIT_HEADS "%s", name) < (int)sizeof(ref) &&
	       git_value_of(s, ref, value);
}

/* `name` is what git finds before the protected branch of that name, or before a remote's. */
static bool hides(const struct image *img, const struct git_store *s, const char *name)
{
	char ref[GIT_REF_MAX], value[GIT_REF_MAX];
	const char *slash;

	/* Of .git/heads/main git makes what heads/main says. */
	if (strncmp(name, "heads/", 6) == 0)
		name += 6;
	slash = strchr(name, '/');
	if (git_is_trunk(img, name, strlen(name)))
		return has_pattern(img, is_literal, name, strlen(name)) || git_has_branch(s, name);
	return slash && git_is_trunk(img, slash + 1, strlen(slash + 1)) &&
	       snprintf(ref, sizeof(ref), "refs/remotes/%s", name) < (int)sizeof(ref) &&
	       git_value_of(s, ref, value);
}

/* The ways by which git looks for a name (gitrevisions(7)), before that of a remote's branch. */
static bool is_shadow(const struct image *img, const struct git_store *s, const char *ref)
{
	const char *name = ref + strlen("refs/");

	if (strncmp(name, "tags/", 5) == 0)
		return hides(img, s, name + 5);
	if (strncmp(name, "remotes/", 8) == 0)
		return !strchr(name + 8, '/') && hides(img, s, name + 8);
	if (strncmp(name, "heads/", 6) == 0)
		return !git_is_trunk(img, name + 6, strlen(name + 6)) && hides(img, s, name + 6);
	return hides(img, s, name);
}

bool git_may_be_found(const struct image *img, const struct git_store *s, const char *name, char *why,
		      size_t size)
{
	return !hides(img, s, name) || git_say(why, size, "git would take it for the branch of that name");
}

/* A branch that is there has this one below it, where git wants a directory. */
bool git_is_under_trunk(const struct image *img, const struct git_store *s, const char *ref)
{
	const char *branch = git_branch_of(ref);
	char above[GIT_REF_MAX];

	for (const char *p = branch ? strchr(branch, '/') : NULL; p; p = strchr(p + 1, '/')) {
		if (p - branch >= (int)sizeof(above) || !git_is_trunk(img, branch, (size_t)(p - branch)))
			continue;
		snprintf(above, sizeof(above), "%.*s", (int)(p - branch), branch);
		if (git_has_branch(s, above))
			return true;
	}
	return false;
}

/* A name that no ref comes to have, whatever it says. */
bool git_may_be_called(const struct image *img, const struct git_store *s, const char *ref, char *why,
		       size_t size)
{
	if (strncmp(ref, "refs/replace/", 13) == 0)
		return git_say(why, size,
			       "git would show another object in the place of this one, to everybody");
	if (is_shadow(img, s, ref)) {
		snprintf(why, size, "git would take %s for the branch of that name", ref);
		return false;
	}
	return !git_is_under_trunk(img, s, ref) ||
	       git_say(why, size, "it would stand in the way of a protected branch");
}

/* A symbolic ref leads to no protected branch. */
static bool may_lead(const struct image *img, const struct git_store *s, const char *target, char *why,
		     size_t size)
{
	char ref[GIT_REF_MAX];

	snprintf(ref, sizeof(ref), "%s", target);
	switch (git_chain(img, s, ref)) {
	case GIT_CHAIN_FREE:
		return true;
	case GIT_CHAIN_TRUNK:
		snprintf(why, size, "it would lead to the protected branch %.200s", git_branch_of(ref));
		return false;
	case GIT_CHAIN_LOST:
		break;
	}
	return git_say(why, size, "where it would lead cannot be told");
}

/* A ref comes to say `line`, of git_end_line(). */
bool git_may_say(const struct image *img, const struct git_store *s, const char *ref, const char *line,
		 char *why, size_t size)
{
	const char *target = git_line_target(line);
	char before[GIT_REF_MAX];

	if (git_value_loose(s, ref, before) && strcmp(before, line) == 0)
		return true;
	if (!git_may_be_called(img, s, ref, why, size))
		return false;
	if (git_is_protected(img, git_branch_of(ref)))
		return target ? git_say(why, size, "a protected branch becomes no other's name")
			      : may_become(s, ref, line, why, size);
	return !target || may_lead(img, s, target, why, size);
}

/* Its HEAD leaves a branch that it may come back to: a worktree's own gives no right to the workspace's. */
static void note_left(const struct image *img, const struct git_store *s)
{
	char ref[GIT_REF_MAX];

	if (s->is_home && git_head_trunk(img, s, ref) && !was_left(git_branch_of(ref)) && n_left < LEFT_MAX)
		snprintf(left[n_left++], GIT_REF_MAX, "%s", git_branch_of(ref));
}

/* HEAD comes to name a protected branch by its file alone: that is a checkout. */
bool git_may_be_head(const struct image *img, const struct git_store *s, const char *now, char *why,
		     size_t size)
{
	const char *target = git_line_target(now);
	char ref[GIT_REF_MAX], value[GIT_REF_MAX];
	bool may;

	snprintf(ref, sizeof(ref), "%s", target ? target : "");
	switch (target ? git_chain(img, s, ref) : GIT_CHAIN_FREE) {
	case GIT_CHAIN_FREE:
		may = true;
		break;
	case GIT_CHAIN_TRUNK:
		may = !git_value_of(s, ref, value) || may_go(s, git_branch_of(ref)) ||
		      deny(why, size, git_branch_of(ref));
		break;
	case GIT_CHAIN_LOST:
	default:
		may = git_say(why, size, "which branch HEAD would name cannot be told");
		break;
	}
	if (may)
		note_left(img, s);
	return may;
}

bool git_may_be_moved(const struct image *img, const struct git_store *s, const char *names, char *why,
		      size_t size)
{
	char line[GIT_REF_MAX];

	for (const char *p = names; *p; p += strcspn(p, "\n"), p += *p == '\n') {
		snprintf(line, sizeof(line), "%.*s", (int)strcspn(p, "\n"), p);
		git_end_line(line);
		if (git_is_protected(img, git_branch_of(line)) && !may_go(s, git_branch_of(line)))
			return deny(why, size, git_branch_of(line));
	}
	return true;
}

/* --- packed-refs -----------------------------------------------------------------------------------------
 */

static bool may_pack_trunk(const struct git_store *s, const char *ref, const char *now, size_t len, char *why,
			   size_t size)
{
	char before[GIT_REF_MAX];
	const char *value = "";
	size_t n = git_packed_value(now, len, ref, &value);

	if (may_go(s, git_branch_of(ref)) || !git_value_of(s, ref, before) ||
	    (n == 0 && git_value_loose(s, ref, before)))
		return true;
	return (n == strlen(before) && memcmp(value, before, n) == 0) || deny(why, size, git_branch_of(ref));
}

/* A name that no ref comes to have may be packed where one has it. */
static bool may_pack_other(const struct image *img, const struct git_store *s, const char *ref,
			   const char *now, size_t len, char *why, size_t size)
{
	char before[GIT_REF_MAX];
	const char *value = "";
	size_t n;

	if (git_may_be_called(img, s, ref, why, size))
		return true;
	n = git_packed_value(now, len, ref, &value);
	return n == 0 ||
	       (git_value_of(s, ref, before) && n == strlen(before) && memcmp(value, before, n) == 0);
}

/* Each name in `names` has the same value by now, or may have another. */
static bool may_be_packed(const struct image *img, const struct git_store *s, const char *names,
			  size_t names_len, const char *now, size_t len, char *why, size_t size)
{
	const char *at = names, *name;
	char ref[GIT_REF_MAX];
	size_t n;

	while (git_packed_next(&at, names + names_len, &name, &n)) {
		bool may;

		if (n >= sizeof(ref) || n < strlen("refs/") || memcmp(name, "refs/", strlen("refs/")) != 0)
			continue;
		memcpy(ref, name, n);
		ref[n] = '\0';
		may = git_is_protected(img, git_branch_of(ref))
			      ? may_pack_trunk(s, ref, now, len, why, size)
			      : may_pack_other(img, s, ref, now, len, why, size);
		if (!may)
			return false;
	}
	return true;
}

bool git_may_pack(const struct image *img, const struct git_store *s, const char *now, size_t len, char *why,
		  size_t size)
{
	_cleanup_free_ char *before = NULL;
	size_t before_len = 0;
	mode_t mode;
	int r = git_file_read(s->common, "packed-refs", GIT_PACKED_MAX, &before, &before_len, &mode);

	if (r < 0 && r != -ENOENT)
		return deny(why, size, "packed-refs");
	if (!git_packed_is_sound(now, len))
		return git_say(why, size,
			       "packed-refs is out of order, and git would not read it as it stands");
	return may_be_packed(img, s, now, len, now, len, why, size) &&
	       (!before || may_be_packed(img, s, before, before_len, now, len, why, size));
}

/* Of a protected branch's file. */
bool git_may_touch_trunk(const struct git_store *s, const char *ref, bool goes, char *why, size_t size)
{
	return may_become(s, ref, goes ? NULL : "", why, size);
}
