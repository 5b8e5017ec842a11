/* The ring: many writers, some killed while they write; nothing is lost without being counted. */
#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ring_fixture.h"

Suite *suite_ring(void);

static bool patient(unsigned round)
{
	usleep(100);
	return round < 100000;
}

START_TEST(round_trip)
{
	struct ring_record r = record("/etc/hosts"), got;

	r.approval = "7f3a";
	r.id = 0x0215ab3c;
	r.why = "core.pager could make git run a program";
	ck_assert(ring_write(h, &r, give_up));
	ck_assert_int_eq(ring_read(rd, 1, alive, &got), 1);
	ck_assert_str_eq(got.target, "/etc/hosts");
	ck_assert_str_eq(got.approval, "7f3a");
	ck_assert_uint_eq(got.id, r.id);
	ck_assert_str_eq(got.why, r.why);
	ck_assert_int_eq(got.verdict, VERDICT_ALLOW);
	ck_assert_int_eq(got.pid, getpid());
	ck_assert_uint_eq(got.rule, 3);
	ck_assert_int_eq(ring_read(rd, 1, alive, &got), 0);
}
END_TEST

/* What only the supervisor's ring has: the note, the number of an image, the program of an attach. */
START_TEST(notes_round_trip)
{
	for (int note = NOTE_NONE; note < NOTE_COUNT; note++) {
		struct ring_record r = record(""), got;

		r.kind = RING_ATTACH;
		r.op = OP_ATTACH;
		r.exe = "/opt/static";
		r.note = (enum ring_note)note;
		r.image = 64;
		ck_assert(ring_write(h, &r, give_up));
		ck_assert_int_eq(ring_read(rd, 1, alive, &got), 1);
		ck_assert_int_eq(got.note, note);
		ck_assert_uint_eq(got.image, 64);
		ck_assert_int_eq(got.kind, RING_ATTACH);
		ck_assert_str_eq(got.exe, "/opt/static");
	}
}
END_TEST

/* A number that no writer of ours makes is no record: the reader's tables end there. */
START_TEST(unknown_numbers_are_lost)
{
	struct ring_record bad[4] = { record("/a"), record("/b"), record("/c"), record("/d") }, got;

	bad[0].note = NOTE_COUNT;
	bad[1].op = OP_COUNT;
	bad[2].reason = REASON_COUNT;
	bad[3].kind = (enum ring_kind)5;
	for (size_t i = 0; i < 4; i++)
		ck_assert(ring_write(h, &bad[i], give_up));
	ck_assert_int_eq(ring_read(rd, 1, alive, &got), 0);
	ck_assert_uint_eq(rd->lost, 4);
}
END_TEST

static bool nobody_lives(int32_t pid)
{
	(void)pid;
	return false;
}

/*
 * The supervisor writes in the name of its callers.  A reservation of a dead one is given up at once
 * where the writer is who the record is about, and waited for where it is not.
 */
START_TEST(reservation_of_the_dead)
{
	struct ring_record r = record("/late"), got;
	uint64_t *tag = (uint64_t *)(h + 1);
	uint64_t reserved = 1 | 2 << 2 | (uint64_t)(getpid() & 0x7fffff) << 9;

	atomic_store(&h->head, 2);
	*tag = reserved;
	ck_assert_int_eq(ring_read(rd, 1, NULL, &got), 0);
	ck_assert_uint_eq(rd->lost, 0);
	ck_assert_int_eq(ring_read(rd, 2, nobody_lives, &got), 0);
	ck_assert_uint_eq(rd->lost, 1);
	ck_assert(ring_write(h, &r, give_up));
	ck_assert_int_eq(ring_read(rd, 3, NULL, &got), 1);
	ck_assert_str_eq(got.target, "/late");
}
END_TEST

/* Killed between the decision and the end of the act, in the act, or before it: what was decided is told. */
START_TEST(act_of_the_dead_is_told)
{
	struct ring_record r = record("/done"), got;
	struct ring_hold hold;

	ck_assert(ring_begin(h, &r, give_up, &hold));
	ck_assert_int_eq(ring_read(rd, 1, alive, &got), 0);
	ck_assert_int_eq(ring_read(rd, 2, nobody_lives, &got), 1);
	ck_assert_str_eq(got.target, "/done");
	ck_assert_uint_eq(rd->lost, 0);
	/* Not dead after all: what it says now is said already. */
	ring_end(&hold, true);
	ck_assert_int_eq(ring_read(rd, 3, alive, &got), 0);
	ck_assert_uint_eq(rd->lost, 0);
}
END_TEST

