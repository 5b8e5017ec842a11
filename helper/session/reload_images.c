/*
 * The images of a reloaded policy: compiled inside each other as the old ones are, written beside them, and
 * renamed to their names.  Nothing is opened by a path that the launcher gave.
 */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/parse/parse.h"
#include "policy/system/cleanup.h"
#include "policy/wire/wire.h"

#include "helper/approvals/stepup_check.h"
#include "helper/base/images.h"
#include "helper/base/state.h"
#include "helper/ledger/bounds.h"
#include "helper/policy/incoming.h"
#include "helper/policy/inner.h"

#include "files.h"
#include "reload_impl.h"

#define SUFFIX ".new"

/* The name of an image's file. */
struct file_name {
	char text[WIRE_IMAGE_NAME + sizeof(SUFFIX)];
};

static struct file_name name_now(uint32_t number)
{
	struct file_name n = { .text = "" };

	wire_image_name(n.text, number);
	return n;
}

static struct file_name name_next(uint32_t number)
{
	struct file_name n = name_now(number);

	strcat(n.text, SUFFIX);
	return n;
}

/* --- compiling --- */

static const char *make_own(struct helper *h, struct plan *plan, struct policy *p, struct diags *d)
{
	size_t size = 0;
	int r = level_check(p, h->level, d);

	/* These stay as the filter and the processes were started with. */
	p->s.level = h->level;
	p->s.proves = stepup_proves(h, p->s.stepup);
	p->s.pass = h->image.h->pass;
	p->s.began = h->image.h->began;
	plan->floor_alone = h->image.h->reads == READS_FLOOR;
	p->s.reads = (enum reads)h->image.h->reads;
	if (r == 0)
		r = image_compile(p, NULL, d, &plan->images.bytes, &size);
	if (r == 0)
		r = image_open_checked(&plan->images.own, plan->images.bytes, size);
	if (r < 0)
		return r == -EBADMSG ? "the policy has errors" : "the policy cannot be compiled";
	((struct image_header *)plan->images.bytes)->counts_from = ring_image_base(h->past->generation + 1);
	return NULL;
}

static const char *make_nested(struct helper *h, struct plan *plan)
{
	struct images *im = &plan->images;

	for (; im->n_narrowed < h->n_narrowed; im->n_narrowed++) {
		const struct narrowed *old = &h->narrowed[im->n_narrowed];

		/* The image around it has a lower number, so it is compiled already. */
		if (inner_again(old, image_in(im, old->outer), &im->narrowed[im->n_narrowed]) < 0)
			return "a nested run's policy cannot be compiled inside the new one";
	}
	return NULL;
}

/* --- files --- */

static mode_t mode_of_image(const struct helper *h)
{
	return h->foreign ? 0444 : 0400;
}

static int write_next(struct helper *h, uint32_t number, const struct image *img)
{
	struct file_name n = name_next(number);

	(void)unlinkat(h->dir_fd, n.text, 0);
	return bounds_create(h, n.text, mode_of_image(h), img->base, img->size);
}

static void remove_next(struct helper *h)
{
	for (uint32_t i = 0; i <= h->n_narrowed; i++)
		(void)unlinkat(h->dir_fd, name_next(i).text, 0);
}

static const char *write_all_next(struct helper *h, const struct images *im)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i <= im->n_narrowed; i++)
		r = write_next(h, i, image_in(im, i));
	return r < 0 ? "the new images cannot be written" : NULL;
}

/* Opens a current file for writing, to mark it after it has lost its name.  Its mode forbids writing. */
static int open_now(struct helper *h, uint32_t number)
{
	struct file_name n = name_now(number);
	int fd;

	if (fchmodat(h->dir_fd, n.text, mode_of_image(h) | S_IWUSR, 0) < 0)
		return -errno;
	fd = openat(h->dir_fd, n.text, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0 || fchmod(fd, mode_of_image(h)) < 0)
		return -errno;
	return fd;
}

/* Before the new images are announced: processes would go on judging by a file that cannot be marked. */
static const char *open_all_now(struct helper *h, struct plan *plan)
{
	for (uint32_t i = 0; i <= h->n_narrowed; i++) {
		int fd = open_now(h, i);

		if (fd < 0)
			return "the images that hold cannot be marked";
		plan->now_fd[plan->n_now++] = fd;
	}
	return NULL;
}

/*
 * A process that has mapped the file sees the mark at its next call.  The file is marked even where the new
 * one does not get its name: then a process that maps it again finds a marked file, and leaves every call
 * to the supervisor or the helper.
 */
