/*
 * One push, one question: the gate's, which knows the commits.  The words alone would be asked about first.
 *
 * In the workspace's own repository no session can move a remote that was there (policy/gitfiles), so what
 * git reads after this look is what was looked at.  In any other repository the words are asked about too.
 *
 * Of `timeout 60 git push` the first program only starts git, and that start is judged by itself.
 */
#include "ghost_push.h"

#include <stdio.h>
#include <string.h>

#include "policy/base/path.h"
#include "policy/command/cmd.h"
#include "policy/command/git.h"
#include "policy/wire/wire.h"

#include "tools/git/ghosts.h"
#include "tools/git/gitbranch.h"
#include "tools/supervisor/caller.h"
#include "tools/supervisor/setup.h"

#include "gate_door.h"

static bool is_own(const struct git_home *home, const char *common)
{
	char dot_git[PATH_MAX];

	if (home->common || home->own)
		return strcmp(common, home->common ? home->common : home->own) == 0;
	return snprintf(dot_git, sizeof(dot_git), "%s/.git", home->workspace) < (int)sizeof(dot_git) &&
	       strcmp(common, dot_git) == 0;
}

/* Programs that execute what their words name, here and by themselves. */
static bool only_starts_git(const struct request *req)
{
	static const char starters[] = "env nice nohup timeout setsid stdbuf time ionice";
	const char *name = req->argc > 0 ? path_basename(req->argv[0]) : "";

	return word_in_list(starters, name, strlen(name));
}

bool ghost_push(struct caller *c, const struct request *req, const struct git_env *env, struct decision *d)
{
	const struct supervisor_setup *setup = session_setup(c->sup);
	struct request push = *req;
	struct git_push sent;
	char aim[GIT_AIM];
	const char *end;

	if (!setup->gate || d->verdict != VERDICT_ASK || !(command_wants_branch(req) & GIT_WANTS_CONFIG))
		return false;
	if (only_starts_git(req)) {
		*d = (struct decision){ VERDICT_ALLOW, REASON_GATE, d->rule, d->nested };
		return true;
	}
	git_aim_note(&push, env, aim, &sent);
	end = push.aim ? strstr(aim, AIM_SENDS) : NULL;
	if (!push.aim || aim[0] == AIM_UNKNOWN[0] || !is_own(&setup->git, sent.common) ||
	    !ghosts_have_all(setup->gate->ghosts, aim, end ? (size_t)(end - aim) : strlen(aim)))
		return false;
	*d = (struct decision){ VERDICT_ALLOW, REASON_GATE, d->rule, d->nested };
	return true;
}
