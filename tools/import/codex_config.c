/*
 * codex's config.toml: the keys of its sandbox and of its approvals, read line by line.
 *
 * Tables, strings, booleans, lists of strings and tables in braces are all that these keys use; what else
 * stands in the file is told by its key and left out.  It is read twice: which profiles hold is known once
 * all of it was seen.
 */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "codex.h"

static void skip_line(struct toml *t)
{
	t->p += strcspn(t->p, "\n");
	if (*t->p) {
		t->p++;
		t->line++;
	}
}

/* Blanks, comments and, inside a list, ends of lines. */
void toml_skip_blanks(struct toml *t, bool lines)
{
	for (;; t->p++) {
		if (*t->p == '#')
			t->p += strcspn(t->p, "\n");
		if (*t->p == '\n' && lines)
			t->line++;
		else if (*t->p != ' ' && *t->p != '\t' && *t->p != '\r')
			return;
	}
}

static json_t *take_string(struct toml *t)
{
	char quote = *t->p++;
	_cleanup_free_ char *buf = malloc(strlen(t->p) + 1);
	size_t n = 0;

	if (!buf || (t->p[0] == quote && t->p[1] == quote))
		return NULL;
	for (; *t->p != quote; t->p++) {
		if (*t->p == '\0' || *t->p == '\n')
			return NULL;
		if (quote == '"' && *t->p == '\\' && (!t->p[1] || !strchr("\\\"", *++t->p)))
			return NULL;
		buf[n++] = *t->p;
	}
	t->p++;
	return json_stringn(buf, n);
}

static json_t *take_list(struct toml *t)
{
	json_t *list = json_array();

	t->p++;
	for (;;) {
		json_t *item;

		toml_skip_blanks(t, true);
		if (*t->p == ']')
			break;
		item = *t->p == '"' || *t->p == '\'' ? take_string(t) : NULL;
		if (!item || json_array_append_new(list, item) < 0) {
			json_decref(list);
			return NULL;
		}
		toml_skip_blanks(t, true);
		if (*t->p == ',')
			t->p++;
	}
	t->p++;
	return list;
}

bool toml_key(struct toml *t, char key[TOML_NAME])
{
	size_t n = strcspn(t->p, "= \t\n{},#[]");

	if (*t->p == '"' || *t->p == '\'') {
		_cleanup_json_ json_t *name = take_string(t);

		n = name ? json_string_length(name) : 0;
		if (n == 0 || n >= TOML_NAME)
			return false;
		memcpy(key, json_string_value(name), n + 1);
		return true;
	}
	if (n == 0 || n >= TOML_NAME)
		return false;
	memcpy(key, t->p, n);
	key[n] = '\0';
	t->p += n;
	return true;
}

static json_t *take_table(struct toml *t)
{
	json_t *table = json_object();
	char key[TOML_NAME];

	t->p++;
	for (;;) {
		json_t *value = NULL;

		toml_skip_blanks(t, true);
		if (*t->p == '}')
			break;
		if (toml_key(t, key)) {
			toml_skip_blanks(t, false);
			if (*t->p == '=') {
				t->p++;
				toml_skip_blanks(t, false);
				/* Not deeper: nothing here is. */
				value = *t->p == '{' ? NULL : toml_value(t);
			}
		}
		if (!value || json_object_set_new(table, key, value) < 0) {
			json_decref(table);
			return NULL;
		}
		toml_skip_blanks(t, true);
		if (*t->p == ',')
			t->p++;
	}
	t->p++;
	return table;
}

json_t *toml_value(struct toml *t)
{
	if (*t->p == '"' || *t->p == '\'')
		return take_string(t);
	if (*t->p == '[')
		return take_list(t);
	if (*t->p == '{')
		return take_table(t);
	if (strncmp(t->p, "true", 4) == 0) {
		t->p += 4;
		return json_true();
	}
	if (strncmp(t->p, "false", 5) == 0) {
		t->p += 5;
		return json_false();
	}
	return NULL;
}

/* --- what the keys mean --- */

