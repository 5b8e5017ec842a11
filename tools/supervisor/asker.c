/*
 * Stand-ins: a caller without a call.  What is known of the task is kept in the desk's own entry, so that a
 * look-up of an allowed name does not read /proc and does not use the table of tasks that call.
 */
#include "asker.h"

#include <stdlib.h>

#include "policy/base/util.h"

#include "caller.h"
#include "procs.h"
#include "supervisor.h"
#include "worker.h"

struct asker asker_of(struct caller *c)
{
	return (struct asker){
		.tgid = caller_tgid(c),
		.image = c->image_number,
		.is_orphan = c->is_orphan,
	};
}

/* The image that held for the asker: a nested image is never removed. */
static void take_image(struct caller *c, const struct asker *who)
{
	struct supervisor *s = c->sup;

	c->image = *session_image(s);
	c->image_number = 0;
	c->is_orphan = who->is_orphan;
	if (who->image == 0)
		return;
	pthread_mutex_lock(&s->tags_lock);
	if (who->image < NELEM(s->nested) && s->nested[who->image].base) {
		c->image = s->nested[who->image];
		c->image_number = who->image;
	} else {
		c->is_orphan = true;
	}
	pthread_mutex_unlock(&s->tags_lock);
}

void asker_stand_in(struct caller *c, struct supervisor *s, const struct asker *who, struct worker *desk)
{
	proc_renew(&desk->own, who->tgid);
	desk->scratch_used = 0;
	*c = (struct caller){
		.sup = s,
		.worker = desk,
		.tid = who->tgid,
		.tgid = who->tgid,
		.nr = -1,
		.is_stand_in = true,
		.proc = &desk->own,
	};
	take_image(c, who);
}

struct worker *desk_new(struct supervisor *s)
{
	struct worker *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->sup = s;
	w->index = LEADER_NONE;
	/* It blocks no call, so caller_may_block() has nothing to do. */
	w->blocked = true;
	proc_init(&w->own);
	return w;
}

void desk_free(struct worker *desk)
{
	if (!desk)
		return;
	proc_renew(&desk->own, 0);
	free(desk->scratch);
	free(desk);
}
