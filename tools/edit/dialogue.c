/* Short questions to the operator at the terminal. */
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "tools/base/output.h"

#include "edit.h"

bool ask_is_possible(void)
{
	return isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
}

bool ask_yes(const char *question)
{
	char line[64];

	if (!ask_is_possible())
		return false;
	fflush(stdout);
	fprintf(stderr, "%s [y/N] ", question);
	(void)tcflush(STDIN_FILENO, TCIFLUSH);
	return fgets(line, sizeof(line), stdin) && (line[0] == 'y' || line[0] == 'Y');
}

/* Discards the rest of a longer line: it must not answer the next question. */
static bool read_line(char *buf, size_t size)
{
	int c;

	if (!fgets(buf, (int)size, stdin))
		return false;
	if (!strchr(buf, '\n'))
		while ((c = getc(stdin)) != EOF && c != '\n')
			;
	return true;
}

static void explain(bool may_save)
{
	fprintf(stderr, "Options are:\n  (e)dit again\n  e(x)it without saving\n%s",
		may_save ? "  (Q)uit and save despite the warnings\n" : "");
}

enum next ask_next(bool may_save)
{
	char line[64];

	for (;;) {
		fputs("What now? ", stderr);
		(void)tcflush(STDIN_FILENO, TCIFLUSH);
		if (!read_line(line, sizeof(line)))
			return NEXT_LEAVE;
		switch (line[0]) {
		case 'e':
			return NEXT_EDIT;
		case 'x':
			return NEXT_LEAVE;
		case 'Q':
			if (may_save)
				return NEXT_SAVE;
			talk("a policy with errors is never saved: no session would start with it");
			break;
		default:
			explain(may_save);
		}
	}
}
