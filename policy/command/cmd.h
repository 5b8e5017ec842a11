/*
 * Private to command rules: how SEC_CMD is laid out, and how the words of a command are told apart.
 *
 * compile_cmd.c writes the section, eval_cmd.c reads it; bump IMAGE_VERSION when it changes.
 * (a|b) is expanded when compiling, so an entry is a plain list of tokens.  The section is
 * cmd_header, cmd_entry[], cmd_token[], u32 bucket[n_buckets + 1], u32 chain[], u32 wild[]:
 * entries with a literal program hang in the bucket of the program and the literal words that its
 * first words must be, those with a glob for a program in wild.  async-signal-safe, no allocation.
 */
#ifndef PALE_CMD_H
#define PALE_CMD_H

#include "argv.h"
#include "policy/image/image.h"

struct cmd_header {
	uint32_t n_entries, n_tokens, n_buckets, n_chain, n_wild, pad;
};

enum cmd_program {
	PROGRAM_NAME,	   /* a basename, or one with its version left off */
	PROGRAM_PATH,	   /* the resolved file */
	PROGRAM_GLOB,	   /* a basename */
	PROGRAM_PATH_GLOB, /* the resolved file */
};

enum cmd_end { END_OPEN, END_CLOSED /* `$` */ };

struct cmd_entry {
	uint32_t rule; /* index of the image's rule */
	uint32_t program, program_kind;
	uint32_t first, count; /* tokens */
	uint32_t specificity, end;
	uint32_t pad;
};

enum cmd_match {
	MATCH_NONE,
	MATCH_LITERAL,
	MATCH_GLOB,
	MATCH_ANY,	/* `*` */
	MATCH_RELATIVE, /* `<relative>` */
};

enum cmd_token_kind {
	TOKEN_WORD,	 /* the next word; `match` says how */
	TOKEN_REST,	 /* `...` */
	TOKEN_OPERAND,	 /* `if=`: a word that starts so, anywhere */
	TOKEN_SHORT,	 /* -f, alone or in a cluster */
	TOKEN_LONG,	 /* --force, also with =value, also abbreviated */
	TOKEN_FLAG,	 /* -exec: this one word */
	TOKEN_FLAG_GLOB, /* the same by glob */
	TOKEN_DASHDASH,	 /* -- */
};

struct cmd_token {
	uint32_t kind;
	uint32_t text;	/* string */
	uint32_t match; /* of the word, or of the option's value (MATCH_NONE: any or none) */
	uint32_t value; /* string: the option's value */
};

/* The bucket of a program, and then of each word that stands next. */
uint32_t cmd_hash(const char *program, size_t len);
uint32_t cmd_hash_word(uint32_t hash, const char *word);
#define CMD_HASH_WORDS 3 /* leading words by which the reader looks */
#define CMD_KEY_WORDS                                                                                        \
	2 /* leading literal words of a rule that choose its bucket: x:x is found by `push t x` */

/* What an option does, as a row of options.def says. */
enum cmd_class { CLASS_HARMLESS, CLASS_NAMED, CLASS_RUNS, CLASS_COUNT };

/* A row of options.def, which says what each member means. */
struct cmd_options {
	const char *programs, *sub, *options[CLASS_COUNT], *words;
	unsigned flags;
};

enum cmd_options_flag {
	OPTIONS_EVERYWHERE = 1,
	OPTIONS_SINGLE_DASH = 2,
	OPTIONS_PLUS = 4,
	OPTIONS_ABBREVIATED = 8,
	OPTIONS_REST_NAMED = 16,
	OPTIONS_FIRST_ENDS = 32,
	OPTIONS_OLD_STYLE = 64,
	OPTIONS_REFSPECS = 128,
	OPTIONS_RUNS = 256,
	OPTIONS_SECOND_ENDS = 512,
	OPTIONS_MAY_TAKE = 1024,
	OPTIONS_GOALS = 2048,
	OPTIONS_URLS = 4096,
	OPTIONS_GROUPS = 8192,
};

