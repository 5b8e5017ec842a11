/* Ledger records: what is hashed is what is read; every tampering is named. */
#include <check.h>
#include <errno.h>
#include <jansson.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#include <wctype.h>

#include "policy/record/chain.h"
#include "policy/record/legible.h"

Suite *suite_record(void);

#define N 5

static char *lines[N];
static size_t lens[N];

static void make_chain(void)
{
	char prev[RECORD_HASH_HEX];

	record_genesis("s1", prev);
	for (size_t i = 0; i < N; i++) {
		struct record r = { .seq = i + 1,
				    .time = "2026-11-22T00:00:00.000000Z",
				    .session = "s1",
				    .turn = 1,
				    .agent = "a",
				    .pid = 10,
				    .op = i == N - 1 ? "session/end" : "read",
				    .target = "/etc/hosts",
				    .verdict = "allow",
				    .via = "hook",
				    .count = 1 };

		memcpy(r.prev, prev, sizeof(prev));
		record_hash(&r);
		memcpy(prev, r.hash, sizeof(prev));
		lines[i] = record_to_line(&r, &lens[i]);
		ck_assert_ptr_nonnull(lines[i]);
	}
}

static void free_chain(void)
{
	for (size_t i = 0; i < N; i++)
		free(lines[i]);
}

/* Index of the first bad line in this order of lines, or -1. */
static int first_bad(const size_t order[], size_t n, const char **err)
{
	struct record_chain c;

	record_chain_init(&c);
	for (size_t i = 0; i < n; i++)
		if (record_chain_check(&c, lines[order[i]], lens[order[i]], err) < 0)
			return (int)i;
	return -1;
}

START_TEST(chain_verifies)
{
	const size_t order[] = { 0, 1, 2, 3, 4 };
	const char *err;

	ck_assert_int_eq(first_bad(order, N, &err), -1);
}
END_TEST

START_TEST(dropped_swapped_repeated)
{
	static const struct {
		size_t order[N];
		size_t n;
		int bad;
		const char *says;
	} cases[] = {
		{ { 0, 2, 3, 4 }, 4, 1, "missing" },  { { 0, 2, 1, 3, 4 }, 5, 1, "missing" },
		{ { 0, 1, 1, 2 }, 4, 2, "repeated" }, { { 1, 2 }, 2, 0, "missing" },
		{ { 0, 1, 2, 3, 4 }, 5, -1, "" },
	};
	const char *err = "";

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ck_assert_int_eq(first_bad(cases[i].order, cases[i].n, &err), cases[i].bad);
		ck_assert_ptr_nonnull(strstr(err, cases[i].says));
	}
}
END_TEST

START_TEST(edited)
{
	const size_t order[] = { 0, 1, 2, 3, 4 };
	const char *err;

	memcpy(strstr(lines[2], "allow"), "allxw", 5);
	ck_assert_int_eq(first_bad(order, N, &err), 2);
	ck_assert_ptr_nonnull(strstr(err, "edited"));
}
END_TEST

/* An edited record with its hash made anew is caught by the next one. */
START_TEST(rehashed)
{
	const size_t order[] = { 0, 1, 2, 3, 4 };
	struct record_owned o;
	const char *err;

	ck_assert_int_eq(record_from_line(lines[1], lens[1], &o, &err), 0);
	o.r.target = "/other";
	record_hash(&o.r);
	free(lines[1]);
	lines[1] = record_to_line(&o.r, &lens[1]);
	record_done(&o);
	ck_assert_int_eq(first_bad(order, N, &err), 2);
	ck_assert_ptr_nonnull(strstr(err, "replaced"));
}
END_TEST

START_TEST(every_cut_is_torn)
{
	struct record_chain c;
	const char *err;

	for (size_t cut = 0; cut < lens[0] - 1; cut++) {
		record_chain_init(&c);
		ck_assert_int_eq(record_chain_check(&c, lines[0], cut, &err), -EBADMSG);
	}
	record_chain_init(&c);
	ck_assert_int_eq(record_chain_check(&c, lines[0], lens[0] - 1, &err), 0);
}
END_TEST

