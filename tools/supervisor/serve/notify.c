/*
 * The supervisor's loop: receives what the filter sends here, has it served, answers it once.
 *
 * seccomp_unotify(2).  The kernel's structs may be longer than those that this was built with, so
 * buffers are as long as SECCOMP_GET_NOTIF_SIZES says, and RECV wants them cleared.
 */
#include "notify.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>

#include "policy/base/util.h"
#include "policy/system/system.h"

#include "tools/supervisor/answer.h"
#include "tools/supervisor/caller.h"
#include "tools/supervisor/datagrams/line.h"
#include "tools/supervisor/descent.h"
#include "tools/supervisor/domain.h"
#include "tools/supervisor/exec/exec_unproven.h"
#include "tools/supervisor/gate/gate_door.h"
#include "tools/supervisor/git/git.h"
#include "tools/supervisor/hosts/resolver.h"
#include "tools/supervisor/ids.h"
#include "tools/supervisor/ipc/sysv.h"
#include "tools/supervisor/listener.h"
#include "tools/supervisor/lobby/lobby.h"
#include "tools/supervisor/open/gaps.h"
#include "tools/supervisor/proc/procstat.h"
#include "tools/supervisor/procs.h"
#include "tools/supervisor/setup.h"
#include "tools/supervisor/supervisor.h"
#include "tools/supervisor/threads/waiters.h"
#include "tools/supervisor/threads/workers.h"
#include "tools/supervisor/verdict/call_record.h"
#include "tools/supervisor/verdict/made.h"
#include "tools/supervisor/worker.h"
#include "tools/wall/confine.h"

#include "dispatch.h"
#include "policies.h"

/* Linux 6.6; Debian 12's headers do not have them. */
#define PALE_NOTIF_SET_FLAGS	SECCOMP_IOW(4, uint64_t)
#define PALE_NOTIF_SYNC_WAKE_UP (1ul << 0)

#if defined(__x86_64__)
#define ARCH_NATIVE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH_NATIVE AUDIT_ARCH_AARCH64
#else
#error "an architecture that the filter does not know"
#endif

#define TICK_NS_MIN    50000000 /* more frequent ticks (one at each signal) are ignored */
#define TICKS_OLD      2	/* a leader that serves one call for longer is replaced */
#define TICKS_PATIENCE 600	/* without progress, where no wait is expected: a minute */

/* --- the answer ---------------------------------------------------------------------------------- */

static void send_errno(struct supervisor *s, struct seccomp_notif_resp *resp, uint64_t id, int error)
{
	memset(resp, 0, s->sizes.seccomp_notif_resp);
	resp->id = id;
	/* 0 would mean success. */
	resp->error = error > 0 ? -error : -EPERM;
	listener_send(s, resp);
}

/* If it fails, the call is not answered yet: it gets the error, such as EMFILE for the caller's own
 * limit. */
static void send_fd(struct worker *w, struct answer *a)
{
	int r;

	/* While a copy of a FIFO is open here, a process that opens the other end takes this one for its
	 * peer, and what it writes is lost. */
	if (a->is_fifo) {
		r = listener_give_fd(&w->call, a->fd, a->cloexec);
		close(a->fd);
		a->fd = -1;
		listener_answer(w->sup, w->call.id, r);
		return;
	}
	r = listener_answer_fd(&w->call, a->fd, a->cloexec);
	if (r < 0)
		send_errno(w->sup, w->resp, w->call.id, -r);
}

static void send_answer(struct worker *w, struct answer *a)
{
	struct seccomp_notif_resp *resp = w->resp;

	switch (a->kind) {
	case ANSWER_FD:
		send_fd(w, a);
		return;
	case ANSWER_ERRNO:
		send_errno(w->sup, resp, w->call.id, a->error);
		return;
	case ANSWER_VALUE:
	case ANSWER_CONTINUE:
		memset(resp, 0, w->sup->sizes.seccomp_notif_resp);
		resp->id = w->call.id;
		resp->val = a->kind == ANSWER_VALUE ? a->value : 0;
		resp->flags = a->kind == ANSWER_CONTINUE ? SECCOMP_USER_NOTIF_FLAG_CONTINUE : 0;
		listener_send(w->sup, resp);
		return;
	case ANSWER_LATER:
		waiting_begin(w->sup, a->waiting);
		return;
	}
	send_errno(w->sup, resp, w->call.id, EPERM);
}

