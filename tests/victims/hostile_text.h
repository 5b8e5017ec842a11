/*
 * Texts that lie to whoever reads them on a terminal: each of the pieces in each of the frames.  One table
 * for the unit tests and for the victim that says them inside a fence.
 */
#ifndef PALE_HOSTILE_TEXT_H
#define PALE_HOSTILE_TEXT_H

#include <stdlib.h>
#include <string.h>

struct hostile_piece {
	const char *bytes;
	size_t len;
};

#define PIECE(s)                                                                                             \
	{                                                                                                    \
		s, sizeof(s) - 1                                                                             \
	}
static const struct hostile_piece hostile_pieces[] = {
	/* escape sequences: clear, move, colour, title, clipboard, link, device control, report */
	PIECE("\033[2J\033[H"),
	PIECE("\033[1A\033[2K"),
	PIECE("\033[8m"),
	PIECE("\033]0;pale: approved\007"),
	PIECE("\033]52;c;cm0gLXJmIH4K\007"),
	PIECE("\033]8;;http://evil.example/\033\\git\033]8;;\033\\"),
	PIECE("\033P+q544e\033\\"),
	PIECE("\033[6n"),
	PIECE("\033"),
	PIECE("\033c"),
	PIECE("\033(0"),
	/* C1, as bytes and as characters */
	PIECE("\x9b"
	      "2J"),
	PIECE("\xc2\x9b"
	      "2J"),
	PIECE("\x90\x9d\x9c"),
	PIECE("\xc2\x85"),
	/* controls */
	PIECE("\r"),
	PIECE("\n"),
	PIECE("\r\n"),
	PIECE("\t"),
	PIECE("\b\b\b\b\b\b\b\b"),
	PIECE("\007"),
	PIECE("\x7f"),
	PIECE("\v\f"),
	PIECE("\016\017"),
	PIECE("\x1a\x04\x03"),
	/* direction, width, combination, look-alikes */
	PIECE("\xe2\x80\xae"
	      "gnp.exe"),
	PIECE("\xe2\x81\xa6\xe2\x81\xa9"),
	PIECE("\xe2\x80\x8b"),
	PIECE("\xe2\x80\x8d"),
	PIECE("\xef\xbb\xbf"),
	PIECE("\xe2\x80\xa8"),
	PIECE("a\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81"),
	PIECE("\xe6\xbc\xa2\xe5\xad\x97"),
	PIECE("\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x92\xbb"),
	PIECE("\xd0\xb0pprove"),
	PIECE("\xef\xbc\x8f"),
	PIECE("\xc2\xa0"),
	PIECE("\xc2\xad"),
	/* no UTF-8 */
	PIECE("\xc0\x80"),
	PIECE("\xed\xa0\x80"),
	PIECE("\xff\xfe"),
	PIECE("\xf4\x90\x80\x80"),
	PIECE("\xe2\x80"),
	/* escapes that are none, quotes, formats of others */
	PIECE("\\"),
	PIECE("\\x1b[2J"),
	PIECE("\\\\x0a"),
	PIECE("\\u{202e}"),
	PIECE("'\"`$(reboot)`"),
	PIECE("%n%s%1$s%%"),
	PIECE("%0A%25"),
	PIECE("<b>x</b>&lt;"),
	PIECE("#[fg=red]#(reboot)"),
	PIECE("\",\"state\":\"approved"),
	PIECE("; rm -rf ~"),
	PIECE("--yes"),
	/* pale's own lines */
	PIECE("\npale: approved 3fa2"),
	PIECE("\n  risk      low: nothing"),
	PIECE("\n3fa2  session x  denied in 9 s\n  exec      true"),
	PIECE("          by        /usr/bin/true (1)"),
};
#undef PIECE

#define HOSTILE_FRAMES 9
#define HOSTILE_COUNT  (sizeof(hostile_pieces) / sizeof(hostile_pieces[0]) * HOSTILE_FRAMES)

/* Text i < HOSTILE_COUNT with its length; the caller frees.  There is a NUL behind it, and none inside. */
static inline char *hostile_text(size_t i, size_t *ret_len)
{
	static const struct {
		const char *before, *after;
		size_t times;
	} frames[HOSTILE_FRAMES] = { { "", "", 1 },	   { "a", "b", 1 },   { "", "", 2 },
				     { " ", " ", 1 },	   { "\\", "\\", 1 }, { "\xe2\x80", "\x80", 1 },
				     { "x/", "/../y", 1 }, { "", "", 17 },    { "tail ", "", 1 } };
	const struct hostile_piece *p = &hostile_pieces[i / HOSTILE_FRAMES];
	const char *before = frames[i % HOSTILE_FRAMES].before, *after = frames[i % HOSTILE_FRAMES].after;
	char *text = malloc(p->len * frames[i % HOSTILE_FRAMES].times + 32), *at = text;

	if (!text)
		return NULL;
	at = stpcpy(at, before);
	for (size_t k = 0; k < frames[i % HOSTILE_FRAMES].times; k++)
		at = (char *)memcpy(at, p->bytes, p->len) + p->len;
	at = stpcpy(at, after);
	*ret_len = (size_t)(at - text);
	return text;
}

#endif
