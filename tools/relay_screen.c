/*
 * Which screen the agent's programs show: the terminal's own lines, or the alternate one that full-screen
 * programs draw on.  The bytes are looked at on their way, never held or changed.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "relay.h"

#define ESC 0x1b

/* ESC [ ? N ; N h, or l: what xterm, and with it everybody, switches by. */
static bool is_alternate(unsigned mode)
{
	return mode == 47 || mode == 1047 || mode == 1049;
}

/* The next state of one who has seen this byte. */
static enum screen_state step(struct screen_look *s, unsigned char c)
{
	switch (s->state) {
	case SCREEN_TEXT:
		return c == ESC ? SCREEN_ESC : SCREEN_TEXT;
	case SCREEN_ESC:
		return c == '[' ? SCREEN_CSI : c == ESC ? SCREEN_ESC : SCREEN_TEXT;
	case SCREEN_CSI:
		s->mode = 0;
		s->found = false;
		return c == '?' ? SCREEN_MODES : c == ESC ? SCREEN_ESC : SCREEN_TEXT;
	case SCREEN_MODES:
		break;
	}
	if (c >= '0' && c <= '9') {
		s->mode = s->mode < 10000 ? s->mode * 10 + (c - '0') : s->mode;
		return SCREEN_MODES;
	}
	s->found |= is_alternate(s->mode);
	s->mode = 0;
	if (c == ';')
		return SCREEN_MODES;
	if (s->found && (c == 'h' || c == 'l'))
		s->alternate = c == 'h';
	return c == ESC ? SCREEN_ESC : SCREEN_TEXT;
}

void screen_look(struct screen_look *s, const char *bytes, size_t len)
{
	const char *end = bytes + len;

	while (bytes < end) {
		/* Text is most of it. */
		if (s->state == SCREEN_TEXT)
			bytes = memchr(bytes, ESC, (size_t)(end - bytes));
		if (!bytes)
			return;
		s->state = step(s, (unsigned char)*bytes++);
	}
}

/* Not now is soon enough: then the next bytes bring it along. */
void screen_tell(struct front *f)
{
	const char word = f->look.alternate ? RELAY_ALTERNATE : RELAY_LINES;

	if (f->look.alternate != f->look.told && f->link >= 0 &&
	    send(f->link, &word, 1, MSG_NOSIGNAL | MSG_DONTWAIT) == 1)
		f->look.told = f->look.alternate;
}
