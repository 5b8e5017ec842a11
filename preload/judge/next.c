/*
 * Calls on names and owners are passed on to the next object, if there is one, and not to the kernel.
 * fakeroot and similar objects stand behind libpale.so and pretend that a chown or a device was made, so
 * they must see every name that is removed.  What was judged is what is passed on.  async-signal-safe,
 * vfork-safe.
 */
#include "next.h"

#include <errno.h>

static long next_result(int r)
{
	return r < 0 ? -errno : r;
}

long next_unlinkat(const struct name_call *c, int dirfd, const char *name)
{
	return next_result(real.unlinkat(dirfd, name, (int)c->word[0]));
}

long next_mkdirat(const struct name_call *c, int dirfd, const char *name)
{
	return next_result(real.mkdirat(dirfd, name, (mode_t)c->word[0]));
}

/* Not mknodat: fakeroot's version calls __xmknodat, which is our hook, which would call mknodat again. */
long next_mknodat(const struct name_call *c, int dirfd, const char *name)
{
	dev_t dev = (dev_t)c->word[1];

	return next_result(real.__xmknodat(0, dirfd, name, (mode_t)c->word[0], &dev));
}

long next_renameat(int fromfd, const char *from, int tofd, const char *to)
{
	return next_result(real.renameat(fromfd, from, tofd, to));
}
