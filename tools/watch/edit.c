/*
 * One line of input with the keys of readline.
 */
#include "tools/watch/ui.h"

#include <ncurses.h>
#include <string.h>

#define CTRL(c) ((c)&0x1f)

void edit_set(struct edit *e, const char *text)
{
	snprintf(e->buf, sizeof(e->buf), "%s", text);
	e->len = e->pos = strlen(e->buf);
}

static enum edit_said cut(struct edit *e, size_t from, size_t to)
{
	if (from >= to)
		return EDIT_MORE;
	memmove(e->buf + from, e->buf + to, e->len - to + 1);
	e->len -= to - from;
	e->pos = from;
	return EDIT_CHANGED;
}

static enum edit_said insert(struct edit *e, char c)
{
	if (e->len + 1 >= sizeof(e->buf))
		return EDIT_MORE;
	memmove(e->buf + e->pos + 1, e->buf + e->pos, e->len - e->pos + 1);
	e->buf[e->pos++] = c;
	e->len++;
	return EDIT_CHANGED;
}

static size_t word_before(const struct edit *e)
{
	size_t i = e->pos;

	while (i > 0 && e->buf[i - 1] == ' ')
		i--;
	while (i > 0 && e->buf[i - 1] != ' ')
		i--;
	return i;
}

enum edit_said edit_key(struct edit *e, int key)
{
	switch (key) {
	case '\r':
	case '\n':
	case KEY_ENTER:
		return EDIT_DONE;
	case 27:
	case CTRL('c'):
	case CTRL('g'):
		return EDIT_CANCEL;
	case KEY_LEFT:
	case CTRL('b'):
		e->pos -= e->pos > 0;
		return EDIT_MORE;
	case KEY_RIGHT:
	case CTRL('f'):
		e->pos += e->pos < e->len;
		return EDIT_MORE;
	case KEY_HOME:
	case CTRL('a'):
		e->pos = 0;
		return EDIT_MORE;
	case KEY_END:
	case CTRL('e'):
		e->pos = e->len;
		return EDIT_MORE;
	case KEY_BACKSPACE:
	case CTRL('h'):
	case 127:
		return e->pos ? cut(e, e->pos - 1, e->pos) : EDIT_MORE;
	case KEY_DC:
	case CTRL('d'):
		return e->pos < e->len ? cut(e, e->pos, e->pos + 1) : EDIT_MORE;
	case CTRL('k'):
		return cut(e, e->pos, e->len);
	case CTRL('u'):
		return cut(e, 0, e->pos);
	case CTRL('w'):
		return cut(e, word_before(e), e->pos);
	default:
		return key >= 0x20 && key < 0x100 ? insert(e, (char)key) : EDIT_MORE;
	}
}

void edit_draw(const struct edit *e, int y, int x, int cols)
{
	char head[EDIT_MAX];
	_cleanup_free_ char *before = NULL;
	_cleanup_free_ char *all = text_visible(e->buf);
	size_t at, skip;

	snprintf(head, sizeof(head), "%.*s", (int)e->pos, e->buf);
	before = text_visible(head);
	if (!all || !before || cols < 2)
		return;
	at = strlen(before);
	skip = at >= (size_t)cols ? at - (size_t)cols + 1 : 0;
	screen_put(y, x, cols, A_UNDERLINE, all + skip);
	(void)move(y, x + (int)(at - skip));
}
