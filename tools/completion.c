/*
 * pale completion: lists for shells what may come next on a command line of pale.
 *
 * The scripts for bash, zsh and fish are thin: each asks `pale completion candidates WORD...`, which answers
 * from the tables that also parse the command line.  So a new subcommand, option or preset is completed
 * without another list.
 */
#include <errno.h>
#include <string.h>

#include "policy/base/util.h"
#include "policy/presets/agents.h"
#include "policy/system/cleanup.h"

#include "tools/base/options.h"
#include "tools/base/output.h"
#include "tools/base/paths.h"
#include "tools/commands/operator/pending.h"
#include "tools/gate/change.h"
#include "tools/ledgers/ledgers.h"
#include "tools/sessions/sessions.h"

extern const char text_bash[] __attribute__((visibility("hidden"))), /* texts.S */
	text_zsh[] __attribute__((visibility("hidden"))), text_fish[] __attribute__((visibility("hidden")));

/* --- what may come next --- */

/* words[0..n) are the words after `pale`; the last one is being typed. */
struct line {
	char **words;
	size_t n;
	size_t *at;		  /* index of each word in the shell's own list, `pale` being 0 */
	const char *cur, *prefix; /* prefix: "--level=" of "--level=fu" */
};

static void offer(const struct line *l, const char *word, const char *help)
{
	if (strncmp(word, l->cur, strlen(l->cur)) == 0)
		printf(help ? "%s%s\t%s\n" : "%s%s\n", l->prefix, word, help);
}

static void offer_list(const struct line *l, const char *list)
{
	while (*list) {
		size_t n = strcspn(list, " ");
		_cleanup_free_ char *word = strndup(list, n);

		if (word)
			offer(l, word, NULL);
		list += n + strspn(list + n, " ");
	}
}

static void offer_presets(const struct line *l)
{
	for (size_t i = 0; preset_name(i); i++)
		offer(l, preset_name(i), NULL);
}

static void offer_levels(const struct line *l)
{
	for (int i = 0; i < LEVEL_COUNT; i++)
		offer(l, level_name((enum level)i), NULL);
}

static void offer_ops(const struct line *l)
{
	for (int i = OP_NONE + 1; i < OP_COUNT; i++)
		offer(l, op_name((enum op)i), NULL);
}

/* Offers running sessions, and those that left a ledger. */
static void offer_sessions(const struct line *l)
{
	struct session_ref *live = NULL;
	struct ledger_ref *past = NULL;
	size_t n = 0;

	if (sessions_live(&live, &n) == 0)
		for (size_t i = 0; i < n; i++)
			offer(l, live[i].id, "runs");
	if (ledgers_list(NULL, &past, &n) == 0)
		for (size_t i = 0; i < n; i++)
			offer(l, past[i].session, past[i].started);
	free(live);
	free(past);
}

static void offer_named(void *ctx, const char *id, const char *what)
{
	offer(ctx, id, what);
}

static void offer_questions(struct line *l)
{
	cards_each(offer_named, l);
}

static void offer_grants(struct line *l)
{
	grants_each(offer_named, l);
}

/* Numbers of changes, each with where it goes. */
static void offer_changes(struct line *l)
{
	unsigned last = 0;
	struct dirs dirs;

	if (dirs_find(&dirs) < 0 || change_last(dirs.state, &last) < 0)
		return;
	for (unsigned n = 1; n <= last; n++) {
		_cleanup_free_ char *ref = NULL;
		struct change c;
		char word[16];

		snprintf(word, sizeof(word), "%u", n);
		if (change_load(dirs.state, n, &c) == 0 && (ref = text_visible(c.ref)))
			offer(l, word, ref);
		change_done(&c);
	}
}

static void offer_agents(const struct line *l)
{
	for (size_t i = 0; agent_profile(i); i++)
		offer(l, agent_profile(i)->name, NULL);
}

/* The values that an option takes, by the option's name. */
static const struct {
	const char *option;
	void (*fn)(const struct line *l);
	const char *list;
} values[] = {
	{ "preset", offer_presets, NULL },
	{ "level", offer_levels, NULL },
	{ "op", offer_ops, NULL },
	{ "session", offer_sessions, NULL },
	{ "agent", offer_agents, NULL },
	{ "mode", NULL, "none read-only workspace-write danger" },
	{ "verdict", NULL, "allow ask deny" },
	{ "surfaces", NULL, "tmux desktop none" },
	{ "limit", NULL, "memory= cpu= processes= files= file_size= time=" },
	{ "from", NULL, "fence claude" },
};

