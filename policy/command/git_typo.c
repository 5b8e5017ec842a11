/*
 * The distance that git computes (help.c, levenshtein.c): a swap of two letters costs 0, a replaced letter
 * 2, an added one 1, a removed one 3.  A command is near below a distance of 6, or where it begins with the
 * word.
 */
#include "git_typo.h"

#include <string.h>

#include "cmd.h"

#define NEAR	 6
#define WORD_MAX 24 /* a longer word is near no command */

static const char commands[] =
#include "git_commands.def"
	;

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

static unsigned distance(const char *from, const char *to)
{
	size_t n = strlen(from), m = strlen(to);
	unsigned cost[WORD_MAX + 1][WORD_MAX + 1];

	if (n > WORD_MAX || m > WORD_MAX)
		return NEAR;
	for (size_t i = 0; i <= n; i++)
		for (size_t j = 0; j <= m; j++) {
			unsigned c = i || j ? ~0u : 0;

			if (i && j)
				c = cost[i - 1][j - 1] + (from[i - 1] == to[j - 1] ? 0 : 2);
			if (i > 1 && j > 1 && from[i - 2] == to[j - 1] && from[i - 1] == to[j - 2])
				c = least(c, cost[i - 2][j - 2]);
			if (j)
				c = least(c, cost[i][j - 1] + 1);
			if (i)
				c = least(c, cost[i - 1][j] + 3);
			cost[i][j] = c;
		}
	return cost[n][m];
}

bool git_could_correct(const char *word, const char *command)
{
	size_t n = strlen(word);

	/* The long list is searched last: this runs for each git command, and few words are near one. */
	return n > 0 && (strncmp(command, word, n) == 0 || distance(word, command) < NEAR) &&
	       !word_in_list(commands, word, n);
}
