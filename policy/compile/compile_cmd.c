/*
 * Command rules to SEC_CMD, protected branches to SEC_BRANCH.
 *
 * Guarantees that a rule that does not parse is an error at its line, never a rule with another
 * meaning.  (a|b) is expanded here, so the evaluator does not have to know it.  Allocates; prints
 * nothing.
 */
#include "compile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "policy/base/path.h"
#include "policy/command/cmd.h"
#include "policy/command/sentence.h"

static const struct names {
	const char *programs, *forms;
} names[] = {
#define OPTIONS(programs, sub, flags, harmless, named, runs, words)
#define SAME(programs, sub, letters, name)
#define HELP(programs, options, first, second)
#define NAMES(programs, forms) { programs, forms },
#include "policy/command/options.def"
#undef OPTIONS
#undef SAME
#undef HELP
#undef NAMES
};

struct cmd_compiler {
	struct compiler *c;
	const struct policy *p;
	struct diags *d;
	const struct rule *rule;
	uint32_t rule_index;
	struct bytes entries, tokens, keys; /* keys: a hash per entry; wilds: 0 if it is in a bucket */
	struct bytes wilds;
	uint32_t n_entries, n_tokens, n_wild;
};

static int command_finding(struct cmd_compiler *cc, const char *code, const char *text)
{
	int r = compile_error(cc->d, cc->rule, code, text);

	return r < 0 ? r : -EBADMSG;
}

/* Adds a token and its share of the specificity. */
static void put_token(struct cmd_compiler *cc, struct cmd_entry *e, struct cmd_token tok, unsigned weight)
{
	bytes_put(&cc->tokens, &tok, sizeof(tok));
	cc->n_tokens++;
	e->count++;
	e->specificity += weight;
}

static enum cmd_match match_of(const struct word *w, unsigned *ret_weight)
{
	static const unsigned weights[] = {
		[MATCH_NONE] = 0, [MATCH_LITERAL] = 4,	[MATCH_GLOB] = 2,
		[MATCH_ANY] = 1,  [MATCH_RELATIVE] = 2,
	};
	enum cmd_match m = MATCH_LITERAL;

	if (!w->quoted) {
		if (strcmp(w->text, "*") == 0)
			m = MATCH_ANY;
		else if (strcmp(w->text, "<relative>") == 0)
			m = MATCH_RELATIVE;
		else if (!glob_is_literal(w->text, strlen(w->text)))
			m = MATCH_GLOB;
	}
	*ret_weight = weights[m];
	return m;
}

static bool has_double(const char *s)
{
	for (; *s; s++)
		if (strchr(s + 1, *s))
			return true;
	return false;
}

/*
 * The scheme and host of a URL mean the same in any case (RFC 3986, 6.2.2.1), so each letter there becomes a
 * class of both.  What the rule itself quotes or has in a class stays as it is.
 */
