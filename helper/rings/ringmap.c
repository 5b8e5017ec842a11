/*
 * The rings' mappings.  The launcher made both rings: memory without a name, sealed, so that no process can
 * truncate it while it is mapped.  What is written in the session's ring is a claim of its processes all
 * the same (ring.h).
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "rings.h"

int ringmap_adopt(struct feed *f, int fd)
{
	const int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL, has = fcntl(fd, F_GET_SEALS);
	struct stat st;
	void *map;

	if (has < 0 || (has & seals) != seals || fstat(fd, &st) < 0 || st.st_size != (off_t)ring_size())
		return -EINVAL;
	map = mmap(NULL, ring_size(), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return -errno;
	if (ring_check(map, ring_size()) < 0) {
		(void)munmap(map, ring_size());
		return -EINVAL;
	}
	f->ring = f->reader.h = map;
	f->reader.keeps = true;
	return 0;
}
