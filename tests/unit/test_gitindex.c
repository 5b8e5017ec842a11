/* git's index: names that a checkout may write, and nothing that is read elsewhere. */
#include <check.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "policy/gitfiles/gitindex.h"

Suite *suite_gitindex(void);

#define HASH 20

static unsigned char buf[8192];
static size_t len;

static void put(const void *p, size_t n)
{
	memcpy(buf + len, p, n);
	len += n;
}

static void put32(uint32_t v)
{
	const unsigned char b[] = { (unsigned char)(v >> 24), (unsigned char)(v >> 16),
				    (unsigned char)(v >> 8), (unsigned char)v };

	put(b, sizeof(b));
}

static void begin(unsigned version, unsigned n)
{
	len = 0;
	put("DIRC", 4);
	put32(version);
	put32(n);
}

/* Versions 2 and 3. */
static void entry(const char *name, uint32_t mode, size_t hash)
{
	static const unsigned char zero[64];
	size_t n = strlen(name), from = len;
	const unsigned char flags[] = { (unsigned char)(n >> 8), (unsigned char)n };

	put(zero, 24);
	put32(mode);
	put(zero, 12 + hash);
	put(flags, 2);
	put(name, n);
	put(zero, 8 - (len - from) % 8);
}

static bool sound(size_t hash)
{
	static const unsigned char sum[32];
	const char *why;
	unsigned char *copy;
	bool ret;

	put(sum, hash);
	/* A block of its own ends where the text does. */
	copy = malloc(len);
	ck_assert_ptr_nonnull(copy);
	memcpy(copy, buf, len);
	ret = gitindex_is_sound((const char *)copy, len, hash, &why);
	ck_assert(ret || *why);
	free(copy);
	return ret;
}

static const struct {
	const char *name;
	uint32_t mode;
	bool sound;
} names[] = {
	{ "a", 0100644, true },
	{ "a/b/c", 0100755, true },
	{ ".gitignore", 0100644, true },
	{ "a/.gitmodules", 0100644, true },
	{ "...", 0100644, true },
	{ "x.git/y", 0100644, true },
	{ "dir/", 0040000, true },
	{ "dir/", 0100644, false },
	{ ".git", 0100644, false },
	{ ".git/config", 0100644, false },
	{ ".GiT/config", 0100644, false },
	{ "a/.git/hooks/x", 0100755, false },
	{ "a/.git/", 0040000, false },
	{ "..", 0100644, false },
	{ "../x", 0100644, false },
	{ "a/../../x", 0100644, false },
	{ "/etc/x", 0100644, false },
	{ "a//b", 0100644, false },
	{ "./a", 0100644, false },
	{ "a/.", 0100644, false },
	{ "/", 0040000, false },
};

START_TEST(of_a_name)
{
	for (size_t hash = 20; hash <= 32; hash += 12) {
		begin(2, 2);
		entry("README", 0100644, hash);
		entry(names[_i].name, names[_i].mode, hash);
		ck_assert_msg(sound(hash) == names[_i].sound, "%s, %zu", names[_i].name, hash);
	}
}
END_TEST

/* Nowhere is anything read behind its end, and a cut one is none. */
START_TEST(cut_anywhere)
{
	const char *why;
	size_t whole;

	begin(3, 2);
	entry("a", 0100644, HASH);
	entry("b/c", 0100644, HASH);
	ck_assert(sound(HASH));
	whole = len;
	for (size_t n = 1; n < whole; n++) {
		char *cut = malloc(n);

		ck_assert_ptr_nonnull(cut);
		memcpy(cut, buf, n);
		ck_assert(!gitindex_is_sound(cut, n, HASH, &why));
		free(cut);
	}
}
END_TEST

START_TEST(of_the_rest)
{
	static const struct {
		const char *sig;
		bool sound;
	} rest[] = { { "TREE", true }, { "UNTR", true }, { "link", false }, { "IEOT", false } };

	for (size_t i = 0; i < sizeof(rest) / sizeof(rest[0]); i++) {
		begin(2, 1);
		entry("a", 0100644, HASH);
		put(rest[i].sig, 4);
		put32(3);
		put("xyz", 3);
		ck_assert_msg(sound(HASH) == rest[i].sound, "%s", rest[i].sig);
	}
	/* Longer than what is there. */
	begin(2, 1);
	entry("a", 0100644, HASH);
	put("TREE", 4);
	put32(UINT32_MAX);
	ck_assert(!sound(HASH));
}
END_TEST

