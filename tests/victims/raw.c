/*
 * Reads a file without libc: `raw FILE` prints its first bytes, and `raw FILE WORD...` executes it.  Linked
 * statically it is a program that the preload cannot hold; linked dynamically one that it does not see.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/victims/rawcall.h"

int main(int argc, char **argv)
{
	char buf[256];
	long fd, n;

	if (argc < 2)
		return 2;
	if (argc > 2) {
		fd = raw_call(SYS_execve, (long)argv[1], (long)(argv + 1), (long)environ, 0, 0, 0);
		return fd == -EACCES ? 1 : 3;
	}
	fd = raw_call(SYS_openat, AT_FDCWD, (long)argv[1], O_RDONLY, 0, 0, 0);
	if (fd < 0) {
		fprintf(stderr, "raw: %s: %s\n", argv[1], strerror((int)-fd));
		return 1;
	}
	n = raw_call(SYS_read, fd, (long)buf, sizeof(buf), 0, 0, 0);
	if (n > 0)
		fwrite(buf, 1, (size_t)n, stdout);
	return 0;
}
