/* One call on one name, from judgement to record. */
#ifndef PALE_PRELOAD_NAME_CALL_H
#define PALE_PRELOAD_NAME_CALL_H

#include "policy/base/op.h"
#include "policy/file/resolve.h"

/*
 * One call on one name, from judgement to record.  nr is the *at system call, word holds its arguments
 * after (dirfd, path) (symlinkat: the target, which comes first).
 */
struct name_call {
	enum op op;
	enum resolve_follow follow;
	int dirfd;
	const char *path;
	long nr;
	long word[3];
	/* Makes the call in place of the system call nr; NULL: the system call is made. */
	long (*act)(const struct name_call *c, int dirfd, const char *name);
};
/* The kernel's result, -errno on failure. */
long name_call(const struct name_call *c);

#endif
