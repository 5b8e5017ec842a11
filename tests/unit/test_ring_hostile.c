/* The ring's memory written over: it is noticed, and no record is hidden. */
#include "ring_fixture.h"

Suite *suite_ring_hostile(void);

/* What is written over the head of the ring hides no record, and is noticed. */
START_TEST(header_is_not_believed)
{
	const struct {
		enum ring_tamper what;
		void *word;
		uint64_t value;
	} cases[] = {
		{ TAMPER_HEADER, &h->magic, 0 },       { TAMPER_HEADER, &h->version, RING_VERSION + 1 },
		{ TAMPER_HEAD, &h->head, 0 },	       { TAMPER_HEAD, &h->head, 1 << 20 },
		{ TAMPER_HEAD, &h->head, UINT64_MAX }, { TAMPER_TAIL, &h->tail, 1 << 20 },
		{ TAMPER_TAIL, &h->tail, UINT64_MAX },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ring_record r = record("/a"), got;
		int n = 0;

		rd->tampered = 0;
		for (int k = 0; k < 5; k++)
			ck_assert(ring_write(h, &r, give_up));
		memcpy(cases[i].word, &cases[i].value, cases[i].word == &h->version ? 4 : 8);
		for (int k = 0; k < 7; k++)
			n += ring_read(rd, 1, alive, &got);
		ck_assert_msg(n == 5, "case %zu: %d records", i, n);
		ck_assert_msg(rd->tampered == 1u << cases[i].what, "case %zu: %x", i, rd->tampered);
		ck_assert(ring_write(h, &r, give_up));
		ck_assert_msg(ring_read(rd, 1, alive, &got) == 1, "case %zu: it does not go on", i);
	}
	ck_assert_uint_eq(rd->lost, 0);
}
END_TEST

/* Slots: what no writer makes is skipped at once and noticed. */
START_TEST(nonsense_in_a_slot)
{
	struct ring_record r = record("/a"), got;
	uint64_t *words = (uint64_t *)(h + 1);

	ck_assert(ring_write(h, &r, give_up));
	words[0] = 0xdead;
	ck_assert(ring_write(h, &r, give_up));
	ck_assert_int_eq(ring_read(rd, 1, alive, &got), 1);
	ck_assert_uint_eq(rd->tampered, 1u << TAMPER_TAG);
	ck_assert_uint_eq(rd->lost, 1);
	ck_assert(ring_write(h, &r, give_up));
	words[rd->next * 8 + 3] ^= 1;
	ck_assert_int_eq(ring_read(rd, 1, alive, &got), 0);
	ck_assert_uint_eq(rd->tampered, 1u << TAMPER_TAG | 1u << TAMPER_RECORD);
	ck_assert_uint_eq(rd->lost, 2);
}
END_TEST

/* Whoever goes on moving the head keeps a writer no longer than a full ring does. */
START_TEST(head_is_moved_without_end)
{
	pid_t pid = fork();
	int given_up = 0;

	if (pid == 0)
		for (uint64_t i = 0;; i++)
			atomic_store(&h->head, i);
	for (uint64_t end = now_ns() + 20000000000ull; given_up == 0 && now_ns() < end;) {
		struct ring_record r = record("/a");

		given_up += !ring_write(h, &r, give_up);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	ck_assert_int_gt(given_up, 0);
}
END_TEST

/* A reservation whose writer never came back: waited for a second, then counted. */
START_TEST(abandoned_reservation)
{
	struct ring_record r = record("/after"), got;

	atomic_fetch_add(&h->head, 5);
	ck_assert(ring_write(h, &r, give_up));
	ck_assert_int_eq(ring_read(rd, 1000, alive, &got), 0);
	ck_assert_int_eq(ring_read(rd, 500000000, alive, &got), 0);
	ck_assert_int_eq(ring_read(rd, 2000000000, alive, &got), 1);
	ck_assert_str_eq(got.target, "/after");
	ck_assert_uint_eq(rd->lost, 1);
	ck_assert_uint_eq(rd->tampered, 0);
	/* Once may be a writer that was killed; not again and again. */
	for (uint64_t n = 1; n < 4; n++) {
		atomic_fetch_add(&h->head, 5);
		ck_assert(ring_write(h, &r, give_up));
		ck_assert_int_eq(ring_read(rd, n * 9000000000, alive, &got), 0);
		ck_assert_int_eq(ring_read(rd, n * 9000000000 + 2000000000, alive, &got), 1);
	}
	ck_assert_uint_eq(rd->tampered, 1u << TAMPER_TAG);
}
END_TEST

/* Whatever is written over the shared memory: no crash, no endless loop, and the ring works again. */
/* Many records whose tags were wiped are no record of one writer. */
START_TEST(wiped_tags_are_noticed)
{
	struct ring_record r = record("/wiped"), got;

	for (int i = 0; i < 60; i++)
		ck_assert(ring_write(h, &r, give_up));
	memset(h + 1, 0, (size_t)RING_SLOTS * RING_SLOT);
	ck_assert_int_eq(ring_read(rd, 1000, alive, &got), 0);
	ck_assert_int_eq(ring_read(rd, 2000000000, alive, &got), 0);
	ck_assert_uint_eq(rd->tampered, 1u << TAMPER_TAG);
}
END_TEST

/* A writer that finds its slot freed for the next lap was given up by the reader; any other tag is a theft.
 */
START_TEST(given_up_is_no_theft)
{
	struct ring_record r = record("x");

	*(uint64_t *)(h + 1) = 1ull << 32;
	ck_assert_int_eq(ring_write(h, &r, give_up), RING_LOST);
	atomic_store(&h->head, 0);
	*(uint64_t *)(h + 1) = 5;
	ck_assert_int_eq(ring_write(h, &r, give_up), RING_ROBBED);
}
END_TEST

START_TEST(hostile_memory)
{
	struct ring_record got;
	uint64_t seed = 12345;

	for (int round = 0; round < 200; round++) {
		uint64_t *words = (uint64_t *)(h + 1);

		for (int i = 0; i < 4096; i++) {
			seed = seed * 6364136223846793005ull + 1442695040888963407ull;
			words[(seed >> 20) % (RING_SLOTS * 8)] = seed >> (seed & 31);
		}
		for (uint64_t i = 0; i < 64; i++) /* plausible tags with nonsense behind them */
			words[(rd->next + i) % RING_SLOTS * 8] =
				2 | (seed >> 50 & 0x7f) << 2 | (rd->next + i) << 32;
		atomic_store(&h->head, round % 3 ? rd->next + (seed >> 47) : seed);
		for (int i = 0; i < 500; i++)
			if (ring_read(rd, (uint64_t)(round * 500 + i) * 2000000000ull, alive, &got) == 1)
				ck_assert_uint_le(got.target_len, RING_SLOT * RING_RECORD_SLOTS);
	}
}
END_TEST

Suite *suite_ring_hostile(void)
{
	Suite *s = suite_create("ring_hostile");
	TCase *t = tcase_create("ring_hostile");

	tcase_add_checked_fixture(t, make_ring, free_ring);
	tcase_add_test(t, header_is_not_believed);
	tcase_add_test(t, nonsense_in_a_slot);
	tcase_add_test(t, head_is_moved_without_end);
	tcase_add_test(t, abandoned_reservation);
	tcase_add_test(t, wiped_tags_are_noticed);
	tcase_add_test(t, given_up_is_no_theft);
	tcase_add_test(t, hostile_memory);
	suite_add_tcase(s, t);
	return s;
}
