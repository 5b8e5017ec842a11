/*
 * Programs that start other programs, and the mark by which a session's processes are known.
 *
 * A loader is a program that opens another program itself and runs it: a dynamic loader, an emulator,
 * valgrind.  The kernel sees one exec, of the loader; a word of its command line says which file runs.
 */
#ifndef PALE_LOADS_H
#define PALE_LOADS_H

#include "policy/command/argv.h"
#include "policy/file/elfkind.h"
#include "policy/image/image.h"

enum loads_what {
	LOADS_NOTHING, /* it is no loader, or loads nothing with these words */
	LOADS_FILE,
	LOADS_NAME,    /* a name that it looks for in PATH */
	LOADS_UNKNOWN, /* it is unknown what it loads */
};

/* The program that a loader loads: word `at` of its command. */
struct loads {
	size_t at;
	const char *called; /* argv[0] of the loaded program */
};

/* What c loads.  is_loader: c's file is a dynamic loader (elf_info.is_loader), whatever it is called. */
enum loads_what command_loads(const struct command *c, bool is_loader, struct loads *ret);
/* Fills in loads_at and loads_called of a request that came without them, or whose words moved. */
void loads_place(struct request *req);

/*
 * Opens the file that word names for the process that executes the loader, and inspects it.  ret may be
 * NULL.  Returns its real path, which the caller keeps for as long as the request; NULL where there is no
 * such regular file, or its path is unknown.
 */
typedef const char *loads_find_fn(void *ctx, const char *word, struct elf_info *ret);
/*
 * The value of the variable `name` (PATH) that the process would have, which the caller keeps for as long as
 * the request, or NULL.
 */
typedef const char *loads_path_fn(void *ctx, const char *name);
/*
 * Takes the first directory off a list like PATH: its file of that name, in at; "" where that is too long,
 * NULL at the end of the list, which is NULL then.
 */
const char *loads_next(const char **list, const char *name, char at[LIMIT_PATH]);
/*
 * Fills in the members loads* of an exec's request; elf is the file of the exec.  False where the program
 * is a loader, and what it loads is unknown or is a loader too: REASON_LOADER.
 */
bool loads_fill(struct request *req, const struct elf_info *elf, const struct image *img, loads_find_fn *find,
		loads_path_fn *path, void *ctx);

#endif