START_TEST(every_flip_is_found)
{
	struct record_chain c;
	const char *err;

	for (size_t bit = 0; bit < (lens[0] - 1) * 8; bit++) {
		lines[0][bit / 8] ^= (char)(1 << bit % 8);
		record_chain_init(&c);
		ck_assert_int_eq(record_chain_check(&c, lines[0], lens[0], &err), -EBADMSG);
		lines[0][bit / 8] ^= (char)(1 << bit % 8);
	}
}
END_TEST

START_TEST(behind_the_end)
{
	struct record_chain c;
	const char *err;

	record_chain_init(&c);
	for (size_t i = 0; i < N; i++)
		ck_assert_int_eq(record_chain_check(&c, lines[i], lens[i], &err), 0);
	ck_assert(c.ended);
	ck_assert_int_eq(record_chain_check(&c, lines[4], lens[4], &err), -EBADMSG);
	ck_assert_ptr_nonnull(strstr(err, "end"));
}
END_TEST

START_TEST(strict_reader)
{
	static const char *const bad[] = { "", "{}", "[]", "null", "{\"seq\":1}", "{\"seq\":1,\"seq\":1}" };
	struct record_owned o;
	const char *err;
	char *more;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_int_eq(record_from_line(bad[i], strlen(bad[i]), &o, &err), -EBADMSG);
	ck_assert_int_gt(asprintf(&more, "{\"extra\":1,%s", lines[0] + 1), 0);
	ck_assert_int_eq(record_from_line(more, strlen(more), &o, &err), -EBADMSG);
	free(more);
	ck_assert_int_gt(asprintf(&more, "{\"seq\":1,%s", lines[0] + 1), 0);
	ck_assert_int_eq(record_from_line(more, strlen(more), &o, &err), -EBADMSG);
	free(more);
}
END_TEST

/* What the helper never writes, a terminal might obey: no field of any kind may hold it. */
START_TEST(no_control_characters)
{
	static const char *const texts[] = { "\\u001b[2J",
					     "\\n",
					     "\\r",
					     "\\u0007",
					     "\x7f",
					     "\xc2\x9b"
					     "2J",
					     "\\u009b2J",
					     "\\u0085",
					     "\\u007f" };
	static const char *const names[] = { "time",   "session", "agent", "exe", "op",	      "target",
					     "access", "verdict", "rule",  "via", "approval", "detail" };
	struct record_owned o;
	const char *err;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
			char *key, *line;
			const char *at;

			ck_assert_int_gt(asprintf(&key, "\"%s\":\"", names[k]), 0);
			at = strstr(lines[0], key) + strlen(key);
			ck_assert_int_gt(asprintf(&line, "%.*s%s%s", (int)(at - lines[0]), lines[0], texts[i],
						  strchr(at, '"')),
					 0);
			ck_assert_int_eq(record_from_line(line, strlen(line), &o, &err), -EBADMSG);
			ck_assert_ptr_nonnull(strstr(err, "control character"));
			free(line);
			free(key);
		}
}
END_TEST

