/*
 * The words of a policy: sections, keys, the values of settings, and the nearest known word to a wrong one.
 *
 * To add a key, add a row here; a value of a new type also needs a handler in parse_pair.c.
 */
#include "parse_impl.h"
#include "policy/base/util.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct key_def keys[] = {
	{ "", "preset", KEY_PRESET, 0, NULL },
	{ "", "version", KEY_VERSION, 0, NULL },
	{ "", "include", KEY_TAKE, 0, NULL },
	{ "", "extends", KEY_TAKE, 0, NULL },
	{ "session", "mode", KEY_SETTING, SET_MODE, NULL },
	{ "session", "approvals", KEY_SETTING, SET_APPROVALS, NULL },
	{ "session", "timeout", KEY_SETTING, SET_TIMEOUT, NULL },
	{ "session", "reads", KEY_SETTING, SET_READS, NULL },
	{ "session", "stepup", KEY_SETTING, SET_STEPUP, NULL },
	{ "session", "launch", KEY_SETTING, SET_LAUNCH, NULL },
	{ "session", "level", KEY_SETTING, SET_LEVEL, NULL },
	{ "session", "forbid", KEY_FORBID, 0, NULL },
	{ "session", "workspace", KEY_WORKSPACE, 0, NULL },
	{ "session", "state", KEY_STATE, 0, NULL },
	{ "session", "share", KEY_SHARE, 0, NULL },
	{ "session", "gc", KEY_SETTING, SET_GC, NULL },
	{ "session", "expiry", KEY_SETTING, SET_EXPIRY, NULL },
	{ "session", "logs", KEY_LOGS, 0, NULL },
	{ "session", "log_size", KEY_SETTING, SET_LOG_SIZE, NULL },
	{ "files", "write", KEY_PATH, RULE_FILE_WRITE, NULL },
	{ "files", "deny", KEY_PATH, RULE_FILE_DENY, NULL },
	{ "files", "readonly", KEY_PATH, RULE_FILE_READONLY, NULL },
	{ "files", "keep", KEY_PATH, RULE_FILE_KEEP, NULL },
	{ "files", "ask", KEY_PATH, RULE_FILE_ASK, NULL },
	{ "files", "ask_write", KEY_PATH, RULE_FILE_ASK_WRITE, NULL },
	{ "files", "read", KEY_PATH, RULE_FILE_READ, NULL },
	{ "files", "sensitive", KEY_PATH, RULE_FILE_SENSITIVE, "write `deny = PATH`" },
	{ "files", "absent", KEY_PATH, RULE_FILE_SENSITIVE, "write `deny = PATH`" },
	{ "files", "system", KEY_PATH, RULE_FILE_SYSTEM, "write `read = PATH`" },
	{ "files", "paths", KEY_SETTING, SET_PATHS, NULL },
	{ "files", "home", KEY_SETTING, SET_HOME, NULL },
	{ "files", "message", KEY_MESSAGE, 0, NULL },
	{ "commands", "default", KEY_SETTING, SET_CMD_DEFAULT, NULL },
	{ "commands", "allow", KEY_COMMAND, RULE_CMD_ALLOW, NULL },
	{ "commands", "ask", KEY_COMMAND, RULE_CMD_ASK, NULL },
	{ "commands", "deny", KEY_COMMAND, RULE_CMD_DENY, NULL },
	{ "commands", "denylist", KEY_COMMAND, RULE_CMD_DENYLIST, "write `deny = COMMAND`" },
	{ "commands", "read_only", KEY_SETTING, SET_READ_ONLY, NULL },
	{ "commands", "message", KEY_MESSAGE, 0, NULL },
	{ "commands", "passphrase", KEY_PROOF, 0, NULL },
	{ "network", "mode", KEY_SETTING, SET_NET_MODE, NULL },
	{ "network", "default", KEY_SETTING, SET_NET_DEFAULT, NULL },
	{ "network", "allow", KEY_HOST, RULE_NET_ALLOW, NULL },
	{ "network", "ask", KEY_HOST, RULE_NET_ASK, NULL },
	{ "network", "deny", KEY_HOST, RULE_NET_DENY, NULL },
	{ "network", "core", KEY_HOST, RULE_NET_CORE, "write `allow = HOST`" },
	{ "network", "model", KEY_HOST, RULE_NET_MODEL, "write `allow = HOST`" },
	{ "network", "extra", KEY_HOST, RULE_NET_EXTRA, "write `allow = HOST`" },
	{ "network", "udp", KEY_HOST, RULE_NET_UDP, NULL },
	{ "network", "unix", KEY_SOCKET, RULE_NET_UNIX, NULL },
	{ "network", "bind", KEY_HOST, RULE_NET_BIND, NULL },
	{ "network", "message", KEY_MESSAGE, 0, NULL },
	{ "git", "protect", KEY_BRANCH, RULE_BRANCH, NULL },
	{ "git", "unprotect", KEY_UNPROTECT, 0, NULL },
	{ "git", "message", KEY_MESSAGE, 0, NULL },
	{ "git", "remote", KEY_REMOTE, 0, NULL },
	{ "git", "fetch", KEY_FETCHED, 0, NULL },
	{ "git", "push", KEY_SETTING, SET_PUSH, NULL },
	{ "git", "branch", KEY_PUSHED, 0, NULL },
	{ "changes", "deny", KEY_CHANGE, 0, NULL },
	{ "changes", "max_files", KEY_SETTING, SET_CHANGE_FILES, NULL },
	{ "changes", "max_size", KEY_SETTING, SET_CHANGE_BYTES, NULL },
	{ "tools", "allow", KEY_TOOL, RULE_TOOL_ALLOW, NULL },
	{ "tools", "ask", KEY_TOOL, RULE_TOOL_ASK, NULL },
	{ "tools", "deny", KEY_TOOL, RULE_TOOL_DENY, NULL },
	{ "tools", "message", KEY_MESSAGE, 0, NULL },
	{ "environment", "pass", KEY_ENVIRON, ENVIRON_PASS, NULL },
	{ "environment", "deny", KEY_ENVIRON, ENVIRON_DENY, NULL },
	{ "environment", "set", KEY_ENVIRON, ENVIRON_SET, NULL },
	{ "ledger", "size", KEY_SETTING, SET_LEDGER_SIZE, NULL },
	{ "limits", "memory", KEY_LIMIT, RESOURCE_MEMORY, NULL },
	{ "limits", "cpu", KEY_LIMIT, RESOURCE_CPU, NULL },
	{ "limits", "processes", KEY_LIMIT, RESOURCE_PROCESSES, NULL },
	{ "limits", "files", KEY_LIMIT, RESOURCE_FILES, NULL },
	{ "limits", "file_size", KEY_LIMIT, RESOURCE_FILE_SIZE, NULL },
	{ "limits", "time", KEY_LIMIT, RESOURCE_TIME, NULL },
	{ "limits", "enforce", KEY_LIMIT, LIMITS_ENFORCE, NULL },
};

