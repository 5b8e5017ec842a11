/* The filter of aarch64, built here from the numbers that all younger architectures share. */
#define _ASM_X86_UNISTD_H /* in place of this machine's own */
#define __ARCH_WANT_RENAMEAT
#define __ARCH_WANT_NEW_STAT
#define __ARCH_WANT_SET_GET_RLIMIT
#define __ARCH_WANT_SYS_CLONE3
#define __ARCH_WANT_MEMFD_SECRET
#include <asm-generic/unistd.h>

#define FILTER_ARCH  AUDIT_ARCH_AARCH64
#define filter_build filter_build_arm
/* White box: the same source with other numbers. */
#include "tools/wall/filter.c"
#undef NELEM
#undef ALLOW

#define ARCH  FILTER_ARCH
#define BUILD filter_build_arm
#include "tests/unit/filter_cases.h"

Suite *suite_filter_arm(void);

Suite *suite_filter_arm(void)
{
	Suite *s = suite_create("filter of aarch64");

	suite_add_tcase(s, cases("table"));
	return s;
}
