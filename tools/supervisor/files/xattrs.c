/*
 * Extended attributes, and the attributes that file systems keep beside the mode (chattr(1)).
 *
 * Landlock has no right for these, so no floor stands behind them.  Names and values are copied once; the
 * kernel decides which process may set security.* and trusted.*.
 */
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "policy/base/util.h"
#include "policy/record/digest.h"

#include "tools/supervisor/answer.h"
#include "tools/supervisor/caller.h"
#include "tools/supervisor/handlers.h"
#include "tools/supervisor/setup.h"
#include "tools/supervisor/threads/workers.h"
#include "tools/supervisor/gate/gate_door.h"
#include "tools/supervisor/verdict/claim.h"
#include "tools/wall/numbers.h"

#include "held.h"

#define AT_BOTH (AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH)
/* linux/limits.h: names are shorter than XATTR_NAME_MAX + 1, values no longer than XATTR_SIZE_MAX. */
#define NAME_SIZE    256
#define SIZE_MAXIMUM 65536
/* No extensible structure is longer than a page (callers of copy_struct_from_user()). */
#define STRUCT_MAX 4096

/* --- extended attributes ------------------------------------------------------------------------ */

/* How the value is given: as arguments of the call, in a struct xattr_args, or not at all. */
enum value_form { VALUE_NONE, VALUE_ARGS, VALUE_STRUCT };

struct attring {
	struct naming at; /* rest: the name */
	enum value_form form;
};

static const struct attring attrings[] = {
	{ { __NR_setxattr, .path = 0, .dirfd = NO_ARG, .flags = NO_ARG, .rest = 1 }, VALUE_ARGS },
	{ { __NR_lsetxattr, .path = 0, .dirfd = NO_ARG, .flags = NO_ARG, .rest = 1,
	    .fixed = AT_SYMLINK_NOFOLLOW },
	  VALUE_ARGS },
	{ { __NR_fsetxattr, .path = NO_ARG, .dirfd = 0, .flags = NO_ARG, .rest = 1 }, VALUE_ARGS },
	{ { __NR_setxattrat, .path = 1, .dirfd = 0, .flags = 2, .rest = 3, .known = AT_BOTH, .opened = true },
	  VALUE_STRUCT },
	{ { __NR_removexattr, .path = 0, .dirfd = NO_ARG, .flags = NO_ARG, .rest = 1 }, VALUE_NONE },
	{ { __NR_lremovexattr, .path = 0, .dirfd = NO_ARG, .flags = NO_ARG, .rest = 1,
	    .fixed = AT_SYMLINK_NOFOLLOW },
	  VALUE_NONE },
	{ { __NR_fremovexattr, .path = NO_ARG, .dirfd = 0, .flags = NO_ARG, .rest = 1 }, VALUE_NONE },
	{ { __NR_removexattrat, .path = 1, .dirfd = 0, .flags = 2, .rest = 3, .known = AT_BOTH,
	    .opened = true },
	  VALUE_NONE },
};

/* A copied attribute. */
struct attr {
	char name[NAME_SIZE];
	void *value;
	size_t size;
	int flags;
};

/* The address and size of the value; as struct xattr_args of linux/xattr.h (Linux 6.13). */
struct value_at {
	uint64_t addr;
	uint32_t size;
	uint32_t flags;
};

/* As copy_struct_from_user(): the unknown part of a longer structure must be zero.  0 or -errno. */
static int read_struct(struct caller *c, uint64_t addr, uint64_t usize, void *ret, size_t size)
{
	uint8_t all[STRUCT_MAX];
	int r;

	if (usize < size)
		return -EINVAL;
	if (usize > sizeof all)
		return -E2BIG;
	r = caller_read(c, addr, all, (size_t)usize);
	if (r < 0)
		return r;
	for (size_t i = size; i < usize; i++)
		if (all[i] != 0)
			return -E2BIG;
	memcpy(ret, all, size);
	return 0;
}

