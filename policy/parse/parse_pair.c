/*
 * One `key = value` into a rule or a setting.
 *
 * Every type of key has one handler in the table at the end.  A handler checks the whole value
 * even if the section is for another agent, and then only leaves the adding out, so that the errors of
 * a file do not depend on the agent that runs.
 */
#include "parse_impl.h"
#include "policy/base/path.h"

#include <errno.h>
#include <libpsl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct rule proto_of(const struct parser *ps, const struct key_def *def, const struct ini_pair *pair)
{
	static const struct {
		enum layer layer;
		enum rank rank;
	} place[] = {
		[SOURCE_FLOOR] = { LAYER_FLOOR, RANK_USER },
		[SOURCE_PRESET] = { LAYER_USER, RANK_PRESET },
		[SOURCE_USER] = { LAYER_USER, RANK_USER },
		[SOURCE_PROJECT] = { LAYER_PROJECT, RANK_PROJECT },
		[SOURCE_PROJECT_TRUSTED] = { LAYER_USER, RANK_PROJECT },
		[SOURCE_ENV] = { LAYER_USER, RANK_USER },
		[SOURCE_ENV_PROJECT] = { LAYER_PROJECT, RANK_PROJECT },
		[SOURCE_AGENT] = { LAYER_USER, RANK_PRESET },
	};

	return (struct rule){
		.kind = (enum rule_kind)def->id,
		.layer = place[ps->src->layer].layer,
		.rank = ps->src->base ? RANK_BASE : place[ps->src->layer].rank,
		.text = (char *)pair->value,
		.file = ps->src->path,
		.line = pair->line,
		.col = pair->value_col,
		.absent = strcmp(def->key, "absent") == 0,
	};
}

/* pattern is made from the value; the rule matches it. */
static int add_rule(struct parser *ps, const struct key_def *def, const struct ini_pair *pair,
		    const char *pattern)
{
	const struct rule proto = proto_of(ps, def, pair);
	bool path = def->type == KEY_PATH || (def->type == KEY_SOCKET && pattern[0] == '/');
	int err;

	if (!ps->applies)
		return 0;
	if (path)
		err = parser_add_path(ps, &proto, pattern);
	else if (def->type == KEY_COMMAND)
		err = parser_add_command(ps, &proto, pattern);
	else
		err = parser_add_plain(ps, &proto, pattern);
	ps->last_end = ps->p->n_rules;
	return err;
}

/* If HOME is not the user's own home, a preset's rule that closes a path in HOME closes it in both. */
static int add_login(struct parser *ps, const struct key_def *def, const struct ini_pair *pair)
{
	const struct bundle own = { .home = ps->b->login };
	char buf[LIMIT_PATH] UNINITIALIZED;
	const char *why;

	if (!own.home || ps->src->layer != SOURCE_PRESET || pair->value[0] != '~' ||
	    (def->id != RULE_FILE_SENSITIVE && def->id != RULE_FILE_DENY) ||
	    pattern_resolve(&own, pair->value, buf, sizeof(buf), &why) < 0)
		return 0;
	return add_rule(ps, def, pair, buf);
}

static int open_class(struct parser *ps, const struct ini_pair *pair, const char *hint)
{
	return parser_error(ps, pair, "bad-pattern", hint, "`[` without `]` in `%s`", pair->value);
}

static int on_path(struct parser *ps, const struct key_def *def, const struct ini_pair *pair)
{
	char buf[LIMIT_PATH] UNINITIALIZED;
	const char *why;
	int err = pattern_resolve(ps->b, pair->value, buf, sizeof(buf), &why);

	if (err < 0)
		return parser_error(ps, pair, "bad-path", NULL, "%s", why);
	if (path_has_open_class(pair->value))
		return open_class(ps, pair, "write `[a-z]`, or a backslash before it");
	if (strchr(pair->value, '$')) {
		err = parser_warning(ps, pair, "dollar-in-path", "write the path out, or `~/`",
				     "variables are not expanded: `$` is part of the name");
		if (err < 0)
			return err;
	}
	err = add_rule(ps, def, pair, buf);
	return err < 0 ? err : add_login(ps, def, pair);
}

static int on_socket(struct parser *ps, const struct key_def *def, const struct ini_pair *pair)
{
	if (pair->value[0] == '@' && pair->value[1] != '\0')
		return add_rule(ps, def, pair, pair->value);
	return on_path(ps, def, pair);
}

static int on_command(struct parser *ps, const struct key_def *def, const struct ini_pair *pair)
{
	return add_rule(ps, def, pair, pair->value);
}

