/*
 * Reloads the policy of a session.
 *
 * The helper has compiled the images and left them beside the ones that hold; they are read here first and
 * judge from the next call on.  Only then are they renamed over the old ones, where the hooks find them.  A
 * call that is being served keeps its image, so no old image is freed before the session ends; the helper
 * bounds their number.
 */
#include "policies.h"

#include <errno.h>
#include <string.h>

#include "policy/base/util.h"
#include "policy/system/cleanup.h"

#include "tools/base/paths.h"
#include "tools/base/readfile.h"
#include "tools/supervisor/open/gaps.h"
#include "tools/supervisor/supervisor.h"
#include "tools/wall/confine.h"

#define SUFFIX ".new"

/* New images and replaced ones: one block each. */
struct kept_image {
	struct image image;
	uint32_t number;
	struct kept_image *next;
};

static void kept_free(struct kept_image *k)
{
	while (k) {
		struct kept_image *next = k->next;

		free((void *)k->image.base);
		free(k);
		k = next;
	}
}

/* Read as a whole, not mapped, so that the file cannot be truncated while it is used. */
static int kept_read(const struct supervisor *s, uint32_t number, struct kept_image **list)
{
	char name[WIRE_IMAGE_NAME + sizeof(SUFFIX)], path[PATH_MAX];
	struct kept_image *k = calloc(1, sizeof(*k));
	_cleanup_free_ char *bytes = NULL;
	size_t len = 0;
	int r = k ? 0 : -ENOMEM;

	wire_image_name(name, number);
	strcat(name, SUFFIX);
	if (r == 0)
		r = path_join(path, sizeof(path), s->setup->session_dir, name);
	if (r == 0)
		r = file_read(path, IMAGE_BYTES_MAX, &bytes, &len);
	if (r == 0)
		r = image_open_checked(&k->image, bytes, len);
	if (r != 0) {
		free(k);
		return r;
	}
	bytes = NULL; /* owned by the image, until policies_done() */
	k->number = number;
	k->next = *list;
	*list = k;
	return 0;
}

/* A new image must have the pass and the level of the first one: the filter was built with that pass, and
 * the processes were started for that level. */
static bool image_fits(const struct image *img, const struct image *old)
{
	return img->h->pass == old->h->pass && img->h->level == old->h->level;
}

/* Under tags_lock.  The session's own image is last in the list, since it is read first. */
static int read_images(struct supervisor *s, struct kept_image **list)
{
	const struct image *own;
	int r = kept_read(s, 0, list);

	if (r != 0)
		return r;
	own = &(*list)->image;
	if (!image_fits(own, session_image(s)))
		return -EPERM;
	for (uint32_t i = 1; r == 0 && i < NELEM(s->nested); i++) {
		if (!s->nested[i].base)
			continue;
		r = kept_read(s, i, list);
		if (r == 0 && !image_is_within(&(*list)->image, own))
			r = -EPERM;
	}
	return r;
}

/* Under tags_lock.  Nested images are exchanged with the old ones.  The session's own image keeps its
 * address, since it is read without a lock. */
static void put_images(struct supervisor *s, struct kept_image *list)
{
	struct kept_image *k = list;

	for (; k->next; k = k->next) {
		struct image old = s->nested[k->number];

		s->nested[k->number] = k->image;
		k->image = old;
	}
	atomic_store(&s->image, &k->image);
	k->next = s->kept;
	s->kept = list;
}

int supervisor_reload(struct supervisor *s, bool *ret_performs)
{
	struct kept_image *list = NULL;
	bool holds = false;
	int r;

	pthread_mutex_lock(&s->tags_lock);
	r = read_images(s, &list);
	if (r == 0) {
		const struct kept_image *own = list;

		while (own->next)
			own = own->next;
		holds = s->setup->floor && floor_holds_reads(&own->image, s->setup->floor);
		/* `lacks` makes the supervisor perform all opens for reading.  It is set before the image
		 * that needs it is put in place, and cleared only after the image that needed it has been
		 * replaced. */
		if (!holds)
			gaps_lack(s, true);
		put_images(s, list);
		if (holds)
			gaps_lack(s, false);
		*ret_performs = !gaps_hold(s);
	}
	pthread_mutex_unlock(&s->tags_lock);
	if (r < 0)
		kept_free(list);
	return r;
}

void policies_done(struct supervisor *s)
{
	kept_free(s->kept);
}
