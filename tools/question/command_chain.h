/*
 * A command with everything that is judged for it: the program, the script that an interpreter is given, and,
 * where the program is a script itself, each interpreter that its first line leads to.
 */
#ifndef PALE_COMMAND_CHAIN_H
#define PALE_COMMAND_CHAIN_H

#include <limits.h>

#include "policy/command/script.h"

#include "tools/base/program.h"

typedef struct decision chain_verdict_fn(const struct image *img, const struct request *req);
struct chain {
	struct decision d;   /* the strictest verdict */
	struct request held; /* and what it is about: the command, a script or an interpreter */
	bool is_unknown;     /* it is not known what a loader among the interpreters would load */
	/* private */
	const struct image *img;
	enum level level;
	chain_verdict_fn *verdict;
	const char **words, **rest; /* of the requests */
	struct elf_info elf[SCRIPT_DEPTH + 1];
	char real[SCRIPT_DEPTH][PATH_MAX];
	struct found_files found[SCRIPT_DEPTH];
	struct split split[SCRIPT_DEPTH + 1]; /* of each search for scripts */
	size_t n_split;
	char tool[PATH_MAX]; /* the file of the script that `held` is about */
};
/*
 * Judges the command req, which program_note() has seen; elf is its program, and `called` the path by which
 * it is executed.  req must outlive the chain, which the caller frees.  NULL: no memory.
 */
struct chain *chain_judge(const struct image *img, enum level level, chain_verdict_fn *verdict,
			  const struct request *req, const struct elf_info *elf, const char *called);
void chain_free(struct chain *c);

#endif
