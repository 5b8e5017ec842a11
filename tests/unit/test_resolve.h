/* The resolver's tests: its system calls, counted, on the real kernel. */
#ifndef PALE_TEST_RESOLVE_H
#define PALE_TEST_RESOLVE_H

#include <check.h>

#include "policy/file/resolve.h"

/* open_path and close keep count; held_max is the highest count since the last reset. */
extern const struct resolve_sys test_sys;
extern int test_held, test_held_max;

/* Makes an empty directory and goes there; its real path is test_root. */
void test_tree_make(void);
/* Goes away from it and removes it. */
void test_tree_remove(void);
extern char test_root[256];

/* Descriptors of this process that are open. */
int test_count_fds(void);

TCase *tcase_resolve_random(void);
Suite *suite_resolve(void);

#endif
