/*
 * A clock that jumped makes everything old, or nothing.  When the last sweep was is kept in the state
 * directory, which no agent sees; what does not fit to it removes nothing until the operator has said that it
 * does (pale session gc --older-than).
 */
#include "gc.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

#define STAMP	"swept"
#define DAY	86400
#define AHEAD_S (366 * (int64_t)DAY) /* a machine may have been off for a year, hardly for longer */
#define FRESH_S 600		     /* a stamp that is younger is not written again */

/* When was the last sweep, or else the last session: 0 where nobody knows. */
static int64_t last_seen(const struct dirs *dirs, bool *ret_stamped)
{
	_cleanup_free_ char *text = NULL;
	char path[PATH_MAX];
	int64_t then = 0;
	struct stat st;
	size_t len;

	*ret_stamped = true;
	if (path_join(path, sizeof(path), dirs->state, STAMP) == 0 && file_read(path, 64, &text, &len) == 0 &&
	    sscanf(text, "%" SCNd64, &then) == 1 && then > 0)
		return then;
	*ret_stamped = false;
	if (path_join(path, sizeof(path), dirs->state, "sessions") == 0 && stat(path, &st) == 0)
		return st.st_mtime;
	return 0;
}

static void keep(const struct dirs *dirs, int64_t now)
{
	_cleanup_close_ int fd = -1;
	char path[PATH_MAX];

	if (path_join(path, sizeof(path), dirs->state, STAMP) < 0)
		return;
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
	if (fd >= 0)
		(void)dprintf(fd, "%" PRId64 "\n", now);
}

static void date(int64_t t, char buf[32])
{
	time_t when = (time_t)t;
	struct tm tm;

	if (!gmtime_r(&when, &tm) || strftime(buf, 32, "%Y-%m-%d %H:%M UTC", &tm) == 0)
		strcpy(buf, "an impossible time");
}

bool gc_clock_fits(struct sweep *g, const struct dirs *dirs, bool by_operator)
{
	bool stamped;
	int64_t last = last_seen(dirs, &stamped);
	char now[32], then[32];

	if (!by_operator && last > 0 && (g->now < last - DAY || g->now > last + AHEAD_S)) {
		date(g->now, now);
		date(last, then);
		gc_note(g,
			"the clock says %s, and the last session was %s: nothing is removed.  Where the "
			"clock "
			"is right: pale session gc --older-than 48h",
			now, then);
		return false;
	}
	if (g->mode == GC_REMOVE && (!stamped || g->now < last || g->now > last + FRESH_S || by_operator))
		keep(dirs, g->now);
	return true;
}
