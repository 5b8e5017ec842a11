/*
 * Programs that run what their arguments, their input or a file say: a grant of one of these would be a grant
 * of everything.  options.def has them (RUNS), and says which options make a program run another one.
 */
#include "grant_impl.h"

#include <string.h>

#include "policy/command/cmd.h"

bool name_is_runner(const char *name)
{
	const struct cmd_options *row = cmd_options_find(name, NULL);

	return row && row->flags & OPTIONS_RUNS;
}

/* True if the option, or a letter of a cluster, makes the program run another one. */
static bool option_runs(const struct cmd_options *global, const struct cmd_options *sub, const char *arg)
{
	const struct cmd_options *row = sub ? sub : global;
	char name[] = "-x", mark;

	if (arg[1] == '-' || (row && row->flags & OPTIONS_SINGLE_DASH))
		return cmd_option_class(global, sub, arg, strcspn(arg, "="), &mark) == CLASS_RUNS;
	for (const char *p = arg + (arg[0] == '-'); *p; p++) {
		name[1] = *p;
		if (cmd_option_class(global, sub, name, 2, &mark) == CLASS_RUNS)
			return true;
		if (mark && arg[0] == '-')
			break;
	}
	return false;
}

bool command_is_runner(const struct command *c)
{
	struct cmd_view v = cmd_view_of(c);
	const struct cmd_options *row = v.sub ? v.sub : v.global;
	struct cmd_walk w = { .view = &v };
	struct command inner;
	enum cmd_arg kind;
	const char *arg;

	if (name_is_runner(c->program) || name_is_runner(c->alias) || command_unwrap(c, &inner) ||
	    (v.sub && v.sub->flags & OPTIONS_RUNS))
		return true;
	while ((kind = cmd_walk_next(&w, &arg)) != ARG_END) {
		if (kind == ARG_WORD && row && word_like_list(row->options[CLASS_RUNS], arg))
			return true;
		if (cmd_walk_at_option(&w, kind) && option_runs(v.global, w.seen_sub ? v.sub : NULL, arg))
			return true;
	}
	return false;
}
