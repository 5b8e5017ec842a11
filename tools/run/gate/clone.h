/* `pale run --clone`: a repository is cloned before the session begins. */
#ifndef PALE_CLONE_H
#define PALE_CLONE_H

#include <limits.h>

/*
 * Clones URL[#BRANCH] by the operator's own git, with the operator's credentials and terminal, into dir
 * (NULL: the name that URL ends with, here), which must not exist or be empty.  0 with the directory in ret;
 * or -1, after the reason was printed.
 */
int clone_before(const char *what, const char *dir, char ret[PATH_MAX]);

#endif
