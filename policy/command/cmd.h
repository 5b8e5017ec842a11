/*
 * Private to command rules: the layout of SEC_CMD, and which words of a command are options or values.
 *
 * compile_cmd.c writes the section and eval_cmd.c reads it; a change of the layout needs a new
 * IMAGE_VERSION.  (a|b) is expanded when a rule is compiled, so an entry is a plain list of tokens.  The
 * section is cmd_header, cmd_entry[], cmd_token[], u32 bucket[n_buckets + 1], u32 chain[], u32 wild[].  An
 * entry with a literal program is in the bucket of the program and of the literal words that its first
 * words must be; an entry with a glob for a program is in wild.  async-signal-safe, no allocation.
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
	TOKEN_WORD,	 /* the next word, matched as `match` says */
	TOKEN_REST,	 /* `...` */
	TOKEN_OPERAND,	 /* `if=`: a word that begins with this, anywhere */
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

/* The hash that chooses the bucket: of a program, extended by each word that follows. */
uint32_t cmd_hash(const char *program, size_t len);
uint32_t cmd_hash_word(uint32_t hash, const char *word);
#define CMD_HASH_WORDS 3 /* leading words of a command by which the reader looks for buckets */
/* Leading words of a rule that select its bucket.  The third word of a push may be x or x:x. */
#define CMD_KEY_WORDS 2

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
	OPTIONS_NESTED = 16384,
	OPTIONS_INPUT = 32768,
	OPTIONS_CUT_WORDS = 65536,
	OPTIONS_OPEN_END = 131072,
};

/*
 * The row of a program and subcommand, or NULL.  sub NULL: the row for options before a subcommand, or
 * everywhere.
 */
const struct cmd_options *cmd_options_find(const char *program, const char *sub);
/*
 * Does this option (as written: -C, --git-dir, -am) take the next word?  Where the subcommand's row lists it,
 * that row says so.  Both rows may be NULL.
 */
bool cmd_options_take(const struct cmd_options *global, const struct cmd_options *sub, const char *option);
/* May a value follow this letter in a cluster?  row may be NULL. */
bool cmd_letter_takes(const struct cmd_options *row, char letter);
/*
 * The class of one option.  name has len bytes, with its dashes and without a value.  sub: the row of the
 * subcommand, where the option stands after it.  global: the row of the program, where it applies there.
 * Both may be NULL.  *ret_mark is '=' where the option takes a value, '?' where one may be attached, '+'
 * where what is attached is the first word, else '\0'.
 */
enum cmd_class cmd_option_class(const struct cmd_options *global, const struct cmd_options *sub,
				const char *name, size_t len, char *ret_mark);

/* A command and the rows of options.def for it; borrowed from c. */
struct cmd_view {
	const struct command *c;
	const struct cmd_options *global, *sub;
	const char *word; /* its first word, "": it has none */
	size_t count;
	size_t skip;	 /* the number of words before the subcommand that are values of options */
	size_t from;	 /* GOALS, URLS: the argument from which on the words count; 0: all */
	bool from_words; /* -- stands before it */
};

struct cmd_view cmd_view_of(const struct command *c);
/*
 * Reads the command again, with the subcommand as the value of the option before it (MAY_TAKE).  False
 * where there is no such reading.
 */
bool cmd_view_skip(struct cmd_view *view);
/*
 * Reads the command from its next goal or URL on: each is a command of its own.  False where none is left, or
 * the program has no such words.
 */
bool cmd_view_goal(struct cmd_view *view);

/* Is word one of the blank-separated list? */
bool word_in_list(const char *list, const char *word, size_t len);
/* Does word match one of the blank-separated globs? */
bool word_like_list(const char *globs, const char *word);

/* Does the program of that name only print with these arguments (HELP of options.def)? */
bool cmd_only_prints(const struct command *c, const char *program);

enum cmd_arg { ARG_END, ARG_WORD, ARG_OPTION, ARG_VALUE, ARG_DASHDASH };

