/*
 * What all of `pale` uses: options, output, paths, files, threads, and what is installed here.
 *
 * The command line: one struct for the options of all subcommands, and the tables of the options that each
 * subcommand takes; and the exit codes.  A subcommand is one file with one `struct subcommand`, listed in
 * pale.c.
 */
#ifndef PALE_OPTIONS_H
#define PALE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <time.h>

/* Exit codes; `run` uses those of env(1). */
enum exit_code {
	EXIT_OK = 0,
	EXIT_FINDINGS = 1,  /* lint: findings; explain: denied; others: failure */
	EXIT_USAGE = 2,	    /* wrong usage, or it could not run at all */
	EXIT_ASK = 3,	    /* explain: would be asked */
	EXIT_TIMEOUT = 124, /* run: the time limit ended it */
	EXIT_PALE = 125,    /* run: pale itself failed */
	EXIT_REFUSED = 126,
	EXIT_NOT_FOUND = 127
};

/* The values of an option that may be repeated, in order; borrowed. */
#define WORDS_MAX 128
struct option_words {
	const char *v[WORDS_MAX];
	size_t n;
};

struct options {
	struct option_words env; /* -e */
	bool keep_home;
	const char *policy, *preset, *mode, *workspace, *level, *agent, *abi_max;
	const char *op, *verdict, *since, *path, *session, *reason;
	const char *key, *head, *user;
	const char *older_than;
	bool judge;
	bool danger, allow_sensitive, allow_denylisted, allow_unhooked, no_prompt, quiet, verbose;
	bool journal, dry_run, machine;
	const char *lasts, *until, *rule, *callers;
	bool for_session, for_project, for_always, group, yes;
	bool ini, json, sarif, follow, all, revoke, help, linger;
	const char *card, *surfaces;
	bool floor, list;
	bool force, observe, unverified, effective;
	const char *from, *output, *ledger; /* import, learn */
	const char *timeout, *clone;
	struct option_words limits;
	bool now;
	bool stat, patch; /* changes */
};

/* One option; offset is the place in struct options of its `bool` (arg NULL), `const char *` or (repeats)
 * struct option_words. */
struct opt {
	const char *name;
	char letter;
	const char *arg;
	size_t offset;
	const char *help;
	bool repeats;
};

#define OPT_FLAG(name, letter, field, help)                                                                  \
	{                                                                                                    \
		name, letter, NULL, offsetof(struct options, field), help, false                             \
	}
#define OPT_VALUE(name, letter, arg, field, help)                                                            \
	{                                                                                                    \
		name, letter, arg, offsetof(struct options, field), help, false                              \
	}
#define OPT_WORDS(name, letter, arg, field, help)                                                            \
	{                                                                                                    \
		name, letter, arg, offsetof(struct options, field), help, true                               \
	}
#define OPT_ENV                                                                                              \
	OPT_WORDS("env", 'e', "NAME[=VALUE]", env, "give the agent this variable, or those of a pattern")
#define OPT_KEEP_HOME                                                                                        \
	OPT_FLAG("keep-home", 0, keep_home, "the agent's state stays in your home, whatever the policy says")
#define OPT_JSON OPT_FLAG("json", 0, json, "report as JSON on standard output")
/* The options that choose the policy: the same for run, explain and policy show. */
#define OPTS_POLICY                                                                                          \
	OPT_VALUE("policy", 'p', "FILE", policy, "use FILE in place of the user's policy"),                  \
		OPT_VALUE("preset", 0, "NAME", preset,                                                       \
			  "agent, security-v0, review, ci, bridge or controller"),                           \
		OPT_VALUE("mode", 0, "MODE", mode, "none, read-only, workspace-write or danger"),            \
		OPT_VALUE("workspace", 'w', "DIR", workspace, "the workspace (default: here)"),              \
		OPT_VALUE("agent", 0, "NAME", agent,                                                         \
			  "whose profile and [agent \"NAME\" ...] sections hold (default: CMD's name)"),     \
		OPT_FLAG("danger", 0, danger, "permit mode danger"),                                         \
		OPT_FLAG("allow-sensitive-roots", 0, allow_sensitive, "lift the hard rule on secrets"),      \
		OPT_FLAG("allow-denylisted-commands", 0, allow_denylisted, "lift the hard command denylist")

enum operands { OPERANDS_MIXED, OPERANDS_STOP /* options end at the first */, OPERANDS_NONE };

struct subcommand {
	const char *name, *args, *summary;
	const struct opt *opts; /* ended by a NULL name, or NULL */
	enum operands operands;
	int usage_status; /* exit code of a usage error */
	bool outside;	  /* of no use inside a session, and refused there */
	/* argv holds only the operands.  Returns the exit code. */
	int (*run)(const struct options *o, int argc, char **argv);
};

extern const struct subcommand subcommand_run, subcommand_explain, subcommand_lint, subcommand_log,
	subcommand_grants, subcommand_revoke, subcommand_pending, subcommand_approve, subcommand_deny,
	subcommand_turn, subcommand_trust, subcommand_policy, subcommand_session, subcommand_doctor,
	subcommand_passphrase, subcommand_watch, subcommand_init, subcommand_import, subcommand_learn,
	subcommand_tool, subcommand_changes, subcommand_review, subcommand_push;
extern const struct subcommand subcommand_completion;

/* The i-th subcommand, or NULL after the last. */
const struct subcommand *subcommand_at(size_t i);

/* Parses argv (argv[0] is the subcommand's name) by sub's table into ret.  The index of the first operand,
 * or -EINVAL after reporting the error (with did-you-mean). */
int options_parse(const struct subcommand *sub, int argc, char **argv, struct options *ret);
/* True where word takes opt.  A help text that starts with words of the subcommand ("gc: list what would
 * go", several divided by "; ") restricts the option to those words; otherwise every word takes it. */
bool option_is_for(const struct opt *opt, const char *word);
/* RFC 3339 in UTC, as "2026-11-21T14:00:00Z", or a local date and time without the Z; "2026-11-21 14:00" and
 * "2026-11-21" too. */
bool instant_parse(const char *text, time_t *ret);
/* "14:00" or "14:00:30": the next local time of that name after now. */
bool instant_parse_hour(const char *text, time_t now, time_t *ret);
/* Prints the options of a table. */
void options_print(FILE *f, const struct opt *opts);
/* Reports that word is not one of the candidates, and suggests the nearest one. */
void options_unknown(const char *what, const char *word, const char *const *candidates);

#endif
