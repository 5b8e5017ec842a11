/*
 * codex's permission profiles: [permissions.NAME...], the one that default_permissions names and those that
 * it extends.  Where sandbox_mode stands in the file they do not count, in codex neither.
 */
#include <string.h>

#include "codex.h"

#define ROOTS	  ":workspace_roots"
#define ROOTS_OLD ":project_roots"
#define WORKSPACE ":workspace"
#define READ_ONLY ":read-only"
#define NO_LIMITS ":danger-full-access"

static bool is_word(const json_t *value, const char *word)
{
	return json_is_string(value) && strcmp(json_string_value(value), word) == 0;
}

/* --- which profiles hold --- */

static const char *base_of(const struct toml *t, const char *name)
{
	for (size_t i = 0; i < t->n_bases; i++)
		if (strcmp(t->bases[i].name, name) == 0)
			return t->bases[i].base;
	return NULL;
}

/* The chosen one, or one beneath it. */
static bool holds(const struct toml *t, const char *name)
{
	const char *at = t->permissions[0] && !t->legacy ? t->permissions : NULL;

	for (size_t i = 0; at && i <= PROFILES_MAX; i++) {
		if (strcmp(at, name) == 0)
			return true;
		at = base_of(t, at);
	}
	return false;
}

void permissions_begin(struct toml *t)
{
	static const char from[] = "default_permissions";

	if (!t->permissions[0] || t->legacy)
		return;
	t->sandboxed = true;
	if (holds(t, NO_LIMITS)) {
		carry_tell(t->im, TOLD_STRICTER, from,
			   "no file opens everything; mode stays workspace-write");
		carry_setting(t->im, "session", "mode", from, "workspace-write");
		t->roots = t->reads = true;
	} else if (holds(t, READ_ONLY)) {
		/* A profile on it may name what is written all the same. */
		carry_setting(t->im, "session", "mode", from,
			      strcmp(t->permissions, READ_ONLY) == 0 ? "read-only" : "workspace-write");
		t->roots = strcmp(t->permissions, READ_ONLY) == 0;
		t->reads = true;
	} else {
		carry_setting(t->im, "session", "mode", from, "workspace-write");
		t->roots = t->reads = holds(t, WORKSPACE);
	}
}

/* --- files --- */

static const char *key_of(const json_t *access, bool closed)
{
	if (is_word(access, "write"))
		return "write";
	if (is_word(access, "read"))
		return closed ? "read" : "readonly";
	return is_word(access, "deny") || is_word(access, "none") ? "deny" : NULL;
}

static void place(struct toml *t, const char *from, const char *text, const json_t *access, bool closed)
{
	const char *key = key_of(access, closed);
	_cleanup_free_ char *path = path_of(text);

	if (!key)
		carry_tell(t->im, TOLD_LOST, from, "is neither read nor write nor deny: not understood");
	else if (path)
		(void)carry_rule(t->im, "files", key, from, path);
}

static void in_roots(struct toml *t, const char *from, const char *path, const json_t *access)
{
	if (strcmp(path, ".") == 0)
		t->roots = is_word(access, "write");
	if (strcmp(path, ".") != 0 || !is_word(access, "write"))
		place(t, from, path, access, false);
}

static void all_roots(struct toml *t, const char *from, const json_t *value)
{
	const char *path;
	json_t *access;

	if (!json_is_object(value)) {
		in_roots(t, from, ".", value);
		return;
	}
	json_object_foreach((json_t *)value, path, access) in_roots(t, from, path, access);
}

static void whole_disk(struct toml *t, const char *from, const json_t *value)
{
	if (is_word(value, "write"))
		carry_tell(t->im, TOLD_STRICTER, from, "no file opens everything: name what is written");
	else if (!is_word(value, "read"))
		carry_tell(t->im, TOLD_LOST, from, "what programs are made of (/usr, /etc) stays readable");
	t->reads = t->reads || is_word(value, "read") || is_word(value, "write");
}

static void slash_tmp(struct toml *t, const char *from, const json_t *value)
{
	place(t, from, "/tmp", value, false);
}

static void own_tmp(struct toml *t, const char *from, const json_t *value)
{
	(void)value;
	carry_tell(t->im, TOLD_NOTE, from, "a session has a TMPDIR of its own");
}

static void programs(struct toml *t, const char *from, const json_t *value)
{
	(void)t;
	(void)from;
	(void)value;
}

static const struct {
	const char *name;
	void (*fn)(struct toml *t, const char *from, const json_t *value);
} specials[] = {
	{ ":root", whole_disk }, { ":minimal", programs }, { ":slash_tmp", slash_tmp },
	{ ":tmpdir", own_tmp },	 { ROOTS, all_roots },	   { ROOTS_OLD, all_roots },
};

static void on_filesystem(struct toml *t, const char *key, const char *from, const json_t *value)
{
	for (size_t i = 0; i < NELEM(specials); i++)
		if (strcmp(specials[i].name, key) == 0) {
			specials[i].fn(t, from, value);
			return;
		}
	if (key[0] == ':')
		carry_tell(t->im, TOLD_LOST, from, "not understood");
	else
		place(t, from, key, value, !t->reads);
}

