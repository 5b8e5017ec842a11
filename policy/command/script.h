/*
 * What a script has the kernel start: its first line names an interpreter, which is a command like any
 * other.  Pure; linked into the preload.
 */
#ifndef PALE_SCRIPT_H
#define PALE_SCRIPT_H

#include "policy/base/op.h"
#include "policy/file/elfkind.h"

/*
 * The interpreter's words, as execve(2) and fs/binfmt_script.c put them together: INTERPRETER [ARGUMENT]
 * PATH and all of argv but its first.  path is what the script was called by.  ret has room for argc + 4
 * pointers, of which the last is NULL; the strings stay whose they are.  Their number.
 */
size_t script_words(const struct elf_info *script, const char *path, const char *const *argv, size_t argc,
		    const char **ret);

/* The request about the interpreter of the script that `of` is about; words as ret of script_words(). */
struct request script_request(const struct elf_info *script, const char *path, const struct request *of,
			      const char **words);

/*
 * A script is judged by its own name, and what it starts counts only where a rule names that: else
 * an allowed script could not be run by a shell that is not.  True where the interpreter's verdict is
 * such a one, and stricter than the script's.
 */
bool script_is_held(const struct decision *script, const struct decision *interpreter);

#endif
