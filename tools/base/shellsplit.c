/*
 * Cuts a shell line into simple commands, for explain alone: it reads quotes, blanks, operators,
 * redirections, reserved words and command substitutions, expands nothing and runs nothing.  The result is
 * advice: the fence judges what the shell really executes.
 */
#include "shellsplit.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "policy/base/util.h"
#include "policy/command/cmd.h"
#include "policy/system/cleanup.h"

struct splitter {
	const char *p;
	struct shell_part *parts;
	size_t n;
	struct shell_part words; /* the simple command that is being read */
	int redirect;		 /* OP_READ or OP_WRITE: the next word is a file; OP_NONE */
	int cases;		 /* in so many `case ... esac` */
	bool is_no_command;	 /* the words up to the next operator: `for x in a b`, a pattern of `case` */
	bool is_test;		 /* the words up to `]]` */
	bool is_name;		 /* the next word, of a function */
};

static int read_words(struct splitter *s);

static void part_done(struct shell_part *part)
{
	for (size_t i = 0; i < part->n; i++)
		free(part->words[i]);
	free(part->words);
}

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

	s->is_no_command = false;
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

/* True where a word stands in the place of a command and belongs to the shell.  is_quoted: a part of it is
 * quoted. */
static bool is_reserved(struct splitter *s, const char *word, bool is_quoted)
{
	static const char plain[] = "if then elif else fi while until do done { } ! time coproc";
	static const char with_words[] = "for select case";
	size_t len = strlen(word);

	if (s->is_test || s->is_name) {
		s->is_test = s->is_test && (is_quoted || strcmp(word, "]]") != 0);
		s->is_name = false;
		return true;
	}
	if (is_quoted || s->words.n > 0 || s->redirect != OP_NONE)
		return s->is_no_command;
	s->is_test = !s->is_no_command && strcmp(word, "[[") == 0;
	s->is_name = !s->is_no_command && strcmp(word, "function") == 0;
	if (s->is_test || s->is_name)
		return true;
	if (len == 4 && s->cases > 0 && strcmp(word, "esac") == 0) {
		s->cases--;
		s->is_no_command = false;
		return true;
	}
	if (!s->is_no_command && word_in_list(with_words, word, len)) {
		s->cases += strcmp(word, "case") == 0;
		s->is_no_command = true;
	}
	return s->is_no_command || word_in_list(plain, word, len);
}

static int take_word(struct splitter *s, char *word, bool is_quoted)
{
	int r;

	if (is_reserved(s, word, is_quoted)) {
		free(word);
		return 0;
	}
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

/* The end of a substitution whose text begins at p, at its last character, or at the NUL. */
static const char *substitution_end(const char *p, bool is_backquoted)
{
	int depth = 0;
	char quote = '\0';

	for (; *p; p++) {
		if (*p == '\\' && p[1])
			p++;
		else if (quote)
			quote = *p == quote ? '\0' : quote;
		else if (is_backquoted ? *p == '`' : *p == ')' && depth-- == 0)
			return p;
		else if (*p == '\'' || *p == '"')
			quote = *p;
		else
			depth += *p == '(';
	}
	return p;
}

/* Splits the command of `$(...)` or of a backquote, at s->p, beside the others, and keeps its text in word.
 */
static int read_substitution(struct splitter *s, char *word, size_t *len)
{
	bool is_backquoted = *s->p == '`';
	const char *from = s->p + (is_backquoted ? 1 : 2), *end = substitution_end(from, is_backquoted);
	_cleanup_free_ char *text = strndup(from, (size_t)(end - from));
	struct splitter inner = { .p = text, .parts = s->parts, .n = s->n };
	int r;

	if (!text)
		return -ENOMEM;
	/* $((...)) is arithmetic. */
	r = !is_backquoted && *text == '(' ? 0 : read_words(&inner);
	s->parts = inner.parts;
	s->n = inner.n;
	part_done(&inner.words);
	end += *end != '\0';
	memcpy(word + *len, s->p, (size_t)(end - s->p));
	*len += (size_t)(end - s->p);
	s->p = end;
	return r;
}

static bool at_substitution(const char *p)
{
	return *p == '`' || (p[0] == '$' && p[1] == '(');
}

/* Copies a quoted stretch; s->p stands on the quote. */
static int read_quoted(struct splitter *s, char *word, size_t *len)
{
	char quote = *s->p++;

	while (*s->p && *s->p != quote) {
		if (quote == '"' && at_substitution(s->p)) {
			int r = read_substitution(s, word, len);

			if (r < 0)
				return r;
			continue;
		}
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
	bool is_quoted = false;
	int r = 0;

	if (!word)
		return -ENOMEM;
	while (r == 0 && *s->p && !strchr(" \t\n;|&<>()", *s->p)) {
		/* $'x' and $"x" */
		if (s->p[0] == '$' && (s->p[1] == '\'' || s->p[1] == '"'))
			s->p++;
		if (*s->p == '\'' || *s->p == '"') {
			is_quoted = true;
			r = read_quoted(s, word, &len);
			continue;
		}
		if (at_substitution(s->p)) {
			is_quoted = true;
			r = read_substitution(s, word, &len);
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
	return take_word(s, word, is_quoted);
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
	bool ends_case = s->cases > 0 && s->p[0] == ';' && s->p[1] == ';';
	/* in a | b) */
	bool more = s->cases > 0 && s->is_no_command && *s->p == '|';
	int r;

	while (*s->p && strchr(";|&\n()", *s->p))
		s->p++;
	s->redirect = OP_NONE;
	r = end_command(s);
	s->is_no_command = ends_case || more;
	return r;
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
		else if (strchr(";|&<>\n()", *s->p))
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
		part_done(&s.words);
		shell_parts_done(s.parts, s.n);
		return r;
	}
	*ret = s.parts;
	*ret_n = s.n;
	return 0;
}

void shell_parts_done(struct shell_part *parts, size_t n)
{
	for (size_t i = 0; i < n; i++)
		part_done(&parts[i]);
	free(parts);
}