static bool is_word(const json_t *value, const char *word)
{
	return json_is_string(value) && strcmp(json_string_value(value), word) == 0;
}

void codex_mode(struct toml *t, const char *from, const json_t *value)
{
	t->sandboxed = true;
	if (is_word(value, "read-only") || is_word(value, "workspace-write"))
		carry_setting(t->im, "session", "mode", from, json_string_value(value));
	else if (is_word(value, "danger-full-access"))
		carry_tell(t->im, TOLD_STRICTER, from,
			   "no file opens everything; mode stays workspace-write");
	else
		carry_tell(t->im, TOLD_LOST, from, "not understood");
}

static void on_approvals(struct toml *t, const char *from, const json_t *value)
{
	/* The profile's word over that of the file. */
	if (t->never && !is_word(value, "never"))
		carry_setting(t->im, "session", "approvals", from, "ask");
	t->never = is_word(value, "never");
	if (t->never)
		carry_setting(t->im, "session", "approvals", from, "never");
	else if (is_word(value, "untrusted"))
		carry_setting(t->im, "commands", "default", from, "ask");
	else if (is_word(value, "on-request") || is_word(value, "on-failure"))
		carry_tell(t->im, TOLD_NOTE, from,
			   "commands run inside the walls; what they may not is denied or asked");
	else
		carry_tell(t->im, TOLD_LOST, from, "not understood");
}

static void one_root(struct import *im, const char *from, const char *text)
{
	_cleanup_free_ char *path = path_of(text);

	if (path)
		(void)carry_rule(im, "files", "write", from, path);
}

static void on_roots(struct toml *t, const char *from, const json_t *value)
{
	strings_read(t->im, from, value, one_root);
}

void codex_network(struct toml *t, const char *from, const json_t *value)
{
	t->network = true;
	if (flag_read(t->im, from, value)) {
		carry_setting(t->im, "network", "mode", from, "open");
		return;
	}
	carry_setting(t->im, "network", "mode", from, "strict");
	carry_tell(t->im, TOLD_WEAKER, from,
		   "the agent is inside the fence too and needs its model, so the core hosts of "
		   "the "
		   "preset are left");
}

static void on_no_tmp(struct toml *t, const char *from, const json_t *value)
{
	if (flag_read(t->im, from, value))
		(void)carry_rule(t->im, "files", "readonly", from, "/tmp");
}

static void on_no_tmpdir(struct toml *t, const char *from, const json_t *value)
{
	if (flag_read(t->im, from, value))
		carry_tell(t->im, TOLD_NOTE, from, "a session has a TMPDIR of its own");
}

static const struct {
	const char *table, *key;
	void (*fn)(struct toml *t, const char *from, const json_t *value);
} keys[] = {
	{ "", "sandbox_mode", codex_mode },
	{ "", "approval_policy", on_approvals },
	{ "sandbox_workspace_write", "writable_roots", on_roots },
	{ "sandbox_workspace_write", "network_access", codex_network },
	{ "sandbox_workspace_write", "exclude_slash_tmp", on_no_tmp },
	{ "sandbox_workspace_write", "exclude_tmpdir_env_var", on_no_tmpdir },
};

/* Tables that say what may be done, in ways that are not read here. */
static bool is_permission(const char *table, const char *key)
{
	static const char *const names[] = { "permissions",
					     "default_permissions",
					     "shell_environment_policy",
					     "sandbox_workspace_write",
					     "profiles",
					     "network",
					     "sandbox" };
	const char *name = table[0] ? table : key;

	for (size_t i = 0; i < NELEM(names); i++)
		if (strncmp(name, names[i], strlen(names[i])) == 0 &&
		    (name[strlen(names[i])] == '\0' || name[strlen(names[i])] == '.'))
			return true;
	return strcmp(key, "sandbox_mode") == 0 || strcmp(key, "approval_policy") == 0;
}