/* An entry of version 4: what the last name loses, in the form of a varint, and what comes behind it. */
static void fourth(const char *gone, size_t n_gone, size_t said, const char *tail)
{
	static const unsigned char zero[64];
	const unsigned char flags[] = { (unsigned char)(said >> 8), (unsigned char)said };

	put(zero, 24);
	put32(0100644);
	put(zero, 12 + HASH);
	put(flags, 2);
	put(gone, n_gone);
	put(tail, strlen(tail) + 1);
}

START_TEST(of_the_fourth)
{
	static const struct {
		const char *gone;
		size_t n_gone, said;
		const char *tail;
		bool sound;
	} rows[] = {
		{ "\0", 1, 9, "/c", true },  /* a/.gitx/c */
		{ "\1", 1, 8, "/c", false }, /* a/.git/c */
		{ "\6", 1, 3, "c", false },  /* a/c is shorter than that */
		{ "\5", 1, 3, "c", true },   /* a/c */
		{ "\7", 1, 1, "b", true },   /* b */
		{ "\7", 1, 0, "", false },   /* none: it is split */
		{ "\7", 1, 4, ".git", false },
		{ "\x08", 1, 1, "b", false },
		{ "\x80\x01", 2, 1, "b", false },
		{ "\x80", 1, 3, "c", false },
		{ "\xff\xff\xff", 3, 1, "b", false },
	};
	char gone[2] = "\0";

	begin(4, 2);
	fourth(gone, 1, 7, "a/.gitx");
	fourth(rows[_i].gone, rows[_i].n_gone, rows[_i].said, rows[_i].tail);
	ck_assert_msg(sound(HASH) == rows[_i].sound, "%d", _i);
}
END_TEST

/* 128 and more are two bytes. */
START_TEST(of_a_long_fourth)
{
	char name[300];

	memset(name, 'x', sizeof(name));
	memcpy(name, "a/.git/", 7);
	name[7 + 128 + 20] = '\0';
	name[5] = 'y';
	begin(4, 2);
	fourth("\0", 1, strlen(name), name);
	fourth("\x80\x16", 2, 7 + 128 + 20 - 150, "" /* a/.gi */);
	ck_assert(sound(HASH));
	begin(4, 2);
	fourth("\0", 1, strlen(name), name);
	fourth("\x80\x16", 2, 7 + 128 + 20 - 150 + 2, "t/");
	ck_assert(!sound(HASH));
}
END_TEST

START_TEST(of_its_version)
{
	for (unsigned version = 0; version < 7; version++) {
		begin(version == 4 ? 0 : version, 1);
		entry("a", 0100644, HASH);
		ck_assert_msg(sound(HASH) == (version == 2 || version == 3), "%u", version);
	}
}
END_TEST

START_TEST(of_its_end)
{
	static const unsigned char sum[HASH];

	for (uint32_t off = 0; off < 2; off++) {
		uint32_t end;

		begin(2, 1);
		entry("a", 0100644, HASH);
		end = (uint32_t)len;
		put("EOIE", 4);
		put32(4 + HASH);
		put32(end + off);
		put(sum, HASH);
		ck_assert(sound(HASH) == (off == 0));
	}
}
END_TEST

Suite *suite_gitindex(void)
{
	Suite *s = suite_create("gitindex");
	TCase *c = tcase_create("gitindex");

	tcase_add_loop_test(c, of_a_name, 0, sizeof(names) / sizeof(names[0]));
	tcase_add_test(c, cut_anywhere);
	tcase_add_test(c, of_the_rest);
	tcase_add_loop_test(c, of_the_fourth, 0, 11);
	tcase_add_test(c, of_a_long_fourth);
	tcase_add_test(c, of_its_version);
	tcase_add_test(c, of_its_end);
	suite_add_tcase(s, c);
	return s;
}