/* --- one call --------------------------------------------------------------------------------------- */

static void call_init(struct worker *w)
{
	struct caller *c = &w->call;

	*c = (struct caller){
		.sup = w->sup,
		.worker = w,
		.id = w->notif->id,
		.tid = (pid_t)w->notif->pid,
		.nr = w->notif->data.nr,
	};
	for (size_t i = 0; i < NELEM(c->arg); i++)
		c->arg[i] = w->notif->data.args[i];
}

static void begin(struct worker *w)
{
	w->scratch_used = 0;
	atomic_store_explicit(&w->serial, atomic_fetch_add(&w->sup->serial, 1) + 1, memory_order_relaxed);
	(void)worker_move(w, SLOT_IDLE, SLOT_SERVING);
}

static void end(struct worker *w)
{
	proc_put(&w->call);
	workers_unblock(w);
	atomic_store(&w->state, SLOT_IDLE);
}

static struct answer serve(struct worker *w)
{
	carry_fn carry = dispatch_find(w->call.nr);
	struct answer a;
	int r;

	/* pid 0 is a task that our pid namespace does not show. */
	if (w->notif->data.arch != ARCH_NATIVE || !carry || w->call.tid <= 0)
		return answer_result(-ENOSYS);
	r = exec_proven(&w->call);
	if (r < 0)
		return answer_result(r);
	git_late_wait(w->sup);
	caller_find_image(&w->call);
	a = carry(&w->call);
	git_release(&w->call);
	return a;
}

/* Records the outcome that an answer shows; that of LATER is recorded by the thread that answers. */
static void tell_outcome(struct caller *c, const struct answer *a, bool ours)
{
	if (a->kind == ANSWER_LATER && ours)
		waiting_approved(a->waiting, c->approved);
	else if (a->kind == ANSWER_LATER)
		record_outcome(c, EIO);
	else if (a->kind == ANSWER_CONTINUE)
		record_outcome(c, RING_HANDED_ON);
	else
		record_outcome(c, a->kind == ANSWER_ERRNO ? (uint32_t)a->error : 0);
}

static void answer_call(struct worker *w, struct answer a)
{
	bool ours = worker_move(w, SLOT_SERVING, SLOT_ANSWERED);

	if (w->call.approved)
		tell_outcome(&w->call, &a, ours);
	if (ours)
		send_answer(w, &a);
	else if (a.kind == ANSWER_LATER)
		waiting_drop(a.waiting);
	if (a.kind == ANSWER_FD && a.fd >= 0)
		close(a.fd);
	if (a.after)
		a.after(&w->call);
}

/*
 * ENOENT: the caller was killed or interrupted before its call was received; or no task is left that could
 * call, which Linux 6.11 reports at once, again and again.  Any other error means a lack of memory.
 */
static int receive_failed(struct supervisor *s, int error)
{
	const struct timespec nap = { .tv_nsec = 1000000 };
	struct pollfd p = { .fd = s->listener, .events = POLLIN };

	if (error == EINTR)
		return 0;
	if (poll(&p, 1, 0) > 0 && p.revents & (POLLHUP | POLLERR | POLLNVAL)) {
		atomic_store(&s->ended, true);
		return -error;
	}
	if (error != ENOENT)
		nanosleep(&nap, NULL);
	return 0;
}

/* Serves a call that was received before, and consumes it. */
static void resume(struct worker *w, struct waiting *v)
{
	struct caller *c = &w->call;

	waiting_call(v, c);
	c->sup = w->sup;
	c->worker = w;
	begin(w);
	caller_find_image(c);
	answer_call(w, dispatch_find(c->nr)(c));
	end(w);
	waiting_drop(v);
}

