/*
 * The format of git's index, as far as the names in it: see gitindex.h.  Text in, word out.
 *
 * Where git would read what was not looked at (a second file's entries, a table that says where entries lie)
 * the index is refused.
 */
#include "gitindex.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

#define HEAD_LEN  12
#define STAT_LEN  40	 /* of an entry, before its object's name */
#define NAME_MASK 0x0fff /* of its flags; a longer name says so */
#define EXTENDED  0x4000
#define PATH_LEN  4096 /* of version 4, where one begins as the last did */

#define NO_INDEX "it is no index that can be judged"
#define SPLIT	 "it is split: git update-index --no-split-index makes one of it"
#define TABLE	 "it has a table of entries: git -c index.threads=1 update-index --force-write-index drops it"
#define OUTSIDE	 "an entry of it lies in .git or outside, where a later checkout would write it"

struct reader {
	const unsigned char *text;
	size_t at, end; /* end: of what the checksum is about */
	size_t hash;
	unsigned version;
	char last[PATH_LEN + 1]; /* of version 4: the name before */
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

/* How many bytes of the last name are gone: as git's decode_varint() has it.  More than it has where
 * unreadable. */
static size_t read_gone(struct reader *r)
{
	size_t n = 0;

	for (unsigned i = 0; i < 3 && r->at < r->end; i++) {
		unsigned char c = r->text[r->at++];

		n = (n + (i > 0)) << 7 | (c & 127);
		if (!(c & 128))
			return n;
	}
	return PATH_LEN + 1;
}

/* In version 4 a name goes on where the last one was cut, and nothing is padded. */
static bool read_fourth(struct reader *r, size_t said, bool is_dir)
{
	size_t len = strlen(r->last), gone = read_gone(r), n;
	const unsigned char *name = r->text + r->at, *nul = memchr(name, '\0', r->end - r->at);

	if (!nul || gone > len || len - gone + (n = (size_t)(nul - name)) > PATH_LEN)
		return wrong(r, NO_INDEX);
	memcpy(r->last + len - gone, name, n + 1);
	n += len - gone;
	r->at = (size_t)(nul - r->text) + 1;
	if (said < NAME_MASK ? n != said : n < said)
		return wrong(r, NO_INDEX);
	return is_inside(r->last, n, is_dir) || wrong(r, n ? OUTSIDE : SPLIT);
}

/* A name is as long as its flags say, and ends with a NUL; at moves behind the padding. */
static bool read_entry(struct reader *r)
{
	size_t begin = r->at, fixed = STAT_LEN + r->hash + 2, n, said, size;
	const unsigned char *name, *nul;
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
	if (r->version == 4)
		return read_fourth(r, flags & NAME_MASK, is_dir);
	name = r->text + r->at;
	nul = memchr(name, '\0', r->end - r->at);
	n = nul ? (size_t)(nul - name) : 0;
	said = flags & NAME_MASK;
	size = (r->at - begin + n + 8) & ~(size_t)7;
	if (!nul || (said < NAME_MASK ? n != said : n < said) || size > r->end - begin)
		return wrong(r, NO_INDEX);
	r->at = begin + size;
	return is_inside((const char *)name, n, is_dir) || wrong(r, n ? OUTSIDE : SPLIT);
}

/* --- what stands behind the entries -------------------------------------------------------------------- */

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
static bool read_rest(struct reader *r)
{
	if (!end_fits(r))
		return false;
	while (r->at < r->end) {
		const unsigned char *p = r->text + r->at;
		uint32_t size;

		if (r->end - r->at < 8 || (size = u32(p + 4)) > r->end - r->at - 8)
			return wrong(r, NO_INDEX);
		if (memcmp(p, "link", 4) == 0)
			return wrong(r, SPLIT);
		if (memcmp(p, "IEOT", 4) == 0)
			return wrong(r, TABLE);
		r->at += 8 + size;
	}
	return true;
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
	sound = sound && read_rest(&r);
	if (!sound)
		*why = r.why;
	return sound;
}
