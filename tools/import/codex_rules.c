/*
 * codex's *.rules: calls of prefix_rule() and network_rule() with literals, in the syntax of Starlark.
 *
 * Only that much is read.  A statement that is anything else (a variable, a loop, an expression) is told with
 * its line and left out whole: half a rule could be weaker than the rule.
 */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "import.h"

struct reader {
	const char *p;
	unsigned line;
	const char *why; /* set: this statement is not understood */
};

static void fail(struct reader *r, const char *why)
{
	if (!r->why)
		r->why = why;
}

static void skip_blanks(struct reader *r)
{
	for (;; r->p++) {
		if (*r->p == '#')
			r->p += strcspn(r->p, "\n");
		if (*r->p == '\n')
			r->line++;
		else if (!isspace((unsigned char)*r->p) && !(*r->p == '\\' && r->p[1] == '\n'))
			return;
	}
}

static bool take(struct reader *r, char c)
{
	skip_blanks(r);
	if (*r->p != c)
		return false;
	r->p++;
	return true;
}

static bool take_name(struct reader *r, char *buf, size_t size)
{
	size_t n = 0;

	skip_blanks(r);
	while (isalnum((unsigned char)r->p[n]) || r->p[n] == '_')
		n++;
	if (n == 0 || n >= size || isdigit((unsigned char)*r->p))
		return false;
	memcpy(buf, r->p, n);
	buf[n] = '\0';
	r->p += n;
	return true;
}

static json_t *take_string(struct reader *r)
{
	char quote = *r->p++;
	_cleanup_free_ char *buf = malloc(strlen(r->p) + 1);
	size_t n = 0;
	json_t *s;

	if (r->p[0] == quote && r->p[1] == quote)
		fail(r, "a string of several lines");
	while (buf && !r->why && *r->p != quote) {
		if (*r->p == '\0' || *r->p == '\n')
			fail(r, "a string that does not end");
		else if (*r->p == '\\' && (!r->p[1] || !strchr("\\\"'", *++r->p)))
			fail(r, "an escape in a string that is not understood");
		else
			buf[n++] = *r->p++;
	}
	if (!buf || r->why)
		return NULL;
	r->p++;
	s = json_stringn(buf, n);
	if (!s)
		fail(r, "a string that is no UTF-8");
	return s;
}

/* A string, or a list of such: lists of lists of lists are nobody's. */
static json_t *take_value(struct reader *r, unsigned depth)
{
	json_t *list;

	skip_blanks(r);
	if (*r->p == '"' || *r->p == '\'')
		return take_string(r);
	if (*r->p != '[' || depth == 0) {
		fail(r, "neither a string nor a list of strings");
		return NULL;
	}
	r->p++;
	list = json_array();
	while (!r->why && !take(r, ']')) {
		json_t *item = take_value(r, depth - 1);

		if (item)
			json_array_append_new(list, item);
		if (!r->why && !take(r, ',') && *r->p != ']')
			fail(r, "a list that does not go on");
	}
	if (!r->why)
		return list;
	json_decref(list);
	return NULL;
}

/* name(key = value, ...): the values, or NULL. */
static json_t *take_call(struct reader *r)
{
	json_t *call = json_object();
	char key[64];

	if (!take(r, '('))
		fail(r, "not a call of a rule");
	while (!r->why && !take(r, ')')) {
		json_t *value;

		if (!take_name(r, key, sizeof(key)) || !take(r, '=')) {
			fail(r, "an argument without a name");
			break;
		}
		if (json_object_get(call, key))
			fail(r, "an argument twice");
		value = take_value(r, 3);
		if (value)
			json_object_set_new(call, key, value);
		if (!r->why && !take(r, ',') && *r->p != ')')
			fail(r, "a call that does not go on");
	}
	if (!r->why)
		return call;
	json_decref(call);
	return NULL;
}

/* To the next line that begins a statement. */
static void skip_statement(struct reader *r)
{
	do {
		r->p += strcspn(r->p, "\n");
		if (*r->p) {
			r->p++;
			r->line++;
		}
	} while (*r->p && (isspace((unsigned char)*r->p) || *r->p == ')' || *r->p == ']'));
}

/* --- what the calls mean --- */

/* "git" or ["push", "fetch"] as a word of a rule (caller frees). */
static char *token_word(const json_t *token, const char **why)
{
	_cleanup_free_ char *all = NULL;
	size_t i, n = json_array_size(token);
	json_t *one;
	char *out;

	if (json_is_string(token))
		return word_literal(json_string_value(token), json_string_length(token), why);
	if (n == 0)
		return NULL;
	json_array_foreach((json_t *)token, i, one)
	{
		_cleanup_free_ char *word = json_is_string(one) ? word_literal(json_string_value(one),
									       json_string_length(one), why)
								: NULL;
		char *grown;

		if (!word || asprintf(&grown, "%s%s%s", all ? all : "", all ? "|" : "", word) < 0)
			return NULL;
		free(all);
		all = grown;
	}
	if (n == 1)
		return TAKE_PTR(all);
	return asprintf(&out, "(%s)", all) < 0 ? NULL : out;
}

