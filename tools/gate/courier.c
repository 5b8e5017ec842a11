/* The operator's git, run for one fetch or one push: see courier.h. */
#include "courier.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "policy/base/buf.h"
#include "policy/system/cleanup.h"

#include "mirror.h"
#include "plumbing.h"
#include "courier_run.h"

#define LIST_MAX (256u << 20)
#define LIST_S	 120
#define FETCH_S	 3600
#define PUSH_S	 900
#define ENV_MAX	 256
#define WORDS	 40

extern char **environ;

/* What the operator's git, its transports and its credential helpers need; all else of git's own is left out.
 * `pale run` passes less on (tools/run/gate/gate_parts.c). */
static bool may_pass(const char *entry)
{
	static const char *const names[] = {
		"HOME=",      "PATH=",	      "USER=",	      "LOGNAME=",
		"LANG=",      "TZ=",	      "TMPDIR=",      "SSH_AUTH_SOCK=",
		"XDG_",	      "DBUS_",	      "DISPLAY=",     "WAYLAND_DISPLAY=",
		"GNUPGHOME=", "KRB5",	      "SSL_CERT_",    "GIT_CONFIG_GLOBAL=",
		"GIT_SSL_",   "http_proxy=",  "https_proxy=", "no_proxy=",
		"all_proxy=", "HTTPS_PROXY=", "NO_PROXY=",    "ALL_PROXY=",
		"GH_TOKEN=",  "GITHUB_TOKEN="
	};

	for (size_t i = 0; i < NELEM(names); i++)
		if (strncmp(entry, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

static void make_environment(const char *env[ENV_MAX], const char *ssh)
{
	static const char *const fixed[] = { "GIT_TERMINAL_PROMPT=0",
					     "GIT_ASKPASS=",
					     "GIT_ALLOW_PROTOCOL=https:http:ssh:git",
					     "GIT_NO_REPLACE_OBJECTS=1",
					     "GIT_ATTR_NOSYSTEM=1",
					     "GIT_OPTIONAL_LOCKS=0",
					     "LC_ALL=C" };
	size_t n = 0;

	for (size_t i = 0; i < NELEM(fixed); i++)
		env[n++] = fixed[i];
	if (ssh)
		env[n++] = ssh;
	for (char **e = environ; *e && n + 1 < ENV_MAX; e++)
		if (may_pass(*e))
			env[n++] = *e;
	env[n] = NULL;
}

static int run_git(struct run *r, const char *git, const char *const words[], char *ssh)
{
	const char *argv[WORDS + 2 * COURIER_TOGETHER] = { git, "--no-pager", "-c",
							   "core.hooksPath=/dev/null", "-c", "gc.auto=0",
							   "-c", "maintenance.auto=false",
							   /* What was approved is for this server. */
							   "-c", "http.followRedirects=false", "-c",
							   "http.lowSpeedLimit=1", "-c",
							   "http.lowSpeedTime=300" };
	const char *env[ENV_MAX];
	size_t n = 14;

	while (*words && n + 1 < NELEM(argv))
		argv[n++] = *words++;
	make_environment(env, ssh);
	r->argv = argv;
	r->env = env;
	return run_program(r);
}

/* ssh as the operator configured it, but it asks nothing. */
static char *ssh_command(const char *git)
{
	struct run r = { .out_max = 4096, .seconds = 10 };
	const char *own = getenv("GIT_SSH_COMMAND");
	char *ret = NULL;

	if (!own &&
	    run_git(&r, git, (const char *const[]){ "config", "--get", "core.sshCommand", NULL }, NULL) ==
		    0 &&
	    r.status == 0) {
		r.out[strcspn(r.out, "\n")] = '\0';
		own = r.out;
	}
	if (asprintf(&ret, "GIT_SSH_COMMAND=%s -o BatchMode=yes", own && *own ? own : "ssh") < 0)
		ret = NULL;
	run_done(&r);
	return ret;
}

/* Runs git for this URL.  0; otherwise a sentence; run_done() in any case. */
static int run_for(struct run *r, const char *git, const char *url, const char *const words[],
		   char why[WHY_MAX])
{
	bool is_ssh = strncmp(url, "http", 4) != 0 && strncmp(url, "git:", 4) != 0;
	_cleanup_free_ char *ssh = is_ssh ? ssh_command(git) : NULL;
	char host[256];
	int e;

	if (!courier_takes(url, host, sizeof(host))) {
		snprintf(why, WHY_MAX,
			 "pale does not push to such a URL: only to https, http, ssh, git and HOST:PATH");
		return -EINVAL;
	}
	e = is_ssh && !ssh ? -ENOMEM : run_git(r, git, words, ssh);
	if (e < 0)
		snprintf(why, WHY_MAX, "git did not start: %s", strerror(-e));
	else if (r->status < 0)
		snprintf(why, WHY_MAX, "git was ended before %s had answered whole", host);
	else if (r->status > 0)
		courier_sentence(url, r->err, why);
	return e < 0 ? e : r->status == 0 ? 0 : -EIO;
}

int courier_list(const char *git, const char *url, char **ret, char why[WHY_MAX])
{
	struct run r = { .out_max = LIST_MAX, .seconds = LIST_S };
	int e = run_for(&r, git, url,
			(const char *const[]){ "ls-remote", "--symref", "--", url, "HEAD", "refs/heads/*",
					       "refs/tags/*", NULL },
			why);

	*ret = e == 0 ? TAKE_PTR(r.out) : NULL;
	run_done(&r);
	return e;
}

/* What repositories of renown have had for long is let through, as forges do. */
static int fetch_refs(struct run *r, const char *git, const char *url, const char *repository,
		      const char *atomic, char why[WHY_MAX])
{
	*r = (struct run){ .out_max = 1u << 20, .seconds = FETCH_S };
	return run_for(r, git, url,
		       (const char *const[]){ "-C",
					      repository,
					      "--git-dir=.",
					      "-c",
					      "core.fsync=committed,-reference",
					      "-c",
					      "fetch.fsckObjects=true",
					      "-c",
					      "fetch.fsck.badTimezone=ignore",
					      "-c",
					      "fetch.fsck.missingSpaceBeforeDate=ignore",
					      "-c",
					      "fetch.fsck.zeroPaddedFilemode=ignore",
					      "fetch",
					      "--quiet",
					      "--prune",
					      atomic,
					      "--no-tags",
					      "--no-write-fetch-head",
					      "--no-recurse-submodules",
					      "--update-head-ok",
					      "--",
					      url,
					      "+refs/heads/*:refs/heads/*",
					      "+refs/tags/*:refs/tags/*",
					      NULL },
		       why);
}

int courier_fetch(const char *git, const char *url, const char *repository, char why[WHY_MAX])
{
	struct run r;
	int e = fetch_refs(&r, git, url, repository, "--atomic", why);

	/* Where a branch took the place of a directory of branches, these go first. */
	if (e < 0 && r.err && strstr(r.err, "cannot lock ref")) {
		run_done(&r);
		e = fetch_refs(&r, git, url, repository, "--no-atomic", why);
	}
	run_done(&r);
	return e;
}

/* --- push --- */

/* True where the remote has each ref at its new_oid. */
static bool has_arrived(const char *git, const struct change *const list[], size_t n)
{
	const char *words[COURIER_TOGETHER + 8] = { "ls-remote", "--", list[0]->url };
	struct run r = { .out_max = LIST_MAX, .seconds = LIST_S };
	char why[WHY_MAX];
	bool has = n <= COURIER_TOGETHER;

	for (size_t i = 0; i < n && has; i++)
		words[3 + i] = list[i]->ref;
	has = has && run_for(&r, git, list[0]->url, words, why) == 0;
	for (size_t i = 0; i < n && has; i++) {
		_cleanup_free_ char *line = NULL;
		const char *at;

		if (asprintf(&line, "\t%s\n", list[i]->ref) < 0)
			line = NULL;
		at = line ? strstr(r.out, line) : NULL;
		if (oid_is_none(list[i]->new_oid)) {
			has = line && !at;
			continue;
		}
		has = at && at - r.out >= (ptrdiff_t)strlen(list[i]->new_oid) &&
		      strncmp(at - strlen(list[i]->new_oid), list[i]->new_oid, strlen(list[i]->new_oid)) == 0;
	}
	run_done(&r);
	return has;
}

/* The remote's own words, `remote: ` lines, follow the reason. */
static void add_remote(struct out *o, const char *err)
{
	size_t room = 400;

	for (const char *at = strstr(err, "remote: "); at && room > 0; at = strstr(at, "remote: ")) {
		size_t len;

		at += strlen("remote: ");
		len = strcspn(at, "\n");
		while (len > 0 && at[len - 1] == ' ')
			len--;
		if (len == 0)
			continue;
		text_str(o, room == 400 ? ": " : " ");
		text_escaped(o, at, len < room ? len : room);
		room -= len < room ? len : room;
	}
}

/* What `git push --porcelain` says of a ref: `!\tFROM:TO\t[remote rejected] (REASON)`.  False: it says
 * nothing. */
static bool read_refusal(const char *host, const struct run *r, char why[WHY_MAX])
{
	const char *best = NULL;
	struct out o = out_of(why, WHY_MAX);

	for (const char *line = r->out; line && *line;) {
		const char *next = strchr(line, '\n'), *what = NULL;
		_cleanup_free_ char *copy = strndup(line, next ? (size_t)(next - line) : strlen(line));

		if (copy && strncmp(copy, "!\t", 2) == 0 && (what = strchr(copy + 2, '\t')) &&
		    (!best || !strstr(what, "atomic"))) {
			o = out_of(why, WHY_MAX);
			if (strstr(what, "(stale info)")) {
				text_str(&o, "the branch moved at ");
				text_str(&o, host);
				text_str(&o, " since; fetch, and push again");
			} else {
				text_str(&o, host);
				text_str(&o, " refused it: ");
				text_escaped(&o, what + 1, strnlen(what + 1, 300));
				add_remote(&o, r->err);
			}
			best = line;
		}
		line = next ? next + 1 : NULL;
	}
	text_end(&o);
	return best != NULL;
}

/* The words of the push; false where there is no memory.  *made has those to free. */
static bool push_words(const struct change *const list[], size_t n, const char **words, char **made)
{
	size_t w = 0, m = 0;

	words[w++] = "-C";
	words[w++] = list[0]->repository;
	words[w++] = "--git-dir=.";
	words[w++] = "push";
	words[w++] = "--porcelain";
	if (n > 1)
		words[w++] = "--atomic";
	words[w++] = "--no-follow-tags";
	words[w++] = "--recurse-submodules=no";
	for (size_t i = 0; i < n; i++) {
		if (asprintf(&made[m], "--force-with-lease=%s:%s", list[i]->ref, list[i]->old_oid) < 0)
			return false;
		words[w++] = made[m++];
	}
	words[w++] = "--";
	words[w++] = list[0]->url;
	for (size_t i = 0; i < n; i++) {
		if (asprintf(&made[m], "%s:%s", oid_is_none(list[i]->new_oid) ? "" : list[i]->new_oid,
			     list[i]->ref) < 0)
			return false;
		words[w++] = made[m++];
	}
	words[w] = NULL;
	return true;
}

/* The mirror has what the remote has now, so that the next push begins there. */
static void follow(const char *git, const struct change *c)
{
	const struct depot d = { git, c->repository };
	_cleanup_free_ char *out = NULL;
	bool gone = oid_is_none(c->new_oid);
	size_t len;

	(void)plumbing_read(
		&d,
		(const char *const[]){ "update-ref", gone ? "-d" : c->ref, gone ? c->ref : c->new_oid, NULL },
		NULL, 4096, &out, &len);
}

enum courier_end courier_push(const char *git, const struct change *const list[], size_t n, char why[WHY_MAX])
{
	const char *words[2 * COURIER_TOGETHER + 16];
	char *made[2 * COURIER_TOGETHER] = { NULL }, host[256] = "the remote", none[WHY_MAX];
	struct run r = { .out_max = 1u << 20, .seconds = PUSH_S };
	enum courier_end end = COURIER_FAILED;

	snprintf(why, WHY_MAX, "out of memory");
	if (n > 0 && !gate_is_whole(list[0]->repository)) {
		snprintf(why, WHY_MAX, "the gate's repository was tampered with");
		goto out;
	}
	if (n == 0 || n > COURIER_TOGETHER || !push_words(list, n, words, made))
		goto out;
	(void)courier_takes(list[0]->url, host, sizeof(host));
	if (run_for(&r, git, list[0]->url, words, why) == 0)
		end = COURIER_PUSHED;
	else if (r.out && read_refusal(host, &r, none)) {
		snprintf(why, WHY_MAX, "%s", none);
		end = COURIER_REFUSED;
	}
	/* A connection that was lost, or a push of which the outcome was: only the remote knows.  libcurl
	 * sends what was lost once more, and then the remote rejects what it has. */
	if (end != COURIER_PUSHED && has_arrived(git, list, n))
		end = COURIER_PUSHED;
	for (size_t i = 0; i < n && end == COURIER_PUSHED; i++)
		follow(git, list[i]);
out:
	for (size_t i = 0; i < NELEM(made); i++)
		free(made[i]);
	run_done(&r);
	return end;
}
