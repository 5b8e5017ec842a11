/*
 * The format of git's index, as far as the names in it: see gitindex.h.  Text in, word out.
 *
 * Where git would read what was not looked at (a second file's entries, a table that says where entries lie)
 * the index is refused, or the table has to say what was found.
 */
#include "gitindex.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

#define HEAD_LEN  12
#define STAT_LEN  40	 /* of an entry, before its object's name */
#define NAME_MASK 0x0fff /* of its flags; a longer name says so */
#define EXTENDED  0x4000
#define PATH_LEN  4096 /* git writes no longer one to a disk */
#define BLOCKS	  64   /* that a table may have */

#define NO_INDEX "it is no index that can be judged"
#define SPLIT	 "it is split: git update-index --no-split-index makes one of it"
#define OUTSIDE	 "an entry of it lies in .git or outside, where a later checkout would write it"

struct reader {
	const unsigned char *text;
	size_t at, end; /* end: of what the checksum is about */
	size_t hash;
	unsigned version;
	char name[PATH_LEN + 1];
	size_t name_len;
	const char *why;
};

static bool wrong(struct reader *r, const char *why)
{
	r->why = why;
	return false;
}

static uint32_t u32(const unsigned char *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* --- a name ------------------------------------------------------------------------------------------- */

static bool is_part(const char *part, size_t n)
{
	return n > 0 && !(n == 1 && part[0] == '.') && !(n == 2 && part[0] == '.' && part[1] == '.') &&
	       !(n == 4 && strncasecmp(part, ".git", 4) == 0);
}

/* A sparse index has directories, whose names end in a slash. */
static bool is_inside(const char *name, size_t len, bool is_dir)
{
	const char *end = name + len - (is_dir && len > 1 && name[len - 1] == '/');

	while (name <= end) {
		const char *slash = memchr(name, '/', (size_t)(end - name));
		const char *stop = slash ? slash : end;

		if (!is_part(name, (size_t)(stop - name)))
			return false;
		if (!slash)
			return true;
		name = slash + 1;
	}
	return false;
}

/* The name is as long as its flags say, and ends with a NUL; at moves behind the padding. */
static bool read_whole(struct reader *r, size_t begin, unsigned flags)
{
	const unsigned char *p = r->text + r->at, *nul = memchr(p, '\0', r->end - r->at);
	size_t n = nul ? (size_t)(nul - p) : 0, said = flags & NAME_MASK, size;

	if (!nul || n > PATH_LEN || (said < NAME_MASK ? n != said : n < said))
		return wrong(r, NO_INDEX);
	memcpy(r->name, p, n);
	r->name_len = n;
	size = (r->at - begin + n + 8) & ~(size_t)7;
	if (size > r->end - begin)
		return wrong(r, NO_INDEX);
	r->at = begin + size;
	return true;
}

/* Of the name before so many bytes go, and what follows is put there: a varint as in packs, "offset". */
static bool read_short(struct reader *r, unsigned flags)
{
	const unsigned char *nul;
	size_t strip, n, said = flags & NAME_MASK;

	if (r->at >= r->end)
		return wrong(r, NO_INDEX);
	strip = r->text[r->at] & 127;
	while (r->text[r->at] & 128) {
		if (++r->at >= r->end || strip > PATH_LEN)
			return wrong(r, NO_INDEX);
		strip = ((strip + 1) << 7) | (r->text[r->at] & 127);
	}
	r->at++;
	nul = memchr(r->text + r->at, '\0', r->end - r->at);
	n = nul ? (size_t)(nul - r->text) - r->at : 0;
	if (!nul || strip > r->name_len || r->name_len - strip + n > PATH_LEN)
		return wrong(r, NO_INDEX);
	memcpy(r->name + r->name_len - strip, r->text + r->at, n);
	r->name_len = r->name_len - strip + n;
	r->at += n + 1;
	return (said < NAME_MASK ? r->name_len == said : r->name_len >= said) || wrong(r, NO_INDEX);
}

static bool read_entry(struct reader *r)
{
	size_t begin = r->at, fixed = STAT_LEN + r->hash + 2;
	unsigned flags;
	bool is_dir;

	if (r->end - r->at < fixed + 2)
		return wrong(r, NO_INDEX);
	is_dir = (u32(r->text + begin + 24) & 0170000) == 0040000;
	flags = (unsigned)r->text[begin + fixed - 2] << 8 | r->text[begin + fixed - 1];
	r->at += fixed;
	if (flags & EXTENDED) {
		if (r->version < 3)
			return wrong(r, NO_INDEX);
		r->at += 2;
	}
	if (r->version == 4 ? !read_short(r, flags) : !read_whole(r, begin, flags))
		return false;
	return is_inside(r->name, r->name_len, is_dir) || wrong(r, r->name_len ? OUTSIDE : SPLIT);
}

/* --- what stands behind the entries -------------------------------------------------------------------- */

/* Where the first entry of each block lies, and how many it has. */
struct blocks {
	uint32_t at[BLOCKS], n[BLOCKS];
	size_t count;
};

static bool table_read(struct reader *r, struct blocks *b, const unsigned char *p, size_t size)
{
	if (r->version == 4 || size < 4 || (size - 4) % 8 || (size - 4) / 8 > BLOCKS || u32(p) != 1)
		return wrong(r, "it has a table of entries (index.threads) that cannot be judged");
	b->count = (size - 4) / 8;
	for (size_t i = 0; i < b->count; i++) {
		b->at[i] = u32(p + 4 + 8 * i);
		b->n[i] = u32(p + 8 + 8 * i);
	}
	return true;
}

/* The table says of the entries, which are read once more, what was found. */
static bool table_fits(struct reader *r, const struct blocks *b, uint32_t n)
{
	size_t block = 0;
	uint32_t left = 0;

	r->at = HEAD_LEN;
	for (uint32_t i = 0; i < n; i++, left--) {
		if (left == 0 && (block == b->count || b->at[block] != r->at || (left = b->n[block++]) == 0))
			return wrong(r, "its table of entries says something else");
		if (!read_entry(r))
			return false;
	}
	return (left == 0 && block == b->count) || wrong(r, "its table of entries says something else");
}

/* Where git looks for the end of the entries, whatever stands before it. */
static bool end_fits(struct reader *r)
{
	size_t n = 8 + 4 + r->hash;
	const unsigned char *p;

	if (r->end - r->at < n)
		return true;
	p = r->text + r->end - n;
	return memcmp(p, "EOIE", 4) != 0 || u32(p + 8) == r->at ||
	       wrong(r, "it says that its entries end elsewhere");
}

/* Extensions: a capital first letter is one that git may pass over. */
static bool read_rest(struct reader *r, uint32_t n)
{
	struct blocks b = { .count = 0 };
	bool has_table = false;

	if (!end_fits(r))
		return false;
	while (r->at < r->end) {
		const unsigned char *p = r->text + r->at;
		uint32_t size;

		if (r->end - r->at < 8 || (size = u32(p + 4)) > r->end - r->at - 8)
			return wrong(r, NO_INDEX);
		if (memcmp(p, "link", 4) == 0)
			return wrong(r, SPLIT);
		if (memcmp(p, "IEOT", 4) == 0 && !has_table) {
			has_table = true;
			if (!table_read(r, &b, p + 8, size))
				return false;
		} else if (memcmp(p, "IEOT", 4) == 0) {
			return wrong(r, NO_INDEX);
		}
		r->at += 8 + size;
	}
	return !has_table || table_fits(r, &b, n);
}

bool gitindex_is_sound(const char *text, size_t len, size_t hash, const char **why)
{
	struct reader r = { .text = (const unsigned char *)text, .at = HEAD_LEN, .hash = hash };
	bool sound = true;
	uint32_t n;

	*why = NO_INDEX;
	/* An empty file is none yet. */
	if (len == 0)
		return true;
	if (len < HEAD_LEN + hash || memcmp(text, "DIRC", 4) != 0)
		return false;
	r.end = len - hash;
	r.version = u32(r.text + 4);
	n = u32(r.text + 8);
	if (r.version < 2 || r.version > 4)
		return false;
	for (uint32_t i = 0; i < n && sound; i++)
		sound = read_entry(&r);
	sound = sound && read_rest(&r, n);
	if (!sound)
		*why = r.why;
	return sound;
}