/* `*.co.uk`: below a public suffix are hosts of many owners, so no rule of any layer may open it. */
static bool is_everybodys(enum rule_kind kind, const char *host)
{
	char name[LIMIT_HOST];
	size_t n = strcspn(host, ":");

	if (rule_verdict(kind) == VERDICT_DENY || strncmp(host, "*.", 2) != 0 || n - 2 >= sizeof(name))
		return false;
	for (size_t i = 2; i < n; i++)
		name[i - 2] = host[i] >= 'A' && host[i] <= 'Z' ? (char)(host[i] | 0x20) : host[i];
	name[n - 2] = '\0';
	return psl_is_public_suffix2(psl_builtin(), name, PSL_TYPE_ICANN | PSL_TYPE_NO_STAR_RULE) != 0;
}

static int on_host(struct parser *ps, const struct key_def *def, const struct ini_pair *pair)
{
	char *ascii = NULL;
	const char *why = "";
	int err;

	if (strstr(pair->value, "://") || strchr(pair->value, ' '))
		return parser_error(ps, pair, "bad-host", "write HOST or HOST:PORT, one a line",
				    "`%s` is a URL or more than one word, not a host", pair->value);
	err = host_to_ascii(pair->value, &ascii, &why);
	if (err == -EINVAL)
		return parser_error(ps, pair, "bad-host", NULL, "`%s` is no host name: %s", pair->value, why);
	if (err < 0)
		return err;
	if (is_everybodys((enum rule_kind)def->id, ascii))
		err = parser_error(ps, pair, "public-suffix", "name the part that you mean",
				   "`%s` is every name below a public suffix", pair->value);
	else
		err = add_rule(ps, def, pair, ascii);
	free(ascii);
	return err;
}

/* `*` stands for any characters; no other character is a wildcard. */
static int on_tool(struct parser *ps, const struct key_def *def, const struct ini_pair *pair)
{
	const char *v = pair->value;

	if (strlen(v) >= LIMIT_HOST || v[0] == '/' || strpbrk(v, " \t?[]()"))
		return parser_error(ps, pair, "bad-tool", "write the name of a tool, as in mcp__github__*",
				    "`%s` is no name of a tool", v);
	return add_rule(ps, def, pair, v);
}

static int on_branch(struct parser *ps, const struct key_def *def, const struct ini_pair *pair)
{
	const char *v = pair->value;

	if (v[0] == '-' || v[0] == '/' || strpbrk(v, " ~^:\\") || strstr(v, "..") || strstr(v, "//"))
		return parser_error(ps, pair, "bad-branch",
				    "write a branch name or a pattern, as in release/*",
				    "`%s` is no branch name", v);
	if (path_has_open_class(v))
		return open_class(ps, pair, NULL);
	for (size_t i = 0; i < ps->n_opened && ps->src->layer == SOURCE_PRESET; i++)
		if (strcmp(ps->opened[i].branch, v) == 0) {
			ps->opened[i].done = true;
			return 0;
		}
	return add_rule(ps, def, pair, v);
}

/* The preset is read last. */
static int on_unprotect(struct parser *ps, const struct key_def *def, const struct ini_pair *pair)
{
	struct opened *o = &ps->opened[ps->n_opened];

	ps->last_rule = false;
	if (ps->src->layer != SOURCE_USER || ps->n_opened == OPENED_MAX)
		return parser_error(ps, pair, "unprotect", "write it in your own policy.ini",
				    "`%s` stands in the user's own policy alone, at most %d times", def->key,
				    OPENED_MAX);
	if (!ps->applies)
		return 0;
	*o = (struct opened){ strdup(pair->value), ps->src->path, pair->line, pair->value_col, false };
	ps->n_opened += o->branch != NULL;
	return o->branch ? 0 : -ENOMEM;
}

static int on_message(struct parser *ps, const struct key_def *def, const struct ini_pair *pair)
{
	(void)def;
	if (!ps->last_rule)
		return parser_error(ps, pair, "stray-message", "put it below the rule it explains",
				    "`message` without a rule above it in this section");
	if (ps->last_said)
		return parser_error(ps, pair, "duplicate-key", NULL, "a second `message` for the same rule");
	ps->last_said = true;
	for (size_t i = ps->last_first; i < ps->last_end; i++) {
		ps->p->rules[i].message = strdup(pair->value);
		if (!ps->p->rules[i].message)
			return -ENOMEM;
	}
	return 0;
}

