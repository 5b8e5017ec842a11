/*
 * Tools that are scripts, and are run by hand: `node npm-cli.js publish` is npm publish.  What an interpreter
 * is given is judged as a command of its own, and counts where a rule names it (script_is_held()).
 */
#ifndef PALE_TOOL_H
#define PALE_TOOL_H

#include "loads.h"

/* The name of the tool whose script this file is (npm-cli.js: npm), or NULL. */
const char *tool_of(const char *path);

/* A script that an interpreter is given. */
struct tool_script {
	struct request req; /* as if it were executed itself */
	bool keeps_name;    /* its file is called as the word says: who saw only the word judged the same */
	const char **words; /* of req; n with the first, TOOL_WORDS(argc) at most; the caller's */
};
#define TOOL_WORDS(argc) ((argc) + 2)

/*
 * The script that the interpreter runs which `of` executes, by itself, by wrappers or by a loader. ret->words
 * is the caller's; find finds its file.  False where there is none.
 */
bool tool_find(const struct request *of, loads_find_fn *find, void *ctx, struct tool_script *ret);

#endif
