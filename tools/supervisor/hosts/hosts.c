/*
 * A table from an address to the names that led there, as the forwarder's answers gave them.
 *
 * One array, reused by age, and chains by address with the newest in front.  An entry whose answer has
 * expired stays in the table but is not found.
 */
#include "hosts.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <time.h>

#include "policy/base/sockaddr.h"
#include "policy/system/system.h"

#include "tools/supervisor/proc/procstat.h"

#define BUCKETS 4096u

struct entry {
	TAILQ_ENTRY(entry) age;
	LIST_ENTRY(entry) chain; /* used entries only */
	bool used;
	uint8_t addr[16];
	uint64_t end_s;
	struct host_name who;
};

struct hosts {
	pthread_mutex_t lock;
	uint64_t shift_s;
	TAILQ_HEAD(, entry) by_age; /* oldest first */
	LIST_HEAD(, entry) chains[BUCKETS];
	struct entry entries[HOSTS_MAX];
};

/* A clock that counts while the machine is suspended: answers expire then too. */
static uint64_t now_s(const struct hosts *h)
{
	return clock_ns(CLOCK_BOOTTIME) / NS_S + h->shift_s;
}

/* FNV-1a. */
static unsigned bucket_of(const uint8_t addr[16])
{
	uint32_t hash = 0x811c9dc5u;

	for (int i = 0; i < 16; i++)
		hash = (hash ^ addr[i]) * 0x01000193u;
	return (hash ^ hash >> 16) % BUCKETS;
}

struct hosts *hosts_new(void)
{
	struct hosts *h = calloc(1, sizeof(*h));

	if (!h)
		return NULL;
	pthread_mutex_init(&h->lock, NULL);
	TAILQ_INIT(&h->by_age);
	for (size_t i = 0; i < HOSTS_MAX; i++)
		TAILQ_INSERT_TAIL(&h->by_age, &h->entries[i], age);
	return h;
}

void hosts_free(struct hosts *h)
{
	if (h)
		pthread_mutex_destroy(&h->lock);
	free(h);
}

bool host_yes_holds(const struct host_yes *yes, pid_t pid, const struct image *policy)
{
	return yes->approval[0] && yes->pid == pid && yes->policy == policy &&
	       clock_awake_ns() / NS_S < yes->until_s && yes->start != 0 && yes->start == start_of(pid);
}

static bool is_same_entry(const struct entry *e, const struct host_name *name, const uint8_t addr[16])
{
	return memcmp(e->addr, addr, 16) == 0 && e->who.yes.pid == name->yes.pid &&
	       e->who.yes.start == name->yes.start && strcmp(e->who.name, name->name) == 0;
}

/* The entry for this name and address, or the oldest of all; taken out of its chain. */
static struct entry *take_entry(struct hosts *h, const struct host_name *name, const uint8_t addr[16])
{
	struct entry *e;

	LIST_FOREACH(e, &h->chains[bucket_of(addr)], chain)
	if (is_same_entry(e, name, addr))
		break;
	if (!e) {
		e = TAILQ_FIRST(&h->by_age);
		e->end_s = 0;
	}
	if (e->used)
		LIST_REMOVE(e, chain);
	TAILQ_REMOVE(&h->by_age, e, age);
	return e;
}

/* Adds this answer's asker to those of earlier answers. */
static void add_asker(struct entry *e, const struct host_name *name, bool is_known)
{
	struct host_name *who = &e->who;
	pid_t asker = name->n_askers > 0 ? name->askers[0] : 0;

	if (!is_known)
		*who = *name;
	who->yes = name->yes;
	if (!is_known || who->n_askers == 0 || who->n_askers > HOSTS_ASKERS)
		return;
	for (unsigned i = 0; i < who->n_askers; i++)
		if (who->askers[i] == asker)
			return;
	if (asker == 0)
		who->n_askers = 0;
	else if (who->n_askers++ < HOSTS_ASKERS)
		who->askers[who->n_askers - 1] = asker;
}

/* Normalises an address: NAT64, and "any", which reaches this machine. */
static void meant(const uint8_t said[16], uint8_t addr[16])
{
	memcpy(addr, said, 16);
	sockaddr_meant(addr);
}

void hosts_learn(struct hosts *h, const struct host_name *name, const uint8_t said[16], uint32_t ttl)
{
	uint8_t addr[16];
	uint32_t life = ttl < HOSTS_FLOOR ? HOSTS_FLOOR : ttl > HOSTS_CAP ? HOSTS_CAP : ttl;
	struct entry *e;
	uint64_t now, end;

	if (!name->name[0])
		return;
	meant(said, addr);
	pthread_mutex_lock(&h->lock);
	e = take_entry(h, name, addr);
	now = now_s(h);
	add_asker(e, name, now < e->end_s);
	end = now + life;
	/* An earlier answer that lives longer may still be in use. */
	if (end > e->end_s)
		e->end_s = end;
	memcpy(e->addr, addr, 16);
	e->used = true;
	LIST_INSERT_HEAD(&h->chains[bucket_of(addr)], e, chain);
	TAILQ_INSERT_TAIL(&h->by_age, e, age);
	pthread_mutex_unlock(&h->lock);
}

size_t hosts_find(struct hosts *h, const uint8_t said[16], struct host_name *ret, size_t max)
{
	uint8_t addr[16];
	const struct entry *e;
	size_t n = 0;
	uint64_t now;

	meant(said, addr);
	pthread_mutex_lock(&h->lock);
	now = now_s(h);
	LIST_FOREACH(e, &h->chains[bucket_of(addr)], chain)
	{
		if (n >= max)
			break;
		if (memcmp(e->addr, addr, 16) == 0 && now < e->end_s)
			ret[n++] = e->who;
	}
	pthread_mutex_unlock(&h->lock);
	return n;
}

void hosts_shift(struct hosts *h, uint32_t seconds)
{
	pthread_mutex_lock(&h->lock);
	h->shift_s += seconds;
	pthread_mutex_unlock(&h->lock);
}
