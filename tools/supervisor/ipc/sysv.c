/*
 * Calls that reach other processes: System V IPC, signals and priorities.
 *
 * System V IPC: shared memory, semaphores and message queues of the session's own.
 *
 * They are shared by number and by key with every process of the user, and no policy names them.  So
 * the session has keys and ids to itself:
 *
 *   - the supervisor makes each object, always under IPC_PRIVATE, and remembers the key that was requested.
 *     Inside the session a key means the same as without pale.  It means nothing outside, so neither side
 *     finds, occupies or joins an object of the other;
 *   - ids stand in registers, so the kernel performs a call by an id that was made here, and never a call
 *     by another id;
 *   - what is left is removed when the session ends.
 *
 * A remembered id must never mean a foreign object.  Semaphores and queues are forgotten before they are
 * removed.  A segment exists under its id while it is attached; its shm_cpid is checked each time.  The
 * kernel gives a number again after some 500,000 objects at the least (ipc/util.c, ipc_idr_alloc), so one
 * session makes fewer than that.
 */
#include "sysv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tools/supervisor/answer.h"
#include "tools/supervisor/handlers.h"
#include "tools/supervisor/supervisor.h"
#include "tools/supervisor/verdict/call_record.h"
#include "tools/supervisor/verdict/verdict.h"

#define IPC_MADE_MAX 200000 /* in the life of the session */
#define PERM_ALL     7u

/* The result of IPC_STAT; for each kind it begins with the permissions. */
union ipc_state {
	struct ipc_perm perm;
	struct shmid_ds shm;
	struct semid_ds sem;
	struct msqid_ds msg;
};

static int stat_shm(int id, union ipc_state *ret)
{
	return shmctl(id, IPC_STAT, &ret->shm);
}

static int stat_sem(int id, union ipc_state *ret)
{
	return semctl(id, 0, IPC_STAT, &ret->sem);
}

static int stat_msg(int id, union ipc_state *ret)
{
	return msgctl(id, IPC_STAT, &ret->msg);
}

static size_t size_shm(const union ipc_state *st)
{
	return st->shm.shm_segsz;
}

static size_t size_sem(const union ipc_state *st)
{
	return st->sem.sem_nsems;
}

static size_t size_msg(const union ipc_state *st)
{
	(void)st;
	return SIZE_MAX;
}

/* by_id, by_none: bits of the commands that take the id of an object, and of those that take no object.
 * All other commands take an index into the kernel's table, which reaches objects of any owner. */
static const struct kind {
	const char *what;
	int get, control;	      /* system calls */
	unsigned char flags, command; /* the argument in which they stand */
	uint32_t by_id, by_none;
	int (*stat)(int id, union ipc_state *ret);
	size_t (*size)(const union ipc_state *st);
} kinds[IPC_KINDS] = {
	[IPC_SHM] = { "shared memory", SYS_shmget, SYS_shmctl, 2, 1,
		      1u << IPC_RMID | 1u << IPC_SET | 1u << IPC_STAT | 1u << SHM_LOCK | 1u << SHM_UNLOCK,
		      1u << IPC_INFO | 1u << SHM_INFO, stat_shm, size_shm },
	[IPC_SEM] = { "semaphores", SYS_semget, SYS_semctl, 2, 2,
		      1u << IPC_RMID | 1u << IPC_SET | 1u << IPC_STAT | 1u << GETPID | 1u << GETVAL |
			      1u << GETALL | 1u << GETNCNT | 1u << GETZCNT | 1u << SETVAL | 1u << SETALL,
		      1u << IPC_INFO | 1u << SEM_INFO, stat_sem, size_sem },
	[IPC_MSG] = { "message queue", SYS_msgget, SYS_msgctl, 1, 1,
		      1u << IPC_RMID | 1u << IPC_SET | 1u << IPC_STAT, 1u << IPC_INFO | 1u << MSG_INFO,
		      stat_msg, size_msg },
};

static enum ipc_kind kind_of_call(int nr)
{
	switch (nr) {
	case SYS_shmget:
	case SYS_shmat:
	case SYS_shmctl:
		return IPC_SHM;
	case SYS_msgget:
	case SYS_msgsnd:
	case SYS_msgrcv:
	case SYS_msgctl:
		return IPC_MSG;
	default:
		return IPC_SEM;
	}
}

