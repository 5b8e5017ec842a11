/*
 * The agent's own directories, made before the floor is built.
 *
 * No process in the session can execute a program in a directory that is newer than the session and lies
 * below one that Landlock does not grant as a whole, such as the home directory.  At their first start
 * agents make ~/.codex and the like and put programs there.  So where the policy allows it, pale makes
 * these directories first: those whose path ends with a slash in the agent's profile.
 */
#include "statedirs.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "policy/base/path.h"
#include "policy/judge/eval.h"

#include "tools/base/paths.h"

/* True for a path that ends with a slash in the agent's profile; the image holds no other profile's open
 * rules. */
static bool is_profiles(const struct image *img, const struct image_rule *r)
{
	static const char profile[] = "agent ";
	const char *text = image_str(img, r->text);
	size_t n = strlen(text);

	return strncmp(image_str(img, r->file), profile, sizeof(profile) - 1) == 0 && n > 0 &&
	       text[n - 1] == '/';
}

static bool is_agents(const struct image *img, const struct image_rule *r, const char *path)
{
	const char *home = image_str(img, img->h->home);
	size_t n = strlen(home);

	if (n < 2 || !path_is_under(path, home) || !is_profiles(img, r))
		return false;
	return access(home, F_OK) == 0;
}

static bool may_be_made(const struct image *img, const char *path)
{
	const struct request req = { .op = OP_MKDIR, .access = op_access(OP_MKDIR), .path = path };

	return eval(img, &req).verdict == VERDICT_ALLOW;
}

static bool is_lacking(const struct image *img, const struct image_rule *r)
{
	const char *path = image_str(img, r->pattern);

	if (r->kind != RULE_FILE_WRITE || r->layer == LAYER_PROJECT || path[0] != '/' ||
	    strpbrk(path, "*?[]\\") || path_has_dotdot(path))
		return false;
	return is_agents(img, r, path) && access(path, F_OK) < 0 && may_be_made(img, path);
}

bool state_dirs_lack(const struct image *img)
{
	const struct image_rule *r;

	for (uint32_t i = 0; (r = image_rule(img, i)); i++)
		if (is_lacking(img, r))
			return true;
	return false;
}

void state_dirs_make(const struct image *img)
{
	const struct image_rule *r;

	/* Errors are ignored: then the agent makes the directory through the supervisor, but can execute
	 * nothing in it. */
	for (uint32_t i = 0; (r = image_rule(img, i)); i++)
		if (is_lacking(img, r))
			(void)dir_make(image_str(img, r->pattern));
}
