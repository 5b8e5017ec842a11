/* The command before it runs: which file, and what kind of program. */
#ifndef PALE_PROGRAM_H
#define PALE_PROGRAM_H

#include <limits.h>
#include <stdbool.h>

#include "policy/file/elfkind.h"

struct image;
struct request;
struct tool_script;

struct program {
	char found[PATH_MAX];  /* what to execute */
	char real[PATH_MAX];   /* its real path */
	char loaded[PATH_MAX]; /* what the kernel loads last: the interpreter of a script */
	struct elf_info elf;   /* of `loaded` */
	bool setid;
};

/* Finds name as execvp() does.  0, -ENOENT, -EACCES. */
int program_find(const char *name, struct program *ret);
/* Follows the #! chain and inspects the program.  0, or -errno where a file cannot be read. */
int program_inspect(struct program *p);
/* Inspects p and returns how it is controlled, in a word of pale-explain(1): "hooked", "kernel only" or
 * "refused".  ret_kind: the kind of the program.  Both are static. */
const char *program_coverage(struct program *p, const char **ret_kind);

#define SCRIPT_DEPTH 5 /* the kernel follows at most four nested interpreters */
/* Examines a file.  0 or -errno. */
int program_look(const char *path, struct elf_info *ret, bool *ret_setid);

/* Adds to the request of an exec the kind of its program and the files that its words make it run
 * (loads.h); room holds their paths.  False where that cannot be known. */
#define FOUND_FILES 3
struct found_files {
	char path[FOUND_FILES][PATH_MAX]; /* what is loaded, its interpreter, and a script */
	size_t n;
};
bool program_note(struct request *req, const struct image *img, const struct elf_info *elf,
		  struct found_files *room);
/* As tool_find(). */
bool program_tool(const struct request *of, struct found_files *room, struct tool_script *ret);

#endif
