/*
 * Takes rings away from a pale that is built for tests: PALE_RINGS=LETTERS leaves only those (S the
 * supervisor, L Landlock, F what the filter denies at once), so that each can be seen to hold by itself.
 *
 * The linker puts these in the place of the two functions (--wrap); no object of pale's is built
 * otherwise, and the pale that is installed has nothing of it.
 */
#include <linux/seccomp.h>
#include <stdlib.h>
#include <string.h>

#include "tools/wall/confine.h"

int __real_landlock_restrict(int ruleset);
int __wrap_landlock_restrict(int ruleset);
int __real_filter_build(const struct filter_setup *s, struct sock_fprog *ret);
int __wrap_filter_build(const struct filter_setup *s, struct sock_fprog *ret);

static bool stands(char ring)
{
	const char *rings = getenv("PALE_RINGS");

	return !rings || strchr(rings, ring);
}

int __wrap_landlock_restrict(int ruleset)
{
	return stands('L') ? __real_landlock_restrict(ruleset) : 0;
}

int __wrap_filter_build(const struct filter_setup *s, struct sock_fprog *ret)
{
	int r = __real_filter_build(s, ret);

	for (size_t i = 0; r == 0 && i < ret->len; i++) {
		struct sock_filter *f = &ret->filter[i];
		bool carried = f->k == SECCOMP_RET_USER_NOTIF;

		if (f->code == (BPF_RET | BPF_K) && !stands(carried ? 'S' : 'F'))
			f->k = SECCOMP_RET_ALLOW;
	}
	return r;
}
