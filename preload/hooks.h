/* Prototypes of every hook, generated from hooks.def, so that definitions are checked against the table. */
#ifndef PALE_HOOKS_H
#define PALE_HOOKS_H

#include <dirent.h>
#include <linux/openat2.h>
#include <netdb.h>
#include <resolv.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#undef res_query
#undef res_search
#undef res_nquery
#undef res_nsearch
#undef res_querydomain

#include "preload/internal.h"

#define HOOK(name, ret, args, op, nr) EXPORT ret name args;
#include "preload/hooks.def"
#undef HOOK

#endif
