/*
 * Tampering with a ledger of 200 records: whatever is done to it is reported.  What the chain cannot show by
 * itself (that all of it was made anew, that its end is missing) the key or a head told before does.
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "policy/record/chain.h"

Suite *suite_tamper(void);

#define N	200
#define POINT	50 /* a checkpoint each so many */
#define N_LIST	(2 * N)
#define SESSION "tampered"

struct text {
	char *line;
	size_t len;
};

/* A ledger as a list of lines; `file` is the whole one. */
static struct text file[N], list[N_LIST];
static char hashes[N][RECORD_HASH_HEX];
static size_t n;
static struct checkpoint_key key, other_key;

static struct record_chain chain;

enum sealing { SEALED, BY_ANOTHER, UNSEALED, NO_POINTS };

static void make_point(struct record *r, char detail[CHECKPOINT_DETAIL], enum sealing how)
{
	struct checkpoint c = { .count = r->seq - 1 };

	memcpy(c.head, r->prev, sizeof(c.head));
	r->op = CHECKPOINT_OP;
	r->via = "helper";
	if (how == SEALED || how == BY_ANOTHER)
		ck_assert_int_eq(checkpoint_sign(&c, r->session, r->time, how == SEALED ? &key : &other_key),
				 0);
	checkpoint_print(&c, detail);
	r->detail = detail;
}

/* A ledger whose record number `odd` says something else than the others would. */
static void build(struct text to[N], enum sealing how, uint64_t odd)
{
	char prev[RECORD_HASH_HEX], target[64], detail[CHECKPOINT_DETAIL];

	record_genesis(SESSION, prev);
	for (uint64_t seq = 1; seq <= N; seq++) {
		struct record r = { .seq = seq,
				    .time = "2026-11-22T00:00:00.000000Z",
				    .session = SESSION,
				    .turn = 1,
				    .agent = "agent",
				    .pid = 100 + (int64_t)seq,
				    .exe = "/usr/bin/cc",
				    .op = "write",
				    .target = target,
				    .access = "w",
				    .verdict = "allow",
				    .via = "kernel",
				    .level = "full",
				    .count = 1 };

		snprintf(target, sizeof(target), "/srv/%s-%d", seq == odd ? "innocent" : "file", (int)seq);
		memcpy(r.prev, prev, sizeof(prev));
		if (seq == (how == NO_POINTS ? N : N - 1))
			r.op = "session/end";
		else if ((seq % POINT == 0 || seq == N) && how != NO_POINTS)
			make_point(&r, detail, how);
		record_hash(&r);
		memcpy(prev, r.hash, sizeof(prev));
		if (to == file)
			memcpy(hashes[seq - 1], r.hash, sizeof(prev));
		to[seq - 1].line = record_to_line(&r, &to[seq - 1].len);
		ck_assert_ptr_nonnull(to[seq - 1].line);
	}
}

static void make(void)
{
	const uint8_t seed[CHECKPOINT_SEED_BYTES] = { 1 }, other[CHECKPOINT_SEED_BYTES] = { 2 };

	checkpoint_key_make(seed, &key);
	checkpoint_key_make(other, &other_key);
	build(file, SEALED, 0);
}

static void unmake(void)
{
	for (size_t i = 0; i < N; i++)
		free(file[i].line);
}

static void whole(void)
{
	memcpy(list, file, sizeof(file));
	n = N;
}

enum known { NOTHING, KEY, HEAD };

/* What is reported of `list`, or NULL. */
static const char *verdict(enum known known)
{
	const char *err = NULL;

	record_chain_init(&chain);
	if (known == KEY)
		record_chain_pin(&chain, key.public);
	if (known == HEAD)
		ck_assert(record_chain_expect(&chain, N, hashes[N - 1]));
	for (size_t i = 0; i < n; i++)
		if (record_chain_check(&chain, list[i].line, list[i].len, &err) < 0)
			return err;
	return record_chain_finish(&chain);
}

static void reported(enum known known, const char *says)
{
	const char *err = verdict(known);

	ck_assert_msg(err != NULL, "nothing is reported");
	ck_assert_msg(strstr(err, says) != NULL, "\"%s\" does not say \"%s\"", err, says);
}

