/* What a nested run stands on: images inside images, their names, the messages about them. */
#include <check.h>
#include <errno.h>
#include <string.h>

#include "image_fixture.h"
#include "policy/wire/ring.h"
#include "policy/wire/wire.h"

Suite *suite_narrow(void);

static struct fixture root, inner, innermost, sibling;

static void make(struct fixture *f, const struct image *outer, const char *denied)
{
	fixture_init(f);
	fixture_rule(f, RULE_FILE_DENY, denied);
	ck_assert_int_eq(fixture_try(f, outer), 0);
}

static void make_all(void)
{
	make(&root, NULL, "/a");
	make(&inner, &root.img, "/b");
	make(&innermost, &inner.img, "/c");
	make(&sibling, &root.img, "/c");
}

static void free_all(void)
{
	fixture_done(&root);
	fixture_done(&inner);
	fixture_done(&innermost);
	fixture_done(&sibling);
}

START_TEST(within_goes_one_way)
{
	ck_assert(image_is_within(&root.img, &root.img));
	ck_assert(image_is_within(&inner.img, &root.img));
	ck_assert(image_is_within(&innermost.img, &root.img));
	ck_assert(image_is_within(&innermost.img, &inner.img));
	ck_assert(!image_is_within(&root.img, &inner.img));
	ck_assert(!image_is_within(&inner.img, &innermost.img));
	ck_assert(!image_is_within(&sibling.img, &inner.img));
	ck_assert(!image_is_within(&inner.img, &sibling.img));
}
END_TEST

/* An id can be made to collide; the bytes cannot. */
START_TEST(within_does_not_trust_ids)
{
	struct image_header *h = (struct image_header *)sibling.bytes;

	h->id = inner.img.h->id;
	h->parent = inner.img.h->id;
	ck_assert(!image_is_within(&sibling.img, &inner.img));
	h = (struct image_header *)(sibling.bytes + sibling.img.h->sec[SEC_OUTER].off);
	h->id = inner.img.h->id;
	ck_assert(!image_is_within(&sibling.img, &inner.img));
	h->magic = 0;
	ck_assert(!image_is_within(&sibling.img, &root.img));
}
END_TEST

START_TEST(same_policy_same_image)
{
	struct fixture again;

	make(&again, &root.img, "/b");
	ck_assert_uint_eq(again.size, inner.size);
	ck_assert_mem_eq(again.bytes, inner.bytes, again.size);
	ck_assert_uint_eq(again.img.h->parent, root.img.h->id);
	ck_assert_uint_ne(innermost.img.h->id, sibling.img.h->id);
	fixture_done(&again);
}
END_TEST