static const char *const sections[] = { "session", "files",	  "commands", "network", "git", "changes",
					"tools",   "environment", "limits",   "ledger",	 NULL };

static const struct {
	enum setting set;
	const char *word;
	int value;
} words[] = {
	{ SET_MODE, "none", MODE_NONE },
	{ SET_MODE, "read-only", MODE_READ_ONLY },
	{ SET_MODE, "workspace-write", MODE_WORKSPACE_WRITE },
	{ SET_MODE, "danger", MODE_DANGER },
	{ SET_APPROVALS, "ask", APPROVALS_ASK },
	{ SET_APPROVALS, "never", APPROVALS_NEVER },
	{ SET_READS, "notify", READS_NOTIFY },
	{ SET_READS, "floor", READS_FLOOR },
	{ SET_STEPUP, "none", STEPUP_NONE },
	{ SET_STEPUP, "auto", STEPUP_AUTO },
	{ SET_STEPUP, "pam", STEPUP_PAM },
	{ SET_STEPUP, "passphrase", STEPUP_PASSPHRASE },
	{ SET_LAUNCH, "trusted", LAUNCH_TRUSTED },
	{ SET_LAUNCH, "judged", LAUNCH_JUDGED },
	{ SET_LEVEL, "full", LEVEL_FULL },
	{ SET_LEVEL, "strict", LEVEL_STRICT },
	{ SET_GC, "off", GC_OFF },
	{ SET_GC, "own", GC_OWN },
	{ SET_GC, "all", GC_ALL },
	{ SET_PATHS, "any", 0 },
	{ SET_PATHS, "relative", 1 },
	{ SET_HOME, "open", HOME_OPEN },
	{ SET_HOME, "known", HOME_KNOWN },
	{ SET_HOME, "closed", HOME_CLOSED },
	{ SET_CMD_DEFAULT, "allow", VERDICT_ALLOW },
	{ SET_CMD_DEFAULT, "ask", VERDICT_ASK },
	{ SET_CMD_DEFAULT, "deny", VERDICT_DENY },
	{ SET_READ_ONLY, "deny", 0 },
	{ SET_READ_ONLY, "rules", 1 },
	{ SET_NET_MODE, "off", NETWORK_OFF },
	{ SET_NET_MODE, "strict", NETWORK_STRICT },
	{ SET_NET_MODE, "merge", NETWORK_MERGE },
	{ SET_NET_MODE, "replace", NETWORK_REPLACE },
	{ SET_NET_MODE, "open", NETWORK_OPEN },
	{ SET_NET_MODE, "models", NETWORK_MODELS },
	{ SET_NET_DEFAULT, "ask", VERDICT_ASK },
	{ SET_NET_DEFAULT, "deny", VERDICT_DENY },
	{ SET_PUSH, "allow", VERDICT_ALLOW },
	{ SET_PUSH, "ask", VERDICT_ASK },
	{ SET_PUSH, "deny", VERDICT_DENY },
};

