/* Limits that follow from the number of descriptors that the supervisor may have. */
#include "file_limit.h"

#include <sys/resource.h>

unsigned limit_by_files(unsigned most, unsigned share)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) < 0 || files.rlim_cur / share >= most)
		return most;
	return (unsigned)(files.rlim_cur / share);
}
