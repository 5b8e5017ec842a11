/* libc functions that a hook calls, resolved once by the constructor. */
#ifndef PALE_PRELOAD_REAL_H
#define PALE_PRELOAD_REAL_H

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <fts.h>
#include <ftw.h>
#include <glob.h>
#include <linux/openat2.h>
#include <netdb.h>
#include <resolv.h>
#include <semaphore.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#include <utmp.h>
#include <utmpx.h>
#include <wordexp.h>

#include "banned.h"

struct dl_phdr_info;
struct mount_attr;

/* resolv.h renames some of the functions that are hooked. */
#undef res_query
#undef res_search
#undef res_nquery
#undef res_nsearch
#undef res_querydomain
#undef res_send
#undef res_nsend

struct real {
#define REAL(name, ret, args) ret(*name) args;
#include "real.def"
#undef REAL
};
extern struct real real;
/* Another preloaded object stands between the preload and libc, and must see the calls on names and owners
 * (next.c). */
extern bool real_interposed;
void real_init(void);

#endif
