/* Counts the new names below each domain, by their hashes, for a minute. */
#include "name_limits.h"

#include <libpsl.h>
#include <stdlib.h>
#include <string.h>

#include "policy/base/util.h"

#include "message.h"

/* Names are stored by their hash: a collision saves a client one name, no more. */
struct seen {
	uint64_t hash;
	uint64_t until_s; /* 0: the slot is empty */
};

struct parent {
	uint64_t hash; /* of the registrable domain, 0: the slot is empty */
	uint64_t used_s;
	struct seen names[DNS_BELOW_MAX];
};

struct dns_limits {
	struct parent parents[DNS_PARENTS];
	struct seen all[DNS_ANY_MAX];
};

struct dns_limits *dns_limits_new(void)
{
	return calloc(1, sizeof(struct dns_limits));
}

void dns_limits_free(struct dns_limits *l)
{
	free(l);
}

/* FNV-1a, never 0. */
static uint64_t hash_of_name(const char *s)
{
	uint64_t h = 0xcbf29ce484222325ull;

	for (; *s; s++)
		h = (h ^ (uint8_t)*s) * 0x100000001b3ull;
	return h ? h : 1;
}

/* The last two labels, where the public suffix list has no entry. */
static const char *last_two(const char *name)
{
	const char *p = name + strlen(name);
	unsigned dots = 0;

	while (p > name && (p[-1] != '.' || ++dots < 2))
		p--;
	return p;
}

static const char *parent_of(const char *name)
{
	const psl_ctx_t *psl = psl_builtin();
	const char *parent = psl ? psl_registrable_domain(psl, name) : NULL;

	return parent ? parent : last_two(name);
}

static bool is_short(const char *name)
{
	size_t total = strlen(name), label;

	if (total > DNS_TOTAL_MAX)
		return false;
	for (const char *p = name; *p; p += label + (p[label] == '.')) {
		label = strcspn(p, ".");
		if (label > DNS_LABEL_MAX)
			return false;
	}
	return true;
}

/* The slot of the name, or a free one; NULL where all are in use. */
static struct seen *find_room(struct seen *list, size_t n, uint64_t hash, uint64_t now_s)
{
	struct seen *room = NULL;

	for (size_t i = 0; i < n; i++) {
		if (list[i].until_s <= now_s)
			room = room ? room : &list[i];
		else if (list[i].hash == hash)
			return &list[i];
	}
	return room;
}

static struct parent *find_parent(struct dns_limits *l, uint64_t hash, uint64_t now_s)
{
	struct parent *oldest = &l->parents[0];

	for (size_t i = 0; i < NELEM(l->parents); i++) {
		struct parent *p = &l->parents[i];

		if (p->hash == hash) {
			p->used_s = now_s;
			return p;
		}
		if (p->used_s < oldest->used_s)
			oldest = p;
	}
	*oldest = (struct parent){ .hash = hash, .used_s = now_s };
	return oldest;
}

/* A name that was counted is not counted again until its window ends. */
static void count_name(struct seen *s, uint64_t hash, uint64_t now_s)
{
	if (s->hash != hash || s->until_s <= now_s)
		*s = (struct seen){ hash, now_s + DNS_WINDOW_S };
}

/* The types of one look-up of a host (A, AAAA, HTTPS) count as one name. */
static uint64_t hash_with(const char *name, uint16_t type)
{
	uint64_t hash = hash_of_name(name);

	if (type == DNS_TYPE_A || type == DNS_TYPE_AAAA || type == DNS_TYPE_HTTPS)
		return hash;
	hash = (hash ^ type) * 0x100000001b3ull;
	return hash ? hash : 1;
}

bool dns_limits_pass(struct dns_limits *l, const char *name, uint16_t type, uint64_t now_s)
{
	uint64_t hash = hash_with(name, type);
	struct seen *below, *all;

	if (!is_short(name))
		return false;
	all = find_room(l->all, NELEM(l->all), hash, now_s);
	if (!all)
		return false;
	below = find_room(find_parent(l, hash_of_name(parent_of(name)), now_s)->names, DNS_BELOW_MAX, hash,
			  now_s);
	if (!below)
		return false;
	count_name(below, hash, now_s);
	count_name(all, hash, now_s);
	return true;
}
