/* What the parts of the policy parser share; no other file includes this. */
#ifndef PALE_PARSE_IMPL_H
#define PALE_PARSE_IMPL_H

#include "ini.h"
#include "parse.h"
#include "policy/base/expiry.h"

/* Settings with one value each. */
enum setting {
	SET_MODE,
	SET_APPROVALS,
	SET_TIMEOUT,
	SET_READS,
	SET_STEPUP,
	SET_LAUNCH,
	SET_LEVEL,
	SET_GC,
	SET_EXPIRY,
	SET_LOG_SIZE,
	SET_LEDGER_SIZE,
	SET_PATHS,
	SET_HOME,
	SET_CMD_DEFAULT,
	SET_READ_ONLY,
	SET_NET_MODE,
	SET_NET_DEFAULT,
	SET_PUSH,
	SET_CHANGE_FILES,
	SET_CHANGE_BYTES,
	SET_COUNT
};

/* What one layer says of one setting.  `file` is borrowed from the source. */
struct setting_value {
	bool set;
	bool for_agent; /* from an [agent "NAME" ...] section: beats the general one */
	int value;
	const char *file;
	unsigned line;
};

/* The index of [limits] enforce, after those of the resources; its value is 0 for all, 1 for best. */
#define LIMITS_ENFORCE RESOURCE_COUNT
#define LIMIT_VALUES   (RESOURCE_COUNT + 1)

/* What one layer says of one limit.  `file` is borrowed from the source, NULL for a preset. */
struct limit_value {
	bool set;
	bool for_agent;
	uint64_t value;
	const char *file;
	unsigned line;
};

enum key_type {
	KEY_PRESET,
	KEY_TAKE,
	KEY_VERSION,
	KEY_SETTING, /* id: enum setting */
	KEY_PATH,    /* id: enum rule_kind, as in all that follow */
	KEY_SOCKET,
	KEY_COMMAND,
	KEY_HOST,
	KEY_TOOL,
	KEY_BRANCH,
	KEY_ENVIRON, /* id: enum environ_kind */
	KEY_STATE,
	KEY_SHARE,
	KEY_WORKSPACE,
	KEY_LOGS,
	KEY_FORBID,
	KEY_UNPROTECT,
	KEY_REMOTE,
	KEY_FETCHED,
	KEY_PUSHED,
	KEY_CHANGE,
	KEY_MESSAGE,
	KEY_PROOF,
	KEY_LIMIT, /* id: enum resource, or LIMITS_ENFORCE */
	KEY_TYPE_COUNT
};

struct key_def {
	const char *section, *key;
	enum key_type type;
	unsigned id;
	const char *instead; /* for keys of presets and the floor only: what to write elsewhere */
};

/* The definition, or NULL. */
const struct key_def *key_find(const char *section, const char *key);
bool section_known(const char *section);
/* A did-you-mean hint for a section or key, written to buf; NULL if no known word is near. */
const char *section_hint(const char *section, char *buf, size_t size);
const char *key_hint(const char *section, const char *key, char *buf, size_t size);

/* The value of a setting's word: 0, or -EINVAL with the known words in *ret_expected. */
int setting_parse(enum setting set, const char *word, int *ret_value, const char **ret_expected);
/* Whether `to` is at least as strict as `from`. */
bool setting_tightens(enum setting set, int from, int to);
void setting_store(struct settings *s, enum setting set, int value);
int setting_load(const struct settings *s, enum setting set);
const char *setting_name(enum setting set);

/* A header of a file and the lines of the settings below it, to find duplicates. */
struct seen {
	char *header;
	unsigned lines[SET_COUNT];
	unsigned limits[LIMIT_VALUES];
};

/* Where a preset was named. */
struct preset_choice {
	char *name;
	const char *file;
	unsigned line, col;
	enum source_layer layer;
};

