/*
 * Hosts that a push may reach because a human let it: the card has shown them, and a yes that fails at a
 * closed host would be none.  Open to the process that was asked for and its descendants, at that port, as
 * long as it runs; what a rule denies stays denied.
 */
#include "pushes.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "policy/base/addr.h"
#include "policy/base/util.h"
#include "policy/command/cmd.h"
#include "policy/command/git.h"
#include "policy/gitfiles/gitpush.h"
#include "policy/system/cleanup.h"

#include "tools/supervisor/caller.h"
#include "tools/supervisor/proc/procstat.h"
#include "tools/supervisor/setup.h"

#define PUSHES_MAX  64
#define GENERATIONS 16 /* git, its remote helper, a wrapper of ssh's */

static struct push {
	pid_t tgid;
	uint64_t start;
	uint16_t port;
	char host[LIMIT_HOST];
} pushes[PUSHES_MAX];
static _Atomic size_t n_pushes;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Behind the host, or what its scheme has; HOST:PATH is ssh's. */
static uint16_t port_of(const char *url, const char *behind)
{
	static const struct {
		const char *scheme;
		uint16_t port;
	} schemes[] = {
		{ "https:", 443 }, { "http:", 80 }, { "git:", 9418 }, { "ftp:", 21 }, { "ftps:", 990 }
	};

	if (strstr(url, "://") && *behind == ':')
		return (uint16_t)strtoul(behind + 1, NULL, 10);
	for (size_t i = 0; i < NELEM(schemes); i++)
		if (strncmp(url, schemes[i].scheme, strlen(schemes[i].scheme)) == 0)
			return schemes[i].port;
	return 22;
}

static void open_one(struct caller *c, pid_t tgid, uint64_t start, const char *url)
{
	const char *host;
	struct push p = { .tgid = tgid, .start = start };
	size_t len;

	if (!giturl_host(url, &host, &len) || len == 0 || len >= sizeof(p.host))
		return;
	memcpy(p.host, host, len);
	p.port = port_of(url, host + len);
	pthread_mutex_lock(&lock);
	pushes[n_pushes++ % PUSHES_MAX] = p;
	pthread_mutex_unlock(&lock);
	/* The hooks, which know nothing of it, leave names that no rule has to us from now on. */
	atomic_store(&session_setup(c->sup)->ring->pushes, 1);
}

void pushes_open(struct caller *c, const char *aim)
{
	_cleanup_free_ char *urls = c->approved && aim && aim[0] != AIM_UNKNOWN[0] ? strdup(aim) : NULL;
	struct stat_fields f;
	char *at = urls, *url;

	if (!urls || stat_read(-1, caller_tgid(c), &f) < 0)
		return;
	while ((url = strsep(&at, "\n")) != NULL)
		open_one(c, caller_tgid(c), f.start, url);
}

static bool is_meant(const struct push *p, const struct request *req)
{
	uint8_t addr[16];
	bool is_host = req->host && strcasecmp(p->host, req->host) == 0;

	if (req->op == OP_RESOLVE)
		return is_host;
	is_host |= addr_parse(p->host, strlen(p->host), addr) && memcmp(addr, req->addr, 16) == 0;
	return is_host && req->port == p->port && !req->is_datagram && addr_classify(req->addr) != ADDR_LINK;
}

static bool is_open(pid_t tgid, uint64_t start, const struct request *req)
{
	bool found = false;

	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < PUSHES_MAX && !found; i++)
		found = pushes[i].tgid == tgid && pushes[i].start == start && is_meant(&pushes[i], req);
	pthread_mutex_unlock(&lock);
	return found;
}

bool pushes_reach(struct caller *c, const struct request *req, struct decision *d)
{
	pid_t pid = n_pushes ? caller_tgid(c) : 0;
	struct stat_fields f;

	if (d->verdict == VERDICT_ALLOW ||
	    (d->verdict != VERDICT_ASK && d->reason != REASON_HOST && d->reason != REASON_PROCESS))
		return false;
	for (int i = 0; i < GENERATIONS && pid > 1 && stat_read(-1, pid, &f) == 0; i++, pid = f.ppid) {
		if (!is_open(pid, f.start, req))
			continue;
		*d = (struct decision){ VERDICT_ALLOW, REASON_HUMAN, d->rule, d->nested };
		return true;
	}
	return false;
}

bool pushes_go_on(struct caller *c, const struct request *req, struct decision *d)
{
	const char *extra, *url, *host;
	char name[LIMIT_HOST];
	const struct request to = { .op = OP_RESOLVE, .host = name };
	struct command git = command_of(req, &extra), inner;
	struct cmd_view v;
	size_t len;

	if (command_unwrap(&git, &inner) && inner.first)
		git = inner;
	v = cmd_view_of(&git);
	url = cmd_word_at(&v, 0);
	if (d->verdict != VERDICT_ASK || !git_is(&git) || strcmp(v.word, "http-push") != 0 || !url ||
	    !giturl_host(url, &host, &len) || len >= sizeof(name))
		return false;
	memcpy(name, host, len);
	name[len] = '\0';
	return pushes_reach(c, &to, d);
}