static int on_proof(struct parser *ps, const struct key_def *def, const struct ini_pair *pair)
{
	(void)def;
	if (!ps->last_rule || ps->last_key != RULE_CMD_ALLOW)
		return parser_error(ps, pair, "stray-passphrase", "put it below the rule it is about",
				    "`passphrase` without an `allow` right above it");
	if (strcmp(pair->value, "no") != 0)
		return parser_error(ps, pair, "bad-value", NULL, "invalid value `%s`, expected no",
				    pair->value);
	for (size_t i = ps->last_first; i < ps->last_end; i++)
		ps->p->rules[i].unproven = true;
	return 0;
}

static int on_preset(struct parser *ps, const struct key_def *def, const struct ini_pair *pair)
{
	(void)def;
	if (ps->src->layer != SOURCE_USER && ps->src->layer != SOURCE_PROJECT_TRUSTED)
		return parser_error(ps, pair, "preset-here", "write it in your own policy, or say --preset",
				    "a preset is chosen by the user's policy alone");
	if (ps->mine_preset.name)
		return parser_error(ps, pair, "duplicate-key", NULL,
				    "a second `preset`; the first stands in line %u", ps->mine_preset.line);
	ps->mine_preset = (struct preset_choice){ .name = strdup(pair->value),
						  .file = ps->src->path,
						  .line = pair->line,
						  .col = pair->value_col,
						  .layer = ps->src->layer };
	return ps->mine_preset.name ? 0 : -ENOMEM;
}