static void supersede(struct helper *h, struct plan *plan, uint32_t number)
{
	const uint32_t yes = 1;

	int r = bounds_replace(h, name_next(number).text, name_now(number).text);

	if (r < 0) {
		plan->misplaced++;
		plan->error = -r;
	}
	if (pwrite(plan->now_fd[number], &yes, sizeof(yes), offsetof(struct image_header, superseded)) !=
	    sizeof(yes)) {
		plan->unmarked++;
		plan->error = errno;
	}
}

/* --- the plan --- */

static int compare_hashes(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* A hash of each rule's text, pattern, kind and layer, sorted; the caller frees. */
static uint64_t *rule_hashes(const struct image *img, size_t *ret_n)
{
	size_t n = 0, len;
	const struct image_rule *r;
	uint64_t *list;

	(void)image_sec(img, SEC_RULES, &len);
	list = calloc(len / sizeof(*r) + 1, sizeof(*list));
	for (; list && (r = image_rule(img, (uint32_t)n)); n++) {
		const char *text = image_str(img, r->text), *pattern = image_str(img, r->pattern);

		list[n] = image_checksum(text, strlen(text)) ^ image_checksum(pattern, strlen(pattern)) * 31 ^
			  (uint64_t)r->kind << 8 ^ r->layer;
	}
	if (list)
		qsort(list, n, sizeof(*list), compare_hashes);
	*ret_n = n;
	return list;
}

static void count_rules(const struct image *old, struct plan *plan)
{
	size_t n = 0, m = 0, i = 0, j = 0;
	_cleanup_free_ uint64_t *a = rule_hashes(old, &n), *b = rule_hashes(&plan->images.own, &m);

	while (a && b && (i < n || j < m)) {
		if (j == m || (i < n && a[i] < b[j])) {
			plan->removed++;
			i++;
		} else if (i == n || b[j] < a[i]) {
			plan->added++;
			j++;
		} else {
			i++;
			j++;
		}
	}
}

const char *plan_make(struct helper *h, struct bundle *b, struct policy *p, struct diags *d)
{
	struct plan *plan = calloc(1, sizeof(*plan));
	const char *err;

	if (!plan)
		return "the helper is out of memory";
	h->reload->plan = plan;
	plan->no_prompt = b->no_prompt;
	plan->preset = strdup(p->preset ? p->preset : "");
	plan->sources = plan->preset ? sources_text(b, plan->preset) : NULL;
	if (!plan->sources)
		return "the helper is out of memory";
	err = make_own(h, plan, p, d);
	if (!err)
		err = make_nested(h, plan);
	if (!err)
		err = write_all_next(h, &plan->images);
	if (!err)
		err = open_all_now(h, plan);
	if (!err)
		count_rules(&h->image, plan);
	return err;
}

void plan_adopt(struct helper *h)
{
	struct reload *r = h->reload;
	struct images *now = &r->plan->images, *old = &h->past->of[h->past->generation % RING_GENERATIONS];

	/* Nested ones first: a process that finds the session's new image must find its own, too. */
	for (uint32_t i = (uint32_t)h->n_narrowed; i > 0; i--)
		supersede(h, r->plan, i);
	supersede(h, r->plan, 0);
	images_done(old);
	old->bytes = h->image_bytes;
	old->own = h->image;
	old->n_narrowed = h->n_narrowed;
	h->image_bytes = now->bytes;
	h->image = now->own;
	for (size_t i = 0; i < h->n_narrowed; i++) {
		old->narrowed[i] = h->narrowed[i];
		h->narrowed[i] = now->narrowed[i];
		/* Kept for the next reload. */
		h->narrowed[i].bundle = old->narrowed[i].bundle;
		h->narrowed[i].bundle_len = old->narrowed[i].bundle_len;
		old->narrowed[i].bundle = NULL;
	}
	memset(now, 0, sizeof(*now));
	h->past->generation++;
	h->no_prompt = r->plan->no_prompt;
	free(h->preset);
	h->preset = r->plan->preset;
	free(h->sources);
	h->sources = r->plan->sources;
	r->plan->preset = r->plan->sources = NULL;
	(void)session_describe(h);
}

void plan_done(struct helper *h)
{
	struct plan *plan = h->reload->plan;

	h->reload->plan = NULL;
	if (!plan)
		return;
	if (h->dir_fd >= 0)
		remove_next(h);
	for (size_t i = 0; i < plan->n_now; i++)
		(void)close(plan->now_fd[i]);
	images_done(&plan->images);
	free(plan->preset);
	free(plan->sources);
	free(plan);
}
