/*
 * Hooks of a file's size.  Modes, owners, times and attributes have no hooks: above level hooks the
 * supervisor judges every change of them.
 */
#include "preload/judge/check.h"
#include "preload/process/gate.h"
#include "preload/process/sys.h"

#include "hooks.h"

/* There is no truncateat: the file is opened at the judged place.  The open of a FIFO must not
 * block here. */
static long truncate_spot(const struct spot *s, off_t len)
{
	long nofollow = s->magic ? 0 : O_NOFOLLOW;
	long r, fd = raw4(SYS_openat, s->dirfd, s->name, O_WRONLY | O_CLOEXEC | O_NONBLOCK | nofollow, 0);

	if (fd < 0)
		return fd;
	r = raw2(SYS_ftruncate, fd, len);
	sys_close((int)fd);
	return r;
}

static int truncate_path(const char *path, off_t len)
{
	struct spot s UNINITIALIZED;
	long r = check_path(&s, OP_TRUNCATE, AT_FDCWD, path, RESOLVE_FOLLOW_LAST);

	if (r == CHECK_ACT)
		r = truncate_spot(&s, len);
	else if (r == CHECK_PLAIN)
		r = carried2(SYS_truncate, path, len);
	spot_done(&s);
	return (int)libc_result(r);
}

int truncate(const char *path, off_t len)
{
	return truncate_path(path, len);
}

int truncate64(const char *path, off64_t len)
{
	return truncate_path(path, len);
}
