/*
 * Hooks of a file's size, and of the times of a file that is open.  Modes, owners, other times and attributes
 * have no hooks: above level hooks the supervisor judges every change of them.
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

int truncate(const char *path, off_t len)
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

SAME_HOOK(truncate64, truncate);

/* Setting times is part of writing: of a descriptor that is open for writing, the open was judged.  tar(1)
 * and `cp -p` do it for each file.  An error of fcntl(2) counts as writable: the kernel gives it again. */
int futimens(int fd, const struct timespec ts[2])
{
	bool writable = raw3(SYS_fcntl, fd, F_GETFL, 0) & O_ACCMODE;

	return (int)libc_result(writable ? gate4(SYS_utimensat, fd, 0, ts, 0)
					 : carried4(SYS_utimensat, fd, 0, ts, 0));
}
