/*
 * Which commands of git speak to another machine: see git.h.
 */
#include <string.h>

#include "cmd.h"
#include "git.h"

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