START_TEST(whole_is_fine)
{
	whole();
	ck_assert_ptr_null(verdict(NOTHING));
	ck_assert_ptr_null(verdict(KEY));
	ck_assert_uint_eq(chain.sealed, N - 1);
	ck_assert_ptr_null(verdict(HEAD));
	ck_assert_uint_eq(chain.checkpoints, N / POINT);
}
END_TEST

START_TEST(every_bit)
{
	static struct record_chain before, at;
	size_t missed = 0, flips = 0;
	const char *err;

	record_chain_init(&before);
	for (size_t i = 0; i < N; i++) {
		char *line = file[i].line;

		for (size_t bit = 0; bit < file[i].len * 8; bit++, flips++) {
			bool found;

			line[bit / 8] ^= (char)(1 << bit % 8);
			at = before;
			/* Without its newline it runs into the next one, or is torn. */
			found = (line[file[i].len - 1] != '\n' && bit / 8 == file[i].len - 1) ||
				record_chain_check(&at, line, file[i].len, &err) < 0;
			missed += !found;
			line[bit / 8] ^= (char)(1 << bit % 8);
		}
		ck_assert_int_eq(record_chain_check(&before, line, file[i].len, &err), 0);
	}
	ck_assert_uint_gt(flips, N * 400 * 8);
	ck_assert_uint_eq(missed, 0);
}
END_TEST

/* A line that lost its newline together with the next one. */
START_TEST(run_together)
{
	for (size_t i = 0; i + 1 < N; i++) {
		struct text both = { .len = file[i].len + file[i + 1].len };

		both.line = malloc(both.len);
		memcpy(both.line, file[i].line, file[i].len);
		both.line[file[i].len - 1] ^= 4;
		memcpy(both.line + file[i].len, file[i + 1].line, file[i + 1].len);
		whole();
		list[i] = both;
		memmove(list + i + 1, list + i + 2, (N - i - 2) * sizeof(*list));
		n--;
		ck_assert_ptr_nonnull(verdict(NOTHING));
		free(both.line);
	}
}
END_TEST

START_TEST(dropped)
{
	for (size_t i = 0; i + 1 < N; i++)
		for (size_t many = 1; many < 5 && i + many < N; many++) {
			whole();
			n -= many;
			memmove(list + i, list + i + many, (n - i) * sizeof(*list));
			reported(NOTHING, "missing");
		}
}
END_TEST

START_TEST(swapped)
{
	for (size_t i = 0; i < N; i++)
		for (size_t k = i + 1; k < N; k += 1 + k / 7) {
			whole();
			list[i] = file[k];
			list[k] = file[i];
			ck_assert_ptr_nonnull(verdict(NOTHING));
		}
}
END_TEST

START_TEST(duplicated)
{
	for (size_t i = 0; i < N; i++)
		for (size_t at = i + 1; at <= N; at += 1 + at / 9) {
			whole();
			memmove(list + at + 1, list + at, (N - at) * sizeof(*list));
			list[at] = file[i];
			n++;
			ck_assert_ptr_nonnull(verdict(NOTHING));
		}
}
END_TEST

/* Cut at each line's end, and in the middle of a line. */
START_TEST(truncated)
{
	for (size_t left = 1; left < N; left++) {
		whole();
		n = left;
		reported(HEAD, "cut short");
		ck_assert_msg(verdict(KEY) != NULL || left % POINT == 0 || left < N - 1,
			      "%zu: not sealed and not told", left);
		/* Without its last checkpoint, or without its end record, it is not the end that it was. */
		ck_assert(verdict(KEY) != NULL || !chain.ended);
		whole();
		list[left].len /= 2;
		n = left + 1;
		reported(NOTHING, "cut off");
	}
}
END_TEST