START_TEST(each_image_around_decides)
{
	static const struct {
		const char *path, *why;
		uint32_t nested;
	} cases[] = {
		{ "/a", "policy.ini:1 [files] deny = /a (outer session)", 2 },
		{ "/b", "policy.ini:1 [files] deny = /b (outer session)", 1 },
		{ "/c", "policy.ini:1 [files] deny = /c", 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct request req = { .op = OP_READ, .access = ACCESS_READ, .path = cases[i].path };
		struct decision d = eval(&innermost.img, &req);
		struct image from;

		ck_assert(d.verdict == VERDICT_DENY);
		ck_assert_uint_eq(d.nested, cases[i].nested);
		ck_assert_str_eq(fixture_describe(&innermost, &d), cases[i].why);
		ck_assert(decision_image(&innermost.img, &d, &from));
		ck_assert_str_eq(image_str(&from, image_rule(&from, d.rule)->text), cases[i].path);
		d.nested = 3;
		ck_assert(!decision_image(&innermost.img, &d, &from));
	}
}
END_TEST

static void add_ident(struct fixture *f, const char *name, uint8_t byte)
{
	f->p.idents = calloc(1, sizeof(*f->p.idents));
	f->p.n_idents = 1;
	f->p.idents[0].name = strdup(name);
	memset(f->p.idents[0].build_id, byte, sizeof(f->p.idents[0].build_id));
}

/* Else a nested policy without the table would turn a copy of git into a program nobody knows. */
START_TEST(programs_stay_known)
{
	struct fixture outer, in;
	uint8_t id[20];

	fixture_init(&outer);
	add_ident(&outer, "git", 7);
	fixture_compile(&outer);
	make(&in, &outer.img, "/b");
	memset(id, 7, sizeof(id));
	ck_assert_str_eq(image_ident(&in.img, id), "git");
	fixture_done(&in);
	fixture_init(&in);
	add_ident(&in, "harmless", 7);
	ck_assert_int_eq(fixture_try(&in, &outer.img), 0);
	ck_assert_str_eq(image_ident(&in.img, id), "git");
	id[19] = 8;
	ck_assert_ptr_null(image_ident(&in.img, id));
	fixture_done(&in);
	fixture_done(&outer);
}
END_TEST

START_TEST(names_have_one_spelling)
{
	static const char *const bad[] = { "",	       "image.",    "image.0", "image.01", "image.65",
					   "image.1 ", "image.1/",  "/image",  "../image", "image.-1",
					   "Image",    "image.1.1", "ring",    "image.1\n" };
	char name[WIRE_IMAGE_NAME];

	ck_assert_int_eq(wire_image_number("image"), 0);
	for (uint32_t i = 0; i <= WIRE_IMAGE_MAX; i++) {
		wire_image_name(name, i);
		ck_assert_int_eq(wire_image_number(name), (int)i);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_msg(wire_image_number(bad[i]) < 0, "%s", bad[i]);
}
END_TEST

START_TEST(narrow_round_trip)
{
	uint8_t frame[256];
	struct wire_narrowed back = { 0 };
	uint32_t image = 99;
	int n = wire_put_narrow(frame, sizeof(frame), 5);

	ck_assert_int_eq(wire_type(frame, (size_t)n), WIRE_NARROW);
	ck_assert_int_eq(wire_get_narrow(frame, (size_t)n, &image), 0);
	ck_assert_uint_eq(image, 5);
	for (int i = 0; i < n; i++)
		ck_assert_int_eq(wire_get_narrow(frame, (size_t)i, &image), -EPROTO);
	ck_assert_int_eq(wire_get_narrow(frame, (size_t)n + 1, &image), -EPROTO);
	ck_assert_int_eq(wire_get_narrowed(frame, (size_t)n, &back), -EPROTO);
	n = wire_put_narrow(frame, sizeof(frame), WIRE_IMAGE_MAX + 1);
	ck_assert_int_eq(wire_get_narrow(frame, (size_t)n, &image), -EPROTO);
	ck_assert_uint_eq(image, 5);
	n = wire_put_narrowed(frame, sizeof(frame), &(struct wire_narrowed){ WIRE_IMAGE_NONE, "no" });
	ck_assert_int_eq(wire_get_narrowed(frame, (size_t)n, &back), 0);
	ck_assert(back.image == WIRE_IMAGE_NONE && strcmp(back.text, "no") == 0);
	for (int i = 0; i < n; i++)
		ck_assert_int_eq(wire_get_narrowed(frame, (size_t)i, &back), -EPROTO);
	n = wire_put_narrowed(frame, sizeof(frame), &(struct wire_narrowed){ WIRE_IMAGE_MAX + 1, "" });
	ck_assert_int_eq(wire_get_narrowed(frame, (size_t)n, &back), -EPROTO);
	frame[4] ^= 1;
	ck_assert_int_eq(wire_type(frame, (size_t)n), -EPROTO);
}
END_TEST

START_TEST(ring_carries_the_image)
{
	struct ring_header *h = aligned_alloc(4096, (ring_size() + 4095) / 4096 * 4096);
	struct ring_reader *rd = calloc(1, sizeof(*rd));
	struct ring_record r = {
		.kind = RING_DECISION, .op = OP_READ, .image = 64, .pid = 1, .target = "/x"
	};
	struct ring_record back;

	ck_assert(h && rd);
	memset(h, 0, ring_size());
	ring_init(h);
	rd->h = h;
	r.target_len = 2;
	r.exe = r.approval = "";
	ck_assert(ring_write(h, &r, NULL));
	ck_assert_int_eq(ring_read(rd, 1, NULL, &back), 1);
	ck_assert_uint_eq(back.image, 64);
	free(rd);
	free(h);
}
END_TEST

Suite *suite_narrow(void)
{
	Suite *s = suite_create("narrow");
	TCase *images = tcase_create("images"), *rest = tcase_create("rest");

	tcase_add_checked_fixture(images, make_all, free_all);
	tcase_add_test(images, within_goes_one_way);
	tcase_add_test(images, within_does_not_trust_ids);
	tcase_add_test(images, same_policy_same_image);
	tcase_add_test(images, each_image_around_decides);
	tcase_add_test(rest, programs_stay_known);
	tcase_add_test(rest, names_have_one_spelling);
	tcase_add_test(rest, narrow_round_trip);
	tcase_add_test(rest, ring_carries_the_image);
	suite_add_tcase(s, images);
	suite_add_tcase(s, rest);
	return s;
}