static void on_roots(struct toml *t, const char *key, const char *from, const json_t *value)
{
	in_roots(t, from, key, value);
}

/* More directories that are worked in. */
static void on_more_roots(struct toml *t, const char *key, const char *from, const json_t *value)
{
	_cleanup_free_ char *path = json_is_true(value) ? path_of(key) : NULL;

	if (!path)
		return;
	(void)carry_rule(t->im, "files", "write", from, path);
	carry_tell(t->im, TOLD_LOST, from,
		   "is written; what " ROOTS " keeps closed holds in the workspace alone");
}

/* --- the network --- */

static void name_hosts(struct toml *t, const char *from)
{
	if (t->named)
		return;
	t->named = t->network = true;
	carry_setting(t->im, "network", "mode", from, "replace");
	carry_setting(t->im, "network", "default", from, "deny");
}

static void on_domain(struct toml *t, const char *key, const char *from, const json_t *value)
{
	bool allow = is_word(value, "allow");
	const char *rule = allow ? "allow" : "deny";

	if (!allow && !is_word(value, "deny")) {
		carry_tell(t->im, TOLD_LOST, from, "is neither allow nor deny: not understood");
		return;
	}
	if (allow && strcmp(key, "*") == 0) {
		t->named = t->network = true;
		carry_setting(t->im, "network", "mode", from, "open");
		return;
	}
	if (allow)
		name_hosts(t, from);
	/* `**.x` is x and what is below it. */
	if (strncmp(key, "**.", 3) == 0) {
		(void)carry_rule(t->im, "network", rule, from, key + 3);
		key++;
	}
	(void)carry_rule(t->im, "network", rule, from, key);
}

static void on_socket(struct toml *t, const char *key, const char *from, const json_t *value)
{
	if (is_word(value, "allow"))
		(void)carry_rule(t->im, "network", "unix", from, key);
}

static void on_network(struct toml *t, const char *key, const char *from, const json_t *value)
{
	if (strcmp(key, "enabled") == 0) {
		if (!t->named)
			codex_network(t, from, value);
	} else if (strcmp(key, "mode") == 0) {
		if (is_word(value, "limited"))
			carry_tell(t->im, TOLD_LOST, from, "hosts are judged here, not the methods of HTTP");
	} else if (strcmp(key, "domains") == 0 || strcmp(key, "unix_sockets") == 0) {
		const char *name;
		json_t *word;

		json_object_foreach((json_t *)value, name,
				    word)(key[0] == 'd' ? on_domain : on_socket)(t, name, from, word);
	} else if (!json_is_false(value)) {
		carry_tell(t->im, TOLD_NOTE, from, "is about how that program does its work");
	}
}

/* --- the tables --- */

static void on_profile(struct toml *t, const char *key, const char *from, const json_t *value)
{
	(void)value;
	if (strcmp(key, "extends") != 0 && strcmp(key, "description") != 0)
		carry_tell(t->im, TOLD_LOST, from, "not understood");
}

static const struct {
	const char *name; /* behind [permissions.NAME */
	void (*fn)(struct toml *t, const char *key, const char *from, const json_t *value);
} tables[] = {
	{ "", on_profile },
	{ ".workspace_roots", on_more_roots },
	{ ".filesystem", on_filesystem },
	{ ".filesystem.\"" ROOTS "\"", on_roots },
	{ ".filesystem.\"" ROOTS_OLD "\"", on_roots },
	{ ".network", on_network },
	{ ".network.domains", on_domain },
	{ ".network.unix_sockets", on_socket },
};

void permissions_pair(struct toml *t, const char *key, const char *from, const json_t *value)
{
	const char *rest = t->table + strlen("permissions.");
	size_t n = strcspn(rest, ".");
	_cleanup_free_ char *name = strndup(rest, n);

	if (!name || !holds(t, name)) {
		carry_tell(t->im, TOLD_NOTE, from,
			   t->legacy ? "sandbox_mode is there, so profiles do not count"
				     : "`default_permissions =` does not choose it: not carried over");
		return;
	}
	t->seen = true;
	for (size_t i = 0; value && i < NELEM(tables); i++)
		if (strcmp(tables[i].name, rest + n) == 0) {
			tables[i].fn(t, key, from, value);
			return;
		}
	carry_tell(t->im, TOLD_LOST, from, "not understood");
}

void permissions_end(struct toml *t)
{
	if (!t->permissions[0] || t->legacy)
		return;
	if (t->permissions[0] != ':' && !t->seen)
		carry_tell(t->im, TOLD_LOST, "default_permissions",
			   "there is no such profile: nothing is opened");
	if (!t->roots) {
		(void)carry_rule(t->im, "files", "readonly", "(not writable in the profile)", ".");
		carry_tell(t->im, TOLD_NOTE, "default_permissions", "the workspace is readonly");
	}
	if (!t->reads) {
		(void)carry_rule(t->im, "files", "deny", "(not readable in the profile)", "~");
		carry_tell(t->im, TOLD_LOST, "default_permissions",
			   "the home directory is closed; outside of it reading stays free but for secrets");
	}
}
