/*
 * Reading the policy image.
 *
 * Guarantees: no byte outside [base, base + size) is read, whatever the image contains; offsets are
 * checked at each use and not only in image_open().  It must not allocate or keep state.
 */
#include "image.h"

#include <errno.h>
#include <string.h>

#include "policy/wire/ring.h"
#include "policy/wire/wire.h"
#include "section.h"

_Static_assert(RING_VERSION < 256 && WIRE_VERSION < 256, "IMAGE_NUMBERS has a byte for each");

#define CHECKED_FROM (offsetof(struct image_header, checksum) + sizeof(uint64_t))

static uint64_t mix(uint64_t h, const uint8_t *p)
{
	uint64_t w;

	memcpy(&w, p, sizeof(w));
	h = (h ^ w) * 0xff51afd7ed558ccdull;
	return h ^ h >> 32;
}

/*
 * Not cryptographic: it finds incomplete and damaged images; the kernel protects them from writers.
 * Each start of a session computes it several times, so four independent sums run at once, for speed.
 */
uint64_t image_checksum(const void *bytes, size_t len)
{
	const uint8_t *p = bytes;
	uint64_t lane[4] = { 0x9e3779b97f4a7c15ull ^ len, 1, 2, 3 };
	uint64_t h, w = 0;

	for (; len >= 32; p += 32, len -= 32)
#pragma GCC unroll 4
		for (unsigned i = 0; i < 4; i++)
			lane[i] = mix(lane[i], p + 8 * i);
	h = lane[0];
	for (unsigned i = 1; i < 4; i++)
		h = (h ^ lane[i]) * 0xff51afd7ed558ccdull;
	for (; len >= sizeof(w); p += sizeof(w), len -= sizeof(w))
		h = mix(h, p);
	if (len > 0)
		memcpy(&w, p, len);
	h = (h ^ w) * 0xc4ceb9fe1a85ec53ull;
	return h ^ h >> 29;
}

static bool header_ok(const struct image_header *h, const uint8_t *base, size_t size)
{
	const struct image_span *str = &h->sec[SEC_STRINGS];

	if (h->size != size || h->mode > MODE_DANGER || h->approvals > APPROVALS_ASK)
		return false;
	if (h->reads > READS_FLOOR || h->network > NETWORK_MODELS || h->launch > LAUNCH_TRUSTED)
		return false;
	for (size_t i = 0; i < SEC_COUNT; i++)
		if (!image_span_ok(&h->sec[i], size))
			return false;
	return str->len > 0 && base[str->off] == '\0' && base[str->off + str->len - 1] == '\0';
}

int image_open(struct image *img, const void *base, size_t size)
{
	const struct image_header *h = base;

	if (!base || size < sizeof(*h) || (uintptr_t)base % _Alignof(struct image_header) != 0)
		return -EINVAL;
	if (h->magic != IMAGE_MAGIC)
		return -EINVAL;
	if (h->version != IMAGE_NUMBERS)
		return -EPROTO;
	if (!header_ok(h, base, size))
		return -EBADMSG;
	*img = (struct image){ .base = base, .size = size, .h = h };
	return 0;
}

int image_open_checked(struct image *img, const void *base, size_t size)
{
	struct image found;
	int r = image_open(&found, base, size);

	if (r == 0 &&
	    image_checksum((const uint8_t *)base + CHECKED_FROM, size - CHECKED_FROM) != found.h->checksum)
		r = -EBADMSG;
	if (r == 0)
		*img = found;
	return r;
}

const void *image_sec(const struct image *img, enum image_section_id id, size_t *ret_len)
{
	if (img->h && (unsigned)id < SEC_COUNT)
		return image_section(img, id, ret_len);
	*ret_len = 0;
	return NULL;
}

const char *image_str(const struct image *img, uint32_t off)
{
	size_t len;
	const char *s = image_sec(img, SEC_STRINGS, &len);

	/* The last byte is NUL, so a string that starts inside ends inside. */
	if (!s || off >= len || s[len - 1] != '\0')
		return "";
	return s + off;
}

const struct image_rule *image_rule(const struct image *img, uint32_t i)
{
	size_t len;
	const struct image_rule *r = image_sec(img, SEC_RULES, &len);

	return r && i < len / sizeof(*r) ? r + i : NULL;
}

bool image_outer(const struct image *img, struct image *ret_outer)
{
	size_t len;
	const void *p = image_sec(img, SEC_OUTER, &len);

	return p && image_open(ret_outer, p, len) == 0;
}

bool image_is_within(const struct image *img, const struct image *around)
{
	struct image at = *img;

	for (unsigned depth = 0; depth <= LIMIT_DEPTH; depth++) {
		/* Compares the bytes, not the ids: an id is a checksum, and a collision can be made. */
		if (at.size == around->size && memcmp(at.base, around->base, at.size) == 0)
			return true;
		if (!image_outer(&at, &at))
			return false;
	}
	return false;
}

/* The part of the header that comes from the policy alone: without what each session has of its own, and
 * without the checksum. */
static struct image_header common_header(const struct image *img)
{
	struct image_header h;

	memcpy(&h, img->h, sizeof(h));
	h.pass = h.began = h.checksum = 0;
	return h;
}

bool image_is_alike(const struct image *a, const struct image *b)
{
	const struct image_header x = common_header(a), y = common_header(b);

	return a->size == b->size && memcmp(&x, &y, sizeof(x)) == 0 &&
	       memcmp(a->base + sizeof(x), b->base + sizeof(x), a->size - sizeof(x)) == 0;
}

static const char *own_ident(const struct image *img, const uint8_t build_id[20])
{
	size_t len;
	const struct image_ident *id = image_sec(img, SEC_IDENT, &len);

	for (size_t i = 0; id && i < len / sizeof(*id); i++)
		if (memcmp(id[i].build_id, build_id, sizeof(id[i].build_id)) == 0)
			return image_str(img, id[i].name);
	return NULL;
}

/* The outermost name counts, so that a nested policy cannot rename a program. */
const char *image_ident(const struct image *img, const uint8_t build_id[20])
{
	const char *name = NULL, *s;
	struct image at = *img;

	for (unsigned depth = 0; depth <= LIMIT_DEPTH; depth++) {
		s = own_ident(&at, build_id);
		name = s ? s : name;
		if (!image_outer(&at, &at))
			break;
	}
	return name;
}