START_TEST(escaping)
{
	static const struct {
		const char *in, *out;
	} cases[] = {
		{ "plain", "plain" },
		{ "a\\b", "a\\\\b" },
		{ "a\nb\t", "a\\x0ab\\x09" },
		{ "\033[31m", "\\x1b[31m" },
		{ "\xff\xfe", "\\xff\\xfe" },
		{ "gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f" },
		{ "\xc2\x9b", "\\xc2\\x9b" },
		{ "\xc0\xaf", "\\xc0\\xaf" },
		{ "\xed\xa0\x80", "\\xed\\xa0\\x80" },
		{ "\xe2\x82", "\\xe2\\x82" },
		{ "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80" },
		{ "\x7f", "\\x7f" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *s = record_escape(cases[i].in, strlen(cases[i].in));

		ck_assert_str_eq(s, cases[i].out);
		free(s);
	}
}
END_TEST

static bool is_legible(const char *s)
{
	bool legible;

	ck_assert_uint_eq(legible_word(s, &legible), strlen(s));
	return legible;
}

START_TEST(words_that_cannot_mislead)
{
	static const struct {
		const char *word;
		bool legible;
	} cases[] = {
		{ "caf\u00e9", true }, /* Latin */
		{ "gr\u00fc\u00df2", true },
		{ "\u0442\u0435\u0441\u0442\u044b", true }, /* tests, in Russian */
		{ "\u03bb\u03cc\u03b3\u03bf\u03c2", true },
		{ "\u6f22\u5b57\u304b\u306a", true },
		{ "\u30e1\u30e2\u30fc", true },
		{ "\u6f22\u5b57\u30e1\u30e2", false }, /* katakana beside others may be one of them */
		{ "\u30ab\u30ed", false },	       /* all of them look like Chinese characters */
		{ "\u529b\u53e3", false },
		{ "\ud55c\uae00", true },
		{ "p\u0430ypal", false },	       /* a Cyrillic letter in Latin ones */
		{ "\u0430\u0440\u0440", false },       /* all of them look Latin */
		{ "\u043f\u0440\u043e\u043a", false }, /* so may these */
		{ "\u03bf\u03bd", false },
		{ "\u03a5\u039f\u03a5", false },	       /* Upsilon and Omicron look Latin, */
		{ "\u03a6", true },			       /* Phi does not */
		{ "\u0442\u0435\u0441\u0442\u044b1x", false }, /* Russian and Latin */
		{ "\u03bb\u044b", false },
		{ "a\u6f22", false },
		{ "\u0131", false },	      /* an i without its dot */
		{ "cafe\u0301", false },      /* a mark of its own */
		{ "\u202ecaf\u00e9", false }, /* from right to left */
		{ "\u05d0\u05d1", false },    /* Hebrew */
		{ "\u0639\u0631", false },    /* Arabic */
		{ "caf\u00e9\u200b", false }, /* no width */
		{ "\u3164", false },	      /* a filler */
		{ "\uff52\uff4d", false },    /* wide Latin */
		{ "\U0001d42b", false },      /* bold Latin */
		{ "\U0001f600", false },
		{ "\u2044", false },	   /* a fraction's slash */
		{ "\u30ce", false },	   /* a kana that looks like one */
		{ "\u4e00\u30fc", false }, /* dashes */
		{ "\u00d7", false },
		{ "\u00a0", false },
		{ "\xc2\x9b"
		  "2J",
		  false },		   /* a control */
		{ "\xc0\xaf", false },	   /* a slash in two bytes */
		{ "\xe0\x83\xa9", false }, /* e' in three */
		{ "\xed\xa0\x80", false },
		{ "caf\xc3", false },
		{ "\xff", false },
		{ "plain", true },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		ck_assert_msg(is_legible(cases[i].word) == cases[i].legible, "%zu", i);
	ck_assert(!is_legible(""));
}
END_TEST

/* By another's table: what is shown is a letter with a width. */
START_TEST(legible_are_letters)
{
	unsigned n = 0;

	ck_assert_ptr_nonnull(setlocale(LC_CTYPE, "C.UTF-8"));
	for (uint32_t cp = 0x80; cp < 0x10000; cp++) {
		const char s[] = { (char)(0xe0 | cp >> 12), (char)(0x80 | (cp >> 6 & 0x3f)),
				   (char)(0x80 | (cp & 0x3f)), '\0' };
		const char two[] = { (char)(0xc0 | cp >> 6), (char)(0x80 | (cp & 0x3f)), '\0' };

		if (!is_legible(cp < 0x800 ? two : s))
			continue;
		n++;
		ck_assert_msg(iswalpha((wint_t)cp) && wcwidth((wchar_t)cp) > 0, "U+%04x", cp);
	}
	ck_assert_uint_gt(n, 35000);
}
END_TEST

START_TEST(escapes_survive)
{
	char all[256], *s, *line;
	struct record r = { .seq = 1, .op = "read", .count = 1, .session = "s" };
	struct record_owned o;
	const char *err;
	size_t len;

	for (int i = 0; i < 256; i++)
		all[i] = (char)i;
	s = record_escape(all, sizeof(all));
	r.target = s;
	record_genesis("s", r.prev);
	record_hash(&r);
	line = record_to_line(&r, &len);
	ck_assert_int_eq(record_from_line(line, len, &o, &err), 0);
	ck_assert_str_eq(o.r.target, s);
	ck_assert_str_eq(o.r.exe, "");
	record_done(&o);
	free(line);
	free(s);
}
END_TEST

/* One line, printed by hand for speed, is what jansson prints. */
START_TEST(as_jansson_prints)
{
	srandom(11);
	for (int round = 0; round < 3000; round++) {
		char raw[3][80], *text[3], *line, *other;
		struct record r = {
			.seq = (uint64_t)random(), .pid = -random(), .op = "read", .session = "s", .count = 1
		};
		size_t len;
		json_t *j;

		for (size_t i = 0; i < 3; i++) {
			size_t n = (size_t)random() % sizeof(raw[i]);

			for (size_t k = 0; k < n; k++)
				raw[i][k] = (char)(random() % 3 ? 0x20 + random() % 0x60 : random());
			text[i] = record_escape(raw[i], n);
		}
		r.target = text[0];
		r.rule = text[1];
		r.detail = text[2];
		record_genesis("s", r.prev);
		record_hash(&r);
		line = record_to_line(&r, &len);
		j = json_pack(
			"{sI, ss, ss, sI, ss, sI, sI, ss, ss, ss, ss, ss, ss, ss, ss, ss, ss, sI, ss, ss}",
			"seq", (json_int_t)r.seq, "time", "", "session", "s", "turn", (json_int_t)0, "agent",
			"", "pid", (json_int_t)r.pid, "ppid", (json_int_t)0, "exe", "", "op", "read",
			"target", text[0], "access", "", "verdict", "", "rule", text[1], "via", "", "level",
			"", "approval", "", "detail", text[2], "count", (json_int_t)1, "prev", r.prev, "hash",
			r.hash);
		ck_assert_ptr_nonnull(line);
		ck_assert_ptr_nonnull(j);
		other = json_dumps(j, JSON_COMPACT);
		line[len - 1] = '\0';
		ck_assert_str_eq(line, other);
		json_decref(j);
		free(other);
		free(line);
		for (size_t i = 0; i < 3; i++)
			free(text[i]);
	}
}
END_TEST

/* Hashed and printed in one walk, it is the same line. */
START_TEST(finished_in_one_walk)
{
	struct record r = { .seq = 7,
			    .op = "exec",
			    .session = "s",
			    .target = "a \\\\ \"b\" gr\xc3\xbc\xc3\x9f",
			    .count = 2 },
		      copy;
	char *line, *one;
	size_t len;

	record_genesis("s", r.prev);
	copy = r;
	record_hash(&r);
	line = record_to_line(&r, &len);
	one = malloc(record_room(&copy) + 1);
	*record_finish(&copy, one) = '\0';
	ck_assert_str_eq(one, line);
	ck_assert_str_eq(copy.hash, r.hash);
	free(line);
	free(one);
}
END_TEST

Suite *suite_record(void)
{
	Suite *s = suite_create("record");
	TCase *t = tcase_create("record");

	tcase_add_checked_fixture(t, make_chain, free_chain);
	tcase_add_test(t, chain_verifies);
	tcase_add_test(t, dropped_swapped_repeated);
	tcase_add_test(t, edited);
	tcase_add_test(t, rehashed);
	tcase_add_test(t, every_cut_is_torn);
	tcase_add_test(t, every_flip_is_found);
	tcase_add_test(t, behind_the_end);
	tcase_add_test(t, strict_reader);
	tcase_add_test(t, no_control_characters);
	tcase_add_test(t, escaping);
	tcase_add_test(t, words_that_cannot_mislead);
	tcase_add_test(t, legible_are_letters);
	tcase_add_test(t, escapes_survive);
	tcase_add_test(t, as_jansson_prints);
	tcase_add_test(t, finished_in_one_walk);
	suite_add_tcase(s, t);
	return s;
}
