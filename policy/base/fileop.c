/*
 * What a call does to its file: flags and modes in, accesses and errors out.
 */
#include "fileop.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/* O_TMPFILE includes the bit of O_DIRECTORY. */
static bool is_tmpfile(int flags)
{
	return (flags & O_TMPFILE) == O_TMPFILE;
}

bool open_creates(int flags)
{
	return flags & O_CREAT || is_tmpfile(flags);
}

unsigned open_access(int flags)
{
	int mode = flags & O_ACCMODE;
	unsigned access = mode == O_RDONLY   ? ACCESS_READ
			  : mode == O_WRONLY ? ACCESS_WRITE
					     : ACCESS_READ | ACCESS_WRITE;

	if (open_creates(flags) || flags & O_TRUNC)
		access |= ACCESS_WRITE;
	return access;
}

enum op open_op(unsigned access)
{
	return access & ACCESS_WRITE ? OP_WRITE : OP_READ;
}

int open_existence(int flags, unsigned mode, unsigned *ret_access)
{
	*ret_access = open_access(flags);
	if (mode == 0)
		return flags & O_CREAT ? 0 : -ENOENT;
	if ((flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL))
		return -EEXIST;
	if (is_tmpfile(flags))
		return S_ISDIR(mode) ? 0 : -ENOTDIR;
	*ret_access = open_access(flags & ~O_CREAT);
	if (S_ISDIR(mode))
		return *ret_access & ACCESS_WRITE || flags & O_CREAT ? -EISDIR : 0;
	if (flags & O_DIRECTORY)
		return -ENOTDIR;
	return S_ISLNK(mode) ? -ELOOP : 0;
}

/* The operation creates its name, and the kernel returns EEXIST before it checks any permission. */
static bool op_creates(enum op op)
{
	return op == OP_MKDIR || op == OP_SYMLINK || op == OP_MKNOD;
}

int op_existence(enum op op, unsigned access, unsigned mode, const char *path)
{
	if (op_creates(op))
		return mode ? -EEXIST : strncmp(path, "/proc/", 6) == 0 ? -ENOENT : 0;
	if (mode || (access & ACCESS_WRITE && (op == OP_WRITE || op == OP_RENAME || op == OP_LINK)))
		return 0;
	return -ENOENT;
}

/* F_OK is 0, W_OK is 2 and R_OK is 4 on every Unix; <unistd.h> is not for a pure room. */
int access_mode(enum op op, unsigned access)
{
	if (op != OP_READ && op != OP_WRITE)
		return 0;
	access = access ? access : op_access(op);
	return (access & ACCESS_READ ? 4 : 0) | (access & ACCESS_WRITE ? 2 : 0);
}

bool op_makes(enum op op)
{
	return op == OP_WRITE || op_creates(op);
}

unsigned rename_takes(unsigned mode)
{
	return mode == 0 || S_ISREG(mode) || S_ISDIR(mode) ? 0 : ACCESS_DELETE;
}
