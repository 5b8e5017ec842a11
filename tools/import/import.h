/*
 * Policies of fence and Claude Code carried over into pale's language: what the readers share.
 *
 * Each source has a reader that adds the rules that pale can enforce (carry_*) and reports those that it
 * cannot (carry_tell).  No rule is left out or becomes weaker without a report: what is not understood is
 * reported, and a rule that would win in pale but not in the source is removed (order.c).  The result is
 * parsed and linted before it is printed (repair.c).
 */
#ifndef PALE_IMPORT_H
#define PALE_IMPORT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum told_kind {
	TOLD_LOST,     /* in the source, not enforced by pale */
	TOLD_WEAKER,   /* enforced less strictly than in the source */
	TOLD_STRICTER, /* enforced more strictly than in the source */
	TOLD_NOTE,     /* has no effect, or is only worth knowing */
	TOLD_KIND_COUNT
};

struct told {
	enum told_kind kind;
	char *from, *text;
};

/* One line of the resulting policy.  Owns its strings. */
struct carried {
	const char *section, *key; /* static */
	char *value, *from;
	bool is_setting, dropped;
	unsigned line; /* its number in the text */
};
struct import {
	const struct options *o;
	const char *file; /* as given */
	const char *source;
	bool allow_beats_deny; /* holds for the source's commands */
	struct carried *list;
	size_t n;
	struct told *told;
	size_t n_told;
};

void import_done(struct import *im);

/* --- carry.c --- */

/* printf to a new string, which the caller must free; exits without memory. */
char *format(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Adds a rule; from is its place in the source ("network.allowedDomains[2]").  False if it exists already,
 * or is refused (which is reported). */
bool carry_rule(struct import *im, const char *section, const char *key, const char *from, const char *value);
/* Adds a setting; replaces the value of one that exists. */
void carry_setting(struct import *im, const char *section, const char *key, const char *from,
		   const char *value);
void carry_tell(struct import *im, enum told_kind kind, const char *from, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* The rule opens something (allow, write, read, unix); a setting does not. */
bool carry_opens(const struct carried *c);
bool carry_closes(const struct carried *c);
/* The policy as text (the caller must free it); sets the number of each line. */
char *carry_text(struct import *im);

/* --- order.c, repair.c --- */

/* Removes or narrows rules that would win in pale's order of rules but not in the source's. */
void order_settle(struct import *im);
/* Parses and lints the result, and repairs it until neither has a finding.  0 or -errno. */
int check_settle(struct import *im);
/* --- values.c --- */

enum word_style {
	WORDS_LITERAL, /* words taken literally */
	WORDS_GLOB,    /* `*` matches any characters; the rule may match less than the source's */
	WORDS_GLOB_ALL /* the same, and the rule must not match less */
};
/* A command of the source as words of a rule (the caller must free them), or NULL with the reason in *why:
 * it needs a shell. */
char *words_of(const char *text, enum word_style style, const char **why);
/* A path or pattern in pale's form: without `./`, a trailing slash or `/` `**` (the caller must free
 * it). */
char *path_of(const char *text);

/* --- jsonc.c --- */

/* Overwrites comments and trailing commas in text by blanks; length, lines and strings stay as they are. */
void jsonc_strip(char *text, size_t len);

/* --- objects.c: JSON read strictly --- */

/* Loads a file with one object, comments allowed (new reference), or NULL with the reason. */
json_t *object_load(const char *file, char *why, size_t size);

/* One member of an object; the first function that is set handles it.  A member without one is known but
 * has no meaning for pale.  path and from are its place for people. */
struct member {
	const char *name;
	/* Called for each string of a list. */
	void (*each)(struct import *im, const struct member *m, const char *from, const char *text);
	const struct member *members;
	void (*read)(struct import *im, const char *path, const json_t *value);
	const char *section, *key; /* for each() */
	enum told_kind kind;	   /* said is reported with it, unless its value is false or null */
	const char *said;
};
#define MACHINERY .kind = TOLD_NOTE, .said = "is about how that program does its work"

/* Reads each member by its row of the table; a member that is not in the table is reported as lost. */
void members_read(struct import *im, const char *path, const json_t *object, const struct member *table);
/* The value of a boolean; any other type is reported and counts as false. */
bool flag_read(struct import *im, const char *path, const json_t *value);
/* A function for each(): adds a rule of m's section and key. */
void rule_read(struct import *im, const struct member *m, const char *from, const char *text);

/* --- walls.c: the files and hosts of fence and Claude's sandbox --- */

extern const struct member walls_filesystem[];
void walls_network(struct import *im, const char *path, const json_t *value);

/* --- the readers --- */

void read_fence(struct import *im, const json_t *root);
void read_claude(struct import *im, const json_t *root);

#endif
