#include "tools/supervisor/inquiry.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "tools/tools.h"

#define STACK_SIZE  (256u << 10)
#define STOP_NAP_NS 2000000
#define STOP_ROUNDS 1000

bool asker_is(const struct asker *a, const struct asker *b)
{
	return a->tgid == b->tgid && a->image == b->image && a->is_orphan == b->is_orphan;
}

static uint64_t now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec;
}

/* --- what was granted ---------------------------------------------------------------------------------- */

const struct grant *inquiry_granted(const struct inquiries *q, const struct asker *who, const char *name)
{
	uint64_t now = now_s();

	for (size_t i = 0; i < NELEM(q->grants); i++) {
		const struct grant *g = &q->grants[i];

		if (g->until_s > now && asker_is(&g->who, who) && strcmp(g->name, name) == 0)
			return g;
	}
	return NULL;
}

static void grant(struct inquiries *q, const struct inquiry *i)
{
	struct grant *g = &q->grants[q->n_granted++ % NELEM(q->grants)];

	g->who = i->who;
	g->until_s = now_s() + GRANT_S;
	snprintf(g->name, sizeof(g->name), "%s", i->name);
	snprintf(g->approval, sizeof(g->approval), "%s", i->answer.approval);
}

/* --- asking -------------------------------------------------------------------------------------------- */

static void on_over(struct loop_job *j)
{
	struct inquiry *i = (struct inquiry *)((char *)j - offsetof(struct inquiry, job));
	struct inquiries *q = i->all;
	struct inquiry over;

	pthread_join(i->thread, NULL);
	if (i->allowed)
		grant(q, i);
	desk_free(i->desk);
	/* Its place may be taken again in there. */
	over = *i;
	i->all = NULL;
	q->done(q->cookie, &over);
}

static void *thread_main(void *arg)
{
	struct inquiry *i = arg;
	struct request req = { .op = OP_RESOLVE, .access = op_access(OP_RESOLVE), .host = i->name };
	struct caller c;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGNAL_GIVE_UP);
	sigaddset(&set, SIGBUS);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	asker_stand_in(&c, i->all->sup, &i->who, i->desk);
	i->allowed = verdict_conclude_told(&c, &req, i->name, i->decision, &i->answer);
	atomic_store(&i->over, true);
	loop_post(i->all->loop, &i->job);
	return NULL;
}

static int make_thread(struct inquiry *i)
{
	pthread_attr_t attr;
	sigset_t all, before;
	int r;

	sigfillset(&all);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&i->thread, &attr, thread_main, i);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return -r;
}

static struct inquiry *find(struct inquiries *q, const struct asker *who, const char *name)
{
	for (size_t i = 0; i < NELEM(q->list); i++)
		if (q->list[i].all && asker_is(&q->list[i].who, who) && strcmp(q->list[i].name, name) == 0)
			return &q->list[i];
	return NULL;
}

static struct inquiry *find_free(struct inquiries *q)
{
	for (size_t i = 0; i < NELEM(q->list); i++)
		if (!q->list[i].all)
			return &q->list[i];
	return NULL;
}

int inquiry_begin(struct inquiries *q, const struct asker *who, const char *name, const struct decision *d)
{
	struct inquiry *i = find(q, who, name);
	int r;

	if (i)
		return 0;
	i = find_free(q);
	if (!i)
		return -EAGAIN;
	memset(i, 0, sizeof(*i));
	i->desk = desk_new(q->sup);
	if (!i->desk)
		return -ENOMEM;
	i->all = q;
	i->who = *who;
	i->decision = *d;
	i->job.run = on_over;
	snprintf(i->name, sizeof(i->name), "%s", name);
	r = make_thread(i);
	if (r < 0) {
		desk_free(i->desk);
		i->all = NULL;
	}
	return r;
}

/* --- begin and end ---------------------------------------------------------------------------------------
 */

void inquiries_init(struct inquiries *q, struct supervisor *s, struct loop *l)
{
	q->sup = s;
	q->loop = l;
}

/* It waits for a human, perhaps: interrupted, it sees that all is over (caller_alive()). */
static bool end_one(struct inquiry *i)
{
	const struct timespec nap = { .tv_nsec = STOP_NAP_NS };

	for (int k = 0; k < STOP_ROUNDS && !atomic_load(&i->over); k++) {
		pthread_kill(i->thread, SIGNAL_GIVE_UP);
		nanosleep(&nap, NULL);
	}
	if (!atomic_load(&i->over))
		return false;
	pthread_join(i->thread, NULL);
	desk_free(i->desk);
	return true;
}

bool inquiries_end(struct inquiries *q)
{
	bool all = true;

	for (size_t i = 0; i < NELEM(q->list); i++)
		if (q->list[i].all)
			all &= end_one(&q->list[i]);
	return all;
}
