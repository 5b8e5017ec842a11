/* Builds the command and the request by which the interpreter of a script is judged. */
#include "script.h"

size_t script_words(const struct elf_info *script, const char *path, const char *const *argv, size_t argc,
		    const char **ret)
{
	size_t n = 0;

	ret[n++] = script->interp;
	if (script->interp_arg[0])
		ret[n++] = script->interp_arg;
	ret[n++] = path;
	for (size_t i = 1; i < argc; i++)
		ret[n++] = argv[i];
	ret[n] = NULL;
	return n;
}

struct request script_request(const struct elf_info *script, const char *path, const struct request *of,
			      const char **words)
{
	struct request req = { .op = OP_EXEC,
			       .access = op_access(OP_EXEC),
			       .is_root = of->is_root,
			       .path = script->interp,
			       .cwd = of->cwd,
			       .env = of->env,
			       .argv = words };

	req.argc = script_words(script, path, of->argv, of->argc, words);
	return req;
}

bool script_is_held(const struct decision *script, const struct decision *interpreter)
{
	/* With approvals = never the reason of an ask rule is REASON_NEVER; the rule is still there. */
	bool is_never = interpreter->reason == REASON_NEVER && interpreter->rule != RULE_NONE;

	if (!is_never && interpreter->reason != REASON_RULE && interpreter->reason != REASON_TRUNK)
		return false;
	return verdict_strictest(script->verdict, interpreter->verdict) != script->verdict;
}
