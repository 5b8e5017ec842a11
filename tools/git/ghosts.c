/*
 * Which remotes are ghosts, and how git learns it.
 *
 * A remote's own URL stays what it is, so that `git remote -v` and other tools see the forge; but
 * `remote.NAME.vcs = pale` has git talk to git-remote-pale instead of the network.  It stands in a system
 * configuration of the session's own, which GIT_CONFIG_SYSTEM names: an agent that sets GIT_CONFIG_COUNT for
 * git does not lose it.  It holds where the repository has a remote of that URL, in clones and worktrees too.
 */
#include "ghosts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "policy/base/path.h"
#include "policy/base/util.h"
#include "policy/command/cmd.h"
#include "policy/gitfiles/gitconfig.h"
#include "policy/gitfiles/gitpush.h"
#include "policy/parse/parse.h"
#include "policy/record/replacefile.h"
#include "policy/rules/rule.h"
#include "policy/system/cleanup.h"
#include "policy/system/system.h"

#include "tools/base/paths.h"
#include "tools/environment/environment.h"

#include "gitbranch.h"

#define SYSTEM_FILE "/etc/gitconfig"
#define OWN_DIR	    "pale"
#define GHOSTS_MAX  64
#define LOCK_MS	    10000

bool ghost_is_url(const char *url)
{
	size_t scheme = strcspn(url, ":"), len;
	const char *host;

	/* `*?[` would be a pattern in the condition of an include. */
	if (!giturl_host(url, &host, &len) || len == 0 || url[strcspn(url, "\"\\*?[]\n\r\t '`$;&|<>")])
		return false;
	for (const char *at = url; *at; at++)
		if (*at <= ' ' || *at > '~')
			return false;
	return strncmp(url + scheme, "://", 3) != 0 || word_in_list("https http ssh git", url, scheme);
}

static int add(struct ghosts *g, const char *name, const char *url)
{
	struct ghost *to = g->n < GHOSTS_MAX ? LIST_NEW(g->list, g->n) : NULL;

	if (!to)
		return g->n < GHOSTS_MAX ? -ENOMEM : 0;
	*to = (struct ghost){ strdup(name), strdup(url) };
	g->n++;
	return to->name && to->url ? 0 : -ENOMEM;
}

bool ghost_is_named(const struct ghost *one, const void *ctx)
{
	const struct policy *p = ctx;
	const char *name = one->name;

	for (size_t i = 0; i < p->ghosts.n; i++)
		if (glob_match(p->ghosts.list[i], strlen(p->ghosts.list[i]), name, strlen(name)))
			return true;
	return false;
}

/* A name that can stand between quotes, and that git takes for a remote's. */
static bool is_plain(const char *name)
{
	return *name && *name != '-' && *name != '/' && !strpbrk(name, "\"\\\n");
}

int ghosts_find(struct ghosts *g, const struct bundle *b)
{
	_cleanup_free_ char *own = NULL;
	struct gitconfig config;
	int r = 0;

	*g = (struct ghosts){ .list = NULL };
	if (!b->git_common && asprintf(&own, "%s/.git", b->workspace) < 0)
		return -ENOMEM;
	if (git_config_read(b->git_common ? b->git_common : own, "config", GITCONFIG_MAX, &config) < 0)
		return 0;
	for (size_t i = 0; r == 0 && i < config.n; i++) {
		const struct gitconfig_entry *e = &config.entries[i];

		if (strcmp(e->section, "remote") == 0 && e->subsection && e->value &&
		    (strcmp(e->name, "url") == 0 || strcmp(e->name, "pushurl") == 0) &&
		    is_plain(e->subsection) && ghost_is_url(e->value))
			r = add(g, e->subsection, e->value);
	}
	gitconfig_done(&config);
	return r;
}

static void ghost_free(struct ghost *one)
{
	free(one->name);
	free(one->url);
}

void ghosts_keep(struct ghosts *g, bool (*keep)(const struct ghost *one, const void *ctx), const void *ctx)
{
	size_t n = 0;

	for (size_t i = 0; i < g->n; i++)
		if (keep(&g->list[i], ctx))
			g->list[n++] = g->list[i];
		else
			ghost_free(&g->list[i]);
	g->n = n;
}

static bool has_one(const struct ghosts *g, const char *url, size_t len)
{
	for (size_t i = 0; i < g->n; i++)
		if (strlen(g->list[i].url) == len && memcmp(g->list[i].url, url, len) == 0)
			return true;
	return false;
}

bool ghosts_have(const struct ghosts *g, const char *url)
{
	return has_one(g, url, strlen(url));
}

bool ghosts_have_all(const struct ghosts *g, const char *text, size_t len)
{
	const char *end = text + len;

	for (; text < end; text++) {
		size_t n = strcspn(text, "\n");

		n = n < (size_t)(end - text) ? n : (size_t)(end - text);
		if (!has_one(g, text, n))
			return false;
		text += n;
	}
	return len > 0;
}

