/* Which git commands talk to another machine: see git.h. */
#include <string.h>

#include "cmd.h"
#include "git.h"
#include "policy/base/path.h"

bool git_is(const struct command *c)
{
	return command_is(c, "git");
}

bool git_is_online(const struct command *c)
{
	static const char one[] = "clone fetch pull push ls-remote send-pack fetch-pack http-fetch http-push "
				  "remote-http remote-https remote-ftp remote-ftps";
	static const char *const two[][2] = { { "remote", "update show prune" },
					      { "submodule", "update add" },
					      { "lfs", "fetch pull push" } };
	struct cmd_view view;
	const char *verb;

	if (!git_is(c))
		return false;
	view = cmd_view_of(c);
	if (word_in_list(one, view.word, strlen(view.word)))
		return true;
	verb = cmd_word_at(&view, 0);
	for (size_t i = 0; verb && i < sizeof(two) / sizeof(two[0]); i++)
		if (strcmp(view.word, two[i][0]) == 0 && word_in_list(two[i][1], verb, strlen(verb)))
			return true;
	return false;
}

#define CALLER_WORDS 64 /* words that are read: the subcommand is among the first */

bool git_starts_helper(const char *exe, const char *words, size_t len, const char *called)
{
	static const char transports[] = "archive clone fetch ls-remote push remote";
	const char *args[CALLER_WORDS], *end = words + len;
	struct command c = { .program = path_basename(exe), .args = args + 1 }, inner;
	struct cmd_view view;
	size_t n = 0;

	for (; n < CALLER_WORDS && words < end; words += strlen(words) + 1)
		args[n++] = words;
	if (n == 0 || strcmp(c.program, "git") != 0)
		return false;
	c.n = n - 1;
	c.alias = path_basename(args[0]);
	if (command_unwrap(&c, &inner) && inner.first)
		c = inner;
	view = cmd_view_of(&c);
	called = path_basename(called);
	/* git remote-https starts git-remote-https, and an alias has a word of its own. */
	return word_in_list(transports, view.word, strlen(view.word)) ||
	       (strncmp(called, "git-", 4) == 0 && strcmp(called + 4, view.word) == 0);
}
