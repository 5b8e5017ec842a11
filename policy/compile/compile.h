/*
 * Rules to image, and the bundle of everything that a compilation depends on.
 *
 * What the parts of the compiler share: growing bytes, interned strings, sections.
 *
 * Private to policy/compile/.  Allocates, so nothing here is linked into the preload.  The compiler keeps
 * its first error of memory or size, so a part may go on and check for it at its end.  Rule number i of
 * the image is p->rules[i]: compile.c writes SEC_RULES in that order before any part runs.
 */
#ifndef PALE_COMPILE_H
#define PALE_COMPILE_H

#include "policy/image/image.h"
#include "policy/parse/parse.h"

/* A buffer that grows.  All zero is a valid empty buffer; bytes_done() frees it. */
struct bytes {
	uint8_t *p;
	size_t len, cap;
	int err; /* the first error: 0, -ENOMEM or -E2BIG */
};

void bytes_put(struct bytes *b, const void *data, size_t n);
void bytes_u8(struct bytes *b, uint8_t v);
void bytes_u32(struct bytes *b, uint32_t v);
/* Appends zero bytes until len is a multiple of n (a power of two). */
void bytes_align(struct bytes *b, size_t n);
void bytes_done(struct bytes *b);

struct compiler {
	struct bytes sec[SEC_COUNT];
	uint32_t *intern; /* open hash table of string offsets, 0 = free */
	size_t intern_n, intern_cap;
	int err;
};

/* The offset of s in SEC_STRINGS, the same for equal strings; 0 for NULL, "" and on errors (in c->err). */
uint32_t compile_string(struct compiler *c, const char *s);
/* Like compile_string(), for n bytes without a NUL. */
uint32_t compile_string_n(struct compiler *c, const char *s, size_t n);
/* Appends a copy of data to section id.  0 or the first error of c. */
int compile_section(struct compiler *c, enum image_section_id id, const void *data, size_t len);
/* Adds an error at the line of rule r: 0 or -ENOMEM. */
int compile_error(struct diags *d, const struct rule *r, const char *code, const char *text);

/*
 * The parts.  Each goes once over p->rules, handles its own kinds of rules and fills its
 * sections.  0, -ENOMEM, -E2BIG, -EBADMSG with findings in d.
 */
int compile_path(struct compiler *c, const struct policy *p, struct diags *d); /* SEC_PATH_* and SEC_UNIX */
int compile_host(struct compiler *c, const struct policy *p, struct diags *d); /* SEC_HOST, SEC_ADDR, bind */
int compile_cmd(struct compiler *c, const struct policy *p, struct diags *d);  /* SEC_CMD and SEC_BRANCH */

#endif
