/*
 * Runs the sweep: chooses what is removed, and reports it.
 *
 * Guarantees that only what pale itself made is removed unless the policy says otherwise, that a sweep at a
 * start is bounded in time, and that nothing of a session is removed whose end is in doubt.
 */
#include "gc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>

#include "policy/base/path.h"
#include "policy/system/cleanup.h"
#include "policy/system/system.h"

#include "tools/base/options.h"
#include "tools/base/output.h"
#include "tools/base/paths.h"

#include "sweep.h"

#define BUDGET_NS 2000000000ULL
#define LEFT_MAX  20000 /* counting stops here, since the time is up */

/* --- the policy --- */

int gc_policy_take(struct gc_policy *ret, const struct policy *p, const struct bundle *b)
{
	const char *state = policy_state(b, p);

	gc_policy_done(ret);
	ret->scope = p->s.gc;
	ret->expiry_s = p->s.expiry_s;
	ret->log_bytes = (uint64_t)p->s.log_mib << 20;
	ret->workspace = strdup(b->workspace);
	ret->logs = p->logs ? strdup(p->logs) : NULL;
	ret->state = state ? strdup(state) : NULL;
	return ret->workspace && (ret->logs || !p->logs) && (ret->state || !state) ? 0 : -ENOMEM;
}

void gc_policy_done(struct gc_policy *g)
{
	free(g->workspace);
	free(g->logs);
	free(g->state);
	memset(g, 0, sizeof(*g));
}

/* --- functions for the parts --- */

bool gc_is_over(const struct sweep *g)
{
	return g->until_ns && clock_awake_ns() >= g->until_ns;
}

bool gc_leave(struct sweep *g)
{
	return ++g->left < LEFT_MAX;
}

bool gc_is_old(const struct sweep *g, int64_t mtime)
{
	return mtime < g->cutoff;
}

bool gc_is_live(const struct sweep *g, const char *id)
{
	for (size_t i = 0; i < g->n_live; i++)
		if (strcmp(g->live[i].id, id) == 0)
			return true;
	return false;
}

static uint64_t hash_of_id(const char *id)
{
	uint64_t h = 14695981039346656037ULL;

	for (; *id; id++)
		h = (h ^ (unsigned char)*id) * 1099511628211ULL;
	return h ? h : 1;
}

/* Counts a session once for its two logs, its directory and its entry. */
static void count_session(struct sweep *g, const char *id)
{
	uint64_t h = hash_of_id(id);
	size_t at = h % (2 * GC_SEEN_MAX);

	while (g->seen && g->seen[at] && g->seen[at] != h)
		at = (at + 1) % (2 * GC_SEEN_MAX);
	if (g->seen && g->seen[at] == h)
		return;
	g->pruned++;
	if (g->seen && g->n_seen < GC_SEEN_MAX) {
		g->seen[at] = h;
		g->n_seen++;
	}
}

static const char *const kinds[GC_KIND_COUNT] = {
	[GC_LOG] = "log",	  [GC_DIRECTORY] = "session", [GC_ENTRY] = "entry",
	[GC_RUNTIME] = "runtime", [GC_SCRATCH] = "scratch",   [GC_LEDGER] = "ledger"
};

/* Prints one line.  For an entry, the file does not name the session, so the id is printed, too. */
static void tell_found(const struct sweep *g, enum gc_kind kind, const char *id, const char *dir,
		       const char *name)
{
	printf("%s %s ", g->mode == GC_LIST ? "would remove" : "removed", kinds[kind]);
	print_escaped(stdout, dir);
	putchar('/');
	print_escaped(stdout, name);
	if (kind == GC_ENTRY) {
		fputs(": ", stdout);
		print_escaped(stdout, id);
	}
	putchar('\n');
}

void gc_found(struct sweep *g, enum gc_kind kind, const char *id, const char *dir, const char *name)
{
	if (!g->seen)
		g->seen = calloc((size_t)2 * GC_SEEN_MAX, sizeof(*g->seen));
	if (kind != GC_SCRATCH && *id)
		count_session(g, id);
	g->things++;
	g->of[kind]++;
	if (g->items) {
		if (json_array_size(g->items) < GC_ITEMS_MAX)
			json_array_append_new(g->items, json_pack("{ss, so, so, so}", "kind", kinds[kind],
								  "session", json_text(id), "dir",
								  json_text(dir), "name", json_text(name)));
	} else if (g->told) {
		tell_found(g, kind, id, dir, name);
	}
}

void gc_note(struct sweep *g, const char *fmt, ...)
{
	_cleanup_free_ char *text = NULL;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n < 0) {
		text = NULL;
		return;
	}
	if (g->notes)
		json_array_append_new(g->notes, json_text(text));
	else
		talk("%s", text);
}

void gc_failed(struct sweep *g, const char *dir, const char *name, int error)
{
	if (g->failed++ == 0)
		gc_note(g, "%s/%s cannot be removed: %s", dir, name,
			error == -E2BIG ? "it is more than 32 directories deep" : strerror(-error));
}

void gc_settle(struct sweep *g, enum gc_kind kind, const char *id, const char *dir, const char *name, int r)
{
	if (r == 0)
		gc_found(g, kind, id, dir, name);
	else if (r == -ETIME)
		g->left++;
	else
		gc_failed(g, dir, name, r);
}

/* --- the sweep --- */

/* Finds the directory of .env and sessions.json: the parent of a directory called `workspace`, else the
 * workspace itself. */