/* An open of a FIFO may wait for ever; those behind it do not. */
START_TEST(act_that_takes_long_is_told)
{
	struct ring_record r = record("/fifo"), behind = record("/behind"), got;
	struct ring_hold hold;

	ck_assert(ring_begin(h, &r, give_up, &hold));
	ck_assert(ring_write(h, &behind, give_up));
	ck_assert_int_eq(ring_read(rd, 1, alive, &got), 0);
	ck_assert_int_eq(ring_read(rd, 200000000, alive, &got), 1);
	ck_assert_str_eq(got.target, "/fifo");
	ck_assert_int_eq(ring_read(rd, 200000001, alive, &got), 1);
	ck_assert_str_eq(got.target, "/behind");
	ring_end(&hold, false);
	ck_assert(ring_write(h, &r, give_up));
	ck_assert_int_eq(ring_read(rd, 200000002, alive, &got), 1);
	ck_assert_uint_eq(rd->lost, 0);
}
END_TEST

/* A reader that dies after it has read, and before it has written: the next one finds the same records. */
START_TEST(what_a_dead_reader_had_read_is_told)
{
	struct ring_record r = record("/slow"), behind = record("/behind"), got;
	struct ring_reader *next = calloc(1, sizeof(*next));
	struct ring_hold hold;

	rd->keeps = true;
	ck_assert(ring_begin(h, &r, give_up, &hold));
	ck_assert(ring_write(h, &behind, give_up));
	ck_assert_int_eq(ring_read(rd, 1, alive, &got), 0);
	ck_assert_int_eq(ring_read(rd, 200000000, alive, &got), 1);
	ck_assert_str_eq(got.target, "/slow");
	ring_end(&hold, true);
	next->h = h;
	next->next = next->seen = next->freed = next->last = atomic_load(&h->tail);
	ck_assert_int_eq(ring_read(next, 1, alive, &got), 1);
	ck_assert_str_eq(got.target, "/slow");
	ck_assert_int_eq(ring_read(next, 1, alive, &got), 1);
	ck_assert_str_eq(got.target, "/behind");
	ck_assert_uint_eq(next->lost + next->tampered, 0);
	free(next);
}
END_TEST

START_TEST(act_that_was_refused_is_not_told)
{
	struct ring_record r = record("/refused"), behind = record("/behind"), got;
	struct ring_hold hold;

	/* Over all laps, and the ring's end. */
	for (size_t i = 0; i < 2 * RING_SLOTS; i++) {
		ck_assert(ring_begin(h, &r, give_up, &hold));
		ring_end(&hold, false);
		ck_assert(ring_write(h, &behind, give_up));
		ck_assert_int_eq(ring_read(rd, 1, alive, &got), 1);
		ck_assert_str_eq(got.target, "/behind");
	}
	ck_assert_uint_eq(rd->lost, 0);
}
END_TEST

/* A slot that was reserved and not filled holds a whole record of the lap before, which is not told again. */
START_TEST(record_of_an_earlier_lap_is_not_told)
{
	struct ring_record r = record("/old"), got;
	uint64_t *tag = (uint64_t *)(h + 1);

	while (rd->next < RING_SLOTS) {
		ck_assert(ring_write(h, &r, give_up));
		ck_assert_int_eq(ring_read(rd, 1, alive, &got), 1);
	}
	ck_assert_uint_eq(rd->next, RING_SLOTS);
	*tag = 1 | 2 << 2 | (uint64_t)(getpid() & 0x7fffff) << 9 | rd->next << 32;
	atomic_store(&h->head, RING_SLOTS + 2);
	ck_assert_int_eq(ring_read(rd, 2, nobody_lives, &got), 0);
	ck_assert_uint_eq(rd->lost, 1);
}
END_TEST

START_TEST(long_targets_are_cut_and_say_so)
{
	static char big[8192];
	struct ring_record r, got;

	memset(big, 'x', sizeof(big) - 1);
	r = record(big);
	ck_assert(ring_write(h, &r, give_up));
	ck_assert_int_eq(ring_read(rd, 1, alive, &got), 1);
	ck_assert_uint_eq(got.target_len + got.target_cut, sizeof(big) - 1);
	ck_assert_uint_gt(got.target_len, 4096);
	ck_assert_uint_eq(strlen(got.target), got.target_len);
}
END_TEST

