/* What the parts of grants share; no one else includes this. */
#ifndef PALE_GRANT_IMPL_H
#define PALE_GRANT_IMPL_H

#include "grant.h"
#include "policy/command/argv.h"
#include "policy/judge/eval.h"

/* Lines that may be offered, not checked yet. */
struct candidates {
	const char *section; /* static */
	char line[4][GRANT_LINE + 1];
	size_t n;
	const char *why_none; /* static */
	bool first_or_none;   /* the others are not offered without the first, the narrowest */
};

/* Appends "KEY = " and a text of printf's; one that is too long for a line is left out. */
void candidate_add(struct candidates *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The candidates for each kind of request. */
void grant_candidates_command(const struct image *img, const struct request *req, struct candidates *c);
void grant_candidates_path(const struct image *img, const struct request *req, struct candidates *c);
void grant_candidates_host(const struct request *req, struct candidates *c);

/* Does a program of that name run what its arguments say?  Does c, by any of its names, or with these
 * options? */
bool name_is_runner(const char *name);
bool command_is_runner(const struct command *c);
/* Is a program's file (NULL: it is judged by itself, later) one that the session may write?  Then its name
 * says nothing about it. */
bool program_is_own(const struct image *img, const char *path);

/* What the policy, with all around it, says of each command that a request runs, outermost first. */
#define ASKED_MAX (LIMIT_DEPTH + 1)
struct asked {
	enum verdict verdict[ASKED_MAX];
	size_t n;
};
/* False where that cannot be told. */
bool commands_asked(const struct image *img, const struct request *req, struct asked *ret);

/* Is it one of the listed public suffixes itself, below which anybody may have a name? */
bool host_is_suffix(const char *name);

/* Why such a rule gives away too much (a static sentence), or NULL. */
const char *grant_broad_command(const char *pattern);
const char *grant_broad_path(const struct image *img, const char *pattern);
const char *grant_broad_host(const char *pattern);
/* dir holds what no rule of a file could open: nobody means that by "this directory". */
bool grant_holds_sensitive(const struct image *img, const char *dir);

/*
 * Is each command of req that the policy asks about covered by grants?  ret_rule is the rule of one that is.
 * What the program's file itself is asked for is not looked at.
 */
bool grant_covers_command(const struct image *grants, const struct image *img, const struct request *req,
			  uint32_t *ret_rule);

#endif