static const struct {
	const char *name, *expected;
} settings[SET_COUNT] = {
	[SET_MODE] = { "mode", "none, read-only, workspace-write or danger" },
	[SET_APPROVALS] = { "approvals", "ask or never" },
	[SET_TIMEOUT] = { "timeout", "1s to 24h, as in 120s or 2m" },
	[SET_READS] = { "reads", "notify or floor" },
	[SET_STEPUP] = { "stepup", "none, auto, pam or passphrase" },
	[SET_LAUNCH] = { "launch", "trusted or judged" },
	[SET_LEVEL] = { "level", "full or strict; hooks is chosen by --level hooks alone" },
	[SET_GC] = { "gc", "off, own or all" },
	[SET_EXPIRY] = { "expiry", "1s to 3650d, as in 48h or 7d" },
	[SET_LEDGER_SIZE] = { "size", "1M to 100G, as in 2G" },
	[SET_LOG_SIZE] = { "log_size", "1M to 100G, as in 64M" },
	[SET_PATHS] = { "paths", "any or relative" },
	[SET_HOME] = { "home", "known, closed or open" },
	[SET_CMD_DEFAULT] = { "default", "allow, ask or deny" },
	[SET_READ_ONLY] = { "read_only", "deny or rules" },
	[SET_NET_MODE] = { "mode", "off, models, strict, merge, replace or open" },
	[SET_NET_DEFAULT] = { "default", "ask or deny; to allow every host write `mode = open`" },
	[SET_PUSH] = { "push", "allow, ask or deny" },
	[SET_CHANGE_FILES] = { "max_files", "1 to 100000" },
	[SET_CHANGE_BYTES] = { "max_size", "1K to 1G, as in 4M" },
};

const struct key_def *key_find(const char *section, const char *key)
{
	for (size_t i = 0; i < NELEM(keys); i++)
		if (keys[i].key[0] == key[0] && strcmp(keys[i].key, key) == 0 &&
		    strcmp(keys[i].section, section) == 0)
			return &keys[i];
	return NULL;
}

bool section_known(const char *section)
{
	for (size_t i = 0; sections[i]; i++)
		if (strcmp(sections[i], section) == 0)
			return true;
	return false;
}

const char *section_hint(const char *section, char *buf, size_t size)
{
	const char *near = nearest_word(section, sections);

	if (!near)
		return NULL;
	(void)snprintf(buf, size, "did you mean [%s]?", near);
	return buf;
}

const char *key_hint(const char *section, const char *key, char *buf, size_t size)
{
	const char *candidates[NELEM(keys) + 1] = { NULL };
	const char *near;
	size_t n = 0;

	if (strcmp(key, "match") == 0 || strcmp(key, "not_match") == 0)
		return "`pale explain` tells what a rule decides, by its exit status too";
	for (size_t i = 0; i < NELEM(keys); i++)
		if (strcmp(keys[i].section, section) == 0)
			candidates[n++] = keys[i].key;
	near = nearest_word(key, candidates);
	if (near) {
		(void)snprintf(buf, size, "did you mean `%s`?", near);
		return buf;
	}
	for (size_t i = 0; i < NELEM(keys); i++) {
		if (strcmp(keys[i].key, key) != 0)
			continue;
		if (keys[i].section[0] == '\0')
			(void)snprintf(buf, size, "`%s =` stands above the first section", key);
		else
			(void)snprintf(buf, size, "`%s =` stands in [%s]", key, keys[i].section);
		return buf;
	}
	return NULL;
}