/* One record says something else, and every hash behind it is made anew. */
START_TEST(made_anew)
{
	static const enum sealing how[] = { BY_ANOTHER, UNSEALED, NO_POINTS };

	for (uint64_t odd = 1; odd < N - 1; odd += 13)
		for (size_t k = 0; k < sizeof(how) / sizeof(how[0]); k++) {
			build(list, how[k], odd % POINT ? odd : odd + 1);
			n = N;
			ck_assert_ptr_null(verdict(NOTHING)); /* nobody could tell from the file alone */
			ck_assert_ptr_nonnull(verdict(KEY));
			reported(HEAD, "this record differs");
			for (size_t i = 0; i < N; i++)
				free(list[i].line);
		}
}
END_TEST

/* The signatures of the true one in a chain that was made anew. */
START_TEST(signatures_moved)
{
	struct record_owned theirs, ours;
	const char *err;
	size_t len;

	build(list, BY_ANOTHER, 0);
	n = N;
	ck_assert_int_eq(record_from_line(file[POINT - 1].line, file[POINT - 1].len, &ours, &err), 0);
	ck_assert_int_eq(record_from_line(list[POINT - 1].line, list[POINT - 1].len, &theirs, &err), 0);
	theirs.r.detail = ours.r.detail;
	memcpy(theirs.r.time, "2026-11-22T00:00:01.000000Z", 28);
	record_hash(&theirs.r);
	free(list[POINT - 1].line);
	list[POINT - 1].line = record_to_line(&theirs.r, &len);
	list[POINT - 1].len = len;
	reported(NOTHING, "signature is wrong");
	record_done(&theirs);
	record_done(&ours);
	for (size_t i = 0; i < N; i++)
		free(list[i].line);
}
END_TEST

/* Files that were set aside: one is missing, two are swapped, one is there twice. */
START_TEST(parts)
{
	for (size_t size = 10; size <= 100; size += 30)
		for (size_t at = 0; at + 2 * size <= N; at += size) {
			whole();
			n -= size;
			memmove(list + at, list + at + size, (n - at) * sizeof(*list));
			reported(NOTHING, "missing");
			whole();
			memcpy(list + at, file + at + size, size * sizeof(*list));
			memcpy(list + at + size, file + at, size * sizeof(*list));
			reported(NOTHING, "missing");
			whole();
			memmove(list + at + size, list + at, (N - at) * sizeof(*list));
			n += size;
			ck_assert_ptr_nonnull(verdict(NOTHING));
		}
}
END_TEST

START_TEST(behind_the_end)
{
	whole();
	list[n++] = file[N - 1];
	reported(NOTHING, "follows the session's end");
	whole();
	list[N - 1] = file[0];
	reported(NOTHING, "follows the session's end");
}
END_TEST

/* What the operator answered and what came of it. */
static void feed(uint64_t *seq, char prev[RECORD_HASH_HEX], const char *op, const char *verdict_,
		 const char *approval, const char *detail)
{
	struct record r = { .seq = ++*seq,
			    .session = SESSION,
			    .op = op,
			    .verdict = verdict_,
			    .approval = approval,
			    .detail = detail,
			    .target = "git push",
			    .count = 1 };
	const char *err;
	char *line;
	size_t len;

	memcpy(r.prev, prev, RECORD_HASH_HEX);
	record_hash(&r);
	memcpy(prev, r.hash, RECORD_HASH_HEX);
	line = record_to_line(&r, &len);
	ck_assert_int_eq(record_chain_check(&chain, line, len, &err), 0);
	free(line);
}

