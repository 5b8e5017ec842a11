/* The only bounds check of a section, inline for the evaluator's fast path.  Private to policy/. */
#ifndef PALE_SECTION_H
#define PALE_SECTION_H

#include "image.h"

static inline bool image_span_ok(const struct image_span *s, size_t size)
{
	return s->len == 0 || (s->off % 8 == 0 && s->off >= sizeof(struct image_header) && s->off <= size &&
			       s->len <= size - s->off);
}

/* As image_sec(), for an image that is open and an id that is known. */
static inline const void *image_section(const struct image *img, enum image_section_id id, size_t *ret_len)
{
	const struct image_span *s = &img->h->sec[id];

	if (s->len == 0 || !image_span_ok(s, img->size)) {
		*ret_len = 0;
		return NULL;
	}
	*ret_len = s->len;
	return img->base + s->off;
}

#endif
