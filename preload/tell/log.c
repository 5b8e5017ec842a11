/*
 * What the preload tells: records to the ring, questions to the helper, denials to standard error.
 *
 * Records decisions in the session's ring.
 */
#include "log.h"

#include <errno.h>
#include <sys/ioctl.h>

#include "policy/wire/wire.h"

#include "preload/process/raw.h"
#include "preload/process/session.h"
#include "preload/process/sys.h"

/* The image that judges, in the form of records; if it cannot be read, only its number is known. */
static uint32_t image_number(void)
{
	return session.image + (session.now->h ? session.now->h->counts_from : 0);
}

/* Adds image and pid to rec, and puts it into the ring; a new process announces itself first. */
static void log_own(struct ring_record *rec, struct ring_hold *ret)
{
	ret->tag = NULL;
	if (!session.ring)
		return;
	rec->image = image_number();
	if (sys_pid_is_new())
		log_attach();
	/* A vfork child shares its parent's cached pid, so for an exec the kernel is asked; an exec is slow
	 * anyway. */
	rec->pid = rec->op == OP_EXEC ? (int32_t)raw0(SYS_getpid) : sys_pid();
	log_record(rec, ret);
}

void log_begin(const struct request *req, const char *target, const struct decision *d, const char *approval,
	       struct ring_hold *ret)
{
	struct ring_record rec = ring_decision(req, d, target ? target : "");

	rec.approval = approval;
	log_own(&rec, ret);
}

void log_decision(const struct request *req, const char *target, const struct decision *d,
		  const char *approval)
{
	struct ring_hold hold;

	log_begin(req, target, d, approval, &hold);
	ring_end(&hold, true);
}

/* Reports a denial to the supervisor.  Returns its answer, or -errno if there is no supervisor. */
static long tell_supervisor(const struct ring_record *rec, bool is_quiet)
{
	struct wire_denial w = { .size = sizeof w };
	struct out o = out_of(w.why, sizeof w.why);

	if (state_now() == STATE_LIVE && level_now() == LEVEL_HOOKS)
		return -ENOTTY;
	if (session.ring && sys_pid_is_new())
		log_attach();
	w.op = (uint32_t)rec->op;
	w.access = rec->access;
	w.reason = (uint32_t)rec->reason;
	w.rule = rec->rule;
	w.nested = rec->nested;
	w.image = image_number();
	w.is_quiet = is_quiet;
	w.target = (uintptr_t)rec->target;
	w.target_len = rec->target_len;
	text_str(&o, rec->why);
	text_end(&o);
	return raw3(SYS_ioctl, 2, WIRE_DENIED, &w);
}

/*
 * The supervisor makes the id of a denial, so that the agent cannot forge one.  If it does not answer, the
 * denial is recorded without an id.  At level hooks there is no supervisor: the id is a claim of this
 * process, like all that it records.
 */
uint32_t log_denied(const struct request *req, const char *target, const struct decision *d,
		    const char *approval, const char *why, bool *is_quiet)
{
	struct ring_record rec = ring_decision(req, d, target);
	struct ring_hold hold;
	long r;

	rec.approval = approval;
	rec.why = why;
	r = tell_supervisor(&rec, *is_quiet);
	if (r > 0) {
		*is_quiet |= (r & WIRE_SAY_LATER) != 0;
		return (uint32_t)r;
	}
	if (level_now() == LEVEL_HOOKS)
		rec.id = denial_mark(req->op, target, d, why);
	log_own(&rec, &hold);
	ring_end(&hold, true);
	return rec.id;
}