static void find_root(struct sweep *g)
{
	const char *ws = g->policy->workspace;
	size_t n = (size_t)(path_basename(ws) - ws);

	if (strcmp(ws + n, "workspace") != 0 || n < 2)
		snprintf(g->root, sizeof(g->root), "%s", ws);
	else
		snprintf(g->root, sizeof(g->root), "%.*s", (int)(n - 1), ws);
}

static const char *why_left(int error)
{
	switch (error) {
	case -ELOOP:
		return "a symbolic link";
	case -ENOTDIR:
		return "no directory";
	case -EXDEV:
		return "another file system";
	case -EPERM:
		return "another user's";
	case -ENOSYS:
		return "only to be opened safely by Linux 5.6";
	default:
		return strerror(-error);
	}
}

static void sweep_root_logs(struct sweep *g, int root)
{
	_cleanup_close_ int fd = gc_open_dir(root, "logs");
	char dir[PATH_MAX];

	if (path_join(dir, sizeof(dir), g->root, "logs") < 0)
		return;
	if (fd >= 0)
		gc_logs(g, fd, dir, false);
	else if (fd != -ENOENT)
		gc_note(g, "%s is left alone: it is %s", dir, why_left(fd));
}

static void sweep_launcher(struct sweep *g)
{
	_cleanup_close_ int root = -1;

	find_root(g);
	root = open(g->root, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (root < 0)
		return;
	/* Entries come first, since their file is of bounded size. */
	gc_entries(g, root);
	sweep_root_logs(g, root);
	gc_states(g);
}

static void sweep_own_logs(struct sweep *g)
{
	_cleanup_close_ int fd = -1;

	if (!g->policy->logs)
		return;
	fd = open(g->policy->logs, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0)
		gc_logs(g, fd, g->policy->logs, true);
}

static void sweep(struct sweep *g)
{
	if (gc_live_read(g) < 0)
		return;
	gc_own(g);
	sweep_own_logs(g);
	gc_scratch(g);
	if (g->policy->scope == GC_ALL)
		sweep_launcher(g);
}

static void done(struct sweep *g)
{
	free(g->live);
	free(g->seen);
	json_decref(g->items);
	json_decref(g->notes);
}

/* Prints the line that the seed printed. */
static void print_seed(const struct sweep *g, double seconds)
{
	if (g->mode == GC_LIST)
		talk("%zu stale session%s would be removed", g->pruned, g->pruned == 1 ? "" : "s");
	else
		fprintf(stderr, "[Sandbox] GC sweep started... Pruned %zu stale sessions in %.1fs.\n",
			g->pruned, seconds);
}

static void say_rest(struct sweep *g)
{
	if (g->failed > 1)
		gc_note(g, "%zu more could not be removed", g->failed - 1);
	if (g->left)
		gc_note(g,
			"the sweep's time was up: %zu entries at least were not looked at; now, and all of "
			"them: pale session gc",
			g->left);
}

/* The summary for the ledger: what was removed, by kind, and what could not be; "" where there was nothing
 * to do. */
static void summary(const struct sweep *g, char *buf, size_t size)
{
	size_t n = 0;

	*buf = '\0';
	if (g->things + g->failed + g->left == 0)
		return;
	n = (size_t)snprintf(buf, size, "sessions=%zu", g->pruned);
	for (size_t i = 0; i < GC_KIND_COUNT && n < size; i++)
		if (g->of[i])
			n += (size_t)snprintf(buf + n, size - n, " %s=%zu", kinds[i], g->of[i]);
	if (n < size)
		(void)snprintf(buf + n, size - n, " failed=%zu left=%zu", g->failed, g->left);
}

void gc_start(const struct gc_policy *policy, bool quiet, char *ret, size_t size)
{
	uint64_t began = clock_awake_ns();
	struct sweep g = { .policy = policy, .now = time(NULL), .until_ns = began + BUDGET_NS };

	*ret = '\0';
	if (policy->scope == GC_OFF)
		return;
	g.cutoff = g.now - policy->expiry_s;
	sweep(&g);
	if (!quiet && (g.pruned || policy->scope == GC_ALL))
		print_seed(&g, (double)(clock_awake_ns() - began) / (double)NS_S);
	say_rest(&g);
	summary(&g, ret, size);
	done(&g);
}

static json_t *to_json(struct sweep *g, double seconds)
{
	return json_pack("{sI, sI, sI, sI, sf, sb, sO, sO}", "pruned", (json_int_t)g->pruned, "things",
			 (json_int_t)g->things, "failed", (json_int_t)g->failed, "left", (json_int_t)g->left,
			 "seconds", seconds, "dry_run", g->mode == GC_LIST, "removed", g->items, "notes",
			 g->notes);
}

int gc_command(const struct gc_policy *policy, const struct gc_wish *wish)
{
	uint64_t began = clock_awake_ns();
	struct sweep g = { .policy = policy, .now = time(NULL), .told = true };
	double seconds;
	int code;

	g.mode = wish->dry_run ? GC_LIST : GC_REMOVE;
	g.cutoff = g.now - policy->expiry_s;
	if (wish->json) {
		g.items = json_array();
		g.notes = json_array();
	}
	sweep(&g);
	gc_ledgers(&g);
	say_rest(&g);
	seconds = (double)(clock_awake_ns() - began) / (double)NS_S;
	if (wish->json)
		print_json(to_json(&g, seconds));
	else
		print_seed(&g, seconds);
	code = g.failed ? EXIT_FINDINGS : EXIT_OK;
	done(&g);
	return code;
}
