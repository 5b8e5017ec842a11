/*
 * What the environment of a git says of where it works and of who carries its pushes.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "policy/base/util.h"
#include "policy/system/cleanup.h"

#include "tools/environment/environment.h"

#include "gitbranch.h"

static bool starts_with(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

static bool starts_with_one(const char *s, const char *const *prefixes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (starts_with(s, prefixes[i]))
			return true;
	return false;
}

/* What moves git's repository. */
static bool directs_git(const char *entry)
{
	static const char *const names[] = { "GIT_DIR=", "GIT_COMMON_DIR=", "GIT_NAMESPACE=" };

	return starts_with_one(entry, names, NELEM(names));
}

/*
 * What has another program, or a proxy, carry a push, or another server taken for the one that its URL names
 * (git(1), libcurl-env(3)): `git config` calls it core.sshCommand, core.gitProxy, http.proxy, http.sslVerify.
 */
static bool carries(const char *entry)
{
	static const char *const names[] = {
		"GIT_SSH=",	  "GIT_SSH_COMMAND=", "GIT_PROXY_COMMAND=", "GIT_SSL_",
		"GIT_EXEC_PATH=", "http_proxy=",      "HTTP_PROXY=",	    "https_proxy=",
		"HTTPS_PROXY=",	  "all_proxy=",	      "ALL_PROXY="
	};

	return starts_with_one(entry, names, NELEM(names));
}

/* The session began with it, so it is the operator's own. */
static bool is_first(const struct environment *first, const char *entry)
{
	for (size_t i = 0; first && i < first->n; i++) {
		const struct environment_entry *e = &first->list[i];
		size_t n = strlen(e->name);

		if (e->given && strncmp(entry, e->name, n) == 0 && entry[n] == '=')
			return strcmp(entry + n + 1, e->value) == 0;
	}
	return false;
}

#define NO_GLOBAL "GIT_CONFIG_GLOBAL=/dev/null"

/* Two ways of saying that /etc/gitconfig is not read. */
static bool is_no_system(const char *entry)
{
	return strcmp(entry, "GIT_CONFIG_SYSTEM=/dev/null") == 0 ||
	       strcmp(entry, "GIT_CONFIG_NOSYSTEM=1") == 0;
}

/* Of the pairs that GIT_CONFIG_COUNT counts, those with keys that lead a push nowhere else; agents give them.
 */
static bool is_harmless_pair(const char *entry)
{
	static const char *const keys[] = { "core.fsmonitor", "core.pager", "credential.", "safe.", "user." };
	const char *key = strchr(entry, '=');
	bool harmless = starts_with(entry, "GIT_CONFIG_COUNT=") || starts_with(entry, "GIT_CONFIG_VALUE_");

	for (size_t i = 0; key && starts_with(entry, "GIT_CONFIG_KEY_") && i < NELEM(keys); i++)
		harmless |= strncasecmp(key + 1, keys[i], strlen(keys[i])) == 0;
	return harmless;
}

/* What adds to its configuration or moves that, whose files are looked for below the operator's home. */
static bool configures_git(const char *entry, const char *home)
{
	return (starts_with(entry, "GIT_CONFIG") && strcmp(entry, NO_GLOBAL) != 0 && !is_no_system(entry) &&
		!is_harmless_pair(entry)) ||
	       (starts_with(entry, "HOME=") && strcmp(entry + strlen("HOME="), home) != 0);
}

/* False where it says so twice, or does not fit. */
static bool note_config_home(struct git_env *e, const char *entry)
{
	static const char key[] = "XDG_CONFIG_HOME=";
	bool is_new = !e->config_home[0];

	if (!starts_with(entry, key))
		return true;
	snprintf(e->config_home, sizeof(e->config_home), "%s", entry + sizeof(key) - 1);
	return is_new && strlen(entry) < GIT_ENV_WORD - 1;
}

struct git_env git_env_of(const struct image *img)
{
	struct git_env e = { .home = image_str(img, img->h->home) };

	/* At level hooks a command is judged by its words alone. */
	if (img->h->level > LEVEL_HOOKS) {
		e.began = img->h->began;
		e.unborn = img->h->git_unborn ? image_str(img, img->h->workspace) : NULL;
	}
	return e;
}

void git_env_note(struct git_env *e, const char *entry)
{
	e->elsewhere |= directs_git(entry);
	/* The session's own, which includes that of the machine: ghosts.c. */
	e->config |= configures_git(entry, e->home) &&
		     !(starts_with(entry, "GIT_CONFIG_SYSTEM=") && is_first(e->first, entry));
	e->config |= !note_config_home(e, entry);
	e->carried |= carries(entry) && !is_first(e->first, entry);
	e->no_global |= strcmp(entry, NO_GLOBAL) == 0;
	e->no_system |= is_no_system(entry);
}

void git_env_gather(struct git_env *e, const struct environment *env)
{
	for (size_t i = 0; i < env->n; i++) {
		_cleanup_free_ char *entry = NULL;

		if (!env->list[i].given)
			continue;
		if (asprintf(&entry, "%s=%s", env->list[i].name, env->list[i].value) < 0) {
			entry = NULL;
			e->elsewhere = true;
			return;
		}
		git_env_note(e, entry);
	}
}
