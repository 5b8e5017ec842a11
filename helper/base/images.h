/*
 * The images of a session: its own, those of its nested runs, and those that an earlier policy had.  The
 * current ones are members of struct helper.
 */
#ifndef PALE_HELPER_IMAGES_H
#define PALE_HELPER_IMAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "policy/image/image.h"
#include "policy/wire/ring.h"
#include "policy/wire/wire.h"

struct helper;

/* The image of a nested run. */
struct narrowed {
	uint8_t *bytes;
	struct image image;
	bool no_prompt;
	uint32_t outer; /* number of the image around it */
	char *bundle;	/* the bundle that it was made of; NULL: too large to keep */
	size_t bundle_len;
};

static inline void narrowed_done(struct narrowed *n)
{
	free(n->bytes);
	free(n->bundle);
}

/* The images of one generation. */
struct images {
	uint8_t *bytes;
	struct image own;
	struct narrowed narrowed[WIRE_IMAGE_MAX];
	size_t n_narrowed;
};

/* Only reload*.c write them; NULL in struct helper until the first reload is requested. */
struct past_images {
	uint32_t generation;		    /* number of policies before the current one */
	struct images of[RING_GENERATIONS]; /* by generation, without the current one */
};

/* Image `number` of one generation, or NULL. */
const struct image *image_in(const struct images *im, uint32_t number);
void images_done(struct images *im);
void past_images_free(struct past_images *past);
/* The image with this number (which a process claims), or NULL. */
const struct image *image_of(const struct helper *h, uint32_t number);
/* True where a process under this image may ask a human.  The image must exist. */
bool image_may_ask(const struct helper *h, uint32_t number);
/*
 * The image that a record of the ring names (policy/wire/ring.h), of this generation or an earlier one; or
 * NULL.
 */
const struct image *image_recorded(const struct helper *h, uint32_t numbered);

#endif
