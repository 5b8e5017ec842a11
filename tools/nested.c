/*
 * pale run inside a session.  The session around holds whatever is started here; this build can
 * only join it.  A nested run may narrow, never widen, so an option that would change the policy
 * is refused rather than ignored.
 */
#include <errno.h>
#include <string.h>

#include "tools.h"

static const char *changes_policy(const struct options *o)
{
	const struct {
		bool given;
		const char *name;
	} table[] = {
		{ o->policy != NULL, "--policy" },
		{ o->preset != NULL, "--preset" },
		{ o->mode != NULL, "--mode" },
		{ o->workspace != NULL, "--workspace" },
		{ o->danger, "--danger" },
		{ o->allow_sensitive, "--allow-sensitive-roots" },
		{ o->allow_denylisted, "--allow-denylisted-commands" },
		{ o->allow_unhooked, "--allow-unhooked" },
		{ o->no_prompt, "--no-prompt" },
	};

	for (size_t i = 0; i < NELEM(table); i++)
		if (table[i].given)
			return table[i].name;
	return NULL;
}

int nested_join(const struct options *o, char **argv)
{
	const char *option = changes_policy(o);

	if (option) {
		talk("%s has no place inside session %s: a nested run may only narrow, and this build can "
		     "only join",
		     option, session_around());
		return EXIT_PALE;
	}
	if (!o->quiet)
		talk("joining session %s", session_around());
	execvp(argv[0], argv);
	talk("cannot run %s: %s", argv[0], strerror(errno));
	return errno == ENOENT ? EXIT_NOT_FOUND : EXIT_REFUSED;
}