/* --- what was made: all under the lock of struct ipc
 * -------------------------------------------------------------- */

/* Orphans whose run is not known share the objects that they make. */
static uint32_t image_of(const struct caller *c)
{
	return c->is_orphan ? IPC_OF_ORPHANS : c->image_number;
}

/* A nested run has objects to itself, and its keys; the session around may use them by their ids. */
static bool reaches(const struct caller *c, const struct ipc_object *o)
{
	return image_of(c) == 0 || o->image == image_of(c);
}

static void forget_object(struct supervisor *s, struct ipc_object *o)
{
	*o = s->ipc->list[--s->ipc->n];
}

/* The object is still the one that was made here.  For an object without read permission it is only known
 * that it exists, which is enough while it was not removed. */
static bool is_our_object(const struct ipc_object *o, union ipc_state *ret)
{
	if (kinds[o->kind].stat(o->id, ret) < 0)
		return errno == EACCES && !o->removed;
	return o->kind != IPC_SHM || ret->shm.shm_cpid == getpid();
}

/* The system call itself: -1 and errno. */
static int destroy(enum ipc_kind kind, int id)
{
	return (int)syscall(kinds[kind].control, id, kind == IPC_SEM ? 0 : IPC_RMID, IPC_RMID);
}

static struct ipc_object *find_id(struct caller *c, enum ipc_kind kind, int id)
{
	struct supervisor *s = c->sup;

	for (size_t i = 0; i < s->ipc->n; i++)
		if (s->ipc->list[i].id == id && s->ipc->list[i].kind == kind && reaches(c, &s->ipc->list[i]))
			return &s->ipc->list[i];
	return NULL;
}

static struct ipc_object *find_key(struct caller *c, enum ipc_kind kind, int key)
{
	struct supervisor *s = c->sup;

	for (size_t i = 0; key != IPC_PRIVATE && i < s->ipc->n; i++)
		if (s->ipc->list[i].key == key && s->ipc->list[i].kind == kind &&
		    s->ipc->list[i].image == image_of(c))
			return &s->ipc->list[i];
	return NULL;
}

/* Forgets objects that were removed from outside, or by the end of the last process that had them
 * attached. */
static void forget_gone(struct supervisor *s)
{
	union ipc_state st;

	for (size_t i = s->ipc->n; i-- > 0;)
		if (!is_our_object(&s->ipc->list[i], &st))
			forget_object(s, &s->ipc->list[i]);
}

/* --- get: the one call that is performed here ------------------------------------------------------- */

static long make_object(struct caller *c, enum ipc_kind kind, int key)
{
	const struct kind *k = &kinds[kind];
	struct supervisor *s = c->sup;
	uint64_t arg[3] = { IPC_PRIVATE, c->arg[1], c->arg[2] };
	long id;

	if (s->ipc->n == IPC_MAX)
		forget_gone(s);
	if (s->ipc->n == IPC_MAX || s->ipc->made == IPC_MADE_MAX)
		return -ENOSPC;
	arg[k->flags] |= IPC_CREAT;
	id = syscall(k->get, arg[0], arg[1], arg[2]);
	if (id < 0)
		return -errno;
	s->ipc->made++;
	s->ipc->list[s->ipc->n++] = (struct ipc_object){
		.id = (int)id,
		.key = key,
		.kind = kind,
		.image = image_of(c),
	};
	return id;
}

/* Returns what the kernel's ipcget_public() returns for a key that exists. */
static long join_object(const struct caller *c, const struct ipc_object *o, const union ipc_state *st)
{
	const struct kind *k = &kinds[o->kind];
	unsigned flags = (unsigned)c->arg[k->flags], want = (flags >> 6 | flags >> 3 | flags) & PERM_ALL;

	if (flags & IPC_CREAT && flags & IPC_EXCL)
		return -EEXIST;
	if (o->kind != IPC_MSG && c->arg[1] > k->size(st))
		return -EINVAL;
	if (want & ~((unsigned)st->perm.mode >> 6) && geteuid() != 0)
		return -EACCES;
	return o->id;
}

static long get(struct caller *c, enum ipc_kind kind, bool *ret_made)
{
	const int key = (int)c->arg[0];
	struct ipc_object *o = find_key(c, kind, key);
	union ipc_state st = { .perm = { .mode = 0 } };

	if (o && is_our_object(o, &st))
		return join_object(c, o, &st);
	if (o)
		forget_object(c->sup, o);
	if (key != IPC_PRIVATE && !(c->arg[kinds[kind].flags] & IPC_CREAT))
		return -ENOENT;
	*ret_made = true;
	return make_object(c, kind, key);
}

