/*
 * Variables that are released at the end of their block, for programs that may allocate:
 * `_cleanup_free_ char *text = NULL;`.
 */
#ifndef PALE_CLEANUP_H
#define PALE_CLEANUP_H

#include <dirent.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "policy/base/util.h"

static inline void cleanup_free(void *p)
{
	free(*(void **)p);
}

static inline void cleanup_close(const int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
}

static inline void cleanup_file(FILE **f)
{
	if (*f)
		(void)fclose(*f);
}

static inline void cleanup_dir(DIR **d)
{
	if (*d)
		(void)closedir(*d);
}

static inline void cleanup_json(json_t **j)
{
	json_decref(*j);
}

#define _cleanup_free_	__attribute__((cleanup(cleanup_free)))
#define _cleanup_close_ __attribute__((cleanup(cleanup_close)))
#define _cleanup_file_	__attribute__((cleanup(cleanup_file)))
#define _cleanup_dir_	__attribute__((cleanup(cleanup_dir)))
#define _cleanup_json_	__attribute__((cleanup(cleanup_json)))

#endif