START_TEST(every_length_wraps)
{
	static char text[5001];
	struct ring_record r, got;

	memset(text, 'y', sizeof(text) - 1);
	for (size_t i = 0; i < 60000; i++) {
		size_t len = i * 7 % 5000;

		r = record("");
		r.target = text;
		r.target_len = len;
		ck_assert(ring_write(h, &r, give_up));
		ck_assert_int_eq(ring_read(rd, 1, alive, &got), 1);
		ck_assert_uint_eq(got.target_len, len);
	}
	ck_assert_uint_eq(rd->lost, 0);
}
END_TEST

START_TEST(full_ring_counts)
{
	struct ring_record r = record("/a"), got;
	uint64_t written = 0, read = 0;

	for (size_t i = 0; i < RING_SLOTS + 10; i++)
		written += ring_write(h, &r, give_up);
	ck_assert_uint_le(written, RING_SLOTS);
	while (ring_read(rd, 1, alive, &got) == 1)
		read++;
	ck_assert_uint_eq(read, written);
	ck_assert(ring_write(h, &r, give_up));
}
END_TEST

/* Writes records "k i" until it is done or killed. */
static _Noreturn void writer(int k, int n)
{
	for (int i = 0; i < n; i++) {
		char text[512];
		struct ring_record r;
		int len = snprintf(text, sizeof(text), "%d %d ", k, i);

		memset(text + len, 'a' + k % 26, (size_t)(i % 400));
		text[len + i % 400] = '\0';
		r = record(text);
		if (!ring_write(h, &r, patient))
			_exit(1);
	}
	_exit(0);
}

#define WRITERS 6
#define EACH	20000

/* Every record of the surviving writers arrives, whole and in its order. */
START_TEST(many_writers_some_killed)
{
	pid_t pid[WRITERS];
	int seen[WRITERS] = { 0 }, left = WRITERS, status;

	for (int k = 0; k < WRITERS; k++) {
		pid[k] = fork();
		if (pid[k] == 0)
			writer(k, k % 2 ? EACH : 1 << 30);
	}
	for (int spin = 0; left > 0; spin++) {
		struct ring_record got;
		int k, i;

		for (int n = 0; n < 5000 && ring_read(rd, now_ns(), alive, &got) == 1; n++) {
			ck_assert_int_eq(sscanf(got.target, "%d %d", &k, &i), 2);
			ck_assert_int_eq(i, seen[k]++);
		}
		if (spin % 20 == 10 && spin / 20 < WRITERS && spin / 20 % 2 == 0)
			kill(pid[spin / 20], SIGKILL);
		while (waitpid(-1, &status, WNOHANG) > 0)
			left--;
	}
	for (uint64_t end = now_ns() + 3000000000ull; now_ns() < end;) {
		struct ring_record got;

		while (ring_read(rd, now_ns(), alive, &got) == 1)
			seen[atoi(got.target)]++;
		if (atomic_load(&h->head) == atomic_load(&h->tail))
			break;
	}
	for (int k = 1; k < WRITERS; k += 2)
		ck_assert_int_eq(seen[k], EACH);
	ck_assert_uint_le(rd->lost, WRITERS / 2);
	ck_assert_uint_eq(rd->tampered, 0);
}
END_TEST

Suite *suite_ring(void)
{
	Suite *s = suite_create("ring");
	TCase *t = tcase_create("ring");

	tcase_set_timeout(t, 30);
	tcase_add_checked_fixture(t, make_ring, free_ring);
	tcase_add_test(t, round_trip);
	tcase_add_test(t, notes_round_trip);
	tcase_add_test(t, unknown_numbers_are_lost);
	tcase_add_test(t, reservation_of_the_dead);
	tcase_add_test(t, act_of_the_dead_is_told);
	tcase_add_test(t, act_that_takes_long_is_told);
	tcase_add_test(t, what_a_dead_reader_had_read_is_told);
	tcase_add_test(t, act_that_was_refused_is_not_told);
	tcase_add_test(t, record_of_an_earlier_lap_is_not_told);
	tcase_add_test(t, long_targets_are_cut_and_say_so);
	tcase_add_test(t, every_length_wraps);
	tcase_add_test(t, full_ring_counts);
	tcase_add_test(t, many_writers_some_killed);
	suite_add_tcase(s, t);
	return s;
}
