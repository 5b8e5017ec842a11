/*
 * git-lfs's hooks: see githook.h.
 *
 * Each says only `git lfs NAME "$@"`, behind a look whether there is a git-lfs.  The texts are those of
 * lfs/attribute.go and lfs/hook.go since version 1.0.
 */
#include "githook.h"

#include <string.h>

static const char *const names[] = { "pre-push", "post-checkout", "post-commit", "post-merge" };

#define SH     "#!/bin/sh\n"
#define IS     "command -v git-lfs >/dev/null 2>&1 || { echo >&2 \"\\n"
#define REPO   "This repository is configured for Git LFS but 'git-lfs' was not found on your path. "
#define NOT    "If you no longer wish to use Git LFS, remove this hook by deleting "
#define FIRST  "the '%' file in the hooks directory (set by 'core.hookspath'; usually '.git/hooks')"
#define RUN    "git lfs % \"$@\""
#define EXIT_2 ".\\n\"; exit 2; }\n"

/* % is the hook's name; a newline may follow. */
static const char *const texts[] = {
	SH IS REPO NOT FIRST EXIT_2 RUN,
	SH IS REPO NOT "'.git/hooks/%'" EXIT_2 RUN,
	SH IS REPO NOT ".git/hooks/%" EXIT_2 RUN,
	SH RUN,
};

bool githook_is_lfs_name(const char *name)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

static bool is_text(const char *form, const char *name, const char *text, size_t len)
{
	size_t n = strlen(name);

	for (; *form; form++) {
		size_t part = *form == '%' ? n : 1;

		if (len < part || memcmp(text, *form == '%' ? name : form, part) != 0)
			return false;
		text += part;
		len -= part;
	}
	return len == 0 || (len == 1 && *text == '\n');
}

bool githook_is_lfs(const char *name, const char *text, size_t len)
{
	for (size_t i = 0; githook_is_lfs_name(name) && i < sizeof(texts) / sizeof(texts[0]); i++)
		if (is_text(texts[i], name, text, len))
			return true;
	return false;
}