/* A branch that `unprotect` opens: the preset's rule of the same pattern is left out, and done says so. */
#define OPENED_MAX 16
struct opened {
	char *branch;
	const char *file;
	unsigned line, col;
	bool done;
};

/* Where a launch flag is forbidden, in parse_forbid.c's order.  `file` is borrowed from the source. */
#define FORBID_MAX 8
struct forbidden {
	const char *file;
	unsigned line;
};

/* One parse.  `set` is indexed by layer; the other fields are about the current file. */
struct parser {
	const struct bundle *b;
	struct policy *p;
	struct diags *d;
	struct setting_value set[SOURCE_LAYER_COUNT][SET_COUNT];
	struct limit_value limits[SOURCE_LAYER_COUNT][LIMIT_VALUES];
	struct preset_choice preset;
	const struct setting_value *network_from; /* the source of the [network] mode in force */
	const struct setting_value
		*home_from; /* the source of the [files] home in force; NULL if no source has one */
	const struct setting_value *level_from; /* the source of the [session] level in force, or NULL */
	struct forbidden forbidden[FORBID_MAX];
	struct opened opened[OPENED_MAX];
	size_t n_opened;
	const struct real **reals; /* sorted by prefix */
	/* Or they are found during the parse and added to grown, which is b. */
	real_finder find;
	void *find_ctx;
	struct bundle *grown;

	const struct source *src;
	/* A bit for each of the last 64 sources, by its index: it is taken in and has errors. */
	uint64_t lost;
	struct setting_value mine[SET_COUNT]; /* added to `set` if the file has no error */
	struct limit_value mine_limits[LIMIT_VALUES];
	struct preset_choice mine_preset;
	struct seen *seen;
	size_t n_seen, cur_seen;
	char section[INI_NAME_MAX + 1];
	bool known;   /* the section is one that the language has */
	bool applies; /* not a section for another agent */
	bool for_agent;
	bool own_profile; /* of a SOURCE_AGENT: its agent is the one of this session */
	/* The rules of the last rule line of this section, for `message =`. */
	size_t last_first, last_end;
	bool last_rule, last_said;
	enum rule_kind last_key; /* of that line */
};

/* Adds a finding about the value of the current line: 0 or -ENOMEM. */
int parser_error(struct parser *ps, const struct ini_pair *pair, const char *code, const char *hint,
		 const char *fmt, ...) __attribute__((format(printf, 5, 6)));
