/*
 * Policies of fence and Claude Code carried over into pale's language: what the readers share.
 *
 * Each source has a reader that says, line by line, what pale should hold (carry_*) and what it cannot
 * (carry_tell).  Nothing is left out in silence, and nothing becomes weaker in silence: what is not
 * understood is told, and what would win here and does not there is taken out again (order.c).  What comes
 * out is read by the very parser and by lint before it is printed (check.c).
 */
#ifndef PALE_IMPORT_H
#define PALE_IMPORT_H

#include "tools/base/tools.h"

enum told_kind {
	TOLD_LOST,     /* was said there, is not held here */
	TOLD_WEAKER,   /* held here less strictly */
	TOLD_STRICTER, /* held here more strictly */
	TOLD_NOTE,     /* has no effect, or is better known */
	TOLD_KIND_COUNT
};

struct told {
	enum told_kind kind;
	char *from, *text;
};

/* One line of the policy that comes out.  Owns its strings. */
struct carried {
	const char *section, *key; /* static */
	char *value, *from;
	bool is_setting, dropped;
	unsigned line; /* where it stands in the text */
};
struct import {
	const struct options *o;
	const char *file; /* as given */
	const char *source;
	bool allow_beats_deny; /* among its commands */
	struct carried *list;
	size_t n;
	struct told *told;
	size_t n_told;
};

void import_done(struct import *im);

/* --- carry.c --- */

/* Text of its own, to be freed; without memory there is no going on. */
char *format(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* One rule; from is the place in the source ("network.allowedDomains[2]").  False where it is there already,
 * or not taken (told). */
bool carry_rule(struct import *im, const char *section, const char *key, const char *from, const char *value);
/* A setting, once; the same setting again replaces it. */
void carry_setting(struct import *im, const char *section, const char *key, const char *from,
		   const char *value);
void carry_tell(struct import *im, enum told_kind kind, const char *from, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* The rule opens something (allow, write, read, unix); settings are none. */
bool carry_opens(const struct carried *c);
bool carry_closes(const struct carried *c);
/* The policy as text (caller frees), each line's number noted. */
char *carry_text(struct import *im);

/* --- order.c, check.c --- */

/* Takes out, or narrows, what holds in pale's order of rules and not in the source's. */
void order_settle(struct import *im);
/* Parses and lints what would come out, and mends it until both are content.  0 or -errno. */
int check_settle(struct import *im);
/* --- values.c --- */

enum word_style {
	WORDS_LITERAL, /* words to the letter */
	WORDS_GLOB,    /* `*` stands for any characters; the rule may name less */
	WORDS_GLOB_ALL /* the same, and the rule must not name less */
};
/* A command of the source as words of a rule (caller frees), or NULL with the reason in *why: what only a
 * shell understands. */
char *words_of(const char *text, enum word_style style, const char **why);
/* A path or pattern as pale has it: without `./`, a trailing slash or `/` `**` (caller frees). */
char *path_of(const char *text);

/* --- jsonc.c --- */

/* Blanks out comments and trailing commas, length and lines kept; strings are left alone.  Changes text. */
void jsonc_strip(char *text, size_t len);

/* --- objects.c: JSON read strictly --- */

/* A file with one object, comments allowed (caller drops), or NULL with the reason. */
json_t *object_load(const char *file, char *why, size_t size);

/* One member of an object; the first of these that is there says what happens to it, and one without is known
 * and nothing of pale's.  path and from are its place for people. */
struct member {
	const char *name;
	/* For each string of a list. */
	void (*each)(struct import *im, const struct member *m, const char *from, const char *text);
	const struct member *members;
	void (*read)(struct import *im, const char *path, const json_t *value);
	const char *section, *key; /* for each() */
	enum told_kind kind;	   /* said is told of it, where it is not false or null */
	const char *said;
};
#define MACHINERY .kind = TOLD_NOTE, .said = "is about how that program does its work"

/* Reads each member by its line of the table; one that is not in there is told as lost. */
void members_read(struct import *im, const char *path, const json_t *object, const struct member *table);
/* Whether it is true; what is no boolean is told and false. */
bool flag_read(struct import *im, const char *path, const json_t *value);
/* each(): a rule of that section and key. */
void rule_read(struct import *im, const struct member *m, const char *from, const char *text);

/* --- walls.c: the files and hosts of fence and Claude's sandbox --- */

extern const struct member walls_filesystem[];
void walls_network(struct import *im, const char *path, const json_t *value);

/* --- the readers --- */

void read_fence(struct import *im, const json_t *root);
void read_claude(struct import *im, const json_t *root);

#endif
