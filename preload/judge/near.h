/* A program opened by the near way. */
#ifndef PALE_PRELOAD_NEAR_H
#define PALE_PRELOAD_NEAR_H

#include "preload/process/sys.h"

/*
 * Opens the regular file that a program's path names, through the gate, and writes its real path to near;
 * the open proves that path.  Returns a descriptor that the caller must close.  -ENOENT and -ENOTDIR are
 * the kernel's answer; after any other -errno nothing is known about the file.  async-signal-safe,
 * vfork-safe.
 */
int sys_open_real(int dirfd, const char *path, unsigned flags, char near[NEAR_PATH]);

#endif
