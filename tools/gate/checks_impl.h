/* What the checks share: see checks.h. */
#ifndef PALE_CHECKS_IMPL_H
#define PALE_CHECKS_IMPL_H

#include "checks.h"
#include "plumbing.h"

struct needles;

struct checks {
	const struct check_rules *rules;
	struct depot depot;
	FILE *out;
	struct plumbing batch;
	struct needles *needles; /* the session's values, in each form that is looked for */
	void *fresh;		 /* names of objects that the remote's branches lack */
	void *paths, *blobs;	 /* what was looked at */
	unsigned n_paths, n_entries, n_findings;
	uint64_t bytes;
	size_t raw; /* bytes of an object's name */
};

/* Prints a finding that refuses; line 0: it is not about a line. */
void check_finding(struct checks *ck, const char *path, unsigned line, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* The line of text in which the byte at `at` is. */
unsigned check_line(const char *text, size_t at);

/* check_names.c: judges a path, what a link names, and the URLs of .gitmodules (0 or -errno). */
void check_name(struct checks *ck, const char *path);
void check_link(struct checks *ck, const char *path, const char *target, size_t len);
int check_modules(struct checks *ck, const char *path, const char *oid, const struct object *blob);

/* check_secrets.c: reads the values: 0 or -errno. */
int check_needles(struct checks *ck);
void check_needles_done(struct checks *ck);
/* Judges text; what stands in a line of `before` (the file as it was, or NULL) is not new. */
void check_secrets(struct checks *ck, const char *path, const char *text, size_t len,
		   const struct object *before);

#endif