static char *pattern_words(const json_t *pattern, const char **why)
{
	char *words = NULL;
	size_t i;
	json_t *token;

	*why = "no pattern of words";
	json_array_foreach((json_t *)pattern, i, token)
	{
		_cleanup_free_ char *word = token_word(token, why);
		char *grown;

		if (!word || asprintf(&grown, "%s%s%s", words ? words : "", words ? " " : "", word) < 0) {
			free(words);
			return NULL;
		}
		free(words);
		words = grown;
	}
	return words;
}

/* allow, prompt, forbidden; NULL for another word. */
static const char *verdict_of(const json_t *call)
{
	const json_t *d = json_object_get(call, "decision");
	const char *word = !d ? "allow" : json_is_string(d) ? json_string_value(d) : "";

	if (strcmp(word, "allow") == 0)
		return "allow";
	if (strcmp(word, "prompt") == 0)
		return "ask";
	return strcmp(word, "forbidden") == 0 || strcmp(word, "deny") == 0 ? "deny" : NULL;
}

/* An argument that is not known could be one that narrows. */
static const char *stranger(const json_t *call, const char *const *known)
{
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)call, name, value)
	{
		bool found = false;

		for (const char *const *k = known; *k; k++)
			found = found || strcmp(*k, name) == 0;
		if (!found)
			return name;
	}
	return NULL;
}

static void prefix_rule(struct import *im, const char *from, const json_t *call)
{
	/* The examples that codex tests a rule by decide nothing. */
	static const char *const known[] = { "pattern", "decision",  "justification",
					     "match",	"not_match", NULL };
	const char *verdict = verdict_of(call), *why = "", *said, *odd = stranger(call, known);
	_cleanup_free_ char *words = pattern_words(json_object_get(call, "pattern"), &why);
	size_t rule;

	if (odd || !verdict || !words) {
		carry_tell(im, TOLD_LOST, from, "prefix_rule: %s%s%s", odd ? "the argument " : "",
			   odd	     ? odd
			   : verdict ? why
				     : "a decision",
			   odd || !verdict ? " is not understood" : "");
		return;
	}
	rule = carry_rule(im, "commands", verdict, from, words);
	said = json_string_value(json_object_get(call, "justification"));
	if (said && *said && strlen(said) < 170)
		carry_below(im, rule, "message", said);
}

static void network_rule(struct import *im, const char *from, const json_t *call)
{
	static const char *const known[] = { "host", "protocol", "decision", "justification", NULL };
	static const struct {
		const char *protocol, *ports;
	} ports[] = {
		{ "http", ":80" }, { "https", ":443" }, { "https_connect", ":443" }, { "socks5_tcp", "" }
	};
	const char *host = json_string_value(json_object_get(call, "host")), *verdict = verdict_of(call);
	const char *protocol = json_string_value(json_object_get(call, "protocol")), *port = NULL;
	_cleanup_free_ char *value = NULL;

	for (size_t i = 0; protocol && i < NELEM(ports); i++)
		if (strcmp(ports[i].protocol, protocol) == 0)
			port = ports[i].ports;
	if (!host || !verdict || !port || stranger(call, known)) {
		carry_tell(im, TOLD_LOST, from, "network_rule: %s is not understood",
			   host && verdict && !port ? "its protocol" : "it");
		return;
	}
	/* What is closed is closed at any port. */
	if (asprintf(&value, "%s%s", host, strcmp(verdict, "allow") == 0 ? port : "") < 0)
		value = NULL;
	else
		(void)carry_rule(im, "network", verdict, from, value);
}

static void host_executable(struct import *im, const char *from, const json_t *call)
{
	const char *name = json_string_value(json_object_get(call, "name"));

	carry_tell(im, TOLD_LOST, from,
		   "host_executable: rules for `%s` hold for every program of that name, wherever it lies",
		   name ? name : "?");
}

static const struct {
	const char *name;
	void (*fn)(struct import *im, const char *from, const json_t *call);
} calls[] = {
	{ "prefix_rule", prefix_rule },
	{ "network_rule", network_rule },
	{ "host_executable", host_executable },
};

static void one_statement(struct import *im, struct reader *r)
{
	unsigned line = r->line;
	_cleanup_json_ json_t *call = NULL;
	char name[64], from[32];
	size_t i = 0;

	(void)snprintf(from, sizeof(from), "line %u", line);
	r->why = NULL;
	if (!take_name(r, name, sizeof(name)))
		fail(r, "no call of a rule");
	while (!r->why && i < NELEM(calls) && strcmp(calls[i].name, name) != 0)
		i++;
	if (i == NELEM(calls))
		fail(r, "neither prefix_rule nor network_rule nor host_executable");
	if (!r->why)
		call = take_call(r);
	if (call) {
		calls[i].fn(im, from, call);
		return;
	}
	carry_tell(im, TOLD_LOST, from, "not understood: %s", r->why ? r->why : "out of memory");
	skip_statement(r);
}

int read_codex_rules(struct import *im, const char *text)
{
	struct reader r = { .p = text, .line = 1 };

	im->commands = im->files = im->hosts = ORDER_STRICTEST;
	carry_setting(im, "commands", "default", "(what no rule names is asked)", "ask");
	for (skip_blanks(&r); *r.p && !im->error; skip_blanks(&r))
		one_statement(im, &r);
	return 0;
}
