/*
 * The commands that git may run for a misspelt one: with help.autocorrect it runs the nearest command in
 * its own process, without an exec that could be judged.
 */
#ifndef PALE_GIT_TYPO_H
#define PALE_GIT_TYPO_H

#include <stdbool.h>

/*
 * True where word is no known command and git could correct it to this one.  Whether git does depends on
 * its configuration and on the other commands that it finds, so in doubt the answer is true.  Pure.
 */
bool git_could_correct(const char *word, const char *command);

#endif
