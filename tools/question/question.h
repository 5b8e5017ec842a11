/*
 * A question to the policy from the command line: its words as a request, its program found, its verdict.
 *
 * Used for `pale explain`.
 */
#ifndef PALE_QUESTION_H
#define PALE_QUESTION_H

#include <jansson.h>

#include "policy/base/op.h"

#include "tools/base/program.h"

struct git_env;

/* One question of explain, with the memory that it uses. */
struct question {
	struct request req;
	char path[PATH_MAX], given[PATH_MAX], cwd[PATH_MAX], branch[256], host[LIMIT_HOST];
	char *target;	 /* shown to the operator; owned */
	char **words;	 /* exec: argv, owned */
	bool builtin;	 /* a shell builtin: nothing is executed */
	bool missing;	 /* no such program in PATH */
	bool is_machine; /* a connection to this machine itself */
	bool unknown;	 /* it is not known what a loader would load */
	struct elf_info elf;
	struct found_files found;
};

/*
 * Makes a question of n words about op in directory cwd; img is the policy, env the environment of a git
 * command.  0, -EINVAL (not understood), -ENOMEM, -ENAMETOOLONG.  q need not be initialized; the caller
 * must call question_done() in each case.
 */
int question_init(struct question *q, enum op op, char *const *args, size_t n, const char *cwd,
		  const struct image *img, const struct git_env *env);
void question_done(struct question *q);
/* Finds the real path of path as the preload does: 0 or -errno.  *ret_through: as in struct request, valid
 * until the next call. */
int place_find(const char *cwd, const char *path, enum op op, char *real, char *given,
	       const char **ret_through);
/* True for an address without a port: the second word of a question about a connection. */
bool question_is_address(const char *text);
/* explain_host.c: true for a host that is no address, possibly with `udp:` and a port. */
bool question_is_name(const char *text);
/* Name, address, class and port of a question about a host; null for any other question. */
json_t *destination_to_json(const struct question *q);
void destination_print(const struct question *q);

#endif
