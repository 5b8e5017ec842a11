/*
 * Layout of the path and host sections of an image, shared by their writers (compile_path.c,
 * compile_host.c) and readers (eval_path.c, eval_host.c).  Private to policy/.  A change here
 * bumps IMAGE_VERSION.
 */
#ifndef PALE_LAYOUT_H
#define PALE_LAYOUT_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* --- paths: a trie of components, node 0 is "/" ------------------------------------------------ */

/* The last edge to the node is a literal: a rule names this directory by its name, not by a glob. */
#define NODE_NAMED     1u
#define NODE_LITERAL   2u  /* has literal edges */
#define NODE_SUFFIX    4u  /* has edges of the form `*.ext`, found by the name's last extension */
#define NODE_ANY_DEPTH 8u  /* `**`: stays active at each deeper component */
#define NODE_EXACT     16u /* all edges to the node are literal: it is exactly one place */
#define NODE_WAY       32u /* exactly one place, strictly above one that a write rule names */

struct path_node {
	uint32_t flags;
	uint32_t spec; /* specificity of a rule that ends here */
	uint32_t ref, n_ref;
	uint32_t glob, n_glob;
	uint32_t any;	/* the `**` node below, 0 = none */
	uint32_t guard; /* a rule that protects something strictly below, or RULE_NONE */
	uint64_t seen;	/* name_bit() of every edge's name: most misses need no look in the table */
};

/* Hash table with linear probing, a power of two of slots, child 0 = free. */
#define EDGE_SUFFIX (1u << 31) /* in parent: the name is an extension with its dot */
struct path_edge {
	uint32_t parent, hash, name, child;
};

/* first and last: the bytes with which a matching name begins and ends; 0 = any. */
struct path_glob {
	uint32_t pattern, child;
	uint16_t len;
	uint8_t first, last;
};

struct path_ref {
	uint32_t rule;
	uint8_t kind, layer, rank, inside; /* inside: the built-in rule that opens the workspace */
};

/* Specificity of one component. */
#define SPEC_LITERAL 4u
#define SPEC_PARTIAL 2u
#define SPEC_STAR    1u

/*
 * A name is hashed in words of 8 bytes, the last one filled with zeros, so that a path can be split and
 * hashed in one pass.
 */
static inline uint64_t hash_word(uint64_t h, uint64_t word)
{
	h = (h ^ word) * 0xff51afd7ed558ccdull;
	return h ^ h >> 32;
}

static inline uint32_t hash_words_end(uint64_t h)
{
	return (uint32_t)(h * 0xc4ceb9fe1a85ec53ull >> 32);
}

static inline uint32_t hash_name(const char *s, size_t n)
{
	uint64_t h = 0;

	for (; n >= 8; s += 8, n -= 8) {
		uint64_t w;

		memcpy(&w, s, sizeof(w));
		h = hash_word(h, le64toh(w));
	}
	if (n > 0) {
		uint64_t w = 0;

		while (n-- > 0)
			w = w << 8 | (uint8_t)s[n];
		h = hash_word(h, w);
	}
	return hash_words_end(h);
}

static inline uint64_t name_bit(uint32_t name_hash)
{
	return 1ull << (name_hash >> 26);
}

static inline uint32_t hash_edge(uint32_t parent, uint32_t name_hash)
{
	uint64_t h = ((uint64_t)parent << 32 | name_hash) * 0x9e3779b97f4a7c15ull;

	return (uint32_t)(h >> 32);
}

/* --- unix sockets without a path: SEC_UNIX is an array -------------------------------- */

struct unix_name {
	uint32_t pattern, rule;
};

/* --- hosts -------------------------------------------------------------------------------------- */

/*
 * SEC_HOST: struct host_head, then n_slot slots (a power of two, n_ref 0 = free), then n_ref refs.
 * SEC_ADDR: struct addr_head, then n_slot addr_slots; their refs are SEC_HOST's.
 * The refs of `bind =` are [bind, bind + n_bind).
 */
struct host_head {
	uint32_t n_slot, n_ref;
	uint32_t bind, n_bind;
};

#define HOST_EXACT 0u
#define HOST_BELOW 1u /* `*.name`; with an empty name `*`, everything */
struct host_slot {
	uint32_t hash, name, form, spec, ref, n_ref;
};

#define REF_PORTED 1u /* the rule names ports */
#define REF_LOCAL  2u /* `localhost`, or an address that `localhost` means */
struct host_ref {
	uint32_t rule;
	uint16_t lo, hi;
	uint8_t kind, layer, rank, flags;
};

struct addr_head {
	uint64_t prefixes[3]; /* bit n: a rule with prefix length n exists */
	uint32_t n_slot, pad;
};

struct addr_slot {
	uint8_t addr[16];
	uint32_t prefix, ref, n_ref;
};

/* Names are hashed from their end, so that one pass over a name gives the hash of each parent domain. */
#define HOST_HASH_SEED 0x811c9dc5u
static inline uint32_t hash_host_byte(uint32_t h, char c)
{
	return (h ^ (uint8_t)c) * 0x01000193u;
}

static inline uint32_t hash_host_end(uint32_t h, uint32_t form)
{
	h = (h ^ form) * 0x9e3779b1u;
	return h ^ h >> 15;
}

static inline uint32_t hash_addr(const uint8_t addr[16], uint32_t prefix)
{
	uint64_t hi, lo;

	memcpy(&hi, addr, 8);
	memcpy(&lo, addr + 8, 8);
	hi = (hi ^ prefix) * 0x9e3779b97f4a7c15ull;
	hi = (hi ^ hi >> 32 ^ lo) * 0xff51afd7ed558ccdull;
	return (uint32_t)(hi >> 32);
}

#endif