/* --- what git reads --- */

static bool stands(int dir, const char *name, const char *text, size_t len)
{
	_cleanup_close_ int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	_cleanup_free_ char *now = fd < 0 ? NULL : malloc(len + 1);

	return now && read_up_to(fd, now, len + 1, 0) == (ssize_t)len && memcmp(now, text, len) == 0;
}

/* Most sessions find what the last one wrote: then the start does not wait for the disk. */
static int write_file(int dir, const char *name, char *text, size_t len, int failed)
{
	int r = failed || !text		       ? -ENOMEM
		: stands(dir, name, text, len) ? 0
					       : replace_file(dir, name, NULL, 0600, text, len);

	free(text);
	return r;
}

/* Of one URL: the names of the remotes that have it are the gate's. */
static int write_names(int dir, const struct ghosts *g, size_t at)
{
	char *text = NULL, name[32];
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return -ENOMEM;
	for (size_t i = 0; i < g->n; i++)
		if (strcmp(g->list[i].url, g->list[at].url) == 0)
			fprintf(f, "[remote \"%s\"]\n\tvcs = pale\n", g->list[i].name);
	snprintf(name, sizeof(name), "remote-%zu", at);
	return write_file(dir, name, text, len, fclose(f));
}

static int write_system(int dir, const struct ghosts *g, const char *path, const char *helper)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return -ENOMEM;
	fprintf(f,
		"# Made by pale: see pale-git(7).\n[include]\n\tpath = " SYSTEM_FILE "\n"
		"[protocol \"pale\"]\n\tallow = always\n[alias]\n\tremote-pale = \"!'%s'\"\n",
		helper);
	for (size_t i = 0; i < g->n; i++)
		fprintf(f, "[includeIf \"hasconfig:remote.*.url:%s\"]\n\tpath = \"%s/remote-%zu\"\n",
			g->list[i].url, path, i);
	return write_file(dir, "gitconfig", text, len, fclose(f));
}

/* A token of a forge that only a preset passes: git needs none, and pushes could be made with it. */
static int withhold_tokens(struct environment *env)
{
	static const char *const names[] = { "GH_TOKEN", "GITHUB_TOKEN", "GH_ENTERPRISE_TOKEN",
					     "GITHUB_ENTERPRISE_TOKEN", "GITLAB_TOKEN" };
	static const struct environ_verdict gone = { .given = false, .why = WHY_GHOST };
	int r = 0;

	for (size_t i = 0; r == 0 && i < NELEM(names); i++) {
		const struct environment_entry *e = environment_find(env, names[i]);

		if (e && e->given && e->why == WHY_RULE && e->where &&
		    strncmp(e->where, "preset ", strlen("preset ")) == 0)
			r = environment_put(env, names[i], e->value, &gone, NULL);
	}
	return r;
}

int ghosts_write(const struct ghosts *g, const char *config_home, const char *helper)
{
	_cleanup_close_ int home = open(config_home, O_RDONLY | O_DIRECTORY | O_CLOEXEC), dir = -1;
	char path[PATH_MAX];
	int r = path_join(path, sizeof(path), config_home, OWN_DIR);

	if (strpbrk(helper, "'\"\\\n") || strpbrk(config_home, "\"\\\n"))
		return -EINVAL;
	if (home < 0)
		return -errno;
	if (r == 0 && mkdirat(home, OWN_DIR, 0700) < 0 && errno != EEXIST)
		r = -errno;
	if (r == 0)
		dir = dir_open_own(home, OWN_DIR, path);
	if (r == 0 && dir < 0)
		r = dir;
	/* Another session may begin here at the same moment. */
	if (r == 0)
		r = file_lock(dir, LOCK_MS);
	for (size_t i = 0; r == 0 && i < g->n; i++)
		r = write_names(dir, g, i);
	return r < 0 ? r : write_system(dir, g, path, helper);
}

int ghosts_tell(struct ghosts *g, const char *config_home, struct environment *env)
{
	int r = snprintf(g->config, sizeof(g->config), "%s/" OWN_DIR "/gitconfig", config_home);

	if (g->n == 0)
		return 0;
	r = r >= (int)sizeof(g->config) ? -ENAMETOOLONG : 0;
	/* The operator's own, which we would have to repeat. */
	if (environment_get(env, "GIT_CONFIG_SYSTEM") || environment_get(env, "GIT_CONFIG_NOSYSTEM"))
		r = -EEXIST;
	if (r == 0)
		r = environment_set(env, "GIT_CONFIG_SYSTEM", g->config, "[git] remote");
	if (r == 0)
		r = withhold_tokens(env);
	if (r < 0)
		ghosts_done(g);
	return r;
}

void ghosts_done(struct ghosts *g)
{
	for (size_t i = 0; i < g->n; i++)
		ghost_free(&g->list[i]);
	free(g->list);
	*g = (struct ghosts){ .list = NULL };
}
