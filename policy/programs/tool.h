/*
 * Tools that are scripts, run by naming their interpreter: `node npm-cli.js publish` is npm publish.  The
 * script is judged as a command of its own, which counts where a rule names it (script_is_held()).
 */
#ifndef PALE_TOOL_H
#define PALE_TOOL_H

#include "loads.h"

/* The name of the tool whose script this file is (npm-cli.js: npm), or NULL. */
const char *tool_of(const char *path);

/* A script that an interpreter runs, or may run. */
struct tool_script {
	struct request req;  /* as if it were executed itself */
	bool keeps_name;     /* its file has the name in the word: judging the word alone is the same */
	const char **words;  /* of req; an array of the caller's, for at most TOOL_WORDS(argc) words */
	struct split *split; /* the caller's, which stays as long as the words; for the string of env -S */
	/* where tool_find() goes on: the word of the script, and the directories in which it is looked for */
	const char *word, *list;
	size_t at, next;
};
#define TOOL_WORDS(argc) ((argc) + 2 + sizeof(((struct split *)NULL)->words) / sizeof(const char *))

/*
 * Finds the next script of the interpreter that `of` executes, directly, through wrappers or through a
 * loader.  There may be several: an interpreter may take several, and one name may mean several files. Before
 * the first call the caller zeroes *ret; before each call ret->words must have room for TOOL_WORDS() words,
 * and ret->split must point to a struct of its own.
 * find finds a file, path a list of directories in the environment.  False: there is no further script.
 */
bool tool_find(const struct request *of, loads_find_fn *find, loads_path_fn *path, void *ctx,
	       struct tool_script *ret);

#endif
