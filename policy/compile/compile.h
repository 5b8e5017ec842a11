/*
 * Rules to image, and the bundle of everything that a compilation depends on.
 *
 * What the parts of the compiler share: growing bytes, interned strings, sections.
 *
 * Private to policy/compile/.  Allocates, so nothing here is linked into the preload.  Every
 * error of memory or size sticks to the compiler, so a part may go on and be told at its end.
 * Rule number i of the image is p->rules[i]: compile.c writes SEC_RULES in that order before any
 * part runs.
 */
#ifndef PALE_COMPILE_H
#define PALE_COMPILE_H

#include "policy/image/image.h"
#include "policy/parse/parse.h"

/* Bytes that grow.  Zero is a valid empty value; owned, freed by bytes_done(). */
struct bytes {
	uint8_t *p;
	size_t len, cap;
	int err; /* 0, -ENOMEM or -E2BIG; sticks */
};

void bytes_put(struct bytes *b, const void *data, size_t n);
void bytes_u8(struct bytes *b, uint8_t v);
void bytes_u32(struct bytes *b, uint32_t v);
/* Zero bytes until len is a multiple of n (a power of two). */
void bytes_align(struct bytes *b, size_t n);
void bytes_done(struct bytes *b);

struct compiler {
	struct bytes sec[SEC_COUNT];
	uint32_t *intern; /* open hash table of string offsets, 0 = free */
	size_t intern_n, intern_cap;
	int err;
};

/* Offset of s in SEC_STRINGS, the same for equal strings; 0 for NULL, "" and on failure (c->err is set). */
uint32_t compile_string(struct compiler *c, const char *s);
/* As above for n bytes without NUL. */
uint32_t compile_string_n(struct compiler *c, const char *s, size_t n);
/* Appends to section id (copies).  0 or the error that stuck. */
int compile_section(struct compiler *c, enum image_section_id id, const void *data, size_t len);
/* A finding about rule r: an error at its line. */
int compile_error(struct diags *d, const struct rule *r, const char *code, const char *text);

/*
 * The parts.  Each goes once over p->rules, takes the kinds that are its own and fills its
 * sections.  0, -ENOMEM, -E2BIG, -EBADMSG with findings in d.
 */
int compile_path(struct compiler *c, const struct policy *p, struct diags *d); /* SEC_PATH_* and SEC_UNIX */
int compile_host(struct compiler *c, const struct policy *p, struct diags *d); /* SEC_HOST, SEC_ADDR, bind */
int compile_cmd(struct compiler *c, const struct policy *p, struct diags *d);  /* SEC_CMD and SEC_BRANCH */

#endif
