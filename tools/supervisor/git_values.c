/*
 * What the refs of a repository say: see git_refs.h.
 *
 * As git reads them (refs/files-backend.c): a file below refs before the line in packed-refs; a symbolic ref
 * is `ref: NAME`, or a link whose text begins with refs/.
 */
#include "tools/supervisor/git_refs.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tools/tools.h"

#define BLANKS " \t\n\v\f\r"
#define HOPS   5 /* SYMREF_MAXDEPTH */

void git_end_line(char *buf)
{
	char *ref = buf + (strncmp(buf, "ref:", 4) == 0 ? 4 : strlen(buf));
	size_t blanks = strspn(ref, BLANKS), n;

	/* Behind `ref:` git passes by line ends, too. */
	memmove(ref, ref + blanks, strlen(ref + blanks) + 1);
	n = strcspn(buf, "\n");
	while (n > 0 && strchr(BLANKS, buf[n - 1]))
		n--;
	buf[n] = '\0';
}

const char *git_line_target(const char *line)
{
	return strncmp(line, "ref:", 4) == 0 ? line + 4 : NULL;
}

const char *git_branch_of(const char *ref)
{
	return strncmp(ref, GIT_HEADS, strlen(GIT_HEADS)) == 0 ? ref + strlen(GIT_HEADS) : NULL;
}

/* The first line of a small file below dir; false where there is none. */
static bool first_line(int dir, const char *name, char buf[GIT_REF_MAX])
{
	_cleanup_close_ int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, buf, GIT_REF_MAX - 1) : -1;

	if (n < 0)
		return false;
	buf[n] = '\0';
	git_end_line(buf);
	return true;
}

/* Each worktree has its own of these (refs.c, is_per_worktree_ref()). */
static int dir_of(const struct git_store *s, const char *ref)
{
	static const char *const own[] = { "refs/bisect/", "refs/worktree/", "refs/rewritten/" };

	for (size_t i = 0; i < NELEM(own); i++)
		if (strncmp(ref, own[i], strlen(own[i])) == 0)
			return s->own;
	return strchr(ref, '/') ? s->common : s->own;
}

bool git_value_loose(const struct git_store *s, const char *ref, char buf[GIT_REF_MAX])
{
	return first_line(dir_of(s, ref), ref, buf);
}

bool git_value_packed(const struct git_store *s, const char *ref, char buf[GIT_REF_MAX])
{
	_cleanup_free_ char *text = NULL;
	const char *value;
	size_t len = 0, n;
	mode_t mode;

	if (git_file_read(s->common, "packed-refs", GIT_PACKED_MAX, &text, &len, &mode) < 0)
		return false;
	n = git_packed_value(text, len, ref, &value);
	if (n == 0 || n >= GIT_REF_MAX)
		return false;
	memcpy(buf, value, n);
	buf[n] = '\0';
	return true;
}

bool git_value_of(const struct git_store *s, const char *ref, char buf[GIT_REF_MAX])
{
	return git_value_loose(s, ref, buf) || git_value_packed(s, ref, buf);
}

/* --- chains -------------------------------------------------------------------------------------------- */

/* A name that is the same to git and as a path below the git directory. */
static bool is_sound(const char *ref)
{
	size_t n = strlen(ref);

	if (strncmp(ref, "refs/", 5) != 0 || n >= GIT_REF_MAX - 1 || ref[n - 1] == '/')
		return false;
	for (const char *p = ref; *p; p++)
		if ((unsigned char)*p <= ' ' || *p == 0x7f || strchr("~^:?*[\\", *p))
			return false;
	return !strstr(ref, "//") && !strstr(ref, "/.") && !strstr(ref, "..");
}

/* 1: ref is symbolic, and becomes what it names; 0: it ends here; -1: that cannot be told. */
static int step(const struct git_store *s, char ref[GIT_REF_MAX])
{
	char line[GIT_REF_MAX];
	const char *target = line;
	ssize_t n;

	if (!is_sound(ref))
		return -1;
	n = readlinkat(dir_of(s, ref), ref, line, sizeof(line) - 1);
	if (n >= 0)
		line[n] = '\0';
	else if (!first_line(dir_of(s, ref), ref, line) || !(target = git_line_target(line)))
		return 0;
	memmove(ref, target, strlen(target) + 1);
	return is_sound(ref) ? 1 : -1;
}

enum git_chain git_chain(const struct image *img, const struct git_store *s, char ref[GIT_REF_MAX])
{
	for (int hops = 0; hops <= HOPS; hops++) {
		const char *branch = git_branch_of(ref);
		int r;

		if (branch && git_is_trunk(img, branch, strlen(branch)))
			return GIT_CHAIN_TRUNK;
		r = step(s, ref);
		if (r <= 0)
			return r == 0 ? GIT_CHAIN_FREE : GIT_CHAIN_LOST;
	}
	return GIT_CHAIN_LOST;
}

/* What HEAD names, into ref. */
static bool head(const struct git_store *s, char ref[GIT_REF_MAX])
{
	const char *target = first_line(s->own, "HEAD", ref) ? git_line_target(ref) : NULL;

	if (target)
		memmove(ref, target, strlen(target) + 1);
	return target;
}

bool git_is_checked_out(const struct git_store *s, const char *branch)
{
	char ref[GIT_REF_MAX];
	int r = head(s, ref);

	for (int hops = 0; r > 0 && hops <= HOPS; hops++) {
		const char *at = git_branch_of(ref);

		if (at && strcmp(at, branch) == 0)
			return true;
		r = step(s, ref);
	}
	return false;
}

bool git_head_trunk(const struct image *img, const struct git_store *s, char ref[GIT_REF_MAX])
{
	return head(s, ref) && git_chain(img, s, ref) == GIT_CHAIN_TRUNK;
}
