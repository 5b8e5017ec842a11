/*
 * What may be offered for a command: its very words, then what people mean by a yes to one like it.
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
	bool bad; /* too long, or not to be said */
};

static void put(struct text *t, const char *s)
{
	size_t n = strlen(s);

	if (t->len + n >= sizeof(t->buf)) {
		t->bad = true;
		return;
	}
	memcpy(t->buf + t->len, s, n + 1);
	t->len += n;
}

/* A word as the language has to be told it, so that it means itself. */
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
		put(t, " ");
	if (quote[0] && strchr(word, quote[0]))
		t->bad = true;
	put(t, quote);
	put(t, word);
	put(t, quote);
}

/* The name that people know it by; its file, where the name alone would not do. */
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

/* These words and no others. */
static void add_exact(const char *file, const struct command *c, struct candidates *out)
{
	struct text t = { .len = 0 };
	size_t n = command_count(c);

	put_program(&t, file, c);
	for (size_t i = 0; i < n && !t.bad; i++)
		put_word(&t, command_arg(c, i));
	add_text(out, &t, " $");
}

/* The words of c in order without options and their values; how many there are. */
static size_t words_of(const struct command *c, const char **words, size_t max)
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

/* The first `keep` words, then the last one up to its last `mark` with `*` behind it. */
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

/* The first words, whatever stands behind them. */
static void add_begun(const char *file, const struct command *c, const char *const *words, size_t n,
		      struct candidates *out)
{
	struct text t = { .len = 0 };

	put_program(&t, file, c);
	for (size_t i = 0; i < n; i++)
		put_word(&t, words[i]);
	add_text(out, &t, "");
}

/* What people mean when they say yes to one of these. */
enum wider { WIDER_BRANCH, WIDER_TAG, WIDER_BEGUN };

static const struct {
	const char *program, *first, *second; /* blank-separated words; NULL: none is looked at */
	enum wider how;
	size_t words; /* that must stand behind the program, or that are kept */
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
	size_t n = words_of(c, words, NELEM(words));

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
	/* The words are allowed: it is the file that is asked about, which is read. */
	if (o.n == 0) {
		struct request read = *req;

		read.op = OP_READ;
		read.access = ACCESS_READ;
		grant_candidates_path(img, &read, c);
	}
}