static void put_url(struct bytes *out, const struct word *w, const char *sep, bool literal)
{
	static const char scheme[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+.-";
	const char *from = sep, *host = sep + 3, *end = host + strcspn(host, w->quoted ? "/?#" : "/#"), *at;
	bool class = false;

	while (from > w->text && strchr(scheme, from[-1]))
		from--;
	at = memrchr(host, '@', (size_t)(end - host));
	host = at ? at + 1 : host;
	for (const char *p = w->text; *p; p++) {
		bool quotes = *p == '\\' && p[1] && !literal;
		uint8_t letter = (uint8_t)(*p | 0x20);

		class = !literal && (class ? *p != ']' : *p == '[');
		if (!class && ((p >= from && p < sep) || (p >= host && p < end)) && letter >= 'a' &&
		    letter <= 'z') {
			bytes_put(out, (uint8_t[]){ '[', letter, (uint8_t)(letter - 0x20), ']' }, 4);
			continue;
		}
		if (literal && strchr("*?[\\", *p))
			bytes_u8(out, '\\');
		bytes_put(out, p, 1 + quotes);
		p += quotes;
	}
	bytes_u8(out, '\0');
}

/* Puts what a word or a value must match. */
static uint32_t put_pattern(struct cmd_compiler *cc, const struct word *w, uint32_t *ret_match,
			    unsigned *ret_weight)
{
	const char *sep = strstr(w->text, "://");
	struct bytes out = { 0 };
	uint32_t at;

	*ret_match = match_of(w, ret_weight);
	if (!sep)
		return compile_string(cc->c, w->text);
	put_url(&out, w, sep, *ret_match == MATCH_LITERAL);
	*ret_match = MATCH_GLOB;
	at = out.err ? 0 : compile_string(cc->c, (const char *)out.p);
	cc->c->err = cc->c->err ? cc->c->err : out.err;
	bytes_done(&out);
	return at;
}

/* Puts the value of an option into tok, in the form in which it is written. */
static void bind_value(struct cmd_compiler *cc, struct cmd_token *tok, const struct word *value,
		       unsigned *weight)
{
	unsigned w;

	if (!value)
		return;
	tok->value = put_pattern(cc, value, &tok->match, &w);
	*weight += w;
}

static void put_long(struct cmd_compiler *cc, struct cmd_entry *e, const char *text, const struct word *value)
{
	const char *eq = strchr(text, '=');
	struct cmd_token tok = { .kind = TOKEN_LONG,
				 .text = compile_string_n(cc->c, text, strcspn(text, "=")) };
	unsigned weight = 4;
	struct word own = { eq ? eq + 1 : "", false };

	if (eq)
		value = &own;
	bind_value(cc, &tok, value, &weight);
	put_token(cc, e, tok, weight);
}

/* -rf is -r and -f, which match at any place; a value belongs to the last letter. */
static void put_cluster(struct cmd_compiler *cc, struct cmd_entry *e, const char *letters,
			const struct word *value)
{
	for (; *letters; letters++) {
		struct cmd_token tok = { .kind = TOKEN_SHORT, .text = compile_string_n(cc->c, letters, 1) };
		unsigned weight = 4;

		if (!letters[1])
			bind_value(cc, &tok, value, &weight);
		put_token(cc, e, tok, weight);
	}
}

static void put_option(struct cmd_compiler *cc, struct cmd_entry *e, const struct cmd_options *row,
		       const struct word *w, const struct word *value)
{
	const char *text = w->text;
	bool literal = glob_is_literal(text, strcspn(text, "="));
	struct cmd_token tok = { .kind = TOKEN_FLAG, .text = compile_string(cc->c, text) };
	unsigned weight = 4;

	if (!w->quoted && strcmp(text, "--") == 0) {
		tok.kind = TOKEN_DASHDASH;
	} else if (!w->quoted && !literal) {
		tok.kind = TOKEN_FLAG_GLOB;
		weight = 2;
	} else if (!w->quoted && text[1] == '-') {
		put_long(cc, e, text, value);
		return;
	} else if (!w->quoted && !strchr(text, '=') && (!row || !(row->flags & OPTIONS_SINGLE_DASH)) &&
		   !has_double(text + 1)) {
		put_cluster(cc, e, text + 1, value);
		return;
	} else {
		bind_value(cc, &tok, value, &weight);
	}
	put_token(cc, e, tok, weight);
}

static void put_word(struct cmd_compiler *cc, struct cmd_entry *e, const struct word *w)
{
	size_t len = strlen(w->text);
	struct cmd_token tok = { .kind = TOKEN_WORD };
	unsigned weight;

	if (!w->quoted && strcmp(w->text, "...") == 0) {
		put_token(cc, e, (struct cmd_token){ .kind = TOKEN_REST }, 0);
		return;
	}
	tok.text = put_pattern(cc, w, &tok.match, &weight);
	if (!w->quoted && tok.match == MATCH_LITERAL && len > 1 && w->text[len - 1] == '=') {
		tok.kind = TOKEN_OPERAND;
		weight = 2;
	}
	put_token(cc, e, tok, weight);
}

/* ./x is in the workspace, ~/x in the home.  The evaluator compares the program with the resolved file. */
static int program_path(struct cmd_compiler *cc, const char *word, char *buf, size_t size)
{
	const char *base = cc->p->workspace;

	if (word[0] == '~' && word[1] == '/') {
		base = cc->p->home;
		word += 2;
	}
	if (word[0] != '/' && !base)
		return command_finding(cc, "bad-command", "a relative program needs a workspace");
	if (path_normalise(base ? base : "/", word, buf, size) < 0)
		return command_finding(cc, "bad-command", "this is no path of a program");
	return 0;
}

static int put_program(struct cmd_compiler *cc, struct cmd_entry *e, const struct word *w)
{
	bool glob = !w->quoted && !glob_is_literal(w->text, strlen(w->text));
	char path[LIMIT_PATH] UNINITIALIZED;
	int r;

	if (cc->rule->kind == RULE_CMD_ALLOW && strncmp(w->text, "git-", 4) == 0 &&
	    cmd_options_find("git", w->text + 4))
		return command_finding(cc, "bad-command",
				       "write it as git and its subcommand, which is the same");
	e->specificity += !glob ? 4 : strcmp(w->text, "*") == 0 ? 1 : 2;
	if (!strchr(w->text, '/')) {
		e->program_kind = glob ? PROGRAM_GLOB : PROGRAM_NAME;
		e->program = compile_string(cc->c, w->text);
		return 0;
	}
	r = program_path(cc, w->text, path, sizeof(path));
	if (r < 0)
		return r;
	e->specificity++;
	e->program_kind = glob ? PROGRAM_PATH_GLOB : PROGRAM_PATH;
	e->program = compile_string(cc->c, path);
	return 0;
}

/* Adds the words after the program; an option that takes a value takes the next word too. */
static void put_words(struct cmd_compiler *cc, struct cmd_entry *e, const struct sentence *s)
{
	const char *program = path_basename(s->words[0].text);
	const struct cmd_options *global = cmd_options_find(program, NULL), *row = NULL;
	bool everywhere = global && global->flags & OPTIONS_EVERYWHERE;
	size_t words = 0;

	for (size_t i = 1; i < s->n; i++) {
		const struct word *w = &s->words[i], *value = NULL;

		if (w->text[0] != '-' || !w->text[1]) {
			put_word(cc, e, w);
			if (words++ == 0)
				row = cmd_options_find(program, w->text);
			else if (row && row->flags & OPTIONS_NESTED)
				row = NULL;
			continue;
		}
		if (i + 1 < s->n && strcmp(s->words[i + 1].text, "...") != 0 &&
		    cmd_options_take(words == 0 || everywhere ? global : NULL, words ? row : NULL, w->text))
			value = &s->words[++i];
		put_option(cc, e, row ? row : global, w, value);
	}
}

/* The key that the evaluator looks up: the program and the first words that are literal. */
static uint32_t key_of(const struct cmd_compiler *cc, const struct cmd_entry *e)
{
	const char *strings = (const char *)cc->c->sec[SEC_STRINGS].p;
	uint32_t hash = cmd_hash(strings + e->program, strlen(strings + e->program));
	const struct cmd_options *row = cmd_options_find(path_basename(strings + e->program), NULL);
	unsigned words = 0;

	/* other words may be what these mean (:app:publish, pub) */
	if (row && row->flags & (OPTIONS_GOALS | OPTIONS_CUT_WORDS))
		return hash;
	for (uint32_t i = 0; i < e->count && words < CMD_KEY_WORDS; i++) {
		struct cmd_token tok;

		memcpy(&tok, cc->tokens.p + (size_t)(e->first + i) * sizeof(tok), sizeof(tok));
		if (tok.kind == TOKEN_REST || (tok.kind == TOKEN_WORD && tok.match != MATCH_LITERAL))
			break;
		if (tok.kind != TOKEN_WORD)
			continue;
		hash = cmd_hash_word(hash, strings + tok.text);
		words++;
	}
	return hash;
}

static int put_entry(struct cmd_compiler *cc, const struct sentence *s)
{
	struct cmd_entry e = { .rule = cc->rule_index, .first = cc->n_tokens };
	bool wild;
	uint32_t key;
	int r;

	if (!s->words[0].text[0] || s->words[0].text[0] == '-')
		return command_finding(cc, "bad-command", "a rule begins with a program");
	r = put_program(cc, &e, &s->words[0]);
	if (r < 0)
		return r;
	put_words(cc, &e, s);
	e.end = s->closed ? END_CLOSED : END_OPEN;
	e.specificity += s->closed;
	wild = e.program_kind == PROGRAM_GLOB || e.program_kind == PROGRAM_PATH_GLOB;
	key = wild || cc->tokens.err || cc->c->err ? 0 : key_of(cc, &e);
	bytes_put(&cc->entries, &e, sizeof(e));
	bytes_u32(&cc->keys, key);
	bytes_u8(&cc->wilds, wild);
	cc->n_wild += wild;
	cc->n_entries++;
	return 0;
}

/* Has s this form (len bytes), a few words with a blank between them, at word at?  The number of its words.
 */
static size_t form_words(const struct sentence *s, size_t at, const char *form, size_t len)
{
	size_t words = 0, n;

	if (len == 1 && *form == '*')
		return 1;
	for (; len > 0; form += n, len -= n) {
		const struct word *w = &s->words[at + words];

		n = strcspn(form, " |");
		if (at + words == s->n || w->quoted || strlen(w->text) != n || memcmp(w->text, form, n) != 0)
			return 0;
		words++;
		n += n < len;
	}
	return words;
}

static const char *form_next(const char *form)
{
	form += strcspn(form, "|");
	return form + strspn(form, "|");
}

/* Puts s with this form in place of `words` words of it. */
static int put_form(struct cmd_compiler *cc, const struct sentence *s, size_t at, size_t words,
		    const char *form, size_t len)
{
	struct sentence other UNINITIALIZED;
	char text[LIMIT_LINE] UNINITIALIZED;

	other.closed = s->closed;
	memcpy(other.words, s->words, sizeof(other.words));
	memcpy(text, form, len);
	text[len] = '\0';
	other.n = at;
	for (char *p = text, *save = NULL; other.n < SENTENCE_WORDS && (p = strtok_r(p, " ", &save));
	     p = NULL)
		other.words[other.n++] = (struct word){ p, false };
	for (size_t i = at + words; *form != '-' && i < s->n && other.n < SENTENCE_WORDS; i++)
		other.words[other.n++] = s->words[i];
	return put_entry(cc, &other);
}

/* Puts the rule once more for each other name of its subcommand (NAMES of options.def). */
static int put_names(struct cmd_compiler *cc, const struct sentence *s)
{
	const char *program = path_basename(s->words[0].text), *form;
	size_t first = 1, words = 0;
	int r = 0;

	while (first < s->n && s->words[first].text[0] == '-')
		first++;
	for (const struct names *row = names; row < names + sizeof(names) / sizeof(names[0]); row++) {
		size_t at = *row->programs ? first : 0;

		if (at == s->n || (at && !word_in_list(row->programs, program, strlen(program))))
			continue;
		for (form = row->forms, words = 0; *form && !words; form = form_next(form))
			words = form_words(s, at, form, strcspn(form, "|"));
		for (form = row->forms; words && *form && r >= 0; form = form_next(form))
			if (!form_words(s, at, form, strcspn(form, "|")))
				r = put_form(cc, s, at, words, form, strcspn(form, "|"));
	}
	return r;
}

static int put_sentence(const struct sentence *s, void *ctx)
{
	struct cmd_compiler *cc = ctx;
	int r = put_entry(cc, s);

	return r < 0 || cc->rule->kind == RULE_CMD_ALLOW ? r : put_names(cc, s);
}

static int compile_rule(struct cmd_compiler *cc, uint32_t index)
{
	struct sentence s UNINITIALIZED;
	int r;

	cc->rule = &cc->p->rules[index];
	cc->rule_index = index;
	r = sentence_read(cc->rule->pattern ? cc->rule->pattern : "", &s);
	if (r == 0)
		r = sentence_expand(&s, put_sentence, cc);
	return s.fault ? command_finding(cc, "bad-command", s.fault) : r;
}

/* Puts the entries with a literal program into buckets: counts them, then fills. */
static void put_buckets(struct cmd_compiler *cc, uint32_t n_buckets, struct bytes *out)
{
	const uint32_t *keys = (const uint32_t *)(const void *)cc->keys.p;
	uint32_t n_chain = cc->n_entries - cc->n_wild, at = 0;
	uint32_t *start = calloc((size_t)n_buckets + 1, sizeof(*start));
	uint32_t *chain = calloc((size_t)n_chain + 1, sizeof(*chain));

	if (!start || !chain) {
		out->err = -ENOMEM;
	} else {
		for (uint32_t i = 0; i < cc->n_entries; i++)
			if (!cc->wilds.p[i])
				start[keys[i] % n_buckets]++;
		for (uint32_t b = 0; b <= n_buckets; b++) {
			at += start[b];
			start[b] = at;
		}
		/* Filled from the end, so that start[b] is the first of its bucket afterwards. */
		for (uint32_t i = cc->n_entries; i-- > 0;)
			if (!cc->wilds.p[i])
				chain[--start[keys[i] % n_buckets]] = i;
		bytes_put(out, start, ((size_t)n_buckets + 1) * sizeof(*start));
		bytes_put(out, chain, (size_t)n_chain * sizeof(*chain));
	}
	free(start);
	free(chain);
}

static int put_section(struct cmd_compiler *cc)
{
	struct cmd_header h = { .n_entries = cc->n_entries, .n_tokens = cc->n_tokens, .n_wild = cc->n_wild };
	struct bytes out = { 0 };
	int r = cc->entries.err | cc->tokens.err | cc->keys.err | cc->wilds.err;

	if (r)
		return -ENOMEM;
	h.n_chain = cc->n_entries - cc->n_wild;
	h.n_buckets = h.n_chain + h.n_chain / 2 + 1;
	bytes_put(&out, &h, sizeof(h));
	bytes_put(&out, cc->entries.p, cc->entries.len);
	bytes_put(&out, cc->tokens.p, cc->tokens.len);
	put_buckets(cc, h.n_buckets, &out);
	for (uint32_t i = 0; i < cc->n_entries; i++)
		if (cc->wilds.p[i])
			bytes_u32(&out, i);
	r = out.err ? out.err : compile_section(cc->c, SEC_CMD, out.p, out.len);
	bytes_done(&out);
	return r;
}

static int compile_branch(struct cmd_compiler *cc, uint32_t index)
{
	const struct rule *rule = &cc->p->rules[index];
	uint32_t row[2] = { 0, index };

	cc->rule = rule;
	if (!rule->pattern || !*rule->pattern || strpbrk(rule->pattern, " \t:~^"))
		return command_finding(cc, "bad-branch", "this cannot be the name of a branch");
	row[0] = compile_string(cc->c, rule->pattern);
	return compile_section(cc->c, SEC_BRANCH, row, sizeof(row));
}

int compile_cmd(struct compiler *c, const struct policy *p, struct diags *d)
{
	struct cmd_compiler cc = { .c = c, .p = p, .d = d };
	int result = 0, r = 0;

	for (uint32_t i = 0; i < p->n_rules && (r == 0 || r == -EBADMSG); i++) {
		enum rule_kind kind = p->rules[i].kind;

		r = 0;
		if (kind >= RULE_CMD_ALLOW && kind <= RULE_CMD_DENYLIST)
			r = compile_rule(&cc, i);
		else if (kind == RULE_BRANCH)
			r = compile_branch(&cc, i);
		if (r < 0)
			result = r;
	}
	if (result == 0 && cc.n_entries > 0)
		result = put_section(&cc);
	bytes_done(&cc.entries);
	bytes_done(&cc.tokens);
	bytes_done(&cc.keys);
	bytes_done(&cc.wilds);
	return result;
}
