/*
 * What may be offered for a command: its exact words, then a wider line for commands like it.
 *
 * Guarantees that a word of argv never becomes a pattern.  Nothing is offered for a program that runs what
 * its arguments say.
 */
#include "grant_impl.h"

#include <stdio.h>
#include <string.h>

#include "policy/base/util.h"
#include "policy/command/cmd.h"
#include "policy/command/git.h"

struct text {
	char buf[GRANT_LINE + 1];
	size_t len;
	bool bad; /* too long, or cannot be written in the language */
};

static void put_text(struct text *t, const char *s)
{
	size_t n = strlen(s);

	if (t->len + n >= sizeof(t->buf)) {
		t->bad = true;
		return;
	}
	memcpy(t->buf + t->len, s, n + 1);
	t->len += n;
}

/* True if the word means itself in the language without quotes. */
static bool is_plain(const char *word)
{
	size_t n = strlen(word);

	return n > 0 && !strpbrk(word, " \t\"'()|*?[]\\<>$;#`~") && strcmp(word, "...") != 0 &&
	       word[n - 1] != '=';
}

static void put_word(struct text *t, const char *word)
{
	const char *quote = is_plain(word) ? "" : strchr(word, '"') ? "'" : "\"";

	if (t->len)
		put_text(t, " ");
	if (quote[0] && strchr(word, quote[0]))
		t->bad = true;
	put_text(t, quote);
	put_text(t, word);
	put_text(t, quote);
}

/* Puts the usual name of the program, or file if the name alone is not enough (file is not NULL). */
static void put_program(struct text *t, const char *file, const struct command *c)
{
	const char *name = c->alias && !git_is(c) ? c->alias : c->program;

	put_word(t, file ? file : name);
}

static void add_text(struct candidates *out, const struct text *t, const char *tail)
{
	if (!t->bad)
		candidate_add(out, "allow = %s%s", t->buf, tail);
}

/* Adds a line for exactly these words. */
static void add_exact(const char *file, const struct command *c, struct candidates *out)
{
	struct text t = { .len = 0 };
	size_t n = command_count(c);

	put_program(&t, file, c);
	for (size_t i = 0; i < n && !t.bad; i++)
		put_word(&t, command_arg(c, i));
	add_text(out, &t, " $");
}

/* Collects the words of c in order, without options and their values.  Returns their number. */
static size_t plain_words_of(const struct command *c, const char **words, size_t max)
{
	struct cmd_view v = cmd_view_of(c);
	struct cmd_walk w = { .view = &v };
	enum cmd_arg kind;
	const char *arg = "";
	size_t n = 0;

	while ((kind = cmd_walk_next(&w, &arg)) != ARG_END)
		if (kind == ARG_WORD && n++ < max)
			words[n - 1] = arg;
	return n;
}

/* Adds a line with all words but the last, then the last word up to its last `mark`, and `*`. */
static void add_starred(const char *file, const struct command *c, const char *const *words, size_t n,
			char mark, struct candidates *out)
{
	/* NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign): no row of wider[] keeps no words */
	const char *last = words[n - 1], *end = strrchr(last, mark);
	struct text t = { .len = 0 };

	if (!end || end == last || strpbrk(last, "*?[]\\()|<>\"' +") || last[0] == '/' || last[0] == '.' ||
	    (mark != ':' && strchr(last, ':')))
		return;
	put_program(&t, file, c);
	for (size_t i = 0; i + 1 < n; i++)
		put_word(&t, words[i]);
	if (!t.bad)
		candidate_add(out, "allow = %s %.*s*", t.buf, (int)(end + 1 - last), last);
}

/* Adds a line for the first words with any words after them. */
static void add_begun(const char *file, const struct command *c, const char *const *words, size_t n,
		      struct candidates *out)
{
	struct text t = { .len = 0 };

	put_program(&t, file, c);
	for (size_t i = 0; i < n; i++)
		put_word(&t, words[i]);
	add_text(out, &t, "");
}

