/*
 * Starts and ends ncurses, and draws with it.  The terminal may use UTF-8 or not: texts are ASCII, and
 * lines come from the terminal's own character set.
 */
#include <errno.h>
#include <locale.h>
#include <string.h>

#include "policy/base/util.h"
#include "policy/system/cleanup.h"

#include "tools/base/output.h"

#include "watch.h"

static bool has_paint;

static void start_colours(void)
{
	static const short colours[] = {
		[PAINT_RED] = COLOR_RED,
		[PAINT_GREEN] = COLOR_GREEN,
		[PAINT_YELLOW] = COLOR_YELLOW,
	};
	const char *none = getenv("NO_COLOR");

	has_paint = has_colors() && !(none && *none) && start_color() == OK;
	if (!has_paint)
		return;
	(void)use_default_colors();
	for (size_t i = 0; i < NELEM(colours); i++)
		(void)init_pair((short)(i + 1), colours[i], -1);
}

int screen_start(void)
{
	SCREEN *s;

	(void)setlocale(LC_CTYPE, "");
	/* newterm() is used since initscr() exits if the terminal is unknown. */
	s = newterm(NULL, stdout, stdin);
	if (!s)
		return -ENOTTY;
	(void)set_term(s);
	(void)cbreak();
	(void)noecho();
	(void)nonl();
	(void)keypad(stdscr, TRUE);
	(void)nodelay(stdscr, TRUE);
	(void)set_escdelay(50);
	(void)intrflush(stdscr, FALSE);
	(void)curs_set(0);
	start_colours();
	(void)flushinp();
	return 0;
}

void screen_leave(void)
{
	(void)def_prog_mode();
	(void)endwin();
}

void screen_back(void)
{
	(void)reset_prog_mode();
	(void)flushinp();
	(void)clearok(stdscr, TRUE);
	(void)refresh();
}

attr_t screen_paint(enum paint p)
{
	if (p == PAINT_BOLD || p == PAINT_DIM)
		return p == PAINT_BOLD ? A_BOLD : A_DIM;
	return has_paint ? (attr_t)COLOR_PAIR((int)p + 1) : p == PAINT_GREEN ? A_NORMAL : A_BOLD;
}

attr_t screen_risk(const char *text)
{
	if (strncmp(text, "critical", 8) == 0 || strncmp(text, "high", 4) == 0)
		return screen_paint(PAINT_RED);
	return strncmp(text, "medium", 6) == 0 ? screen_paint(PAINT_YELLOW) : A_NORMAL;
}

/* All texts reach the terminal through this function, which escapes them even if the caller did not. */
void screen_put(int y, int x, int cols, attr_t attr, const char *text)
{
	_cleanup_free_ char *shown = recorded_visible(text);
	int len = shown ? (int)strnlen(shown, INT_MAX / 2) : 0;

	if (cols <= 0 || !shown)
		return;
	(void)attrset((int)attr);
	if (len <= cols)
		(void)mvaddnstr(y, x, shown, len);
	else
		(void)mvaddnstr(y, x, shown, cols > 3 ? cols - 3 : cols);
	if (len > cols && cols > 3)
		(void)addstr("...");
	for (int i = len; i < cols && (attr & A_REVERSE); i++)
		(void)addch(' ');
	(void)attrset(A_NORMAL);
}

void screen_rule(int y, int cols, const char *title)
{
	char text[512];

	(void)attrset(A_DIM);
	(void)mvhline(y, 0, 0, cols);
	(void)attrset(A_NORMAL);
	snprintf(text, sizeof(text), *title ? " %s " : "%s", title);
	screen_put(y, 1, cols - 3, A_DIM, text);
}