/* The seconds of "120s", "2m" or "24h", or -EINVAL. */
static int parse_duration(const char *word)
{
	long n = 0;
	size_t i = 0;
	int unit;

	for (; word[i] >= '0' && word[i] <= '9' && i < 6; i++)
		n = n * 10 + (word[i] - '0');
	if (i == 0 || word[i] == '\0' || word[i + 1] != '\0')
		return -EINVAL;
	unit = word[i] == 's' ? 1 : word[i] == 'm' ? 60 : word[i] == 'h' ? 3600 : 0;
	n *= unit;
	return n >= 1 && n <= 24 * 3600 ? (int)n : -EINVAL;
}

/* A number with at most one unit letter of `units` behind it, each 1024 times the one before; -EINVAL. */
static int parse_amount(const char *word, const char *units, long max)
{
	char *end;
	long n = *word >= '1' && *word <= '9' ? strtol(word, &end, 10) : 0;
	const char *unit;

	if (n <= 0 || n > max)
		return -EINVAL;
	unit = *end ? strchr(units, *end) : NULL;
	if (*end && (!unit || end[1]))
		return -EINVAL;
	for (; unit && unit >= units && n <= max; unit--)
		n *= 1024;
	return n <= max ? (int)n : -EINVAL;
}

static int parse_files(const char *word)
{
	return parse_amount(word, "", 100000);
}

static int parse_bytes(const char *word)
{
	int n = parse_amount(word, "KMG", 1 << 30);

	return n >= 1024 ? n : -EINVAL;
}

static const struct {
	enum setting set;
	int (*parse)(const char *word);
} numbers[] = {
	{ SET_TIMEOUT, parse_duration },   { SET_EXPIRY, expiry_parse },
	{ SET_LOG_SIZE, log_size_parse },  { SET_LEDGER_SIZE, log_size_parse },
	{ SET_CHANGE_FILES, parse_files }, { SET_CHANGE_BYTES, parse_bytes },
};

int setting_parse(enum setting set, const char *word, int *ret_value, const char **ret_expected)
{
	*ret_expected = settings[set].expected;
	for (size_t i = 0; i < NELEM(numbers); i++) {
		if (numbers[i].set == set) {
			int n = numbers[i].parse(word);

			if (n > 0)
				*ret_value = n;
			return n > 0 ? 0 : -EINVAL;
		}
	}
	for (size_t i = 0; i < NELEM(words); i++) {
		if (words[i].set == set && strcmp(words[i].word, word) == 0) {
			*ret_value = words[i].value;
			return 0;
		}
	}
	return -EINVAL;
}

const char *setting_name(enum setting set)
{
	return settings[set].name;
}

#define MIN3(a, b, c) ((a) < (b) ? ((a) < (c) ? (a) : (c)) : (b) < (c) ? (b) : (c))

/* The number of edits (insert, drop, change, swap neighbours) from a to b, which are both short. */
static size_t distance(const char *a, const char *b)
{
	size_t row[3][64] = { { 0 } }, na = strlen(a), nb = strlen(b);

	if (na >= 64 || nb >= 64)
		return SIZE_MAX;
	for (size_t j = 0; j <= nb; j++)
		row[0][j] = j;
	for (size_t i = 1; i <= na; i++) {
		size_t *cur = row[i % 3], *prev = row[(i + 2) % 3], *before = row[(i + 1) % 3];

		cur[0] = i;
		for (size_t j = 1; j <= nb; j++) {
			cur[j] = MIN3(cur[j - 1] + 1, prev[j] + 1, prev[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    before[j - 2] + 1 < cur[j])
				cur[j] = before[j - 2] + 1;
		}
	}
	return row[na % 3][nb];
}

const char *nearest_word(const char *word, const char *const *candidates)
{
	size_t best = SIZE_MAX, limit = (strlen(word) + 1) / 3;
	const char *near = NULL;

	for (size_t i = 0; candidates[i]; i++) {
		size_t n = distance(word, candidates[i]);

		if (n < best && n <= limit && n < strlen(candidates[i])) {
			best = n;
			near = candidates[i];
		}
	}
	return near;
}