/* Receives and serves one call; -errno where there will be no more. */
static int receive_call(struct worker *w)
{
	struct supervisor *s = w->sup;

	memset(w->notif, 0, s->sizes.seccomp_notif);
	if (ioctl(s->listener, SECCOMP_IOCTL_NOTIF_RECV, w->notif) < 0)
		return receive_failed(s, errno);
	call_init(w);
	begin(w);
	atomic_fetch_add_explicit(&s->carried, 1, memory_order_relaxed);
	answer_call(w, serve(w));
	end(w);
	return 0;
}

static const struct work work = { .serve = receive_call, .resume = resume, .abandon = waiting_abandon };

/* --- the tick ---------------------------------------------------------------------------------------- */

/*
 * Signals that a program handles and that end a question early: a person sends them.  Others, such as timers,
 * may come again and again, and no question would stay long enough to be answered.
 */
#define BIT(sig)	   (UINT64_C(1) << ((sig)-1))
#define SIGNALS_OF_PERSONS (BIT(SIGHUP) | BIT(SIGINT) | BIT(SIGQUIT) | BIT(SIGTERM) | BIT(SIGTSTP))

static enum slot_state look_at_slot(struct worker *w)
{
	struct supervisor *s = w->sup;

	if (w->ticks == 0 || w->seen != atomic_load_explicit(&w->serial, memory_order_relaxed))
		return SLOT_SERVING;
	if (atomic_load(&w->instant) || worker_is_given_up(w)) {
		pthread_kill(w->thread, SIGNAL_GIVE_UP);
		return SLOT_SERVING;
	}
	if (atomic_load(&w->asking) && task_has_signal(w->call.tid, SIGNALS_OF_PERSONS)) {
		/* Where the program goes on, the call is made again and asked about again. */
		listener_answer(s, w->call.id, -ERESTARTNOINTR);
		pthread_kill(w->thread, SIGNAL_GIVE_UP);
		return SLOT_ANSWERED;
	}
	if (w->ticks < s->patience || atomic_load(&w->blocked))
		return SLOT_SERVING;
	listener_answer(s, w->call.id, -EIO);
	pthread_kill(w->thread, SIGNAL_GIVE_UP);
	return SLOT_ANSWERED;
}

/*
 * Counts how long the worker has been at the same call, up to its answer.  Sending the answer may take
 * long, since a descriptor is put into the caller only when the caller runs again (SCHED_IDLE, nice).
 */
static void count_ticks(struct worker *w)
{
	uint64_t serial = atomic_load_explicit(&w->serial, memory_order_relaxed);

	if (serial == w->seen && atomic_load(&w->state) != SLOT_IDLE)
		w->ticks++;
	else
		w->ticks = 0;
	w->seen = serial;
}

void supervisor_tick(struct supervisor *s)
{
	uint64_t now = clock_ns(CLOCK_BOOTTIME);

	if (now - s->ticked_ns < s->interval_ns)
		return;
	s->ticked_ns = now;
	atomic_fetch_add(&s->tick, 1);
	for (size_t i = 0; i < atomic_load(&s->slots); i++) {
		struct worker *w = &s->workers[i];

		count_ticks(w);
		worker_hold(w, SLOT_SERVING, look_at_slot);
		if (w->ticks >= TICKS_OLD)
			(void)workers_replace(s, w->index);
	}
	lobby_tick(s);
	exec_tick(s);
	git_late_settle(s);
	/* Where a thread could not be set up, no thread receives. */
	if (!atomic_load(&s->ended))
		(void)workers_replace(s, LEADER_NONE);
}

void supervisor_waiter_gone(struct supervisor *s)
{
	struct epoll_event e;

	while (epoll_wait(s->waiters, &e, 1, 0) > 0)
		;
	waiters_leave(s, NULL);
	git_late_settle(s);
}

/* --- start and end ------------------------------------------------------------------------------------- */

/*
 * The supervisor writes on behalf of callers: its own limits and a reader that hangs up must not end it
 * (prlimit(2) of FSIZE from inside the session did).  Descriptors: enough for twice the remembered tasks
 * and a few for each call.
 */
static void harden(void)
{
	struct rlimit files;

	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &files);
	}
}

