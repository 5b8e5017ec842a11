/* [session] state: where in the workspace the agent keeps what it would keep in its home. */
#include "parse_impl.h"
#include "path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Why it is no such place, or NULL. */
static const char *wrong(const char *v)
{
	if (v[0] == '/' || v[0] == '~' || path_has_dotdot(v) || strcmp(v, ".") == 0)
		return "it lies in the workspace: write a name, as in .state";
	if (strpbrk(v, "*?[]\\") || strstr(v, "//") || strncmp(v, "./", 2) == 0 || strstr(v, "/."))
		return "one directory is meant, as in .state";
	if (strcmp(v, ".pale") == 0 || strncmp(v, ".pale/", 6) == 0 || strcmp(v, ".git") == 0 ||
	    strncmp(v, ".git/", 5) == 0)
		return "that one is closed to agents: name another, as in .state";
	return NULL;
}

int parser_on_state(struct parser *ps, const struct key_def *def, const struct ini_pair *pair)
{
	static const int of[SOURCE_LAYER_COUNT] = {
		[SOURCE_PRESET] = 1, [SOURCE_USER] = 2, [SOURCE_PROJECT_TRUSTED] = 3, [SOURCE_FLOOR] = 4
	};
	int from = 2 * of[ps->src->layer] + ps->for_agent;
	const char *why = wrong(pair->value);
	char *copy;

	(void)def;
	if (why)
		return parser_error(ps, pair, "bad-path", NULL, "%s", why);
	if (ps->src->layer == SOURCE_PROJECT)
		return parser_warning(ps, pair, "project-loosens", "trust the project first: pale trust",
				      "`state` is ignored: a project that is not trusted may only tighten");
	if (!ps->applies || from < ps->p->state_from)
		return 0;
	copy = strdup(pair->value);
	if (!copy)
		return -ENOMEM;
	free(ps->p->state);
	ps->p->state = copy;
	ps->p->state_from = from;
	return 0;
}
