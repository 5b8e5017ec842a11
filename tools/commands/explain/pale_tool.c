/*
 * pale tool: rules about the agents' own tools, asked by the operator or by an agent's hook.
 */
#include "explain.h"

#include <string.h>

#include "tools/base/options.h"
#include "tools/base/output.h"

static int tool_run(const struct options *o, int argc, char **argv)
{
	static const char *const verbs[] = { "check", "hook", NULL };

	if (argc > 1 && strcmp(argv[0], "check") == 0)
		return explain_words(o, OP_TOOL, argc - 1, argv + 1);
	if (argc == 2 && strcmp(argv[0], "hook") == 0)
		return tool_hook(argv[1]);
	if (argc == 1 && strcmp(argv[0], "hook") == 0)
		talk("tool hook needs the name of an agent");
	else if (argc == 0 || strcmp(argv[0], "check") == 0)
		talk("tool needs the name of a tool: pale tool check NAME");
	else
		options_unknown("tool command", argv[0], verbs);
	return EXIT_USAGE;
}

static const struct opt opts[] = {
	OPTS_POLICY,
	OPT_VALUE("level", 0, "LEVEL", level,
		  "at which the session would run: full (the default), strict or hooks"),
	OPT_FLAG("no-prompt", 'n', no_prompt, "as with run --no-prompt"),
	OPT_JSON,
	{ 0 },
};

const struct subcommand subcommand_tool = {
	.name = "tool",
	.args = "check [options] NAME... | hook AGENT",
	.summary = "say whether an agent may use its own tools of these names",
	.opts = opts,
	.usage_status = EXIT_USAGE,
	.run = tool_run,
};