/* Walks the arguments; start with { .view = v }. */
struct cmd_walk {
	const struct cmd_view *view;
	size_t next, skipped;
	const char *joined; /* a word attached to the last option: MODULE of -mMODULE */
	bool only_words, value_next, seen_sub;
	bool past_sub; /* the subcommand of the subcommand was seen (NESTED) */
};

/* A walk over the words that count for a rule's words. */
struct cmd_walk cmd_walk_words(const struct cmd_view *view);
/* The rows that say what an option at this place does; NULL: none. */
void cmd_walk_rows(const struct cmd_walk *w, const struct cmd_options **ret_global,
		   const struct cmd_options **ret_sub);

/* Returns the kind of the next argument, and the argument in *ret; *ret is "" at the end. */
enum cmd_arg cmd_walk_next(struct cmd_walk *w, const char **ret);
/*
 * True where the last argument, which is of that kind, is an option or a cluster of letters without a dash
 * (`tar xf`).
 */
bool cmd_walk_at_option(const struct cmd_walk *w, enum cmd_arg kind);
/* Word n after the subcommand, or NULL. */
const char *cmd_word_at(const struct cmd_view *view, size_t n);

/* The section of an image; the arrays have the header's lengths, their contents are not checked yet. */
struct cmd_table {
	const struct image *img;
	const struct cmd_header *h;
	const struct cmd_entry *entries;
	const struct cmd_token *tokens;
	const uint32_t *bucket, *chain, *wild;
};

/*
 * The names by which a rule may name the program; some are the beginning of another (python3 of
 * python3.11).
 */
struct cmd_name {
	const char *p;
	size_t len;
};
struct cmd_names {
	struct cmd_name list[12];
	size_t n;
};

/* Sets names to the names of c, its path, and extra (NULL: no extra name). */
void cmd_names_of(const struct command *c, const char *extra, struct cmd_names *names);
bool cmd_program_matches(const struct cmd_table *t, const struct cmd_entry *e, const struct cmd_names *names);
/*
 * True where an allow rule for the program of e also covers the name in argv[0]: xz called as unxz unpacks.
 */
bool cmd_called_matches(const struct cmd_table *t, const struct cmd_entry *e, const struct command *c);

/*
 * READ_WIDE, for deny and ask rules: an option matches in each form that getopt accepts, abbreviated too.
 * READ_STRICT, for allow rules: an option matches only in full, and a rule that ends in `$` covers no
 * option that it does not name.  READ_ACTS: as READ_WIDE, but a rule that names no option does not match a
 * command that only prints.
 */
enum cmd_reading { READ_STRICT, READ_WIDE, READ_ACTS };

bool cmd_value_matches(const char *pattern, uint32_t match, const char *value);
/*
 * Is the option arg the one that the token names?  *ret_value is its attached value, or NULL.  A token that
 * is no option (TOKEN_WORD, ...) never matches.
 */
bool cmd_option_matches(const struct cmd_view *v, const struct cmd_token *tok, const char *text,
			const char *arg, enum cmd_reading reading, const char **ret_value);
/*
 * The same for each name of the option (SAME of options.def), in each form: -f and --force are one, and so is
 * the word +x of a push (is_word).  next: the argument after it.
 */
bool cmd_option_is(const struct cmd_view *v, const struct cmd_token *tok, const char *text, bool is_word,
		   const char *arg, const char *next, const char **ret_value);
/* What is pushed where a refspec has the same name twice (a:a, refs/heads/a:a); NULL for any other word. */
const char *cmd_same_refspec(const struct cmd_view *v, const char *word);
/* The number of words of a rule; SIZE_MAX where it has `...`. */
size_t cmd_rule_words(const struct cmd_table *t, const struct cmd_entry *e);
/* Does an allow rule that matches cover all that the command does?  cmd_covers.c. */
bool cmd_entry_covers(const struct cmd_table *t, const struct cmd_view *v, const struct cmd_entry *e);
/* Does the rule match, apart from its program? */
bool cmd_entry_matches(const struct cmd_table *t, const struct cmd_view *v, const struct cmd_entry *e,
		       enum cmd_reading reading);

#endif
