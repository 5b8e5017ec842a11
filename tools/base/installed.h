/* The installed parts of pale. */
#ifndef PALE_INSTALLED_H
#define PALE_INSTALLED_H

#include <limits.h>
#include <stddef.h>
#include <sys/types.h>

/* The user that the helper runs as: the calling user, or a user of its own by the setuid bit or as a
 * service. */
enum helper_kind { HELPER_OWN, HELPER_SETUID, HELPER_SERVICE };

/* The installed parts of pale. */
struct installed {
	char self[PATH_MAX], preload[PATH_MAX], helper[PATH_MAX];
	char gate[PATH_MAX], remote[PATH_MAX]; /* pale-gate and git-remote-pale; "" where either is missing */
	enum helper_kind helper_kind;
	uid_t helper_uid;
};

/*
 * Finds libpale.so and pale-helper beside this program or in the places of an installation,
 * and the kind of the helper.  0, or -errno with the reason as a sentence in why.  A helper that should run
 * as another user and cannot is an error; no helper of the calling user replaces it.
 */
int installed_find(struct installed *ret, char *why, size_t size);
/* The hooks of agents that are files, which stand beside libpale.so; ended by NULL. */
extern const char *const installed_hooks[];
/* The path of such a file: 0 or -errno. */
int installed_beside(const struct installed *in, const char *name, char path[PATH_MAX]);

#endif
