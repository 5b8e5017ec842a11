/*
 * A row that continues the one above is marked by a bar, so that no text can look like a field of its own;
 * only pale writes in the column of labels.
 */
#include <string.h>

#include "tools/base/output.h"

#include "watch.h"

#define INDENT	 12
#define ROWS_MAX 32000 /* limit of an ncurses pad */

void pad_set(struct pad *p, struct card_text *text)
{
	card_text_done(&p->text);
	if (p->rows)
		(void)delwin(p->rows);
	*p = (struct pad){ .text = *text };
	*text = (struct card_text){ 0 };
}

static attr_t attr_of(const struct card_line *l)
{
	if (l->part == CARD_WHAT)
		return A_BOLD;
	if (l->part == CARD_DIGEST)
		return A_DIM;
	return l->part == CARD_RISK ? screen_risk(l->text) : A_NORMAL;
}

/* The number of rows of the text at this width; draws them unless rows is NULL. */
static int lay(const struct pad *p, WINDOW *rows, int width)
{
	int y = 0;

	for (size_t i = 0; i < p->text.n; i++) {
		const struct card_line *l = &p->text.line[i];
		const char *at = l->text;

		do {
			int len = (int)strnlen(at, (size_t)width);

			if (rows && at == l->text) {
				(void)wattrset(rows, (int)A_DIM);
				(void)mvwaddstr(rows, y, 1, l->label);
			} else if (rows) {
				(void)mvwaddch(rows, y, INDENT - 1, ACS_VLINE | A_DIM);
			}
			if (rows) {
				(void)wattrset(rows, (int)attr_of(l));
				(void)mvwaddnstr(rows, y, INDENT, at, len);
			}
			at += len;
			y++;
		} while (*at && y < ROWS_MAX);
	}
	return y;
}

/* Without memory, or if the text is too long for a pad, it cannot be shown whole, so it cannot be
 * answered. */
static void wrap(struct pad *p, int cols)
{
	int width = cols - INDENT - 1;

	if (p->rows)
		(void)delwin(p->rows);
	p->n = lay(p, NULL, width);
	/* One more row, so that the last column of the last row does not scroll. */
	p->rows = p->n > 0 && p->n < ROWS_MAX ? newpad(p->n + 1, cols) : NULL;
	p->cols = cols;
	if (p->rows)
		(void)lay(p, p->rows, width);
}

void pad_move(struct pad *p, int rows)
{
	int last = p->n > p->height ? p->n - p->height : 0;

	p->top += rows;
	p->top = p->top > last ? last : p->top < 0 ? 0 : p->top;
}

void pad_draw(struct pad *p, int y, int height, int cols)
{
	char text[80] = "-- end --";
	int shown;

	if (p->cols != cols)
		wrap(p, cols);
	p->height = p->n <= height ? height : height - 1;
	pad_move(p, 0);
	shown = p->rows && p->height > 0 ? (p->n < p->height ? p->n : p->height) : 0;
	if (p->top + shown < p->n)
		snprintf(text, sizeof(text), "-- more rows: %d; Space reads on --", p->n - p->top - shown);
	else if (shown)
		p->seen_end = true;
	if (p->height < height)
		screen_put(y + p->height, INDENT, cols - INDENT - 1, screen_paint(PAINT_YELLOW), text);
	(void)wnoutrefresh(stdscr);
	if (shown)
		(void)pnoutrefresh(p->rows, p->top, 0, y, 0, y + shown - 1, cols - 1);
}
