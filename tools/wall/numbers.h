/*
 * System call numbers for the supervisor: the C library's, those that are newer than its headers, and
 * NR_ABSENT for old calls that this architecture never had, so that one list of names serves all
 * architectures.  Test `__NR_open != NR_ABSENT`, never #ifdef.
 *
 * From number 424 on every architecture has the same numbers (Documentation/process/adding-syscalls.rst,
 * Linux 5.1).
 */
#ifndef PALE_NUMBERS_H
#define PALE_NUMBERS_H

#include <sys/syscall.h>

#define NR_ABSENT (-1)
/* The newest call that this program handles; higher numbers get ENOSYS. */
#define NR_NEWEST __NR_file_setattr

#ifndef __NR_memfd_secret
#define __NR_memfd_secret 447 /* Linux 5.14 */
#endif
#ifndef __NR_process_mrelease
#define __NR_process_mrelease 448 /* Linux 5.15 */
#endif
#ifndef __NR_futex_waitv
#define __NR_futex_waitv 449 /* Linux 5.16 */
#endif
#ifndef __NR_set_mempolicy_home_node
#define __NR_set_mempolicy_home_node 450 /* Linux 5.17 */
#endif
#ifndef __NR_cachestat
#define __NR_cachestat 451 /* Linux 6.5 */
#endif
#ifndef __NR_fchmodat2
#define __NR_fchmodat2 452 /* Linux 6.6 */
#endif
#ifndef __NR_map_shadow_stack
#define __NR_map_shadow_stack 453 /* Linux 6.6 */
#endif
#ifndef __NR_futex_wake
#define __NR_futex_wake 454 /* Linux 6.7 */
#endif
#ifndef __NR_futex_wait
#define __NR_futex_wait 455 /* Linux 6.7 */
#endif
#ifndef __NR_futex_requeue
#define __NR_futex_requeue 456 /* Linux 6.7 */
#endif
#ifndef __NR_statmount
#define __NR_statmount 457 /* Linux 6.8 */
#endif
#ifndef __NR_listmount
#define __NR_listmount 458 /* Linux 6.8 */
#endif
#ifndef __NR_lsm_get_self_attr
#define __NR_lsm_get_self_attr 459 /* Linux 6.8 */
#endif
#ifndef __NR_lsm_set_self_attr
#define __NR_lsm_set_self_attr 460 /* Linux 6.8 */
#endif
#ifndef __NR_lsm_list_modules
#define __NR_lsm_list_modules 461 /* Linux 6.8 */
#endif
#ifndef __NR_mseal
#define __NR_mseal 462 /* Linux 6.10 */
#endif
#ifndef __NR_setxattrat
#define __NR_setxattrat 463 /* Linux 6.13, as the next three */
#endif
#ifndef __NR_getxattrat
#define __NR_getxattrat 464
#endif
#ifndef __NR_listxattrat
#define __NR_listxattrat 465
#endif
#ifndef __NR_removexattrat
#define __NR_removexattrat 466
#endif
#ifndef __NR_open_tree_attr
#define __NR_open_tree_attr 467 /* Linux 6.15 */
#endif
#ifndef __NR_file_getattr
#define __NR_file_getattr 468 /* Linux 6.17, as the next */
#endif
#ifndef __NR_file_setattr
#define __NR_file_setattr 469
#endif

/* Calls that the *at() family replaced, and calls that only x86 has. */
#ifndef __NR_open
#define __NR_open      NR_ABSENT
#define __NR_creat     NR_ABSENT
#define __NR_unlink    NR_ABSENT
#define __NR_rmdir     NR_ABSENT
#define __NR_rename    NR_ABSENT
#define __NR_link      NR_ABSENT
#define __NR_symlink   NR_ABSENT
#define __NR_mkdir     NR_ABSENT
#define __NR_mknod     NR_ABSENT
#define __NR_chmod     NR_ABSENT
#define __NR_chown     NR_ABSENT
#define __NR_lchown    NR_ABSENT
#define __NR_utime     NR_ABSENT
#define __NR_utimes    NR_ABSENT
#define __NR_futimesat NR_ABSENT
#define __NR_readlink  NR_ABSENT
#endif
#ifndef __NR_renameat
#define __NR_renameat NR_ABSENT /* absent on architectures newer than renameat2 */
#endif
#ifndef __NR_uselib
#define __NR_uselib NR_ABSENT
#endif
#ifndef __NR_iopl
#define __NR_iopl   NR_ABSENT
#define __NR_ioperm NR_ABSENT
#endif
#ifndef __NR_lookup_dcookie
#define __NR_lookup_dcookie NR_ABSENT
#endif

#endif
