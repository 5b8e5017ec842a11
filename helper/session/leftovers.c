/*
 * Ends the processes that a killed launcher leaves behind.  The kernel kills the agent with its launcher
 * (PR_SET_PDEATHSIG), and answers ENOSYS to mediated calls of the agent's children from then on.  This kills
 * the children, too.
 *
 * Two marks identify them: the mark of the session (policy/programs/mark.h), which no process can remove, and
 * more seccomp filters than the launcher has, as only a process inside a fence has them.  A helper that runs
 * as another user may not kill them: it leaves them, and says so in the session's last record.
 */
#include "leftovers.h"

#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <time.h>

#include "policy/programs/mark.h"
#include "policy/system/cleanup.h"
#include "policy/system/system.h"

#include "helper/base/state.h"
#include "helper/base/taint.h"

#define LIMITS_MAX (8 * 1024)
#define ROUNDS	   5 /* a child forked during one round is found in the next */
#define ROUND_NS   (20 * NS_MS)

static bool is_left(struct helper *h, pid_t pid, uint64_t mark)
{
	char limits[LIMITS_MAX];
	struct taint t;

	if (taint_read(pid, &t) < 0 || t.no_new_privs <= 0 || t.filters <= h->baseline.filters)
		return false;
	return proc_read_small(pid, "limits", limits, sizeof(limits)) > 0 && mark_is_in(limits, mark);
}

/* The pidfd is opened before the process is examined, so the signal goes to that same process (Linux 5.3). */
static bool end_one(struct helper *h, pid_t pid, uint64_t mark)
{
	_cleanup_close_ int fd = pidfd_open(pid, 0);

	return fd >= 0 && is_left(h, pid, mark) && pidfd_send_signal(fd, SIGKILL, NULL, 0) == 0;
}

static size_t end_round(struct helper *h, uint64_t mark)
{
	DIR *proc = opendir("/proc");
	const struct dirent *e;
	size_t n = 0;

	if (!proc)
		return 0;
	while ((e = readdir(proc))) {
		pid_t pid = (pid_t)strtol(e->d_name, NULL, 10);

		if (pid > 1)
			n += end_one(h, pid, mark);
	}
	closedir(proc);
	return n;
}

size_t leftovers_end(struct helper *h)
{
	const struct timespec nap = { .tv_nsec = ROUND_NS };
	const uint64_t mark = mark_of(h->session);
	size_t n = 0, more;

	if (h->foreign)
		return 0;
	for (int i = 0; i < ROUNDS; i++) {
		more = end_round(h, mark);
		n += more;
		if (more == 0)
			break;
		nanosleep(&nap, NULL);
	}
	return n;
}
