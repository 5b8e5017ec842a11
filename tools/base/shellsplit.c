/*
 * Cuts a shell line into simple commands, for explain alone: it reads quotes, blanks, operators and
 * redirections, expands nothing and runs nothing.  The result is advice: the fence judges what the shell
 * really executes.
 */
#include "shellsplit.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "policy/base/util.h"

struct splitter {
	const char *p;
	struct shell_part *parts;
	size_t n;
	struct shell_part words; /* the simple command that is being read */
	int redirect;		 /* OP_READ or OP_WRITE: the next word is a file; OP_NONE */
};

static int push_part(struct splitter *s, enum op op, char **words, size_t n)
{
	struct shell_part *part = LIST_NEW(s->parts, s->n);

	if (!part)
		return -ENOMEM;
	s->n++;
	*part = (struct shell_part){ .op = op, .words = words, .n = n };
	return 0;
}

static int push_word(struct shell_part *part, char *word)
{
	char **grown = realloc(part->words, (part->n + 2) * sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	part->words = grown;
	grown[part->n++] = word;
	grown[part->n] = NULL;
	return 0;
}

/* `NAME=value` before a command belongs to its environment and is no word of it. */
static bool is_assignment(const char *word)
{
	size_t n = 0;

	/* NOLINTNEXTLINE(clang-analyzer-core.uninitialized.ArraySubscript): a word ends with its NUL */
	while (isalnum((unsigned char)word[n]) || word[n] == '_')
		n++;
	return n > 0 && !isdigit((unsigned char)word[0]) && word[n] == '=';
}

static int end_command(struct splitter *s)
{
	int r;

	if (s->words.n == 0)
		return 0;
	r = push_part(s, OP_EXEC, s->words.words, s->words.n);
	if (r == 0)
		s->words = (struct shell_part){ 0 };
	return r;
}

static int take_redirect(struct splitter *s, char *word)
{
	struct shell_part file = { .op = (enum op)s->redirect };
	int r = push_word(&file, word);

	s->redirect = OP_NONE;
	if (r == 0)
		r = push_part(s, file.op, file.words, file.n);
	if (r < 0)
		free(file.words);
	return r;
}

static int take_word(struct splitter *s, char *word)
{
	int r;

	if (s->redirect != OP_NONE) {
		r = take_redirect(s, word);
	} else if (s->words.n == 0 && is_assignment(word)) {
		free(word);
		return 0;
	} else {
		r = push_word(&s->words, word);
	}
	if (r < 0)
		free(word);
	return r;
}

/* Copies a quoted stretch; s->p stands on the quote. */
static int read_quoted(struct splitter *s, char *word, size_t *len)
{
	char quote = *s->p++;

	while (*s->p && *s->p != quote) {
		if (quote == '"' && *s->p == '\\' && s->p[1] && strchr("\"\\$`", s->p[1]))
			s->p++;
		word[(*len)++] = *s->p++;
	}
	if (!*s->p)
		return -EINVAL;
	s->p++;
	return 0;
}

static int read_word(struct splitter *s)
{
	char *word = malloc(strlen(s->p) + 1);
	size_t len = 0;
	int r = 0;

	if (!word)
		return -ENOMEM;
	while (r == 0 && *s->p && !strchr(" \t\n;|&<>", *s->p)) {
		if (*s->p == '\'' || *s->p == '"') {
			r = read_quoted(s, word, &len);
			continue;
		}
		if (*s->p == '\\' && s->p[1])
			s->p++;
		word[len++] = *s->p++;
	}
	if (r < 0) {
		free(word);
		return r;
	}
	word[len] = '\0';
	return take_word(s, word);
}

/* `2>&1` and `>&2` name descriptors, not files. */
static int read_redirect(struct splitter *s)
{
	s->redirect = *s->p == '<' ? OP_READ : OP_WRITE;
	while (*s->p == '<' || *s->p == '>' || *s->p == '|')
		s->p++;
	if (*s->p != '&')
		return 0;
	s->p++;
	while (isdigit((unsigned char)*s->p) || *s->p == '-')
		s->p++;
	s->redirect = OP_NONE;
	return 0;
}

static int read_operator(struct splitter *s)
{
	if (*s->p == '<' || *s->p == '>')
		return read_redirect(s);
	if (s->p[0] == '&' && s->p[1] == '>') {
		s->p++;
		return read_redirect(s);
	}
	while (*s->p && strchr(";|&\n", *s->p))
		s->p++;
	return end_command(s);
}

/* The digits of `2>file` are no word of the command. */
static bool at_descriptor(const char *p)
{
	size_t n = strspn(p, "0123456789");

	return n > 0 && (p[n] == '<' || p[n] == '>');
}

static int read_words(struct splitter *s)
{
	int r = 0;

	while (r == 0 && *s->p) {
		if (*s->p == ' ' || *s->p == '\t')
			s->p++;
		else if (at_descriptor(s->p))
			s->p += strspn(s->p, "0123456789");
		else if (strchr(";|&<>\n", *s->p))
			r = read_operator(s);
		else
			r = read_word(s);
	}
	return r < 0 ? r : end_command(s);
}

int shell_split(const char *line, struct shell_part **ret, size_t *ret_n)
{
	struct splitter s = { .p = line };
	int r = read_words(&s);

	if (r < 0) {
		for (size_t i = 0; i < s.words.n; i++)
			free(s.words.words[i]);
		free(s.words.words);
		shell_parts_done(s.parts, s.n);
		return r;
	}
	*ret = s.parts;
	*ret_n = s.n;
	return 0;
}

void shell_parts_done(struct shell_part *parts, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j < parts[i].n; j++)
			free(parts[i].words[j]);
		free(parts[i].words);
	}
	free(parts);
}