static int read_name(struct caller *c, uint64_t addr, struct attr *a)
{
	int n = caller_string(c, addr, a->name, sizeof a->name);

	return n == 0 || n == -ENAMETOOLONG ? -ERANGE : n < 0 ? n : 0;
}

/* In the kernel's order (setxattr_copy() in fs/xattr.c): flags, name, size, value. */
static int read_value(struct caller *c, uint64_t name, const struct value_at *v, uint64_t size,
		      struct attr *a)
{
	int r;

	if (v->flags & ~(unsigned)(XATTR_CREATE | XATTR_REPLACE))
		return -EINVAL;
	r = read_name(c, name, a);
	if (r < 0)
		return r;
	if (size > SIZE_MAXIMUM)
		return -E2BIG;
	a->flags = (int)v->flags;
	a->size = (size_t)size;
	a->value = size > 0 ? caller_scratch(c, a->size) : NULL;
	if (size > 0 && !a->value)
		return -ENOMEM;
	return size > 0 ? caller_read(c, v->addr, a->value, a->size) : 0;
}

static int read_attr(struct caller *c, const struct attring *row, struct attr *a)
{
	const uint64_t *arg = &c->arg[row->at.rest];
	struct value_at v = { 0 };
	int r;

	switch (row->form) {
	case VALUE_ARGS:
		v.addr = arg[1];
		v.flags = (uint32_t)arg[3];
		return read_value(c, arg[0], &v, arg[2], a);
	case VALUE_STRUCT:
		r = read_struct(c, arg[1], arg[2], &v, sizeof v);
		return r < 0 ? r : read_value(c, arg[0], &v, v.size, a);
	case VALUE_NONE:
	default:
		return read_name(c, arg[0], a);
	}
}

/* No call accepts O_PATH before setxattrat(2): the magic link leads to the held object. */
static int change_attr(const struct held *h, const struct attring *row, const struct attr *a)
{
	struct self_path self = held_self(h);

	if (row->form == VALUE_NONE)
		return removexattr(self.text, a->name);
	return setxattr(self.text, a->name, a->value, a->size, a->flags);
}

/* Shows a digest of the value, which is not text. */
static void say_bytes(struct held *h, struct caller *c, const char *what, const void *bytes, size_t size)
{
	char hex[DIGEST_HEX];
	struct digest d;

	if (!held_is_asked(h))
		return;
	digest_begin(&d, "pale-value-1");
	digest_bytes(&d, bytes, size);
	digest_end(&d, hex);
	held_does(h, c, "%s, %zu bytes with the digest %s", what, size, hex);
}

static void say_attr(struct held *h, struct caller *c, const struct attring *row, const struct attr *a)
{
	char what[NAME_SIZE + 16];

	if (!held_is_asked(h))
		return;
	(void)snprintf(what, sizeof(what), "%s %s", row->form == VALUE_NONE ? "removes" : "sets", a->name);
	if (row->form == VALUE_NONE)
		held_does(h, c, "%s", what);
	else
		say_bytes(h, c, what, a->size > 0 ? a->value : "", a->size);
}

struct answer carry_xattr(struct caller *c)
{
	const struct attring *row = ROW_OF(attrings, c->nr);
	struct held *h = held_new(c, OP_XATTR, op_access(OP_XATTR));
	int flags = row ? naming_flags(&row->at, c) : -ENOSYS;
	struct attr a;
	long r = flags < 0 ? flags : h ? read_attr(c, row, &a) : -ENOMEM;

	if (r == 0)
		r = held_object(h, c, &row->at, (unsigned)flags);
	if (r == 0) {
		say_attr(h, c, row, &a);
		r = held_allow(h, c);
	}
	if (r == 0)
		r = call_result(change_attr(h, row, &a));
	held_done(h);
	return answer_result(r);
}

/* --- file attributes ---------------------------------------------------------------------------- */

