/*
 * What survives an exec and can make the new program act on other files or hosts than its words and its
 * working directory tell: a seccomp filter that the session itself installed, whose return value takes
 * precedence over the supervisor's, and a working directory that another process shares (CLONE_FS).  Also
 * what can change while a question waits: the branch and the destination of a push.
 *
 * This is checked for an exec that is asked about, or by which git works on a branch.
 *
 * Source: seccomp(2), "the return value with the highest precedence"; clone(2), CLONE_FS; kcmp(2).
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <linux/kcmp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "policy/base/path.h"
#include "policy/system/cleanup.h"

#include "tools/base/readfile.h"
#include "tools/supervisor/answer.h"
#include "tools/supervisor/caller.h"
#include "tools/supervisor/git/push_count.h"
#include "tools/supervisor/handlers.h"
#include "tools/supervisor/proc/procstat.h"

#include "exec.h"

/* --- filters of system calls ------------------------------------------------------------------------------
 */

/* -1 where it cannot be read. */
static int count_filters(pid_t tid)
{
	static const char key[] = "\nSeccomp_filters:\t";
	_cleanup_free_ char *text = NULL;
	char path[32];
	const char *at;
	size_t len;

	(void)snprintf(path, sizeof(path), "/proc/%d/status", tid);
	if (file_read(path, 8192, &text, &len) < 0)
		return -1;
	at = strstr(text, key);
	return at ? atoi(at + sizeof(key) - 1) : -1;
}

static _Atomic int filters;

void exec_filters_note(pid_t tid)
{
	int none = 0;

	if (filters == 0)
		(void)atomic_compare_exchange_strong(&filters, &none, count_filters(tid));
}

static bool is_unfiltered(pid_t tid)
{
	int n = count_filters(tid);

	return n > 0 && n <= filters;
}

/* --- a shared working directory ---------------------------------------------------------------------------
 */

/* Some process made a child that shares its working directory: rare, so all are compared from then on. */
static _Atomic bool some_share;

struct answer carry_clone(struct caller *c)
{
	(void)c;
	some_share = true;
	return answer_continue();
}

/* A process that cannot be compared (PR_SET_DUMPABLE) counts as sharing. */
static bool task_shares(pid_t tid, pid_t other)
{
	long r = syscall(SYS_kcmp, tid, other, KCMP_FS, 0, 0);

	return r == 0 || (r < 0 && errno != ESRCH);
}

static bool process_shares(pid_t tid, const char *pid)
{
	char path[NAME_MAX + 32];
	const struct dirent *e;
	bool shares = false;
	DIR *d;

	(void)snprintf(path, sizeof(path), "/proc/%s/task", pid);
	d = opendir(path);
	while (d && !shares && (e = readdir(d)) != NULL)
		shares = e->d_name[0] != '.' && task_shares(tid, atoi(e->d_name));
	if (d)
		(void)closedir(d);
	return shares;
}

/* True where another process of the session shares the directory of pid.  The threads of tgid, its own
 * process, end with the exec. */
static bool is_shared(pid_t pid, pid_t tgid)
{
	DIR *proc = some_share ? opendir("/proc") : NULL;
	bool shares = some_share && !proc;
	const struct dirent *e;

	while (proc && !shares && (e = readdir(proc)) != NULL) {
		pid_t other = atoi(e->d_name);

		shares = other > 0 && other != tgid && session_has_pid(other) &&
			 process_shares(pid, e->d_name);
	}
	if (proc)
		(void)closedir(proc);
	return shares;
}

const char *exec_led_by(struct caller *c, pid_t pid)
{
	if (!is_unfiltered(pid))
		return "the process has a filter of system calls of its own, which can lead a program "
		       "elsewhere than it says; start it without one";
	if (is_shared(pid, caller_tgid(c)))
		return "another process shares its working directory (CLONE_FS), and can lead it elsewhere; "
		       "start it from one that shares none";
	return NULL;
}

void exec_aim_note(struct exec *x, struct caller *c)
{
	struct git_push push;

	git_aim_note(&x->req, &x->env.git, x->aim, &push);
	x->aim_len = x->req.aim ? strlen(x->aim) : 0;
	if (push.old[0])
		pushes_count(c, &push, x->aim + x->aim_len, sizeof(x->aim) - x->aim_len);
}

bool exec_aim_stands(const struct exec *x, struct caller *c, pid_t pid)
{
	struct request now = x->req;
	struct git_push push;
	char aim[sizeof(x->aim)], branch[sizeof(x->branch)];

	if ((x->req.env || x->wants) && exec_led_by(c, pid))
		return false;
	if (!x->req.env)
		return true;
	now.git_branch = NULL;
	git_branch_note(&now, &x->env.git, branch, sizeof(branch));
	git_aim_note(&now, &x->env.git, aim, &push);
	return same_text(now.git_branch, x->req.git_branch) && !now.aim == !x->req.aim &&
	       (!now.aim || (strlen(aim) == x->aim_len && memcmp(aim, x->aim, x->aim_len) == 0));
}
