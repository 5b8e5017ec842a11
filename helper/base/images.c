/* Finds the image that a record or a question belongs to, and frees the images of earlier policies. */

#include "images.h"

#include <stdlib.h>
#include <string.h>

#include "state.h"

const struct image *image_of(const struct helper *h, uint32_t number)
{
	if (number == 0)
		return &h->image;
	return number <= h->n_narrowed ? &h->narrowed[number - 1].image : NULL;
}

bool image_may_ask(const struct helper *h, uint32_t number)
{
	return !(number == 0 ? h->no_prompt : h->narrowed[number - 1].no_prompt);
}

void images_done(struct images *im)
{
	for (size_t i = 0; i < im->n_narrowed; i++)
		narrowed_done(&im->narrowed[i]);
	free(im->bytes);
	memset(im, 0, sizeof(*im));
}

const struct image *image_in(const struct images *im, uint32_t number)
{
	if (!im->bytes || number > im->n_narrowed)
		return NULL;
	return number == 0 ? &im->own : &im->narrowed[number - 1].image;
}

const struct image *image_recorded(const struct helper *h, uint32_t numbered)
{
	uint32_t number = numbered % RING_IMAGES, of = numbered / RING_IMAGES;
	const struct past_images *past = h->past;

	if (of >= RING_GENERATIONS || of == (past ? past->generation : 0) % RING_GENERATIONS)
		return of >= RING_GENERATIONS ? NULL : image_of(h, number);
	return past ? image_in(&past->of[of], number) : NULL;
}

void past_images_free(struct past_images *past)
{
	for (size_t i = 0; past && i < RING_GENERATIONS; i++)
		images_done(&past->of[i]);
	free(past);
}
