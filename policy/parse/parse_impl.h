/* What the parts of the policy parser share; no one else includes this. */
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

/* [limits] enforce, where a limit's resource stands elsewhere: 0 all, 1 best. */
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
	KEY_SETTING, /* id: enum setting */
	KEY_PATH,    /* id: enum rule_kind, as in all that follow */
	KEY_SOCKET,
	KEY_COMMAND,
	KEY_HOST,
	KEY_BRANCH,
	KEY_ENVIRON, /* id: enum environ_kind */
	KEY_STATE,
	KEY_SHARE,
	KEY_WORKSPACE,
	KEY_LOGS,
	KEY_FORBID,
	KEY_MESSAGE,
	KEY_PROOF,
	KEY_LIMIT, /* id: enum resource, or LIMITS_ENFORCE */
	KEY_TYPE_COUNT
};

struct key_def {
	const char *section, *key;
	enum key_type type;
	unsigned id;
	const char *instead; /* hard keys stand in presets and the floor alone; elsewhere write this */
};

/* The definition, or NULL. */
const struct key_def *key_find(const char *section, const char *key);
bool section_known(const char *section);
/* Did-you-mean for a section or key, into buf; NULL where nothing is near. */
const char *section_hint(const char *section, char *buf, size_t size);
const char *key_hint(const char *section, const char *key, char *buf, size_t size);

/* The value of a setting's word: 0, or -EINVAL with the words that are known in *ret_expected. */
int setting_parse(enum setting set, const char *word, int *ret_value, const char **ret_expected);
/* Whether `to` is at least as strict as `from`. */
bool setting_tightens(enum setting set, int from, int to);
void setting_store(struct settings *s, enum setting set, int value);
int setting_load(const struct settings *s, enum setting set);
const char *setting_name(enum setting set);

/* A header of a file and the settings seen below it, to catch what is said twice. */
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

/* Where a launch flag is forbidden, in parse_forbid.c's order.  `file` is borrowed from the source. */
#define FORBID_MAX 8
struct forbidden {
	const char *file;
	unsigned line;
};

/* One parse.  `set` is indexed by layer; the rest is of the file at hand. */
struct parser {
	const struct bundle *b;
	struct policy *p;
	struct diags *d;
	struct setting_value set[SOURCE_LAYER_COUNT][SET_COUNT];
	struct limit_value limits[SOURCE_LAYER_COUNT][LIMIT_VALUES];
	struct preset_choice preset;
	const struct setting_value *network_from; /* whose [network] mode holds */
	const struct setting_value
		*home_from; /* the source whose [files] home holds; NULL: no source has one */
	const struct setting_value *level_from; /* whose [session] level holds; NULL: no source sets one */
	struct forbidden forbidden[FORBID_MAX];
	const struct real **reals; /* sorted by prefix */
	/* Or they are found on the way, into grown, which is b. */
	real_finder find;
	void *find_ctx;
	struct bundle *grown;

	const struct source *src;
	struct setting_value mine[SET_COUNT]; /* joins `set` when the file is good */
	struct limit_value mine_limits[LIMIT_VALUES];
	struct preset_choice mine_preset;
	struct seen *seen;
	size_t n_seen, cur_seen;
	char section[INI_NAME_MAX + 1];
	bool known;   /* the section is one of ours */
	bool applies; /* not an agent section of somebody else */
	bool for_agent;
	bool own_profile; /* of a SOURCE_AGENT: its agent is the one that runs */
	/* The rules of the last rule line of this section, for `message =`. */
	size_t last_first, last_end;
	bool last_rule, last_said;
	enum rule_kind last_key; /* of that line */
};

/* A finding about the line at hand: 0 or -ENOMEM.  col 0 is the value's. */
int parser_error(struct parser *ps, const struct ini_pair *pair, const char *code, const char *hint,
		 const char *fmt, ...) __attribute__((format(printf, 5, 6)));
