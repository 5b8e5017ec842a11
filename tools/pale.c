/*
 * pale: a fence for coding agents.  This file is the front: the table of subcommands, help and version.
 * Each subcommand has a file of its own.
 */
#include <errno.h>
#include <string.h>

#include "policy/base/util.h"
#include "policy/judge/eval.h"
#include "policy/question/risk.h"

#include "tools/base/options.h"
#include "tools/base/output.h"
#include "tools/environment/environment.h"
#include "tools/sessions/sessions.h"

static const struct subcommand *const subcommands[] = {
	&subcommand_init,	&subcommand_run,    &subcommand_explain, &subcommand_lint,
	&subcommand_log,	&subcommand_watch,  &subcommand_pending, &subcommand_approve,
	&subcommand_deny,	&subcommand_turn,   &subcommand_grants,	 &subcommand_revoke,
	&subcommand_passphrase, &subcommand_policy, &subcommand_learn,	 &subcommand_trust,
	&subcommand_session,	&subcommand_doctor, &subcommand_import,	 &subcommand_completion,
	&subcommand_env,	&subcommand_tool,   &subcommand_changes, &subcommand_review,
	&subcommand_push,
};

static const struct {
	const char *name, *text;
} topics[] = {
	{ "exit-codes", "run      the command's own, or death by its signal;\n"
			"         124 its time limit was reached, 125 pale itself failed, 126 refused or not "
			"executable, 127 not found\n"
			"lint     0 clean, 1 findings, 2 could not run\n"
			"explain  0 allow, 1 deny, 2 error, 3 would ask\n"
			"doctor   0 level full is reached, 1 it is not, 2 could not run\n"
			"log      0 shown or verified, 1 a ledger is bad, 2 could not run\n"
			"others   0 done, 1 not done, 2 wrong usage or could not run\n" },
	{ "environment", "XDG_CONFIG_HOME  where pale/policy.ini is found (default ~/.config)\n"
			 "XDG_STATE_HOME   where pale/ keeps ledgers and trust (default ~/.local/state)\n"
			 "XDG_RUNTIME_DIR  where pale/ keeps the sockets of running sessions\n"
			 "VISUAL, EDITOR   the editor of `policy edit`\n"
			 "PALE_PROMPT      for `run`: 1 if a person will answer questions, 0 if not\n"
			 "NO_COLOR         no colour at all\n"
			 "CLICOLOR_FORCE   colour even where the output is no terminal\n"
			 "PALE_SESSION_DIR set inside a session; pale sets it; do not set it yourself\n" },
};

const struct subcommand *subcommand_at(size_t i)
{
	return i < NELEM(subcommands) ? subcommands[i] : NULL;
}

static const struct subcommand *find(const char *name)
{
	for (size_t i = 0; i < NELEM(subcommands); i++)
		if (strcmp(subcommands[i]->name, name) == 0)
			return subcommands[i];
	return NULL;
}

static void unknown(const char *name)
{
	const char *names[NELEM(subcommands) + 3];
	size_t n = 0;

	for (; n < NELEM(subcommands); n++)
		names[n] = subcommands[n]->name;
	names[n++] = "help";
	names[n++] = "version";
	names[n] = NULL;
	options_unknown("command", name, names);
	fputs("see: pale help\n", stderr);
}

static void print_usage(FILE *f)
{
	fputs("usage: pale COMMAND [options] ...\n\n", f);
	for (size_t i = 0; i < NELEM(subcommands); i++)
		fprintf(f, "  %-10s %s\n", subcommands[i]->name, subcommands[i]->summary);
	fputs("  help       show the help of a command, or of exit-codes and environment\n"
	      "  version    show the version\n\n"
	      "Start here: pale init\n",
	      f);
}

static void print_help(const struct subcommand *sub)
{
	printf("usage: pale %s %s\n%s\n\n", sub->name, sub->args, sub->summary);
	options_print(stdout, sub->opts);
	printf("  %-34s %s\n", "-h, --help", "show this help");
}

static int help(int argc, char **argv)
{
	const struct subcommand *sub;

	if (argc == 0 || strcmp(argv[0], "--help") == 0 || strcmp(argv[0], "-h") == 0) {
		print_usage(stdout);
		return EXIT_OK;
	}
	sub = find(argv[0]);
	if (sub) {
		print_help(sub);
		return EXIT_OK;
	}
	for (size_t i = 0; i < NELEM(topics); i++)
		if (strcmp(topics[i].name, argv[0]) == 0) {
			fputs(topics[i].text, stdout);
			return EXIT_OK;
		}
	unknown(argv[0]);
	return EXIT_USAGE;
}

static int version(int argc, char **argv)
{
	bool json = argc == 1 && strcmp(argv[0], "--json") == 0;

	if (argc > 0 && !json) {
		talk("version takes --json or nothing");
		return EXIT_USAGE;
	}
	if (json)
		print_json(json_pack("{ss}", "version", PALE_VERSION));
	else
		puts("pale " PALE_VERSION);
	return EXIT_OK;
}

static int run_subcommand(const struct subcommand *sub, int argc, char **argv)
{
	struct options o;
	int first = options_parse(sub, argc, argv, &o);

	if (first < 0)
		return sub->usage_status;
	if (o.help) {
		print_help(sub);
		return EXIT_OK;
	}
	if (sub->outside && session_around()) {
		talk("`pale %s` is for another terminal, outside of the session", sub->name);
		return EXIT_FINDINGS;
	}
	return sub->run(&o, argc - first, argv + first);
}

static int dispatch(int argc, char **argv)
{
	const struct subcommand *sub;
	const char *name = argv[0];

	if (strcmp(name, "help") == 0 || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
		return help(argc - 1, argv + 1);
	if (strcmp(name, "version") == 0 || strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0)
		return version(argc - 1, argv + 1);
	sub = find(name);
	if (sub)
		return run_subcommand(sub, argc, argv);
	unknown(name);
	return EXIT_USAGE;
}

int main(int argc, char **argv)
{
	int code;

	if (argc < 2) {
		print_usage(stderr);
		return EXIT_USAGE;
	}
	eval_is_final = risk_is_final;
	code = dispatch(argc - 1, argv + 1);
	/* A report that could not be written whole is a failure. */
	if (fflush(stdout) != 0 && code == EXIT_OK) {
		talk("standard output: %s", strerror(errno));
		code = EXIT_USAGE;
	}
	return code;
}
