/*
 * The interpreter of a script: the kernel starts it, as the script's first line says, and it is a command
 * like any other.  Pure; linked into the preload.
 */
#ifndef PALE_SCRIPT_H
#define PALE_SCRIPT_H

#include "policy/base/op.h"
#include "policy/file/elfkind.h"

/*
 * The words of the interpreter, as execve(2) and fs/binfmt_script.c build them: INTERPRETER [ARGUMENT] PATH
 * and all of argv but its first word.  path is the name by which the script was executed.  ret has room for
 * argc + 4 pointers, of which the last is NULL; the strings are borrowed.  Returns the number of words.
 */
size_t script_words(const struct elf_info *script, const char *path, const char *const *argv, size_t argc,
		    const char **ret);

/* The request for the interpreter of the script that `of` executes; words as ret of script_words(). */
struct request script_request(const struct elf_info *script, const char *path, const struct request *of,
			      const char **words);

/*
 * A script is judged by its own name, and its interpreter counts only where a rule names it: otherwise an
 * allowed script could not run with a shell that is not allowed.  True where a rule decides about the
 * interpreter, and more strictly than about the script.
 */
bool script_is_held(const struct decision *script, const struct decision *interpreter);

#endif
