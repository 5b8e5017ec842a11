/*
 * Symbolic refs: git pushes a ref that is named alone to the branch that it leads to.
 *
 * A ref is found as gitrevisions(7) has it.  What git 2.39 reads is a file that says `ref: NAME`, or a
 * symbolic link to one that begins with refs/ (refs/files-backend.c).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/base/path.h"
#include "policy/base/util.h"
#include "policy/gitfiles/gitconfig.h"
#include "policy/system/cleanup.h"

#include "tools/base/paths.h"
#include "tools/base/readfile.h"

#include "gitbranch.h"

#define PACKED_MAX (64u << 20)
#define STEPS_MAX  6 /* git follows five */

enum step { STEP_NONE, STEP_ON, STEP_UNKNOWN };

bool git_symbolic_ref(const char *text, char name[LIMIT_PATH])
{
	static const char blank[] = " \t\n\v\f\r";

	if (strncmp(text, "ref:", 4) != 0)
		return false;
	text += 4 + strspn(text + 4, blank);
	snprintf(name, LIMIT_PATH, "%.*s", (int)strcspn(text, blank), text);
	return true;
}

/* name becomes what that ref leads to by the file at path, if it is a symbolic one. */
static enum step step_by(const char *path, char name[PATH_MAX])
{
	_cleanup_close_ int fd = -1;
	char text[PATH_MAX];
	struct stat st;
	ssize_t n = readlink(path, text, sizeof(text) - 1);

	text[n > 0 ? n : 0] = '\0';
	if (strncmp(text, "refs/", 5) == 0) {
		strcpy(name, text);
		return STEP_ON;
	}
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st) < 0 || S_ISDIR(st.st_mode))
		return STEP_NONE;
	n = S_ISREG(st.st_mode) ? read(fd, text, sizeof(text) - 1) : -1;
	if (n < 0)
		return STEP_UNKNOWN;
	text[n] = '\0';
	if (!git_symbolic_ref(text, name))
		return STEP_NONE;
	return *name ? STEP_ON : STEP_UNKNOWN;
}

/* A linked worktree has some refs of its own, in git_dir. */
static enum step step(const char *git_dir, const char *common, char name[PATH_MAX])
{
	const char *const dirs[] = { common, git_dir };
	enum step r = STEP_NONE;
	char path[PATH_MAX];

	for (size_t i = 0; i < NELEM(dirs) && r == STEP_NONE; i++)
		r = path_join(path, sizeof(path), dirs[i], name) < 0 ? STEP_UNKNOWN : step_by(path, name);
	return r;
}

static bool leads(const char *git_dir, const char *common, const char *before, const char *word,
		  const char *behind)
{
	char name[PATH_MAX];
	enum step r;

	if (snprintf(name, sizeof(name), "%s%s%s", before, word, behind) >= (int)sizeof(name))
		return true;
	for (unsigned i = 0; i < STEPS_MAX; i++) {
		r = step(git_dir, common, name);
		if (r != STEP_ON)
			return r == STEP_UNKNOWN || (i > 0 && strncmp(name, "refs/heads/", 11) == 0);
	}
	return true;
}

bool git_ref_leads(const char *git_dir, const char *common, const char *word)
{
	static const char *const rules[][2] = { { "", "" },
						{ "refs/", "" },
						{ "refs/tags/", "" },
						{ "refs/heads/", "" },
						{ "refs/remotes/", "" },
						{ "refs/remotes/", "/HEAD" } };
	static const char of_main[] = "main-worktree/";

	if (strncmp(word, of_main, sizeof(of_main) - 1) == 0)
		word += sizeof(of_main) - 1;
	for (size_t i = 0; i < NELEM(rules); i++)
		if (leads(git_dir, common, rules[i][0], word, rules[i][1]))
			return true;
	return false;
}

bool git_names_link(const struct request *req, const char *git_dir, const char *common)
{
	for (size_t i = 0; i < req->argc; i++) {
		const char *word = req->argv[i] + (*req->argv[i] == '+');

		if (*word && *word != '-' && !strchr(word, ':') && strcmp(word, "@") != 0 &&
		    strcmp(word, "HEAD") != 0 && git_ref_leads(git_dir, common, word))
			return true;
	}
	return false;
}

int git_config_read(const char *dir, const char *name, size_t max, struct gitconfig *ret)
{
	_cleanup_free_ char *text = NULL;
	char path[PATH_MAX];
	unsigned line;
	size_t len;
	int r = path_join(path, sizeof(path), dir, name);

	if (r == 0)
		r = file_read(path, max, &text, &len);
	if (r < 0)
		return r;
	return gitconfig_parse(text, len, ret, &line) < 0 ? -EINVAL : 0;
}

bool git_is_reftable(const char *common)
{
	struct gitconfig config;
	const char *format;
	bool is;

	if (git_config_read(common, "config", GITCONFIG_MAX, &config) < 0)
		return false;
	format = gitconfig_value(&config, "extensions", NULL, "refstorage");
	is = format && strcmp(format, "reftable") == 0;
	gitconfig_done(&config);
	return is;
}

static bool take_hex(const char *text, char hex[GIT_HEX])
{
	size_t n = strspn(text, "0123456789abcdef");

	if (n != 40 && n != 64)
		return false;
	snprintf(hex, GIT_HEX, "%.*s", (int)n, text);
	return true;
}

bool git_read_ref(const char *common, const char *ref, char hex[GIT_HEX])
{
	_cleanup_free_ char *packed = NULL, *one = NULL;
	size_t len;
	char path[PATH_MAX], *line;
	int r = path_join(path, sizeof(path), common, ref);

	if (r == 0)
		r = file_read(path, PATH_MAX, &one, &len);
	if (r != -ENOENT && r != -ENOTDIR)
		return r == 0 && take_hex(one, hex);
	if (path_join(path, sizeof(path), common, "packed-refs") < 0 ||
	    file_read(path, PACKED_MAX, &packed, &len) < 0)
		return false;
	for (char *at = packed; (line = strsep(&at, "\n")) != NULL;) {
		size_t end = strcspn(line, " ");

		if (line[end] && strcmp(line + end + 1, ref) == 0)
			return take_hex(line, hex);
	}
	return false;
}

#define HEAD_REF "ref: refs/heads/"
/* What a repository with reftables writes there; its real HEAD is elsewhere. */
#define REFTABLE ".invalid"

/* A HEAD that is a link names its branch by that. */
const char *git_read_head(const char *git_dir, char *buf, size_t size)
{
	_cleanup_free_ char *text = NULL;
	char path[PATH_MAX];
	struct stat st;
	size_t len;
	int n;

	if (path_join(path, sizeof(path), git_dir, "HEAD") < 0 || lstat(path, &st) < 0 ||
	    !S_ISREG(st.st_mode) || file_read(path, 4096, &text, &len) < 0)
		return NULL;
	text[strcspn(text, "\n")] = '\0';
	if (strncmp(text, HEAD_REF, strlen(HEAD_REF)) != 0 || strcmp(text + strlen(HEAD_REF), REFTABLE) == 0)
		return NULL;
	n = snprintf(buf, size, "%s", text + strlen(HEAD_REF));
	return n > 0 && n < (int)size ? buf : NULL;
}