/* Names a file of the state directory (tools/gather/presets_known.h). */
static int on_version(struct parser *ps, const struct key_def *def, const struct ini_pair *pair)
{
	size_t n = strspn(pair->value, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.+~-");

	if (ps->src->layer != SOURCE_USER)
		return parser_error(ps, pair, "version-here", NULL, "`%s` stands in the user's policy alone",
				    def->key);
	if (pair->value[n] || pair->value[0] == '.' || n >= VERSION_MAX)
		return parser_error(ps, pair, "bad-value", NULL,
				    "invalid value `%s`, expected a version as pale doctor prints it",
				    pair->value);
	free(ps->p->version);
	ps->p->version = strdup(pair->value);
	return ps->p->version ? 0 : -ENOMEM;
}

#define HASH	    " sha256:"
#define HASH_DIGITS 64

int taking_parse(const char *value, struct taking *ret)
{
	const char *at = strstr(value, HASH), *next;

	*ret = (struct taking){ strlen(value), NULL };
	if (!at)
		return 0;
	while ((next = strstr(at + 1, HASH)) != NULL)
		at = next;
	ret->hex = at + strlen(HASH);
	ret->path_len = (size_t)(at - value);
	while (ret->path_len > 0 && value[ret->path_len - 1] == ' ')
		ret->path_len--;
	return ret->path_len > 0 && strlen(ret->hex) == HASH_DIGITS &&
			       strspn(ret->hex, "0123456789abcdef") == HASH_DIGITS
		       ? 0
		       : -EINVAL;
}

uint64_t source_bit(const struct parser *ps, const struct source *s)
{
	return UINT64_C(1) << ((size_t)(s - ps->b->sources) % 64);
}

/* The files right before the current one are those that it takes in, and theirs.  NULL: not found. */
static const struct source *taken(const struct parser *ps, const char *value)
{
	for (const struct source *s = ps->src; s > ps->b->sources && s[-1].as; s--)
		if (strcmp(s[-1].as, value) == 0)
			return s - 1;
	return NULL;
}

/* The caller has reported why the file is not there. */
static bool is_said(const struct parser *ps, const struct ini_pair *pair)
{
	for (size_t i = 0; i < ps->d->n; i++) {
		const struct diag *g = &ps->d->list[i];

		if (g->line == pair->line && g->file && strcmp(g->file, ps->src->path) == 0)
			return true;
	}
	return false;
}

/* A file that is not there is an error, so that no policy holds without its base. */
static int on_take(struct parser *ps, const struct key_def *def, const struct ini_pair *pair)
{
	const struct source *s = taken(ps, pair->value);

	if (ps->src->layer != SOURCE_USER && ps->src->layer != SOURCE_PROJECT &&
	    ps->src->layer != SOURCE_PROJECT_TRUSTED)
		return parser_error(ps, pair, "take-here", "put that file into /etc/pale/policy.d",
				    "`%s` stands in a user's or a project's policy alone", def->key);
	if (s && ps->lost & source_bit(ps, s))
		return parser_error(ps, pair, "take-errors", NULL,
				    "the file that this line takes in has errors");
	if (s || is_said(ps, pair))
		return 0;
	return parser_error(ps, pair, "take-in", NULL, "the file of this `%s` was not read", def->key);
}

static bool is_capital(const char *s)
{
	return *s >= 'A' && *s <= 'Z';
}

static int on_setting(struct parser *ps, const struct key_def *def, const struct ini_pair *pair)
{
	struct seen *seen = &ps->seen[ps->cur_seen];
	struct setting_value *mine = &ps->mine[def->id];
	const char *expected;
	int value;

	if (seen->lines[def->id])
		return parser_error(ps, pair, "duplicate-key", NULL,
				    "a second `%s`; the first stands in line %u", def->key,
				    seen->lines[def->id]);
	seen->lines[def->id] = pair->line;
	if (setting_parse(def->id, pair->value, &value, &expected) < 0)
		return parser_error(ps, pair, "bad-value",
				    is_capital(pair->value) ? "write it in small letters" : NULL,
				    "invalid value `%s`, expected %s", pair->value, expected);
	if (def->id == SET_MODE && value == MODE_DANGER && !ps->b->danger)
		return parser_error(ps, pair, "danger", "start pale with --danger",
				    "no file can choose mode danger without the flag --danger");
	if (!ps->applies || (mine->set && mine->for_agent && !ps->for_agent))
		return 0;
	*mine = (struct setting_value){ .set = true,
					.for_agent = ps->for_agent,
					.value = value,
					.file = ps->src->path,
					.line = pair->line };
	return 0;
}

/* True for a key whose rules deny; in a profile it applies to all other agents. */
static bool closes(const struct key_def *def)
{
	return def->type >= KEY_PATH && def->type <= KEY_BRANCH &&
	       rule_verdict((enum rule_kind)def->id) == VERDICT_DENY;
}

/* Quotes around a whole value would be a part of the name; in a command they make it one word. */
static bool is_quoted_whole(const struct key_def *def, const char *value)
{
	const char *end = *value == '"' || *value == '\'' ? strchr(value + 1, *value) : NULL;

	return end && !end[1] && (def->type != KEY_COMMAND || strchr(value, ' '));
}

int parser_apply(struct parser *ps, const struct key_def *def, const struct ini_pair *pair)
{
	static int (*const handlers[KEY_TYPE_COUNT])(struct parser *, const struct key_def *,
						     const struct ini_pair *) = {
		[KEY_PRESET] = on_preset,
		[KEY_TAKE] = on_take,
		[KEY_VERSION] = on_version,
		[KEY_SETTING] = on_setting,
		[KEY_PATH] = on_path,
		[KEY_SOCKET] = on_socket,
		[KEY_COMMAND] = on_command,
		[KEY_HOST] = on_host,
		[KEY_TOOL] = on_tool,
		[KEY_BRANCH] = on_branch,
		[KEY_ENVIRON] = parser_on_environ,
		[KEY_MESSAGE] = on_message,
		[KEY_PROOF] = on_proof,
		[KEY_FORBID] = parser_on_forbid,
		[KEY_UNPROTECT] = on_unprotect,
		[KEY_REMOTE] = parser_on_remote,
		[KEY_FETCHED] = parser_on_fetched,
		[KEY_PUSHED] = parser_on_pushed,
		[KEY_CHANGE] = parser_on_change,
		[KEY_LOGS] = parser_logs,
		[KEY_LIMIT] = parser_on_limit,
		[KEY_STATE] = parser_on_state,
		[KEY_SHARE] = parser_on_share,
		[KEY_WORKSPACE] = parser_on_workspace,
	};
	bool hard_here = ps->src->layer == SOURCE_PRESET || ps->src->layer == SOURCE_FLOOR ||
			 ps->src->layer == SOURCE_AGENT;

	if (ps->src->layer == SOURCE_AGENT)
		ps->applies = ps->own_profile != closes(def);
	if (def->instead && !hard_here)
		return parser_error(ps, pair, "hard-key", def->instead,
				    "`%s` stands in presets and in the machine's own policy alone", def->key);
	if (def->type >= KEY_PATH && def->type <= KEY_BRANCH) {
		/* A message below a rule that is refused here gets no second finding. */
		ps->last_rule = true;
		ps->last_said = false;
		ps->last_key = (enum rule_kind)def->id;
		ps->last_first = ps->last_end = ps->p->n_rules;
		if (is_quoted_whole(def, pair->value))
			return parser_error(ps, pair, "quoted-value", "leave the quotes out",
					    "the quotes around %s would be a part of the name", pair->value);
	}
	return handlers[def->type](ps, def, pair);
}
