/*
 * Functions that the preload may not use.  Headers of libc that name them come first: nothing may name them
 * afterwards.
 */
#ifndef PALE_PRELOAD_BANNED_H
#define PALE_PRELOAD_BANNED_H

#include <glob.h>
#include <pthread.h>
#include <resolv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#pragma GCC poison malloc calloc realloc free getenv setenv putenv unsetenv strdup strndup asprintf
#pragma GCC poison printf fprintf snprintf sprintf pthread_mutex_lock

#endif