/* How the line for a command is made wider. */
enum wider { WIDER_BRANCH, WIDER_TAG, WIDER_BEGUN };

static const struct {
	const char *program, *first, *second; /* blank-separated words; NULL: any word matches */
	enum wider how;
	size_t words; /* how many words must follow the program, or are kept */
} wider[] = {
	{ "git", "push", NULL, WIDER_BRANCH, 3 },
	{ "docker", "push", NULL, WIDER_TAG, 2 },
	{ "podman", "push", NULL, WIDER_TAG, 2 },
	{ "gh", "pr", "create comment edit checkout view list diff checks ready", WIDER_BEGUN, 2 },
	{ "gh", "issue", "create comment edit view list", WIDER_BEGUN, 2 },
	{ "gh", "run", "view list watch", WIDER_BEGUN, 2 },
	{ "gh", "repo", "view list", WIDER_BEGUN, 2 },
	{ "glab", "mr", "create note update view list diff", WIDER_BEGUN, 2 },
	{ "glab", "issue", "create note update view list", WIDER_BEGUN, 2 },
	{ "kubectl", "get describe logs top explain", NULL, WIDER_BEGUN, 1 },
	{ "helm", "list status history", NULL, WIDER_BEGUN, 1 },
	{ "npm", "run run-script", NULL, WIDER_BEGUN, 2 },
	{ "pnpm", "run", NULL, WIDER_BEGUN, 2 },
	{ "yarn", "run", NULL, WIDER_BEGUN, 2 },
	{ "npm", "test", NULL, WIDER_BEGUN, 1 },
	{ "pnpm", "test", NULL, WIDER_BEGUN, 1 },
	{ "yarn", "test", NULL, WIDER_BEGUN, 1 },
	{ "cargo", "build check test clippy fmt", NULL, WIDER_BEGUN, 1 },
};

static void add_wider(const char *file, const struct command *c, struct candidates *out)
{
	const char *words[4] = { "", "", "", "" };
	size_t n = plain_words_of(c, words, NELEM(words));

	for (size_t i = 0; i < NELEM(wider); i++) {
		if (n < wider[i].words || !command_is(c, wider[i].program) ||
		    !word_in_list(wider[i].first, words[0], strlen(words[0])) ||
		    (wider[i].second && !word_in_list(wider[i].second, words[1], strlen(words[1]))))
			continue;
		if (wider[i].how == WIDER_BEGUN)
			add_begun(file, c, words, wider[i].words, out);
		else if (n == wider[i].words)
			add_starred(file, c, words, n, wider[i].how == WIDER_TAG ? ':' : '/', out);
	}
}

struct offering {
	const struct image *img;
	const char *path;
	struct candidates *out;
	struct asked asked;
	size_t at, n;
};

static void offer_command(const struct command *c, const struct decision *d, void *ctx)
{
	struct offering *o = ctx;
	const char *file = NULL;
	size_t i = o->at++;

	(void)d;
	if (i >= o->asked.n || o->asked.verdict[i] != VERDICT_ASK)
		return;
	if (o->n++ > 0) {
		o->out->n = 0;
		o->out->why_none = "more than one command is asked about: allow it once";
		return;
	}
	if (command_is_runner(c)) {
		o->out->why_none = "this program runs what its arguments say: allow it once";
		return;
	}
	if (i == 0 && program_is_own(o->img, o->path))
		file = o->path;
	add_exact(file, c, o->out);
	add_wider(file, c, o->out);
}

void grant_candidates_command(const struct image *img, const struct request *req, struct candidates *c)
{
	struct offering o = { .img = img, .path = req->path, .out = c };

	c->section = "commands";
	if (!commands_asked(img, req, &o.asked))
		return;
	(void)eval_command_each(img, req, offer_command, &o);
	/* The policy allows the words, so the question is about reading the program's file. */
	if (o.n == 0) {
		struct request read = *req;

		read.op = OP_READ;
		read.access = ACCESS_READ;
		grant_candidates_path(img, &read, c);
	}
}
