/*
 * The clone at the start of a session is the operator's own act: the remote is one of its ghosts then, and
 * the session needs no credential for it.
 */
#include "clone.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "policy/system/cleanup.h"

#include "tools/base/output.h"
#include "tools/git/ghosts.h"

/* The last part of a URL or path, without `.git`; NULL where it has none that can be a directory's name. */
static char *name_of(const char *url)
{
	size_t end = strlen(url), start;

	while (end > 0 && url[end - 1] == '/')
		end--;
	if (end > 4 && strncmp(url + end - 4, ".git", 4) == 0)
		end -= 4;
	for (start = end; start > 0 && url[start - 1] != '/' && url[start - 1] != ':';)
		start--;
	return end == start || url[start] == '.' || url[start] == '-' ? NULL
								      : strndup(url + start, end - start);
}

static int run_git(char *const *argv)
{
	pid_t pid;
	int status, e = posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ);

	if (e != 0) {
		talk("--clone: git: %s", strerror(e));
		return -1;
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	/* git has said why. */
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -1;
}

int clone_before(const char *what, const char *dir, char ret[PATH_MAX])
{
	const char *mark = strrchr(what, '#');
	_cleanup_free_ char *url = mark ? strndup(what, (size_t)(mark - what)) : strdup(what);
	_cleanup_free_ char *name = url && !dir ? name_of(url) : NULL;
	const char *argv[10] = { "git", "clone", "--origin=origin", "--no-local" };
	size_t n = 4;

	if (!url || !*url || (mark && (!mark[1] || mark[1] == '-'))) {
		talk("--clone takes URL or URL#BRANCH, not `%s`", what);
		return -1;
	}
	if (!dir && !name) {
		talk("--clone: the URL ends with no name for a directory; name one with -w");
		return -1;
	}
	if (!ghost_is_url(url))
		talk("note: %s is on this machine: it is no ghost, and no gate stands before it", url);
	if (mark) {
		argv[n++] = "--branch";
		argv[n++] = mark + 1;
	}
	argv[n++] = "--";
	argv[n++] = url;
	argv[n] = dir ? dir : name;
	snprintf(ret, PATH_MAX, "%s", argv[n]);
	return run_git((char *const *)argv);
}
