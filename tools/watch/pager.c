/*
 * One card's text, cut into rows that fit.  A row that goes on with the one above stands behind a bar, so
 * that no text can look like a field of its own; the label's place is ours alone.
 */
#include "tools/watch/ui.h"

#include <ncurses.h>
#include <string.h>

#define ROW_MAX 1000

void pager_done(struct pager *p)
{
	card_text_done(&p->text);
	free(p->row);
	*p = (struct pager){ 0 };
}

void pager_set(struct pager *p, const json_t *card)
{
	pager_done(p);
	if (card && card_text_init(&p->text, card) < 0)
		card_text_done(&p->text);
}

static bool add_row(struct pager *p, size_t line, size_t from, size_t len)
{
	struct pager_row *grown = realloc(p->row, (p->n + 1) * sizeof(*grown));

	if (!grown)
		return false;
	p->row = grown;
	grown[p->n++] = (struct pager_row){ line, from, len };
	return true;
}

/* Rows for this width; where one was read is kept, by line. */
static void wrap(struct pager *p, int cols)
{
	size_t width = cols > PAGER_INDENT + 8 ? (size_t)(cols - PAGER_INDENT) : 8;
	size_t at = p->top < p->n ? p->row[p->top].line : 0;
	bool whole = true;

	width = width < ROW_MAX ? width : ROW_MAX;
	p->n = 0;
	for (size_t i = 0; i < p->text.n; i++) {
		size_t len = strlen(p->text.line[i].text), from = 0;

		do {
			size_t n = len - from < width ? len - from : width;

			whole = whole && add_row(p, i, from, n);
			from += n;
		} while (from < len);
	}
	/* Out of memory: not all of it can be shown, so nothing can be answered. */
	if (!whole)
		p->n = 0;
	p->cols = cols;
	p->top = 0;
	while (p->top < p->n && p->row[p->top].line < at)
		p->top++;
}

static size_t last_top(const struct pager *p)
{
	return p->n > p->height ? p->n - p->height : 0;
}

void pager_move(struct pager *p, long rows)
{
	if (rows < 0)
		p->top -= (size_t)-rows < p->top ? (size_t)-rows : p->top;
	else
		p->top += (size_t)rows;
	if (p->top > last_top(p))
		p->top = last_top(p);
}

long pager_page(const struct pager *p)
{
	return p->height > 1 ? (long)p->height - 1 : 1;
}

static unsigned attr_of(const struct card_line *l)
{
	if (l->part == CARD_WHAT)
		return screen_bold();
	if (l->part == CARD_DIGEST)
		return screen_dim();
	if (l->part != CARD_RISK)
		return 0;
	return strncmp(l->text, "critical", 8) == 0 || strncmp(l->text, "high", 4) == 0
		       ? screen_paint(PAINT_RED)
	       : strncmp(l->text, "medium", 6) == 0 ? screen_paint(PAINT_YELLOW)
						    : 0;
}

static void draw_row(const struct pager *p, const struct pager_row *r, int y, int cols)
{
	const struct card_line *l = &p->text.line[r->line];
	char part[ROW_MAX + 1];

	if (r->from == 0)
		screen_put(y, 1, CARD_LABEL, screen_dim(), l->label);
	else
		(void)mvaddch(y, PAGER_INDENT - 2, ACS_VLINE | A_DIM);
	snprintf(part, sizeof(part), "%.*s", (int)r->len, l->text + r->from);
	screen_put(y, PAGER_INDENT - 1, cols - PAGER_INDENT + 1, attr_of(l), part);
}

static void draw_place(struct pager *p, int y, int cols)
{
	char text[80];

	if (p->top + p->height >= p->n)
		snprintf(text, sizeof(text), "-- end --");
	else
		snprintf(text, sizeof(text), "-- more rows: %zu; Space reads on --",
			 p->n - p->top - p->height);
	screen_put(y, PAGER_INDENT - 1, cols - PAGER_INDENT, screen_paint(PAINT_YELLOW), text);
}

void pager_draw(struct pager *p, const struct box *b)
{
	if (b->rows < 2)
		return;
	if (p->cols != b->cols)
		wrap(p, b->cols);
	p->height = p->n <= (size_t)b->rows ? (size_t)b->rows : (size_t)b->rows - 1;
	if (p->top > last_top(p))
		p->top = last_top(p);
	for (size_t i = 0; i < p->height && p->top + i < p->n; i++)
		draw_row(p, &p->row[p->top + i], b->y + (int)i, b->cols);
	if (p->height < (size_t)b->rows)
		draw_place(p, b->y + b->rows - 1, b->cols);
	if (p->n > 0 && p->top + p->height >= p->n)
		p->seen_end = true;
}