/* struct file_attr of linux/fs.h (Linux 6.17), with its first length. */
struct file_attr_first {
	uint64_t xflags;
	uint32_t extsize, nextents, projid, cowextsize;
};

struct answer carry_fileattr(struct caller *c)
{
	static const struct naming n = { __NR_file_setattr, .path = 1,	      .dirfd = 0,
					 .flags = 4,	    .known = AT_BOTH, .opened = true };
	struct held *h = held_new(c, OP_CHMOD, op_access(OP_CHMOD));
	struct file_attr_first attr;
	int flags = naming_flags(&n, c);
	long r = flags;

	if (r >= 0)
		r = c->arg[3] > STRUCT_MAX ? -E2BIG
					   : read_struct(c, c->arg[2], c->arg[3], &attr, sizeof attr);
	if (r == 0)
		r = h ? held_object(h, c, &n, (unsigned)flags) : -ENOMEM;
	if (r == 0) {
		say_bytes(h, c, "file attributes", &attr, sizeof(attr));
		r = held_allow(h, c);
	}
	if (r == 0)
		r = call_result(
			syscall(__NR_file_setattr, AT_FDCWD, held_self(h).text, &attr, sizeof attr, 0));
	held_done(h);
	return answer_result(r);
}

/* --- the same by ioctl(2) ----------------------------------------------------------------------- */

#define ARGUMENT_MAX sizeof(struct fsxattr)

/* Commands that the filter sends here, with the size of the argument that the kernel reads. */
static const struct {
	unsigned command;
	size_t size;
} commands[] = {
	{ (unsigned)FS_IOC_SETFLAGS, sizeof(int) }, /* an int, whatever its number says: ioctl_iflags(2) */
	{ (unsigned)FS_IOC_FSSETXATTR, sizeof(struct fsxattr) },
};

static size_t argument_size(unsigned command)
{
	for (size_t i = 0; i < NELEM(commands); i++)
		if (commands[i].command == command)
			return commands[i].size;
	return 0;
}

struct answer carry_ioctl(struct caller *c)
{
	static const struct naming n = { __NR_ioctl, .path = NO_ARG, .dirfd = 0, .flags = NO_ARG };
	const unsigned command = (unsigned)c->arg[1];
	size_t size = argument_size(command);
	_Alignas(8) uint8_t argument[ARGUMENT_MAX];
	struct held *h;
	struct stat st;
	long r;

	if (command == WIRE_DENIED)
		return answer_result(claim_of_hook(c));
	if (command == WIRE_TOOL)
		return answer_result(claim_of_tool(c));
	if (command == WIRE_GATE)
		return gate_open(c);
	if (command == WIRE_LOST) {
		struct ring_header *ring = session_setup(c->sup)->kernel_ring;

		atomic_fetch_add(&ring->hook_lost, 1);
		atomic_fetch_add(&ring->hook_robbed, c->arg[2] == RING_ROBBED);
		return answer_result(0);
	}
	if (command == FIONREAD)
		return carry_unread(c);
	h = held_new(c, OP_CHMOD, op_access(OP_CHMOD));
	r = size == 0 ? -EPERM : h ? held_object(h, c, &n, 0) : -ENOMEM;
	if (r == 0)
		r = caller_read(c, c->arg[2], argument, size);
	/* For a device or a socket the same number may mean another command. */
	if (r == 0 && (fstat(h->fd, &st) < 0 || !(S_ISREG(st.st_mode) || S_ISDIR(st.st_mode))))
		r = -ENOTTY;
	if (r == 0) {
		say_bytes(h, c, command == (unsigned)FS_IOC_SETFLAGS ? "file flags" : "file attributes",
			  argument, size);
		r = held_allow(h, c);
	}
	if (r == 0)
		r = call_result(ioctl(h->fd, command, argument));
	held_done(h);
	return answer_result(r);
}
