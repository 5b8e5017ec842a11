/*
 * What becomes of a call, alike for all of them: judged, asked about, recorded, and told to the caller.
 *
 * The caller's image judges; questions, records and messages are made here, so that every family of calls
 * does it alike.
 */
#include "verdict.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "policy/base/fileop.h"
#include "policy/base/util.h"

#include "tools/supervisor/caller.h"
#include "tools/supervisor/git/git.h"
#include "tools/supervisor/listener.h"
#include "tools/supervisor/supervisor.h"
#include "tools/supervisor/threads/workers.h"

#include "call_record.h"
#include "shm.h"
#include "tell.h"
#include "verdict_answer.h"

static struct decision judge_by(const struct image *img, struct caller *c, const struct request *req)
{
	struct request r = *req;

	r.memo = c->worker->memos;
	return eval(img, &r);
}

/* An orphan may come from any nested run: the strictest of their images decides.  It becomes the caller's
 * image, so that the rule is reported from the image that contains it. */
static struct decision judge_by_each(struct caller *c, const struct request *req)
{
	struct supervisor *s = c->sup;
	struct decision d;

	c->image = *session_image(s);
	c->image_number = 0;
	d = judge_by(&c->image, c, req);
	pthread_mutex_lock(&s->tags_lock);
	for (uint32_t i = 1; i < NELEM(s->nested); i++) {
		struct decision other;

		if (!s->nested[i].base)
			continue;
		other = judge_by(&s->nested[i], c, req);
		if (verdict_strictest(d.verdict, other.verdict) == d.verdict)
			continue;
		d = other;
		c->image = s->nested[i];
		c->image_number = i;
	}
	pthread_mutex_unlock(&s->tags_lock);
	return d;
}

struct decision verdict_of(struct caller *c, const struct request *req)
{
	return c->is_orphan ? judge_by_each(c, req) : judge_by(&c->image, c, req);
}

/* Asks the operator; denies where too many questions wait already. */
static void consult(struct caller *c, const struct request *req, const char *target, struct decision *d,
		    struct verdict_answer *a)
{
	if (caller_may_block(c)) {
		ask_helper(c, req, target, d->rule, a);
	} else {
		a->reason = REASON_NOBODY;
	}
	d->verdict = a->verdict;
	d->reason = a->reason;
}

/*
 * The hooks deny what the policy denies, so a denied call of a process with hooks has gone around them.
 * This does not hold at strict, where the hooks leave every call to the supervisor, for acts to be asked
 * about, which always come here, and for network acts and tools, which the hooks cannot judge.
 */
static void note_around(struct caller *c, enum op op)
{
	bool other = op == OP_CONNECT || op == OP_UNIX || op == OP_RESOLVE || op == OP_BIND ||
		     op == OP_TOOL || op == OP_PUSH;

	if (c->sup->setup->level == LEVEL_FULL && !other && c->note == NOTE_NONE && caller_is_hooked(c))
		c->note = NOTE_AROUND;
}

bool verdict_conclude(struct caller *c, const struct request *req, const char *target, struct decision d)
{
	struct verdict_answer a;

	return verdict_conclude_told(c, req, target, d, &a);
}

bool verdict_conclude_told(struct caller *c, const struct request *req, const char *target, struct decision d,
			   struct verdict_answer *a)
{
	bool changed = req->variable && d.reason != REASON_RULE;

	*a = (struct verdict_answer){ .verdict = VERDICT_DENY, .reason = REASON_NOBODY };
	if (shm_is_others(c, req, &d))
		d = (struct decision){ .verdict = VERDICT_DENY, .reason = REASON_PROCESS, .rule = RULE_NONE };
	if (d.verdict == VERDICT_ASK && d.reason == REASON_GIT) {
		git_guard(c, req, &d, a);
	} else if (d.verdict == VERDICT_ASK) {
		consult(c, req, target, &d, a);
		/* A caller that was killed while it waited has done nothing. */
		if (!caller_alive(c))
			return false;
	} else if (d.reason == REASON_GIT) {
		memcpy(a->text, c->git_why, sizeof(c->git_why));
	} else if (d.verdict != VERDICT_ALLOW) {
		note_around(c, req->op);
	}
	if (changed && !a->text[0])
		(void)snprintf(a->text, sizeof(a->text), "%s changes what it does", req->variable);
	if (d.verdict == VERDICT_ALLOW)
		record_decision(c, req, target, &d, a->approval);
	else
		record_denied(c, req, target, &d, a->approval, a->text);
	return d.verdict == VERDICT_ALLOW;
}

bool verdict_judge(struct caller *c, const struct request *req, const char *target)
{
	return verdict_conclude(c, req, target, verdict_of(c, req));
}

void verdict_granted(struct caller *c, const struct request *req, const char *target, struct decision d,
		     const char *approval)
{
	record_decision(c, req, target, &d, approval);
}

void verdict_narrowed(struct caller *c, const struct request *req, const char *target, struct decision d)
{
	record_decision(c, req, target, &d, "");
	tell_narrowed(c, req, target);
}

void verdict_refuse_with(struct caller *c, const struct request *req, const char *target, enum reason why,
			 const char *detail)
{
	const struct decision d = { .verdict = VERDICT_DENY, .reason = why, .rule = RULE_NONE };

	record_denied(c, req, target, &d, "", detail);
}

void verdict_refuse(struct caller *c, const struct request *req, const char *target, enum reason why)
{
	verdict_refuse_with(c, req, target, why, "");
}

void verdict_refuse_once(struct caller *c, const struct request *req, const char *target, enum reason why)
{
	const struct decision d = { .verdict = VERDICT_DENY, .reason = why, .rule = RULE_NONE };

	if (verdict_is_first(c, req->op, target))
		record_decision(c, req, target, &d, "");
}

bool verdict_is_first(struct caller *c, enum op op, const char *target)
{
	return mark_first(c->sup->refused, ids_mark(&c->sup->ids, caller_tgid(c), op, target));
}

void verdict_note(struct caller *c, enum ring_note note)
{
	c->note = note;
}

/* --- the kernel's own answers ------------------------------------------------------------------------ */

/* Entries other than "." and "..". */
static bool has_entries(int dirfd, const char *name)
{
	int fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	unsigned count = 0;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	while (count <= 2 && readdir(dir))
		count++;
	closedir(dir);
	return count > 2;
}

int verdict_earlier(const struct decision *d, const struct request *req, const struct resolved *r)
{
	struct stat st;
	bool exists = fstatat(r->parent, r->name, &st, AT_SYMLINK_NOFOLLOW) == 0;
	int e = op_existence(req->op, req->access, exists ? st.st_mode : 0, r->path);

	/* A directory that is not empty cannot be removed, whatever it contains: git stash tries that, and
	 * git gc in a linked worktree. */
	if (e == 0 && req->op == OP_DELETE &&
	    (d->reason == REASON_ANCESTOR || d->reason == REASON_SELF || d->reason == REASON_OUTSIDE) &&
	    has_entries(r->parent, r->name))
		return -ENOTEMPTY;
	return e;
}