static void offer_value(const struct line *l, const struct opt *opt)
{
	for (size_t i = 0; i < NELEM(values); i++) {
		if (strcmp(values[i].option, opt->name) != 0)
			continue;
		if (values[i].fn)
			values[i].fn(l);
		else
			offer_list(l, values[i].list);
		return;
	}
	if (strcmp(opt->arg, "FILE") == 0 || strcmp(opt->arg, "PREFIX") == 0)
		puts(":files");
	else if (strcmp(opt->arg, "DIR") == 0)
		puts(":dirs");
}

/* verb: the first operand, "" if there is no operand yet. */
static void offer_options(const struct line *l, const struct subcommand *sub, const char *verb)
{
	char word[64];

	for (const struct opt *o = sub->opts; o && o->name; o++) {
		if (*verb && !option_is_for(o, verb))
			continue;
		(void)snprintf(word, sizeof(word), "--%s", o->name);
		offer(l, word, o->help);
	}
	offer(l, "--help", "show this help");
}

static const struct opt *option_find(const struct subcommand *sub, const char *word)
{
	for (const struct opt *o = sub->opts; o && o->name; o++)
		if ((strncmp(word, "--", 2) == 0 && strcmp(word + 2, o->name) == 0) ||
		    (o->letter && word[0] == '-' && word[1] == o->letter && word[2] == '\0'))
			return o;
	return NULL;
}

static bool is_lower(char c)
{
	return (c >= 'a' && c <= 'z') || c == '-';
}

/* The verbs of a subcommand are the plain words of its usage line. */
static size_t offer_verbs(const struct line *l, const char *args)
{
	size_t found = 0;

	for (size_t n; *args; args += n) {
		char word[64];

		n = 0;
		while (is_lower(args[n]))
			n++;
		if (n > 1 && n < sizeof(word) && args[0] != '-' && !(args[n] >= 'A' && args[n] <= 'Z') &&
		    strncmp(args, "options", n) != 0) {
			memcpy(word, args, n);
			word[n] = '\0';
			offer(l, word, NULL);
			found++;
		}
		n += n == 0;
	}
	return found;
}

/* True if the usage line has FILE or DIR as an operand, not as an option's value. */
static bool takes(const char *args, const char *what)
{
	const char *at = strstr(args, what);

	if (!at)
		return false;
	while (at > args && (at[-1] == '[' || at[-1] == ' '))
		at--;
	for (; at > args && is_lower(at[-1]); at--)
		;
	return at[0] != '-';
}

/* Subcommands whose operand names something that exists now. */
static const struct {
	const struct subcommand *sub;
	void (*fn)(struct line *l);
} named[] = {
	{ &subcommand_approve, offer_questions }, { &subcommand_deny, offer_questions },
	{ &subcommand_revoke, offer_grants },	  { &subcommand_changes, offer_changes },
	{ &subcommand_review, offer_changes },	  { &subcommand_push, offer_changes },
};

static void offer_operand(struct line *l, const struct subcommand *sub, size_t before)
{
	for (size_t i = 0; i < NELEM(named); i++)
		if (named[i].sub == sub) {
			named[i].fn(l);
			return;
		}
	if (before == 0 && offer_verbs(l, sub->args) > 0)
		return;
	if (sub == &subcommand_session || sub == &subcommand_turn)
		offer_sessions(l);
	else if (takes(sub->args, "FILE") || sub == &subcommand_explain || sub == &subcommand_policy)
		puts(":files");
	else if (takes(sub->args, "DIR"))
		puts(":dirs");
}

/* "--level=fu" in one word. */
static bool offer_joined(struct line *l, const struct subcommand *sub)
{
	size_t n = strcspn(l->cur, "=");
	_cleanup_free_ char *name = strndup(l->cur, n), *prefix = strndup(l->cur, n + 1);
	const struct opt *o = name && l->cur[n] == '=' ? option_find(sub, name) : NULL;
	const char *cur = l->cur;

	if (!o || !o->arg || !prefix)
		return false;
	l->prefix = prefix;
	l->cur += n + 1;
	offer_value(l, o);
	l->prefix = "";
	l->cur = cur;
	return true;
}