START_TEST(questions_left_open)
{
	char prev[RECORD_HASH_HEX];
	uint64_t seq = 0;

	record_chain_init(&chain);
	record_genesis(SESSION, prev);
	feed(&seq, prev, "approval/request", "ask", "aaaa", "op=exec cwd=/");
	feed(&seq, prev, "approval/request", "ask", "bbbb", "op=exec cwd=/");
	feed(&seq, prev, "approval/request", "ask", "cccc", "op=write cwd=/");
	feed(&seq, prev, "approval/request", "ask", "dddd", "op=exec cwd=/");
	feed(&seq, prev, "approval/decision", "allow", "bbbb", "op=exec cwd=/ scope=once by=x");
	feed(&seq, prev, "approval/decision", "deny", "cccc", "op=write cwd=/ scope=once by=x");
	feed(&seq, prev, "approval/decision", "allow", "dddd", "op=exec cwd=/ scope=once by=x");
	ck_assert_uint_eq(chain.n_open, 3);
	feed(&seq, prev, "exec", "allow", "bbbb", "id=1");
	feed(&seq, prev, "approval/outcome", "", "dddd", "performed");
	ck_assert_uint_eq(chain.n_open, 1);
	ck_assert_str_eq(chain.open[0].id, "aaaa");
	ck_assert_str_eq(chain.open[0].what, "exec git push");
	ck_assert_int_eq(chain.open[0].stage, STAGE_ASKED);
	feed(&seq, prev, "approval/cancelled", "", "aaaa", "op=exec");
	ck_assert_uint_eq(chain.n_open, 0);
}
END_TEST

START_TEST(checkpoints_are_read_strictly)
{
	struct checkpoint c = { .count = 12, .has_owner = true, .owner = 1000 }, got;
	char detail[CHECKPOINT_DETAIL];

	memcpy(c.head, hashes[0], sizeof(c.head));
	checkpoint_print(&c, detail);
	ck_assert_int_eq(checkpoint_parse(detail, &got), 0);
	ck_assert_int_eq(checkpoint_sign(&c, SESSION, "now", &key), 0);
	checkpoint_print(&c, detail);
	ck_assert_int_eq(checkpoint_parse(detail, &got), 0);
	ck_assert(checkpoint_is_signed(&got, SESSION, "now"));
	ck_assert(!checkpoint_is_signed(&got, SESSION, "later"));
	ck_assert(!checkpoint_is_signed(&got, "other", "now"));
	got.owner++;
	ck_assert(!checkpoint_is_signed(&got, SESSION, "now"));
	got.owner--;
	got.has_owner = false;
	ck_assert(!checkpoint_is_signed(&got, SESSION, "now"));
	got.has_owner = true;
	ck_assert(checkpoint_is_signed(&got, SESSION, "now"));
	got.count++;
	ck_assert(!checkpoint_is_signed(&got, SESSION, "now"));
	for (size_t cut = 0; cut < strlen(detail); cut++) {
		char part[CHECKPOINT_DETAIL];

		memcpy(part, detail, cut);
		part[cut] = '\0';
		ck_assert_int_eq(checkpoint_parse(part, &got), -EBADMSG);
	}
	strcat(detail, " ");
	ck_assert_int_eq(checkpoint_parse(detail, &got), -EBADMSG);
	ck_assert_int_eq(checkpoint_parse("count=01 head=", &got), -EBADMSG);
	/* One that names no owner is older, and holds. */
	c.has_owner = false;
	ck_assert_int_eq(checkpoint_sign(&c, SESSION, "now", &key), 0);
	checkpoint_print(&c, detail);
	ck_assert_ptr_null(strstr(detail, "owner"));
	ck_assert_int_eq(checkpoint_parse(detail, &got), 0);
	ck_assert(!got.has_owner && checkpoint_is_signed(&got, SESSION, "now"));
}
END_TEST

Suite *suite_tamper(void)
{
	Suite *s = suite_create("tamper");
	TCase *t = tcase_create("tamper");

	tcase_add_checked_fixture(t, make, unmake);
	/* 0.8 million verifications; more than the default of 4 s where the machine is busy. */
	tcase_set_timeout(t, 60);
	tcase_add_test(t, whole_is_fine);
	tcase_add_test(t, every_bit);
	tcase_add_test(t, run_together);
	tcase_add_test(t, dropped);
	tcase_add_test(t, swapped);
	tcase_add_test(t, duplicated);
	tcase_add_test(t, truncated);
	tcase_add_test(t, made_anew);
	tcase_add_test(t, signatures_moved);
	tcase_add_test(t, parts);
	tcase_add_test(t, behind_the_end);
	tcase_add_test(t, questions_left_open);
	tcase_add_test(t, checkpoints_are_read_strictly);
	suite_add_tcase(s, t);
	return s;
}