static void supervisor_free(struct supervisor *s)
{
	for (size_t i = 0; i < atomic_load(&s->slots); i++) {
		free(s->workers[i].notif);
		free(s->workers[i].resp);
		free(s->workers[i].scratch);
		pthread_cond_destroy(&s->workers[i].wake);
	}
	lines_done(s);
	resolver_done(s);
	pthread_mutex_destroy(&s->net_lock);
	ports_done(&s->ports);
	procs_done(s);
	descent_done(s);
	policies_done(s);
	unproven_done(s);
	domains_done(s);
	gaps_done(s);
	ipc_done(s);
	lobby_done(s);
	if (s->listener >= 0)
		close(s->listener);
	if (s->waiters >= 0)
		close(s->waiters);
	pthread_mutex_destroy(&s->lock);
	pthread_mutex_destroy(&s->procs_lock);
	pthread_mutex_destroy(&s->tags_lock);
	made_done(s);
	free(s);
}

static int find_sizes(struct supervisor *s)
{
	if (syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &s->sizes) < 0)
		return -errno;
	if (s->sizes.seccomp_notif < sizeof(struct seccomp_notif) ||
	    s->sizes.seccomp_notif_resp < sizeof(struct seccomp_notif_resp) ||
	    s->sizes.seccomp_notif_resp > RESPONSE_MAX)
		return -EPROTO;
	return 0;
}

static struct supervisor *supervisor_new(const struct supervisor_setup *setup)
{
	struct supervisor *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->setup = setup;
	if (ids_init(&s->ids) < 0 || unproven_new(s) < 0 || made_new(s) < 0 || lobby_new(s) < 0 ||
	    domains_new(s) < 0 || gaps_new(s) < 0 || ipc_new(s) < 0)
		return free(s), NULL;
	s->listener = -1;
	s->waiters = epoll_create1(EPOLL_CLOEXEC);
	s->patience = TICKS_PATIENCE;
	s->interval_ns = TICK_NS_MIN;
	s->leader = LEADER_NONE;
	pthread_mutex_init(&s->lock, NULL);
	pthread_mutex_init(&s->procs_lock, NULL);
	pthread_mutex_init(&s->tags_lock, NULL);
	ports_init(&s->ports);
	pthread_mutex_init(&s->net_lock, NULL);
	for (size_t i = 0; i < NELEM(s->procs); i++)
		proc_init(&s->procs[i]);
	return s;
}

static void supervisor_drop(struct supervisor *s)
{
	s->listener = -1;
	lobby_stop(s);
	supervisor_free(s);
}

int supervisor_prepare(const struct supervisor_setup *setup, struct supervisor **ret)
{
	struct supervisor *s = supervisor_new(setup);
	int r;

	if (!s)
		return -ENOMEM;
	dispatch_init();
	git_own_begin(&setup->git);
	harden();
	r = find_sizes(s);
	if (r < 0)
		supervisor_drop(s);
	else
		*ret = s;
	return r;
}

int supervisor_serve(struct supervisor *s, int listener)
{
	const struct kernel *k = s->setup->kernel;
	int r = listener;

	s->listener = listener;
	if (r >= 0 && k && k->sync_wake_up)
		(void)ioctl(listener, PALE_NOTIF_SET_FLAGS, PALE_NOTIF_SYNC_WAKE_UP);
	if (r >= 0)
		r = workers_start(s, &work);
	if (r < 0)
		supervisor_drop(s);
	return r;
}

int supervisor_start(const struct supervisor_setup *setup, int listener, struct supervisor **ret)
{
	struct supervisor *s;
	int r = supervisor_prepare(setup, &s);

	if (r == 0)
		r = supervisor_serve(s, listener);
	if (r == 0)
		*ret = s;
	return r;
}

size_t supervisor_stop(struct supervisor *s)
{
	size_t left = workers_stop(s);

	git_late_settle(s);
	lobby_stop(s);
	lines_settle(s);
	/* A thread that a dead file system or helper holds keeps its memory and the listener until the
	 * process ends. */
	if (left == 0 && resolver_end(s) && lines_end(s) && doors_end())
		supervisor_free(s);
	return left;
}
