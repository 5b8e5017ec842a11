/* Keeps the questions about names that are open, and the names that were allowed for a while. */
#include "inquiry.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "policy/base/util.h"
#include "policy/system/system.h"

#include "tools/supervisor/proc/procstat.h"
#include "tools/supervisor/supervisor.h"
#include "tools/supervisor/verdict/verdict.h"

bool asker_is(const struct asker *a, const struct asker *b)
{
	return a->tgid == b->tgid && a->image == b->image && a->is_orphan == b->is_orphan;
}

/* --- what was granted ---------------------------------------------------------------------------------- */

const struct grant *inquiry_granted(const struct inquiries *q, const struct asker *who, const char *name)
{
	for (size_t i = 0; i < NELEM(q->grants); i++) {
		const struct grant *g = &q->grants[i];

		if (asker_is(&g->who, who) && strcmp(g->name, name) == 0 &&
		    host_yes_holds(&g->yes, who->tgid, session_image(q->sup)))
			return g;
	}
	return NULL;
}

static void grant_name(struct inquiries *q, struct inquiry *i)
{
	struct grant *g = &q->grants[q->n_granted++ % NELEM(q->grants)];

	i->yes.until_s = clock_awake_ns() / NS_S + YES_S;
	i->yes.policy = session_image(q->sup);
	snprintf(i->yes.approval, sizeof(i->yes.approval), "%s", i->answer.approval);
	*g = (struct grant){ .who = i->asking.who, .yes = i->yes };
	snprintf(g->name, sizeof(g->name), "%s", i->name);
}

/* --- asking -------------------------------------------------------------------------------------------- */

static struct inquiry *inquiry_of(struct asking *a)
{
	return CONTAINER_OF(a, struct inquiry, asking);
}

static void on_heard(struct asking *a)
{
	struct inquiry *i = inquiry_of(a), over;
	struct inquiries *q = i->all;

	/* What a grant allowed is asked of the helper each time: it knows when the grant ends. */
	if (i->allowed && i->answer.reason == REASON_HUMAN)
		grant_name(q, i);
	/* done() may reuse its entry. */
	over = *i;
	i->all = NULL;
	q->done(q->cookie, &over);
}

static void ask_about_name(struct asking *a, struct caller *c)
{
	struct inquiry *i = inquiry_of(a);
	struct request req = { .op = OP_RESOLVE, .access = op_access(OP_RESOLVE), .host = i->name };

	i->allowed = verdict_conclude_told(c, &req, i->name, i->decision, &i->answer);
}

static struct inquiry *find_inquiry(struct inquiries *q, const struct asker *who, const char *name)
{
	for (size_t i = 0; i < NELEM(q->list); i++)
		if (q->list[i].all && asker_is(&q->list[i].asking.who, who) &&
		    strcmp(q->list[i].name, name) == 0)
			return &q->list[i];
	return NULL;
}

static struct inquiry *find_free_inquiry(struct inquiries *q)
{
	for (size_t i = 0; i < NELEM(q->list); i++)
		if (!q->list[i].all)
			return &q->list[i];
	return NULL;
}

int inquiry_begin(struct inquiries *q, const struct asker *who, const char *name, const struct decision *d)
{
	struct inquiry *i = find_inquiry(q, who, name);
	int r;

	if (i)
		return 0;
	i = find_free_inquiry(q);
	if (!i)
		return -EAGAIN;
	*i = (struct inquiry){
		.all = q,
		.asking = { .sup = q->sup,
			    .loop = q->loop,
			    .who = *who,
			    .ask = ask_about_name,
			    .heard = on_heard },
		.decision = *d,
		.yes = { .pid = who->tgid, .start = start_of(who->tgid) },
	};
	snprintf(i->name, sizeof(i->name), "%s", name);
	r = asking_begin(&i->asking);
	if (r < 0)
		i->all = NULL;
	return r;
}

/* --- begin and end ----------------------------------------------------------------------------------- */

void inquiries_init(struct inquiries *q, struct supervisor *s, struct loop *l)
{
	q->sup = s;
	q->loop = l;
}

bool inquiries_end(struct inquiries *q)
{
	bool all = true;

	for (size_t i = 0; i < NELEM(q->list); i++)
		if (q->list[i].all)
			all &= asking_end(&q->list[i].asking);
	return all;
}
