/*
 * pale session stop: ends a running session as its time limit would.
 *
 * The helper passes the request on to `pale run`, which sends TERM to all processes of the session and
 * kills those that remain.  The command is done when the helper has written the ledger's end and closes the
 * connection.
 */
#include "session_stop.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "policy/system/cleanup.h"
#include "policy/system/system.h"

#include "tools/base/options.h"
#include "tools/base/output.h"
#include "tools/sessions/control_client.h"
#include "tools/sessions/sessions.h"

/* Longer than the grace, the end of remaining processes and the end of the ledger together, which are all
 * bounded. */
#define WAIT_MS 30000

/* Finds a session by a prefix of its id.  0, or -ENOENT or -EEXIST after a message. */
static int find_session(const char *id, struct session_ref *ret)
{
	_cleanup_free_ struct session_ref *refs = NULL;
	size_t n = 0, found = 0;
	int r = sessions_list(&refs, &n);

	if (r < 0) {
		talk("sessions cannot be listed: %s", strerror(-r));
		return r;
	}
	for (size_t i = 0; i < n; i++) {
		if (*id == '\0' || strncmp(refs[i].id, id, strlen(id)) != 0)
			continue;
		*ret = refs[i];
		found++;
	}
	if (found == 1)
		return 0;
	talk(found ? "more than one session begins with %s" : "no session %s runs", id);
	return found ? -EEXIST : -ENOENT;
}

static bool wait_closed(int fd)
{
	long long end = clock_awake_ms() + WAIT_MS, left;

	while ((left = end - clock_awake_ms()) > 0) {
		_cleanup_json_ json_t *note = NULL;
		int r = control_next(fd, (int)left, &note);

		if (r < 0 && r != -EAGAIN)
			return true;
	}
	return false;
}

static int stop(const struct options *o, const struct session_ref *ref, int fd)
{
	_cleanup_json_ json_t *result = NULL;
	char why[256];
	json_int_t launcher;
	bool ended;

	if (control_call(fd, "session/stop", json_pack("{sb}", "now", o->now), &result, why, sizeof(why)) <
	    0) {
		talk("session %s: %s", ref->id, why);
		return EXIT_FINDINGS;
	}
	/* A job that was stopped by ^Z must be continued to see the request; SIGCONT does no harm to a
	 * running one. */
	launcher = json_integer_value(json_object_get(result, "launcher_pid"));
	if (launcher > 1 && launcher <= INT32_MAX)
		(void)kill((pid_t)launcher, SIGCONT);
	ended = wait_closed(fd);
	if (o->json)
		print_json(json_pack("{ss, sb}", "session", ref->id, "ended", ended));
	else if (ended)
		talk("session %s has ended", ref->id);
	else
		talk("session %s was told to end and has not ended in %d seconds", ref->id, WAIT_MS / 1000);
	return ended ? EXIT_OK : EXIT_FINDINGS;
}

int session_stop(const struct options *o, const char *id)
{
	_cleanup_close_ int fd = -1;
	struct session_ref ref;

	if (find_session(id, &ref) < 0)
		return EXIT_USAGE;
	fd = control_open(ref.dir);
	if (fd < 0) {
		talk("session %s does not answer: %s", ref.id, strerror(-fd));
		return EXIT_USAGE;
	}
	return stop(o, &ref, fd);
}
