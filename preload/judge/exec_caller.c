/*
 * Which program starts another one, at level hooks: it is this process, identified by its own command line.
 */
#include <fcntl.h>

#include "policy/command/git.h"

#include "preload/process/session.h"
#include "preload/process/sys.h"

#include "exec_program.h"

bool exec_is_by_git(const struct request *req, char *room, size_t size)
{
	int fd = (int)raw4(SYS_openat, AT_FDCWD, "/proc/self/cmdline", O_RDONLY | O_CLOEXEC, 0);
	long n = fd < 0 ? fd : raw3(SYS_read, fd, room, size - 1);

	if (fd >= 0)
		sys_close(fd);
	if (n <= 0)
		return false;
	room[n] = '\0';
	return git_starts_helper(session.exe, room, (size_t)n, req->argv[0]);
}
