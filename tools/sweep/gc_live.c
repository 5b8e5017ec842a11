/*
 * Finds the live sessions.  A session is over only where that is certain: its helper no longer locks its
 * ledger, and its command is gone.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>

#include "policy/base/path.h"
#include "policy/system/cleanup.h"

#include "tools/base/output.h"
#include "tools/base/paths.h"
#include "tools/ledgers/ledgers.h"
#include "tools/ledgers/lines.h"
#include "tools/sessions/sessions.h"

#include "gc.h"

#define STARTING_S 60 /* time that a session may take until its directory has its description */

/* Reads a fact from a session's runtime directory; "" where it has none. */
static void read_fact(const struct session_ref *ref, const char *key, char *buf, size_t size)
{
	_cleanup_free_ char *text = session_fact(ref->dir, key);
	_cleanup_free_ char *bytes = text ? text_unescape(text) : NULL;

	snprintf(buf, size, "%s", bytes ? bytes : "");
}

static bool helper_lives(const char *state_dir)
{
	_cleanup_close_ int fd = -1;
	char path[PATH_MAX];

	if (path_join(path, sizeof(path), state_dir, LEDGER_NAME) < 0)
		return true;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return errno != ENOENT;
	return flock(fd, LOCK_SH | LOCK_NB) < 0;
}

/* A reused pid only keeps the directory longer. */
static bool command_lives(const char *pid)
{
	long n = strtol(pid, NULL, 10);

	return n > 0 && (kill((pid_t)n, 0) == 0 || errno == EPERM);
}

bool gc_is_dead(const struct session_ref *ref)
{
	char state[PATH_MAX], pid[32];
	struct stat st;

	read_fact(ref, "state_dir", state, sizeof(state));
	read_fact(ref, "pid", pid, sizeof(pid));
	if (state[0] == '/')
		return !helper_lives(state) && !command_lives(pid);
	/* The directory has no description yet, or will never have one. */
	return lstat(ref->dir, &st) == 0 && st.st_mtime < time(NULL) - STARTING_S;
}

static int64_t started(const struct session_ref *ref)
{
	char text[64];
	struct tm tm = { 0 };

	read_fact(ref, "started", text, sizeof(text));
	return strptime(text, "%Y-%m-%dT%H:%M:%S", &tm) ? timegm(&tm) : 0;
}

static bool works_here(const struct sweep *g, const struct session_ref *ref)
{
	const char *own = g->policy->workspace;
	char ws[PATH_MAX];

	read_fact(ref, "workspace", ws, sizeof(ws));
	return ws[0] != '/' || path_is_under(ws, own) || path_is_under(own, ws);
}

int gc_live_read(struct sweep *g)
{
	_cleanup_free_ struct session_ref *refs = NULL;
	size_t n = 0;
	int r = sessions_list(&refs, &n);

	g->here_since = INT64_MAX;
	if (r < 0)
		return r;
	g->live = calloc(n + 1, sizeof(*g->live));
	if (!g->live)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		struct gc_live *l = &g->live[g->n_live];

		if (gc_is_dead(&refs[i]))
			continue;
		strcpy(l->id, refs[i].id);
		l->since = started(&refs[i]);
		l->here = works_here(g, &refs[i]);
		if (l->here && l->since < g->here_since)
			g->here_since = l->since;
		g->n_live++;
	}
	return 0;
}