/* The row of a program and subcommand (NULL: what stands before one, or everywhere), or NULL. */
const struct cmd_options *cmd_options_find(const char *program, const char *sub);
/* Does this option (as written: -C, --git-dir, -am) take the next word?  row may be NULL. */
bool cmd_options_take(const struct cmd_options *row, const char *option);
/* May a value follow this letter in a cluster?  row may be NULL. */
bool cmd_letter_takes(const struct cmd_options *row, char letter);
/*
 * What one option does: name is len bytes, its dashes included, without a value.  sub is the subcommand's row
 * where it stands behind one, global that of the program where it counts there; both may be NULL.  *ret_mark
 * is '=' where the option takes a value, '?' where one may be attached, else '\0'.
 */
enum cmd_class cmd_option_class(const struct cmd_options *global, const struct cmd_options *sub,
				const char *name, size_t len, char *ret_mark);

/* A command with what is known about its program; borrowed from c. */
struct cmd_view {
	const struct command *c;
	const struct cmd_options *global, *sub;
	const char *word; /* its first word, "" where there is none */
	size_t count;
	size_t skip; /* so many words before the subcommand are values of options */
};

struct cmd_view cmd_view_of(const struct command *c);
/* Reads it anew, so that the option before the subcommand takes that.  False where there is no such reading.
 */
bool cmd_view_skip(struct cmd_view *view);

/* Is word one of the blank-separated list? */
bool word_in_list(const char *list, const char *word, size_t len);
/* Is word like one of the blank-separated globs? */
bool word_like_list(const char *globs, const char *word);

/* Does the program of that name only print with these arguments (HELP of options.def)? */
bool cmd_only_prints(const struct command *c, const char *program);

enum cmd_arg { ARG_END, ARG_WORD, ARG_OPTION, ARG_VALUE, ARG_DASHDASH };

/* Goes over the arguments; start with { .view = v }. */
struct cmd_walk {
	const struct cmd_view *view;
	size_t next, skipped;
	const char *joined; /* a word that stood in the last argument: -mMODULE of an interpreter */
	bool only_words, value_next, seen_sub;
};

/* The next argument and what it is; *ret is "" at the end. */
enum cmd_arg cmd_walk_next(struct cmd_walk *w, const char **ret);
/* Is what it returned last, of that kind, an option, or a cluster of letters without a dash (`tar xf`)? */
bool cmd_walk_at_option(const struct cmd_walk *w, enum cmd_arg kind);
/* Word n behind the subcommand, or NULL. */
const char *cmd_word_at(const struct cmd_view *view, size_t n);

/* The section of an image; the arrays have the header's lengths, their contents are not checked yet. */
struct cmd_table {
	const struct image *img;
	const struct cmd_header *h;
	const struct cmd_entry *entries;
	const struct cmd_token *tokens;
	const uint32_t *bucket, *chain, *wild;
};

/* Every name by which rules may call the program; some are beginnings of others (python3.11). */
struct cmd_name {
	const char *p;
	size_t len;
};
struct cmd_names {
	struct cmd_name list[12];
	size_t n;
};

/* The names of c, its path, and one more (NULL: none). */
void cmd_names_of(const struct command *c, const char *extra, struct cmd_names *names);
bool cmd_program_matches(const struct cmd_table *t, const struct cmd_entry *e, const struct cmd_names *names);
/* Whether an allow of that program covers c by the name that it is called by: xz called unxz unpacks. */
bool cmd_called_matches(const struct cmd_table *t, const struct cmd_entry *e, const struct command *c);

/*
 * Deny and ask rules take options as getopt does, abbreviated; allow rules only in full, and `$` binds them.
 * READ_ACTS: as wide, and no rule of a program that only prints matches.
 */
enum cmd_reading { READ_STRICT, READ_WIDE, READ_ACTS };

/* The rest of the rule, program aside. */
bool cmd_entry_matches(const struct cmd_table *t, const struct cmd_view *v, const struct cmd_entry *e,
		       enum cmd_reading reading);

#endif
