/*
 * The agent's own directories, made before the floor is built.
 *
 * Landlock lets nobody execute what lies in a directory that is newer than the session and hangs below one
 * that is not granted whole, as the home directory is not.  At their first start agents make ~/.codex and
 * the like and put programs there; so where the policy lets them, pale makes them first: those that bear
 * the agent's name, and the cache.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "policy/eval.h"
#include "policy/path.h"

#include "tools.h"

static bool is_agents(const struct image *img, const char *agent, const char *path)
{
	const char *home = image_str(img, img->h->home);
	const char *name = strrchr(path, '/') + 1;
	size_t n = strlen(home);

	if (n < 2 || !path_is_under(path, home) || access(home, F_OK) < 0)
		return false;
	return strcmp(path + n, "/.cache") == 0 || (*agent && strcmp(name + strspn(name, "."), agent) == 0);
}

static bool may_be_made(const struct image *img, const char *path)
{
	const struct request req = { .op = OP_MKDIR, .access = op_access(OP_MKDIR), .path = path };

	return eval(img, &req).verdict == VERDICT_ALLOW;
}

void state_dirs_make(const struct image *img, const char *agent)
{
	const struct image_rule *r;

	for (uint32_t i = 0; (r = image_rule(img, i)); i++) {
		const char *path = image_str(img, r->pattern);

		if (r->kind != RULE_FILE_WRITE || r->layer == LAYER_PROJECT || path[0] != '/' ||
		    strpbrk(path, "*?[]\\") || path_has_dotdot(path))
			continue;
		/* Without it the agent makes its own: it is carried, and executes nothing there. */
		if (is_agents(img, agent, path) && access(path, F_OK) < 0 && may_be_made(img, path))
			(void)dir_make(path);
	}
}