int parser_warning(struct parser *ps, const struct ini_pair *pair, const char *code, const char *hint,
		   const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* Applies one `key = value` of a known section.  0 or -ENOMEM; findings go to ps->d. */
int parser_apply(struct parser *ps, const struct key_def *def, const struct ini_pair *pair);
/* parse_agents.c: the profiles of all agents, beneath the preset's rank.  0 or -ENOMEM. */
int parser_read_agents(struct parser *ps);
/* One source into the policy: 0 or -ENOMEM; a bad file is told by d->n_errors. */
int parser_read_source(struct parser *ps, const struct source *src);
/* parse_state.c: [session] state, share, workspace; handlers of parser_apply(). */
int parser_on_state(struct parser *ps, const struct key_def *def, const struct ini_pair *pair);
int parser_on_share(struct parser *ps, const struct key_def *def, const struct ini_pair *pair);
int parser_on_workspace(struct parser *ps, const struct key_def *def, const struct ini_pair *pair);
/*
 * parse_keep.c: 0 where the file at hand may say this; -EBADMSG after telling that it may not, or why (unless
 * NULL) the value is no such path; -ENOMEM.
 */
int parser_may_say(struct parser *ps, const struct key_def *def, const struct ini_pair *pair,
		   const char *why);
/* parse_keep.c: the value, copied, in *field, unless a file with a stronger word has spoken: 0 or -ENOMEM. */
int parser_take(struct parser *ps, const char *value, char **field, int *from);
/* [environment]: of parser_apply(). */
int parser_on_environ(struct parser *ps, const struct key_def *def, const struct ini_pair *pair);
/* parse_limits.c: one key of [limits]; a good file's limits join its layer; layers merged. */
int parser_on_limit(struct parser *ps, const struct key_def *def, const struct ini_pair *pair);
void parser_publish_limits(struct parser *ps, bool tighten);
int parser_merge_limits(struct parser *ps);
/* Applies what the .env of ps->src says.  0 or -errno as ini_read(). */
int parser_read_env(struct parser *ps);
/* parse_forbid.c: [session] forbid; then whether a flag of this start is among what is forbidden. */
int parser_on_forbid(struct parser *ps, const struct key_def *def, const struct ini_pair *pair);
/* 0 or -ENOMEM; a forbidden flag is a finding. */
int parser_check_forbidden(struct parser *ps);
/* parse_keep.c: [session] logs. */
int parser_logs(struct parser *ps, const struct key_def *def, const struct ini_pair *pair);
/* "1M" to "100G" in MiB, or -EINVAL. */
int log_size_parse(const char *word);
/* Adds a rule as it is: 0 or -ENOMEM. */
int parser_add_plain(struct parser *ps, const struct rule *proto, const char *pattern);
/* What a path leads to by symbolic links, in *ret, or NULL where it is as it is; of the bundle.  0 or
 * -ENOMEM. */
int parser_find_real(struct parser *ps, const char *prefix, const char **ret);
/* A link on the way is somebody's who may not open anything by it. */
bool parser_is_unproven(const struct parser *ps, const char *prefix);
/* parse_program.c: a command rule, and the same for the file that its program leads to. */
int parser_add_command(struct parser *ps, const struct rule *proto, const char *pattern);
/* Adds a rule for both spellings of an absolute, normalised pattern. */
int parser_add_path(struct parser *ps, const struct rule *proto, const char *pattern);
/* parse_home.c: the table of the home, beneath a preset that has it.  0 or -ENOMEM. */
int parser_read_home(struct parser *ps);
/* The rule that [files] home makes: 0 or -ENOMEM. */
int parser_add_home(struct parser *ps);
/* The rules that no file holds: the workspace, pale's own files. */
int parser_add_builtin(struct parser *ps);
/* Sorts bundle.reals for parser_add_path(); freed by the caller. */
int parser_sort_reals(struct parser *ps);
/* observe.c: what bundle.observe makes of the settings below the machine's floor, and of all rules. */
void observe_settings(struct settings *s);
void observe_rules(struct policy *p);
/* Layers merged into the settings of the policy. */
int parser_merge_settings(struct parser *ps);

/*
 * The absolute normalised pattern of a path as a policy writes it.  0, or -errno with a sentence
 * in *ret_why.
 */
int pattern_resolve(const struct bundle *b, const char *text, char *buf, size_t size, const char **ret_why);
/* Length of the part of pattern in front of its first glob component (1 for "/"). */
size_t pattern_literal(const char *pattern);

#endif
