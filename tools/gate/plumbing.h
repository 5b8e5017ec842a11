/*
 * The real git, run on a repository of pale's own to look at what came in: nothing of the environment, of
 * configuration, of attributes or of replaced objects changes what it says.
 */
#ifndef PALE_PLUMBING_H
#define PALE_PLUMBING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "change.h"

/* A repository, and the git to read it with; borrowed. */
struct depot {
	const char *git, *repository;
};

/* A git that runs: what it prints is read from `from`; `to` is its standard input. */
struct plumbing {
	pid_t pid;
	FILE *from, *to;
};

#define PLUMBING_WORDS 32
/* Starts `git WORDS...`, ended by NULL.  With input, `to` is open.  order: a descriptor that it gets as
 * /dev/fd/3, or -1.  0 or -errno; then plumbing_end(). */
int plumbing_start(struct plumbing *p, const struct depot *d, const char *const words[], bool input,
		   int order);
/* Ends it; early: it need not have printed all.  0, or -EIO where it failed. */
int plumbing_end(struct plumbing *p, bool early);
/* All that it prints, ended by a NUL; the caller frees it.  input may be NULL.  0; -EFBIG beyond limit;
 * -errno. */
int plumbing_read(const struct depot *d, const char *const words[], const char *input, size_t limit,
		  char **ret, size_t *ret_len);
/* Writes the attributes by which git shows each file as it is, unless they stand already.  0 or -errno. */
int plumbing_attributes(const char *repository);

/* An object read through `git cat-file --batch`. */
struct object {
	char type[8];
	char *data; /* ended by a NUL that does not count */
	size_t len;
};
#define OBJECT_MAX (256u << 20)
int batch_start(struct plumbing *p, const struct depot *d);
/* Reads an object.  0; -ENOENT; -EFBIG, and then the batch cannot go on; -EIO.  object_done() after 0. */
int batch_get(struct plumbing *p, const char *oid, size_t limit, struct object *ret);
void object_done(struct object *o);

/* The empty tree, in the object format of this object's name. */
const char *empty_tree(const char *oid);
bool oid_is_none(const char *oid); /* "" or zeros */

#endif