/* Offers what may follow the subcommand, and reads the words as its own parser would. */
static void offer_behind(struct line *l, const struct subcommand *sub)
{
	/* The words after it are a command line of their own. */
	bool runs = strstr(sub->args, "CMD") != NULL;
	size_t operands = 0, i = 1;
	const char *verb = "";

	for (; i + 1 < l->n; i++) {
		const char *word = l->words[i];
		const struct opt *o = option_find(sub, word);
		bool end = strcmp(word, "--") == 0;

		if (o && o->arg && i + 2 == l->n) {
			offer_value(l, o);
			return;
		}
		i += o && o->arg;
		if (word[0] != '-' && operands++ == 0)
			verb = word;
		if (runs && (end || word[0] != '-')) {
			printf(":command %zu\n", l->at[i + (size_t)end]);
			return;
		}
	}
	if (offer_joined(l, sub))
		return;
	if (l->cur[0] == '-')
		offer_options(l, sub, verb);
	else if (runs)
		printf(":command %zu\n", l->at[l->n - 1]);
	else
		offer_operand(l, sub, operands);
}

static void offer_commands(const struct line *l)
{
	for (size_t i = 0; subcommand_at(i); i++)
		offer(l, subcommand_at(i)->name, subcommand_at(i)->summary);
	offer(l, "help", "the help of a command");
	offer(l, "version", "the version");
	if (l->cur[0] == '-') {
		offer(l, "--help", "the commands");
		offer(l, "--version", "the version");
	}
}

static const struct subcommand *subcommand_find(const char *name)
{
	for (size_t i = 0; subcommand_at(i); i++)
		if (strcmp(subcommand_at(i)->name, name) == 0)
			return subcommand_at(i);
	return NULL;
}

/* bash splits `--level=full` into three words. */
static void line_read(struct line *l, int argc, char **argv)
{
	for (int i = 0; i < argc; i++) {
		bool last = i + 1 == argc;

		if (strcmp(argv[i], "=") == 0 && l->n > 0 && !last)
			continue;
		l->at[l->n] = (size_t)i + 1;
		l->words[l->n++] = strcmp(argv[i], "=") == 0 ? (char *)"" : argv[i];
	}
	l->cur = l->words[l->n - 1];
}

static int candidates(int argc, char **argv)
{
	_cleanup_free_ char **words = calloc((size_t)argc + 1, sizeof(*words));
	_cleanup_free_ size_t *at = calloc((size_t)argc + 1, sizeof(*at));
	struct line l = { .words = words, .at = at, .prefix = "" };
	const struct subcommand *sub;

	if (argc == 0 || !words || !at)
		return EXIT_USAGE;
	line_read(&l, argc, argv);
	sub = subcommand_find(l.words[0]);
	if (l.n == 1 || (l.n == 2 && strcmp(l.words[0], "help") == 0))
		offer_commands(&l);
	if (l.n == 2 && strcmp(l.words[0], "help") == 0)
		offer_list(&l, "exit-codes environment");
	else if (sub && l.n > 1)
		offer_behind(&l, sub);
	return EXIT_OK;
}

static int completion_run(const struct options *o, int argc, char **argv)
{
	static const struct {
		const char *shell, *script;
	} scripts[] = { { "bash", text_bash }, { "zsh", text_zsh }, { "fish", text_fish } };
	const char *names[NELEM(scripts) + 1] = { NULL };

	(void)o;
	if (argc > 0 && strcmp(argv[0], "candidates") == 0)
		return candidates(argc - 1, argv + 1);
	for (size_t i = 0; i < NELEM(scripts); i++) {
		names[i] = scripts[i].shell;
		if (argc != 1 || strcmp(argv[0], scripts[i].shell) != 0)
			continue;
		fputs(scripts[i].script, stdout);
		return EXIT_OK;
	}
	if (argc == 1)
		options_unknown("shell", argv[0], names);
	else
		talk("say for which shell: bash, zsh or fish");
	return EXIT_USAGE;
}

const struct subcommand subcommand_completion = {
	.name = "completion",
	.args = "bash|zsh|fish",
	.summary = "print the script that completes command lines of pale",
	.operands = OPERANDS_STOP,
	.usage_status = EXIT_USAGE,
	.run = completion_run,
};
