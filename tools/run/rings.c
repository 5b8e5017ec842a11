/*
 * The two rings of a session: memory files without a path and of a sealed size, allocated whole at the
 * start.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>

#include "policy/system/cleanup.h"
#include "policy/wire/ring.h"

#include "tools/base/output.h"

#include "run.h"

int ring_make(const char *name, struct ring_header **ret)
{
	_cleanup_close_ int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	void *map;
	int made;

	if (fd < 0)
		return -errno;
	if (ftruncate(fd, (off_t)ring_size()) < 0 ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
		return -errno;
	map = mmap(NULL, ring_size(), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return -errno;
	(void)madvise(map, ring_size(), MADV_DONTFORK);
	*ret = map;
	ring_init(*ret);
	made = fd;
	fd = -1; /* NOLINT(clang-analyzer-deadcode.DeadStores): what closes it reads it */
	return made;
}

int rings_fill(const int *fds, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (fallocate(fds[i], 0, 0, (off_t)ring_size()) < 0) {
			int e = -errno;

			talk("there is no memory for the session's records: %s", strerror(-e));
			return e;
		}
	return 0;
}
