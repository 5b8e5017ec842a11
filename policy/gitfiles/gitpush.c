/* Where a push goes: see gitpush.h. */
#include "gitpush.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "policy/base/path.h"
#include "policy/command/cmd.h"
#include "policy/command/git.h"

/* --- the words ------------------------------------------------------------------------------------------ */

/* A key that may send it elsewhere, by another program or proxy too, or lead to one. */
static bool decides(const char *key)
{
	static const char *const starts[] = { "remote", "url.",	 "branch.",   "include", "extensions.",
					      "core.",	"http.", "protocol.", "ssh." };

	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
		if (strncasecmp(key, starts[i], strlen(starts[i])) == 0)
			return true;
	return false;
}

const char *gitpush_words(const struct request *req, const char **ret)
{
	struct command c = { .program = "git", .path = req->path };
	struct cmd_view v;
	struct cmd_walk w = { .view = &v };
	const char *arg, *option = NULL;
	enum cmd_arg kind;

	if (req->argc == 0 || strcmp(path_basename(req->argv[0]), "git") != 0)
		return "another program starts git, and pale asks about that start";
	c.args = req->argv + 1;
	c.n = req->argc - 1;
	v = cmd_view_of(&c);
	if (strcmp(v.word, "push") != 0)
		return "the command is not a plain git push";
	while ((kind = cmd_walk_next(&w, &arg)) != ARG_END) {
		const char *value = kind == ARG_OPTION ? command_arg(&c, w.next) : NULL;

		if (!value)
			continue;
		/* --receive-pack, --exec and --exec-path name a program. */
		if (strncmp(arg, "--config-env", 12) == 0 || (strcmp(arg, "-c") == 0 && decides(value)) ||
		    strncmp(arg, "--no-rep", 8) == 0 || strncmp(arg, "--rece", 6) == 0 ||
		    strncmp(arg, "--e", 3) == 0)
			return "an option configures git or names a program";
		if (strncmp(arg, "--rep", 5) == 0)
			option = strchr(arg, '=') ? strchr(arg, '=') + 1 : value;
	}
	*ret = cmd_word_at(&v, 0);
	if (!*ret)
		*ret = option;
	return NULL;
}

/* It has one reading in a path and on a line; git has other rules besides. */
static bool is_name(const char *name, size_t len)
{
	if (len == 0 || len >= LIMIT_HOST || name[0] == '-')
		return false;
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)name[i] <= ' ' || strchr("*\x7f", name[i]) ||
		    (name[i] == '.' && name[i + 1] == '.'))
			return false;
	return true;
}

/* Its options leave what is pushed as the words say. */
static bool push_is_plain(const struct cmd_view *v)
{
	struct cmd_walk w = { .view = v };
	enum cmd_arg kind;
	const char *arg;
	char mark;

	while ((kind = cmd_walk_next(&w, &arg)) != ARG_END)
		if (kind == ARG_OPTION && w.seen_sub && strncmp(arg, "--force", 7) != 0 &&
		    strcmp(arg, "-f") != 0 &&
		    cmd_option_class(NULL, v->sub, arg, strcspn(arg, "="), &mark) != CLASS_HARMLESS)
			return false;
	return !cmd_word_at(v, 2);
}

bool gitpush_branch(const struct request *req, const char *remote, char from[GITPUSH_REF],
		    char old[GITPUSH_REF])
{
	struct command c = { .program = "git", .path = req->path, .args = req->argv + 1, .n = req->argc - 1 };
	struct cmd_view v = cmd_view_of(&c);
	const char *spec = cmd_word_at(&v, 1), *head = req->git_branch ? req->git_branch : "", *to;
	size_t n;

	/* "" and "?": the configuration may have it push another one. */
	if (!push_is_plain(&v) || (req->git_branch && (!*head || strcmp(head, GIT_UNTOLD) == 0)))
		return false;
	spec = spec ? spec + (*spec == '+') : "HEAD";
	n = strcspn(spec, ":");
	to = spec[n] ? spec + n + 1 : NULL;
	if (word_in_list("HEAD @", spec, n)) {
		spec = head;
		n = strlen(head);
	}
	if (!is_name(spec, n) || !is_name(remote, strlen(remote)) || (to && !is_name(to, strlen(to))))
		return false;
	(void)snprintf(old, GITPUSH_REF, "%.*s", (int)n, spec);
	(void)snprintf(from, GITPUSH_REF, "refs/heads/%s", git_short_branch(old));
	to = git_short_branch(to ? to : from);
	(void)snprintf(old, GITPUSH_REF, "refs/remotes/%s/%s", remote, to);
	return true;
}

/* --- the configuration ---------------------------------------------------------------------------------- */

const char *gitpush_remote(const struct gitconfig *g, const char *repo, const char *branch)
{
	const char *name = repo ? repo : gitconfig_value(g, "branch", branch, "pushremote");

	if (!name)
		name = gitconfig_value(g, "remote", NULL, "pushdefault");
	return name ? name : gitconfig_value(g, "branch", branch, "remote");
}