struct answer carry_ipc_get(struct caller *c)
{
	enum ipc_kind kind = kind_of_call(c->nr);
	const struct request req = { .op = OP_WRITE, .access = ACCESS_WRITE };
	const struct decision own = { .verdict = VERDICT_ALLOW, .reason = REASON_OWN, .rule = RULE_NONE };
	char target[64];
	bool made = false;
	long id;

	pthread_mutex_lock(&c->sup->ipc->lock);
	id = get(c, kind, &made);
	pthread_mutex_unlock(&c->sup->ipc->lock);
	if (made && id >= 0) {
		snprintf(target, sizeof(target), "%s %ld", kinds[kind].what, id);
		record_decision(c, &req, target, &own, "");
	}
	return answer_result(id);
}

/* --- by id ------------------------------------------------------------------------------------------ */

/* True where the caller may use the object with this id. */
static bool may_use(struct caller *c, enum ipc_kind kind, int id)
{
	union ipc_state st;
	struct ipc_object *o;
	bool may;

	pthread_mutex_lock(&c->sup->ipc->lock);
	o = find_id(c, kind, id);
	/* Only a segment outlives its removal. */
	may = o && (kind != IPC_SHM || is_our_object(o, &st));
	if (o && !may)
		forget_object(c->sup, o);
	pthread_mutex_unlock(&c->sup->ipc->lock);
	return may;
}

/* For an object that does not exist, the kernel's own error. */
static struct answer refuse_object(struct caller *c, enum ipc_kind kind, int id)
{
	const struct request req = { .op = OP_WRITE, .access = ACCESS_WRITE };
	union ipc_state st;
	char target[64];

	if (kinds[kind].stat(id, &st) < 0 && errno != EACCES)
		return answer_result(-errno);
	snprintf(target, sizeof(target), "%s %d", kinds[kind].what, id);
	verdict_refuse(c, &req, target, REASON_PROCESS);
	return answer_result(-EACCES);
}

struct answer carry_ipc_use(struct caller *c)
{
	enum ipc_kind kind = kind_of_call(c->nr);
	int id = (int)c->arg[0];

	return may_use(c, kind, id) ? answer_continue() : refuse_object(c, kind, id);
}

/* Performed here, so that an id is forgotten before it can be given again. */
static struct answer remove_object(struct caller *c, enum ipc_kind kind, int id)
{
	struct supervisor *s = c->sup;
	struct ipc_object *o;
	long r = -EINVAL;

	pthread_mutex_lock(&s->ipc->lock);
	o = find_id(c, kind, id);
	if (o) {
		r = destroy(kind, id) < 0 ? -errno : 0;
		o->key = IPC_PRIVATE;
		o->removed = true;
		if (kind != IPC_SHM)
			forget_object(s, o);
	}
	pthread_mutex_unlock(&s->ipc->lock);
	return answer_result(r);
}

struct answer carry_ipc_control(struct caller *c)
{
	enum ipc_kind kind = kind_of_call(c->nr);
	const struct kind *k = &kinds[kind];
	uint32_t command = (uint32_t)c->arg[k->command];
	int id = (int)c->arg[0];

	if (command < 32 && k->by_none & 1u << command)
		return answer_continue();
	if (command >= 32 || !(k->by_id & 1u << command))
		return answer_result(-EACCES);
	if (!may_use(c, kind, id))
		return refuse_object(c, kind, id);
	return command == IPC_RMID ? remove_object(c, kind, id) : answer_continue();
}

int ipc_new(struct supervisor *s)
{
	s->ipc = calloc(1, sizeof(*s->ipc));
	if (!s->ipc)
		return -ENOMEM;
	pthread_mutex_init(&s->ipc->lock, NULL);
	return 0;
}

void ipc_done(struct supervisor *s)
{
	union ipc_state st;

	for (size_t i = 0; i < s->ipc->n; i++) {
		const struct ipc_object *o = &s->ipc->list[i];

		if (is_our_object(o, &st))
			(void)destroy(o->kind, o->id);
	}
	pthread_mutex_destroy(&s->ipc->lock);
	free(s->ipc);
}
