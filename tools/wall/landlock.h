/*
 * Landlock's kernel interface by our own constants: distributions ship headers older than their kernels
 * (Debian 12's stop at ABI 2), and a right that the header lacks would not be handled, without any error.
 *
 * Source: include/uapi/linux/landlock.h, landlock(7); each right with the ABI that introduced it.
 */
#ifndef PALE_LANDLOCK_H
#define PALE_LANDLOCK_H

#include <stdint.h>

#define NR_LANDLOCK_CREATE_RULESET 444 /* the same number on every architecture (Linux 5.13) */
#define NR_LANDLOCK_ADD_RULE	   445
#define NR_LANDLOCK_RESTRICT_SELF  446

#define LL_CREATE_RULESET_VERSION 1u
#define LANDLOCK_TRUNCATE	  3 /* the ABI that limits truncation (Linux 6.2) */
#define LANDLOCK_SCOPES		  6 /* the ABI that limits signals (Linux 6.12) */
#define LANDLOCK_LOGS		  7 /* the ABI with flags for what is logged (Linux 6.15) */
#define LANDLOCK_TSYNC		  8 /* the ABI that restricts all threads in one call (Linux 7.0) */

/* One more argument of landlock_create_ruleset and of landlock_restrict_self, which the kernel does not look
 * at: this layer is pale's own. */
#define LL_OWN_LAYER	     0x70616c65u
#define LL_RULE_PATH_BENEATH 1
#define LL_RULE_NET_PORT     2 /* ABI 4 */
#define LL_RESTRICT_LOGS     7u
#define LL_RESTRICT_TSYNC    8u

/* Grows at its end; a kernel takes any size up to its own. */
struct ll_ruleset_attr {
	uint64_t handled_access_fs;
	uint64_t handled_access_net; /* ABI 4 */
	uint64_t scoped;	     /* ABI 6 */
};

struct ll_path_beneath_attr {
	uint64_t allowed_access;
	int32_t parent_fd;
} __attribute__((packed));

struct ll_net_port_attr {
	uint64_t allowed_access;
	uint64_t port;
};

#define LL_FS_EXECUTE	   (1ull << 0)
#define LL_FS_WRITE_FILE   (1ull << 1)
#define LL_FS_READ_FILE	   (1ull << 2)
#define LL_FS_READ_DIR	   (1ull << 3)
#define LL_FS_REMOVE_DIR   (1ull << 4)
#define LL_FS_REMOVE_FILE  (1ull << 5)
#define LL_FS_MAKE_CHAR	   (1ull << 6)
#define LL_FS_MAKE_DIR	   (1ull << 7)
#define LL_FS_MAKE_REG	   (1ull << 8)
#define LL_FS_MAKE_SOCK	   (1ull << 9)
#define LL_FS_MAKE_FIFO	   (1ull << 10)
#define LL_FS_MAKE_BLOCK   (1ull << 11)
#define LL_FS_MAKE_SYM	   (1ull << 12)
#define LL_FS_REFER	   (1ull << 13) /* ABI 2; before it every reparenting fails with EXDEV */
#define LL_FS_TRUNCATE	   (1ull << 14) /* ABI 3 */
#define LL_FS_IOCTL_DEV	   (1ull << 15) /* ABI 5 */
#define LL_FS_RESOLVE_UNIX (1ull << 16) /* ABI 9 */

#define LL_NET_BIND_TCP		(1ull << 0) /* ABI 4 */
#define LL_NET_CONNECT_TCP	(1ull << 1)
#define LL_NET_BIND_UDP		(1ull << 2) /* ABI 10 */
#define LL_NET_CONNECT_SEND_UDP (1ull << 3)

#define LL_SCOPE_ABSTRACT_UNIX (1ull << 0) /* ABI 6 */
#define LL_SCOPE_SIGNAL	       (1ull << 1)

#endif
