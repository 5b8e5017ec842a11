/*
 * The gate of a session (pale-git(7)): prepared before the agent starts, since ghosts are the remotes that
 * stood then.
 */
#include "gate_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "policy/base/util.h"
#include "policy/parse/parse.h"

#include "tools/base/installed.h"
#include "tools/base/output.h"
#include "tools/base/outside.h"
#include "tools/base/paths.h"
#include "tools/environment/environment.h"

#include "remotes.h"

/*
 * Of the operator's environment, what its git needs to reach the remotes as it does outside: where its
 * configuration is, its key agents and its proxies.  Nothing that names a program to run.
 */
static const char *const kept[] = {
	"HOME",
	"USER",
	"LOGNAME",
	"LANG",
	"LC_ALL",
	"TZ",
	"XDG_CONFIG_HOME",
	"XDG_RUNTIME_DIR",
	"XDG_DATA_HOME",
	"XDG_CACHE_HOME",
	"DBUS_SESSION_BUS_ADDRESS",
	"SSH_AUTH_SOCK",
	"GNUPGHOME",
	"GIT_CONFIG_GLOBAL",
	"GIT_SSL_CAINFO",
	"GIT_SSL_CAPATH",
	"SSL_CERT_FILE",
	"SSL_CERT_DIR",
	"http_proxy",
	"https_proxy",
	"HTTPS_PROXY",
	"no_proxy",
	"NO_PROXY",
	"all_proxy",
	"ALL_PROXY",
	"GH_TOKEN",
	"GITHUB_TOKEN",
};

static int keep_variable(char **envp, size_t *n, const char *name, const char *value)
{
	if (asprintf(&envp[*n], "%s=%s", name, value) < 0)
		return -ENOMEM;
	(*n)++;
	return 0;
}

/* The directories of PATH where a session cannot put a program of its own. */
static char *safe_path(const struct image *img)
{
	const char *path = getenv("PATH"), *at = path ? path : "/usr/bin:/bin";
	char *safe = calloc(1, strlen(at) + 1);

	while (safe && *at) {
		size_t n = strcspn(at, ":");
		char dir[PATH_MAX];

		if (n < sizeof(dir) && *at == '/') {
			memcpy(dir, at, n);
			dir[n] = '\0';
			if (outside_is(img, dir)) {
				strcat(safe, *safe ? ":" : "");
				strcat(safe, dir);
			}
		}
		at += n + (at[n] == ':');
	}
	return safe;
}

/* A configuration that a session could have written would run programs of its own. */
static bool is_kept(const struct image *img, const char *name)
{
	const char *value = getenv(name);
	char real[PATH_MAX];

	return value && (strcmp(name, "GIT_CONFIG_GLOBAL") != 0 ||
			 (realpath(value, real) && outside_is(img, real) && outside_is(img, value)));
}

static int make_envp(struct gate_parts *g, const struct image *img)
{
	char *path = safe_path(img);
	size_t n = 0;
	int e;

	g->envp = calloc(NELEM(kept) + 2, sizeof(*g->envp));
	e = g->envp && path ? keep_variable(g->envp, &n, "PATH", path) : -ENOMEM;
	free(path);
	for (size_t i = 0; e == 0 && i < NELEM(kept); i++)
		if (is_kept(img, kept[i]))
			e = keep_variable(g->envp, &n, kept[i], getenv(kept[i]));
	return e;
}

int gate_find(struct gate_parts *g, const struct gate_source *from, struct environment *env)
{
	const char *config = environment_get(env, "XDG_CONFIG_HOME");
	bool stands = from->stands && config && from->installed->gate[0];
	int e;

	g->from = *from;
	e = ghosts_find(&g->ghosts, from->bundle);
	if (e < 0)
		return e;
	e = remotes_known(&g->ghosts, from->policy, from->dirs->state, from->bundle->workspace, from->cloned,
			  stands && !from->quiet);
	if (e < 0)
		talk("the remotes cannot be written down in %s/gate: %s", from->dirs->state, strerror(-e));
	if (e < 0 || !stands) {
		ghosts_done(&g->ghosts);
		return e;
	}
	if (g->ghosts.n == 0)
		return 0;
	e = ghosts_tell(&g->ghosts, config, env);
	if (e == 0)
		e = ghosts_write(&g->ghosts, config, from->installed->remote);
	if (e == -EEXIST)
		talk("no gate for git: GIT_CONFIG_SYSTEM or GIT_CONFIG_NOSYSTEM is set");
	else if (e < 0)
		talk("git's configuration of the session cannot be written to %s/pale: %s", config,
		     strerror(-e));
	return e == -EEXIST ? 0 : e;
}

static json_t *words(const struct word_list *l)
{
	json_t *a = json_array();

	for (size_t i = 0; a && i < l->n; i++)
		(void)json_array_append_new(a, json_text(l->list[i]));
	return a;
}

static json_t *fetched(const struct policy *p)
{
	return p->fetched.n ? words(&p->fetched) : json_pack("[ss]", "refs/heads/*", "refs/tags/*");
}

static json_t *protected(const struct policy *p)
{
	json_t *a = json_array();

	for (size_t i = 0; a && i < p->n_rules; i++)
		if (p->rules[i].kind == RULE_BRANCH)
			(void)json_array_append_new(a, json_text(p->rules[i].pattern));
	return a;
}

const struct gate_setup *gate_setup_of(struct gate_parts *g, const struct image *img, const char *git)
{
	const struct gate_source *from = &g->from;
	const struct policy *p = from->policy;

	if (g->ghosts.n == 0)
		return NULL;
	g->setup = (struct gate_setup){ .ghosts = &g->ghosts,
					.program = from->installed->gate,
					.secrets_fd = from->secrets_fd };
	if (make_envp(g, img) == 0)
		g->setup.policy = json_pack(
			"{ss, ss, ss, ss, ss, so, so, so, si, si}", "session", from->session, "agent",
			from->bundle->agent ? from->bundle->agent : "", "state", from->dirs->state, "git",
			git ? git : "", "branch", p->branch ? p->branch : "session/{id}/{branch}", "fetch",
			fetched(p), "protect", protected(p), "deny", words(&p->change_deny), "max_files",
			(int)p->s.change_files, "max_size", (int)p->s.change_bytes);
	g->setup.envp = g->envp;
	if (g->setup.policy)
		return &g->setup;
	talk("no gate for git: out of memory");
	return NULL;
}

void gate_done(struct gate_parts *g)
{
	for (size_t i = 0; g->envp && g->envp[i]; i++)
		free(g->envp[i]);
	free(g->envp);
	json_decref(g->setup.policy);
	ghosts_done(&g->ghosts);
	*g = (struct gate_parts){ .envp = NULL };
}