/* What is collected of one remote's. */
struct urls {
	const struct gitconfig *g;
	struct out *o;
	const char *why;
	size_t n;
};

static void add(struct urls *u, const char *base, const char *rest)
{
	const char *url = (const char *)u->o->p + u->o->len + (u->n > 0);
	const char *host;
	size_t len;

	text_str(u->o, u->n++ > 0 ? "\n" : "");
	text_str(u->o, base);
	text_str(u->o, rest);
	text_end(u->o);
	if (u->o->failed)
		u->why = "it is too long to be shown";
	else if (!giturl_host(url, &host, &len))
		u->why = "it is a remote helper's, or programs read such a URL differently";
}

/* By the url.BASE.KIND with the longest beginning of url; false: none has one. */
static bool add_by(struct urls *u, const char *kind, const char *url)
{
	const struct gitconfig_entry *best = NULL;
	size_t longest = 0;

	for (size_t i = 0; i < u->g->n; i++) {
		const struct gitconfig_entry *e = &u->g->entries[i];
		const char *start = e->value ? e->value : "";
		size_t len = strlen(start);

		if (strcmp(e->section, "url") != 0 || !e->subsection || strcmp(e->name, kind) != 0 ||
		    strncmp(url, start, len) != 0 || (best && len < longest))
			continue;
		if (best && len == longest && strcmp(best->subsection, e->subsection) != 0)
			u->why = "two url.*.insteadOf begin alike";
		best = e;
		longest = len;
	}
	if (best)
		add(u, best->subsection, url + longest);
	return best != NULL;
}

static void add_plain(struct urls *u, const char *url)
{
	if (!add_by(u, "insteadof", url))
		add(u, "", url);
}

/* Each remote.NAME.KEY, those to fetch from only as url.*.pushInsteadOf has them.  How many there are. */
static size_t add_each(struct urls *u, const char *name, const char *key, bool is_rewritten)
{
	size_t n = 0;

	for (size_t i = 0; i < u->g->n; i++) {
		const struct gitconfig_entry *e = &u->g->entries[i];

		if (!gitconfig_is_key(e, "remote", name, key))
			continue;
		n++;
		/* By some versions of git it takes back what stands before. */
		if (!e->value || !*e->value)
			u->why = "one of its URLs is empty";
		else if (is_rewritten)
			(void)add_by(u, "pushinsteadof", e->value);
		else
			add_plain(u, e->value);
	}
	return n;
}

const char *gitpush_urls(const struct gitconfig *g, const char *repo, const char *branch, struct out *o)
{
	const char *name = gitpush_remote(g, repo, branch);
	struct urls u = { .g = g, .o = o };

	for (size_t i = 0; i < g->n; i++)
		if (strncmp(g->entries[i].section, "include", 7) == 0 ||
		    strcmp(g->entries[i].section, "remotes") == 0)
			return "its configuration includes other files, or has groups of remotes";
	if (!name || !*name)
		return "no remote is named";
	if (gitconfig_value(g, "remote", name, "vcs"))
		return "its remote is a remote helper's";
	/* No remote begins so. */
	if (*name == '/' || !gitconfig_value(g, "remote", name, "url")) {
		if (gitconfig_value(g, "remote", name, "pushurl"))
			return "its remote has a pushurl and no url";
		if (!add_by(&u, "pushinsteadof", name))
			add_plain(&u, name);
	} else if (add_each(&u, name, "pushurl", false) == 0 && add_each(&u, name, "url", true) > 0 &&
		   u.n == 0) {
		(void)add_each(&u, name, "url", false);
	}
	return u.why;
}

/* --- one of them ---------------------------------------------------------------------------------------- */

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

/* [user[:password]@]host[:port] of n bytes, in characters that nobody decodes or cuts. */
static bool parse_host(const char *at, size_t n, const char **host, size_t *len)
{
	const char *sign = memchr(at, '@', n);

	*host = sign ? sign + 1 : at;
	*len = strspn(*host, LETTERS "-._~");
	return strspn(at, LETTERS "-._~:@+") >= n && *at != '-' && **host != '-' && *len > 0 &&
	       *host + *len <= at + n && !memchr(*host, '@', (size_t)(at + n - *host));
}

bool giturl_host(const char *url, const char **host, size_t *len)
{
	size_t scheme = strspn(url, LETTERS "+-."), colon = strcspn(url, ":");
	const char *at = url + scheme + strlen("://");

	*host = url;
	*len = 0;
	if ((unsigned char)*url <= ' ' || strchr(url, '\n') || strncmp(url + scheme, "::", 2) == 0)
		return false;
	/* HOST:PATH is ssh's, or it is a path. */
	if (scheme == 0 || strncmp(url + scheme, "://", 3) != 0)
		return !url[colon] || memchr(url, '/', colon) || parse_host(url, colon, host, len);
	return word_in_list("file", url, scheme) ||
	       (word_in_list("https http ssh git git+ssh ssh+git ftp ftps", url, scheme) &&
		parse_host(at, strcspn(at, "/?#"), host, len));
}
