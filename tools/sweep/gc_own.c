/*
 * Removes what pale itself made.  Runtime directories of killed sessions lie where only the operator
 * writes, and are removed soon, since they have no further use and take memory.  Ledgers have their own
 * retention; at a start the helper removes some of them.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "policy/base/path.h"
#include "policy/system/cleanup.h"

#include "tools/base/paths.h"
#include "tools/ledgers/ledgers.h"
#include "tools/ledgers/lines.h"
#include "tools/ledgers/prune.h"
#include "tools/ledgers/unwritten.h"
#include "tools/sessions/sessions.h"

#include "gc.h"

#define SOON_S 3600 /* or the expiry, where that is less */
#define SLOW_S 60   /* time that a session may take to show that it lives */

static int64_t soon(const struct sweep *g)
{
	int64_t s = g->policy->expiry_s < SOON_S ? g->policy->expiry_s : SOON_S;

	return g->now - (s < SLOW_S ? SLOW_S : s);
}

static void remove_one(struct sweep *g, int at, const char *dir, const char *name)
{
	struct stat st;
	int r;

	if (fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISDIR(st.st_mode) ||
	    st.st_uid != geteuid() || st.st_mtime >= soon(g))
		return;
	r = g->mode == GC_REMOVE ? gc_tree_remove(g, at, name) : 0;
	gc_settle(g, GC_RUNTIME, name, dir, name, r);
}

void gc_own(struct sweep *g)
{
	_cleanup_free_ struct session_ref *refs = NULL;
	size_t n = 0;

	if (sessions_list(&refs, &n) < 0)
		return;
	for (size_t i = 0; i < n; i++) {
		_cleanup_close_ int up = -1;
		char dir[PATH_MAX];

		if (gc_is_live(g, refs[i].id) || dir_check_private(refs[i].dir) < 0)
			continue;
		snprintf(dir, sizeof(dir), "%.*s", (int)(path_basename(refs[i].dir) - refs[i].dir - 1),
			 refs[i].dir);
		up = open(dir, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (up >= 0 && !gc_is_over(g))
			remove_one(g, up, dir, refs[i].id);
	}
}

static void remove_ledger(void *ctx, const struct old_ledger *old)
{
	struct sweep *g = ctx;
	struct stat st;

	/* A helper of another user removes its own directories. */
	if (fstat(old->dirfd, &st) < 0 || st.st_uid != geteuid())
		return;
	gc_settle(g, GC_LEDGER, old->ref->session, old->ref->dir, LEDGER_NAME,
		  g->mode == GC_REMOVE ? ledger_remove(old) : 0);
}

/* These files are read with the ledgers, and kept no longer. */
static void remove_unwritten(struct sweep *g, const char *name)
{
	struct dirs dirs;
	char path[PATH_MAX];
	struct stat st;

	if (dirs_find(&dirs) < 0 || path_join(path, sizeof(path), dirs.state, name) < 0 ||
	    lstat(path, &st) < 0 || g->now - st.st_mtime < (int64_t)LEDGER_DAYS * 86400)
		return;
	gc_settle(g, GC_LEDGER, "", dirs.state, name, g->mode == GC_REMOVE && unlink(path) < 0 ? -errno : 0);
}

void gc_ledgers(struct sweep *g)
{
	int r = ledgers_each_old(NULL, remove_ledger, g);

	if (r < 0)
		gc_note(g, "the ledgers cannot be read: %s", strerror(-r));
	remove_unwritten(g, UNWRITTEN_FILE);
	remove_unwritten(g, UNWRITTEN_OLD);
}
