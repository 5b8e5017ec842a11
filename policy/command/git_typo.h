/*
 * What git may take a misspelt command for: with help.autocorrect it runs the nearest one in its own process,
 * so that no exec tells of it.
 */
#ifndef PALE_GIT_TYPO_H
#define PALE_GIT_TYPO_H

#include <stdbool.h>

/*
 * True where word is no command that we know, and git could correct it to this one.  Whether git would
 * depends on its configuration and on what else stands in its directories, so this errs on the side of true.
 * Pure.
 */
bool git_could_correct(const char *word, const char *command);

#endif
