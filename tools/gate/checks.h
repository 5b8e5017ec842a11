/*
 * The checks of a push, before a person is asked: run by the hook pre-receive, while the objects are in git's
 * quarantine, so that a refusal leaves nothing behind.
 *
 * They look at each commit that the remote's branches lack, not only at the last one: what one commit adds
 * and the next removes would leave with the push, too.
 */
#ifndef PALE_CHECKS_H
#define PALE_CHECKS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct check_rules {
	const char *const *deny; /* patterns of [changes] deny */
	size_t n_deny;
	unsigned max_files; /* paths that a push may change; 0: no limit but our own */
	uint64_t max_size;  /* bytes of new files; 0: no limit but our own */
	int secrets_fd; /* the session's secret values, each ended by a NUL; -1: none.  Read from its start */
};

/* A line of pre-receive's standard input.  A name of zeros is no object. */
struct check_ref {
	const char *old_oid, *new_oid, *name;
};

/*
 * Judges what these refs bring into `repository`, with the real git at the path `git` (GIT_QUARANTINE_PATH
 * and the object directories are taken from the environment, nothing else is).  Prints on out a line
 * `path:line: what`, escaped, for each finding that refuses.  0: clean; 1: refused; -errno: a check could not
 * run, which out says, and the push must be refused as well.
 */
int checks_run(const struct check_rules *r, const char *git, const char *repository,
	       const struct check_ref *refs, size_t n, FILE *out);

#endif
