/*
 * A question to the policy from the command line: its words as a request, its program found, its verdict.
 *
 * A question of `pale explain`, and what is found about a program before its exec is judged.
 */
#ifndef PALE_QUESTION_H
#define PALE_QUESTION_H

#include "tools/base/tools.h"

struct git_env;

/* Notes in the request of an exec what its program is, and which files its words have it run (loads.h); room
 * is for their paths.  False where nobody can tell. */
#define FOUND_FILES 3
struct found_files {
	char path[FOUND_FILES][PATH_MAX]; /* what is loaded, its interpreter, and a script */
	size_t n;
};
bool program_note(struct request *req, const struct image *img, const struct elf_info *elf,
		  struct found_files *room);
/* The script that the interpreter is given which `of` executes, as a command of its own (tool_find()); words
 * has room for of->argc + 2.  False where there is none. */
bool program_tool(const struct request *of, struct found_files *room, const char **words,
		  struct request *ret);

/* One question of explain with the memory it stands on. */
struct question {
	struct request req;
	char path[PATH_MAX], given[PATH_MAX], cwd[PATH_MAX], branch[256], host[LIMIT_HOST];
	char *target;	 /* for people; owned */
	char **words;	 /* exec: argv, owned */
	bool builtin;	 /* a shell builtin: nothing is executed */
	bool missing;	 /* no such program in PATH */
	bool is_machine; /* a connection to this machine itself */
	bool unknown;	 /* nobody can tell what a loader would load */
	struct elf_info elf;
	struct found_files found;
	struct request tool;	 /* the script that an interpreter is given */
	const char **tool_words; /* owned */
	bool has_tool;
};

/* One argv of n words in directory cwd about op; img is who judges, env that of a git.  0, -EINVAL (not
 * understood), -ENOMEM, -ENAMETOOLONG.  q is plain memory before; question_done() in each case. */
int question_init(struct question *q, enum op op, char *const *args, size_t n, const char *cwd,
		  const struct image *img, const struct git_env *env);
void question_done(struct question *q);
/* An address by itself, without a port: the second word of a question about a connection. */
bool question_is_address(const char *text);
/* explain_host.c: a host that is no address, perhaps with `udp:` and a port. */
bool question_is_name(const char *text);
/* Of a question about a host: name, address, class, port.  null where it is about none. */
json_t *destination_to_json(const struct question *q);
void destination_print(const struct question *q);

#endif
