/* What the parts of grants share; no other file includes this. */
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
	bool first_or_none;   /* if the first, the narrowest, is not offered, the others are not either */
};

/* Appends a candidate, in printf() format; a text that is too long for a line is left out. */
void candidate_add(struct candidates *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Add the candidates for one kind of request each. */
void grant_candidates_command(const struct image *img, const struct request *req, struct candidates *c);
void grant_candidates_path(const struct image *img, const struct request *req, struct candidates *c);
void grant_candidates_host(const struct request *req, struct candidates *c);

/* True if a program of that name runs what its arguments say; if c does, by one of its names or with its
 * options. */
bool name_is_runner(const char *name);
bool command_is_runner(const struct command *c);
/* True if the session may write the program's file, so that its name does not tell what it does.  False if
 * path is NULL, because the file is then judged later. */
bool program_is_own(const struct image *img, const char *path);

/* The verdict of the policy and its outer images on each command that a request runs, outermost first. */
#define ASKED_MAX (LIMIT_DEPTH + 1)
struct asked {
	enum verdict verdict[ASKED_MAX];
	size_t n;
};
/* False if the verdicts are not known. */
bool commands_asked(const struct image *img, const struct request *req, struct asked *ret);

/* True if name is one of the listed public suffixes, below which anyone may have a name. */
bool host_is_suffix(const char *name);

/* Why a rule with this pattern is too broad (a static sentence), or NULL. */
const char *grant_broad_command(const char *pattern);
const char *grant_broad_path(const struct image *img, const char *pattern);
const char *grant_broad_host(const char *pattern);
/* True if dir holds something that no rule of a file can open; then dir is not offered as a whole. */
bool grant_holds_sensitive(const struct image *img, const char *dir);

/*
 * True if grants cover each command of req that the policy asks about; *ret_rule is then one of their
 * rules.  The verdict about the program's file is not considered.
 */
bool grant_covers_command(const struct image *grants, const struct image *img, const struct request *req,
			  uint32_t *ret_rule);

#endif