int parser_warning(struct parser *ps, const struct ini_pair *pair, const char *code, const char *hint,
		   const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* Applies one `key = value` of a known section.  0 or -ENOMEM; findings go to ps->d. */
int parser_apply(struct parser *ps, const struct key_def *def, const struct ini_pair *pair);
/* The bit of a source in ps->lost. */
uint64_t source_bit(const struct parser *ps, const struct source *s);
/* parse_agents.c: the profiles of all agents, beneath the preset's rank.  0 or -ENOMEM. */
int parser_read_agents(struct parser *ps);
/* Reads one source into the policy: 0 or -ENOMEM.  An error in the file increases d->n_errors. */
int parser_read_source(struct parser *ps, const struct source *src);
/* parse_state.c: handlers of parser_apply() for [session] state, share and workspace. */
int parser_on_state(struct parser *ps, const struct key_def *def, const struct ini_pair *pair);
int parser_on_share(struct parser *ps, const struct key_def *def, const struct ini_pair *pair);
int parser_on_workspace(struct parser *ps, const struct key_def *def, const struct ini_pair *pair);
/*
 * parse_keep.c: 0 if the current file may set this key.  -EBADMSG, after adding a finding, if it may not or
 * if why, the fault of the value, is not NULL.  -ENOMEM.
 */
int parser_may_say(struct parser *ps, const struct key_def *def, const struct ini_pair *pair,
		   const char *why);
/* parse_gate.c: [git] remote, fetch and branch, [changes] deny. */
int parser_on_fetched(struct parser *ps, const struct key_def *def, const struct ini_pair *pair);
int parser_on_remote(struct parser *ps, const struct key_def *def, const struct ini_pair *pair);
int parser_on_pushed(struct parser *ps, const struct key_def *def, const struct ini_pair *pair);
int parser_on_change(struct parser *ps, const struct key_def *def, const struct ini_pair *pair);
/* parse_keep.c: the precedence of the current source; in a layer, a section for the agent is above the
 * general one. */
int parser_precedence(const struct parser *ps);
/* parse_keep.c: copies value to *field, unless a source of higher precedence has set it: 0 or -ENOMEM. */
int parser_take(struct parser *ps, const char *value, char **field, int *from);
/* parse_environ.c: the handler of parser_apply() for [environment]. */
int parser_on_environ(struct parser *ps, const struct key_def *def, const struct ini_pair *pair);
/* parse_limits.c: reads one key of [limits]; adds the limits of a file without errors to its layer; merges
 * the layers into the policy. */
int parser_on_limit(struct parser *ps, const struct key_def *def, const struct ini_pair *pair);
void parser_publish_limits(struct parser *ps, bool tighten);
int parser_merge_limits(struct parser *ps);
/* Applies the .env file of ps->src: 0 or -errno as ini_read(). */
int parser_read_env(struct parser *ps);
/* parse_forbid.c: reads [session] forbid; checks whether a launch flag of this session is forbidden. */
int parser_on_forbid(struct parser *ps, const struct key_def *def, const struct ini_pair *pair);
/* 0 or -ENOMEM; a forbidden flag is a finding. */
int parser_check_forbidden(struct parser *ps);
/* parse_keep.c: [session] logs. */
int parser_logs(struct parser *ps, const struct key_def *def, const struct ini_pair *pair);
/* The size in MiB of "1M" to "100G", or -EINVAL. */
int log_size_parse(const char *word);
/* Adds a rule in this spelling alone: 0 or -ENOMEM. */
int parser_add_plain(struct parser *ps, const struct rule *proto, const char *pattern);
/* Sets *ret to the path that prefix leads to by symbolic links, or to NULL if there is none.  *ret belongs
 * to the bundle.  0 or -ENOMEM. */
int parser_find_real(struct parser *ps, const char *prefix, const char **ret);
/* True if a session may have made a link on the path, so that the prefix opens nothing. */
bool parser_is_unproven(const struct parser *ps, const char *prefix);
/* parse_program.c: adds a command rule, and the same rule for the file that its program leads to. */
int parser_add_command(struct parser *ps, const struct rule *proto, const char *pattern);
/* Adds a rule for both spellings of an absolute, normalised pattern. */
int parser_add_path(struct parser *ps, const struct rule *proto, const char *pattern);
/* parse_home.c: reads the table of the home: 0 or -ENOMEM. */
int parser_read_home(struct parser *ps);
/* Adds the rule that [files] home makes: 0 or -ENOMEM. */
int parser_add_home(struct parser *ps);
/* Adds the rules that no file has: the workspace, pale's own files. */
int parser_add_builtin(struct parser *ps);
/* Sorts bundle.reals into ps->reals, for parser_find_real(); the caller must free ps->reals. */
int parser_sort_reals(struct parser *ps);
/* observe.c: changes the settings (before the machine's floor applies) and the rules for bundle.observe. */
void observe_settings(struct settings *s);
void observe_rules(struct policy *p);
/* Merges the layers into the settings of the policy: 0 or -ENOMEM. */
int parser_merge_settings(struct parser *ps);

/*
 * Writes the absolute, normalised pattern of a path in a policy to buf.  0, or -errno with a static
 * sentence in *ret_why.
 */
int pattern_resolve(const struct bundle *b, const char *text, char *buf, size_t size, const char **ret_why);
/* The length of pattern before its first component with a glob (1 for "/"). */
size_t pattern_literal(const char *pattern);

#endif