/* The first reading. */
static void choose(struct toml *t, const char *key, const json_t *value)
{
	const char *word = json_is_string(value) ? json_string_value(value) : "";
	struct toml_base *b = &t->bases[t->n_bases];

	t->legacy = t->legacy || strcmp(key, "sandbox_mode") == 0;
	if (!t->table[0] && strcmp(key, "profile") == 0)
		(void)snprintf(t->profile, sizeof(t->profile), "%s", word);
	else if (!t->table[0] && strcmp(key, "default_permissions") == 0)
		(void)snprintf(t->permissions, sizeof(t->permissions), "%s", word);
	else if (strncmp(t->table, "permissions.", 12) == 0 && strcmp(key, "extends") == 0 &&
		 t->n_bases < PROFILES_MAX) {
		(void)snprintf(b->name, sizeof(b->name), "%s", t->table + 12);
		(void)snprintf(b->base, sizeof(b->base), "%s", word);
		t->n_bases++;
	}
}

/* Of the profile that holds, its keys are those of the file. */
static const char *table_of(const struct toml *t)
{
	bool chosen = strncmp(t->table, "profiles.", 9) == 0 && strcmp(t->table + 9, t->profile) == 0;

	return chosen ? "" : t->table;
}

static void one_meaning(struct toml *t, const char *key, const char *from, const json_t *value)
{
	const char *table = table_of(t);

	for (size_t i = 0; i < NELEM(keys); i++)
		if (value && strcmp(keys[i].table, table) == 0 && strcmp(keys[i].key, key) == 0) {
			keys[i].fn(t, from, value);
			return;
		}
	if (strncmp(table, "permissions.", 12) == 0)
		permissions_pair(t, key, from, value);
	else if (!table[0] && (strcmp(key, "profile") == 0 || strcmp(key, "default_permissions") == 0))
		return;
	else if (strncmp(table, "profiles.", 9) == 0)
		carry_tell(t->im, TOLD_NOTE, from, "`profile =` does not choose it: not carried over");
	else if (is_permission(table, key))
		carry_tell(t->im, TOLD_LOST, from, "not understood");
}

static void one_pair(struct toml *t)
{
	_cleanup_json_ json_t *value = NULL;
	unsigned line = t->line;
	char key[TOML_NAME], from[300];

	if (!toml_key(t, key)) {
		if (!t->choosing)
			carry_tell(t->im, TOLD_LOST, "config.toml", "line %u is not understood", line);
		return;
	}
	toml_skip_blanks(t, false);
	(void)snprintf(from, sizeof(from), "%s%s%s (line %u)", t->table, t->table[0] ? "." : "", key, line);
	if (*t->p == '=') {
		t->p++;
		toml_skip_blanks(t, false);
		value = toml_value(t);
	}
	if (t->choosing)
		choose(t, key, value);
	else
		one_meaning(t, key, from, value);
}

static void one_table(struct toml *t)
{
	size_t n = strcspn(t->p, "\n"), len = n;

	while (len > 0 && t->p[len - 1] != ']')
		len--;
	(void)snprintf(t->table, sizeof(t->table), "%.*s", len > 2 ? (int)(len - 2) : 0, t->p + 1);
}

static void read_all(struct toml *t, const char *text)
{
	t->p = text;
	t->line = 1;
	t->table[0] = '\0';
	while (*t->p && !t->im->error) {
		toml_skip_blanks(t, false);
		if (*t->p == '[')
			one_table(t);
		else if (*t->p != '\n' && *t->p != '\0')
			one_pair(t);
		skip_line(t);
	}
}

int read_codex_config(struct import *im, const char *text)
{
	struct toml t = { .im = im, .choosing = true };

	im->commands = im->files = im->hosts = ORDER_STRICTEST;
	carry_setting(im, "commands", "default", "(what its sandbox holds runs)", "allow");
	read_all(&t, text);
	t.choosing = false;
	permissions_begin(&t);
	read_all(&t, text);
	permissions_end(&t);
	if (!t.sandboxed)
		carry_setting(im, "session", "mode", "(codex's default)", "workspace-write");
	if (!t.network)
		codex_network(&t, "(codex's default)", json_false());
	return 0;
}
