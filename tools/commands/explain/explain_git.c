/*
 * The environment that the git in question would have: the verdict on a push depends on it.
 */
#include <string.h>
#include <unistd.h>

#include "policy/parse/parse.h"

#include "tools/base/paths.h"
#include "tools/environment/environment.h"
#include "tools/environment/relocate.h"
#include "tools/gather/environment_file.h"
#include "tools/gather/load.h"
#include "tools/git/gitbranch.h"
#include "tools/sessions/sessions.h"

static int foresee(struct environment *env, const struct environment_source *s)
{
	const char *state = policy_state(s->b, s->p);
	struct relocation rel = { .state = state ? strdup(state) : NULL };
	int r = state && !rel.state ? -1 : environment_gather(env, s);

	if (r == 0)
		r = relocation_tell(&rel, s->b, env);
	relocation_done(&rel);
	return r;
}

void git_env_foresee(struct git_env *e, const struct options *o, const struct loaded *l)
{
	struct environment env;
	struct dirs dirs;
	struct diags d;

	if (session_around()) {
		for (char **entry = environ; *entry; entry++)
			git_env_note(e, *entry);
		return;
	}
	environment_init(&env);
	diags_init(&d);
	if (dirs_find(&dirs) == 0 &&
	    foresee(&env, &(struct environment_source){ .o = o,
							.p = &l->policy,
							.b = &l->bundle,
							.dirs = &dirs,
							.d = &d,
							.from_files = environment_from_files }) == 0)
		git_env_gather(e, &env);
	else
		e->elsewhere = true;
	diags_done(&d);
	environment_done(&env);
}
