/*
 * The policy image: the compiled policy, flat, position independent, versioned and checksummed.
 *
 * The helper builds it once, and every process of the session maps it read-only.  The reader treats it as
 * hostile: image_open() checks the header, the size and the section bounds, image_open_checked() the
 * checksum as well, and every later access goes through accessors that check again.  A broken image denies
 * and never crashes.  `pale run` and the supervisor check all of an image once; a program that starts checks
 * the header.  Integers are in host order: an image never leaves its machine.
 */
#ifndef PALE_IMAGE_H
#define PALE_IMAGE_H

#include "policy/rules/rule.h"

#define IMAGE_MAGIC 0x31474d49454c4150ull /* "PALEIMG1" */
/* Bump when the layout of anything below changes. */
#define IMAGE_VERSION 15u
/* The versions of all that the processes of a session share (ring.h, wire.h).  They stand in the image,
 * which none of these processes can write. */
#define IMAGE_NUMBERS (IMAGE_VERSION << 16 | RING_VERSION << 8 | WIRE_VERSION)

enum image_section_id {
	SEC_STRINGS,   /* NUL-terminated strings; offset 0 is "" */
	SEC_RULES,     /* struct image_rule[] */
	SEC_PATH_NODE, /* the trie of path rules: compile_path.c writes, eval_path.c reads */
	SEC_PATH_EDGE,
	SEC_PATH_GLOB,
	SEC_PATH_REF,
	SEC_CMD,  /* command rules: compile_cmd.c writes, eval_cmd.c reads */
	SEC_HOST, /* host rules: compile_host.c writes, eval_host.c reads */
	SEC_ADDR,
	SEC_UNIX,
	SEC_BRANCH, /* u32[] of pairs: string offset of a protected branch pattern, rule */
	SEC_IDENT,  /* struct image_ident[]: build-ids of well known programs */
	SEC_PASS,   /* u32[] string offsets of environment names and patterns to pass */
	SEC_OUTER,  /* the whole image of the session around this one, or empty */
	SEC_COUNT
};

struct image_span {
	uint32_t off, len;
};

struct image_rule {
	uint32_t text, pattern, file, message; /* string offsets; message 0 = none */
	uint32_t line;
	uint8_t kind, layer, rank, hard;
	uint8_t proof;	/* an act that it allows and that cannot be undone is asked: eval_is_final() */
	uint8_t absent; /* what it closes does not exist for a reader */
	uint8_t unused[2];
};

struct image_ident {
	uint8_t build_id[20];
	uint32_t name;
};

struct image_header {
	uint64_t magic;
	uint32_t version, size; /* version: IMAGE_NUMBERS */
	/* Set in the file, which every process maps, once a newer image has replaced this one. */
	uint32_t superseded;
	uint32_t counts_from; /* what records add to the image's number: ring_image_base() */
	uint64_t checksum;    /* of everything after this field */
	uint64_t id;	      /* made from the content, so that the same policy gives the same image */
	uint64_t parent;      /* id of the image around this one, 0 = none */
	uint64_t pass;	/* what a hook puts in args[5] of a call that it allowed; 0 = the gate is closed */
	uint64_t began; /* when the session did, in ns of CLOCK_REALTIME; 0: that is not known */
	uint8_t mode, approvals, reads, network;
	uint8_t relative_only, children_in_ro, allow_sensitive, allow_denylisted;
	uint8_t allow_danger, allow_unhooked, level, stepup;
	uint8_t observe;    /* what no rule names is allowed, except a socket of another program */
	uint8_t launch;	    /* enum launching */
	uint8_t git_unborn; /* the repository that the workspace is of had no branch when the session began */
	uint8_t unused;	    /* padding, named because headers are compared whole */
	uint32_t cmd_default, net_default; /* verdicts */
	uint32_t timeout_s;
	uint32_t workspace, home; /* string offsets */
	uint32_t git_head;	  /* the workspace's branch when the session began, "": none */
	uint32_t push;		  /* verdict on a push that the gate holds */
	uint32_t preset;
	struct image_span sec[SEC_COUNT];
};

/* A mapped image: plain data, which may be copied while the mapping exists. */
struct image {
	const uint8_t *base;
	size_t size;
	const struct image_header *h;
};

#define IMAGE_BYTES_MAX (64u << 20) /* of a file that is read as an image */

/* 0 or -EINVAL (not an image), -EPROTO (other version), -EBADMSG (bounds).  The bytes stay borrowed.
 * async-signal-safe. */
int image_open(struct image *img, const void *base, size_t size);
/* The same, and -EBADMSG where the checksum is wrong. */
int image_open_checked(struct image *img, const void *base, size_t size);
/* True where a newer image must be mapped.  img is open.  It is one load, because it runs for each call
 * that is judged.  async-signal-safe. */
static inline bool image_is_superseded(const struct image *img)
{
	return __atomic_load_n(&img->h->superseded, __ATOMIC_RELAXED) != 0;
}
/* The string at off, "" for a bad offset.  async-signal-safe. */
const char *image_str(const struct image *img, uint32_t off);
/* The bytes of a section, aligned to 8, and their length; NULL and 0 where it is empty. */
const void *image_sec(const struct image *img, enum image_section_id id, size_t *ret_len);
/* Rule i, or NULL. */
const struct image_rule *image_rule(const struct image *img, uint32_t i);
/* The image of the outer session; false, with *ret_outer untouched, where there is none or it is broken. */
bool image_outer(const struct image *img, struct image *ret_outer);
/* True where img equals `around` byte by byte, or was compiled inside it.  async-signal-safe. */
bool image_is_within(const struct image *img, const struct image *around);
/* True where both are the same policy: equal byte by byte, except the pass, which each session has anew. */
bool image_is_alike(const struct image *a, const struct image *b);
/* The name of the well known program with this build-id, by img or any image around it, or NULL. */
const char *image_ident(const struct image *img, const uint8_t build_id[20]);
uint64_t image_checksum(const void *bytes, size_t len);

/*
 * Compiles a policy.  outer may be NULL.  The caller must free *ret_bytes.  0, -ENOMEM, -E2BIG, -EBADMSG
 * with findings in d (a pattern that does not parse).
 */
struct diags;
int image_compile(const struct policy *p, const struct image *outer, struct diags *d, uint8_t **ret_bytes,
		  size_t *ret_size);

#endif
