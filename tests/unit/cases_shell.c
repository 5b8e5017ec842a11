/*
 * What a shell line would execute: words, quotes, operators, $(...), assignments and redirections.
 *
 * Enough of a shell to know which programs a row starts; pale itself never parses one, it sees each
 * exec and each open when it happens.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "policy/base/path.h"

#define MAX_WORDS 64
#define MAX_NEST  8

struct shell {
	const struct image *img;
	bool effects;
	enum verdict verdict;
};

struct simple {
	char text[2048];
	size_t used, n;
	const char *words[MAX_WORDS + 1];
	bool quoted[MAX_WORDS];
};

static void run_line(struct shell *sh, const char *line, unsigned nest);

static void tighten(struct shell *sh, enum verdict v)
{
	sh->verdict = verdict_strictest(sh->verdict, v);
}

static void judge_exec(struct shell *sh, const char *const *argv, size_t argc)
{
	char path[LIMIT_PATH];
	struct request req = { .op = OP_EXEC,
			       .access = ACCESS_READ,
			       .cwd = CASES_WORKSPACE,
			       .argv = argv,
			       .argc = argc,
			       .path = path };
	struct decision d;

	if (strchr(argv[0], '/'))
		case_path(CASES_WORKSPACE, argv[0], path, sizeof(path));
	else
		(void)snprintf(path, sizeof(path), "/usr/bin/%s", argv[0]);
	eval_command(sh->img, &req, &d, NULL);
	tighten(sh, d.verdict);
}

static bool is_one_of(const char *list, const char *word)
{
	size_t len = strlen(word);

	for (const char *p = list; len && (p = strstr(p, word)) != NULL; p += len)
		if ((p == list || p[-1] == ' ') && (p[len] == ' ' || !p[len]))
			return true;
	return false;
}

/* The script of bash -lc SCRIPT, bash -o errexit -c SCRIPT. */
static const char *shell_script(const char *const *argv, size_t n)
{
	for (size_t i = 1; i < n && (argv[i][0] == '-' || argv[i][0] == '+'); i++) {
		if (argv[i][1] != '-' && strchr(argv[i], 'c'))
			return i + 1 < n ? argv[i + 1] : NULL;
		i += strcmp(argv[i], "-o") == 0;
	}
	return NULL;
}

static const struct {
	const char *programs;
	enum op op;
} touching[] = {
	{ "cat grep head tail ls openssl tar base64 cp scp rsync aws", OP_READ },
	{ "rm rmdir mv", OP_DELETE },
	{ "touch tee truncate mkdir", OP_WRITE },
	{ "chmod setcap", OP_CHMOD },
};

/* What well known programs do to their operands. */
static void judge_effects(struct shell *sh, const char *const *argv, size_t n)
{
	char path[LIMIT_PATH];

	if (n > 1 && strcmp(argv[0], "busybox") == 0) {
		argv++;
		n--;
	}
	for (size_t i = 1; i < n; i++) {
		if (strstr(argv[i], "://"))
			tighten(sh, judge_url(sh->img,
					      strstr(argv[i], "http") ? strstr(argv[i], "http") : argv[i]));
		for (size_t t = 0; t < sizeof(touching) / sizeof(touching[0]); t++) {
			if (!is_one_of(touching[t].programs, path_basename(argv[0])))
				continue;
			case_path(CASES_WORKSPACE, argv[i], path, sizeof(path));
			if (argv[i][0] != '-' && !strstr(argv[i], "://"))
				tighten(sh, judge_path(sh->img, touching[t].op, path));
		}
	}
}

/* find . -exec rm {} + starts rm */
static void judge_find(struct shell *sh, const char *const *argv, size_t n)
{
	for (size_t i = 1; i + 1 < n; i++)
		if (is_one_of("-exec -execdir -ok -okdir", argv[i]))
			judge_exec(sh, argv + i + 1, n - i - 1);
}

static void run_simple(struct shell *sh, const char *const *argv, size_t n, unsigned nest)
{
	static const char keywords[] = "if then else elif fi do done while { } ! time exec command builtin";
	const char *script;
	size_t i = 0;

	while (i < n && (is_one_of(keywords, argv[i]) ||
			 (strchr(argv[i], '=') && argv[i][0] != '-' && argv[i][0] != '=')))
		i++;
	if (i > 0 && i < n && strcmp(argv[i], "-p") == 0)
		i++;
	/* `command -v x` asks, `exec -a name x` runs */
	if (i > 0 && i < n && strcmp(argv[i], "-v") == 0)
		return;
	if (i > 0 && i + 1 < n && strcmp(argv[i], "-a") == 0)
		i += 2;
	if (i >= n || !*argv[i])
		return;
	argv += i;
	n -= i;
	judge_exec(sh, argv, n);
	if (strcmp(path_basename(argv[0]), "find") == 0)
		judge_find(sh, argv, n);
	if (sh->effects)
		judge_effects(sh, argv, n);
	script = is_one_of("sh bash dash zsh sh.real bash.real", path_basename(argv[0]))
			 ? shell_script(argv, n)
			 : NULL;
	if (script)
		run_line(sh, script, nest + 1);
}

static void simple_end(struct shell *sh, struct simple *s, unsigned nest)
{
	s->words[s->n] = NULL;
	if (s->n)
		run_simple(sh, s->words, s->n, nest);
	s->n = s->used = 0;
}

/* Runs $(...), <(...) or `...` that begins at p; returns what is behind it. */
static const char *run_substitution(struct shell *sh, const char *p, unsigned nest)
{
	const char *from = *p == '`' ? p + 1 : p + 2, *end = from;
	char inner[1024];
	int depth = 1;

	for (; *end; end++) {
		depth += *p == '`' ? -(*end == '`') : (*end == '(') - (*end == ')');
		if (depth == 0)
			break;
	}
	(void)snprintf(inner, sizeof(inner), "%.*s", (int)(end - from), from);
	run_line(sh, inner, nest + 1);
	return *end ? end + 1 : end;
}

static bool is_substitution(const char *p)
{
	return *p == '`' || ((*p == '$' || *p == '<') && p[1] == '(');
}

/* Reads one word into s; returns what is behind it. */
static const char *read_word(struct shell *sh, struct simple *s, const char *p, unsigned nest)
{
	char quote = 0;

	if (s->n == MAX_WORDS)
		return p + strlen(p);
	s->words[s->n++] = &s->text[s->used];
	while (*p && (quote || !strchr(" \t\n;&|<>()", *p)) && s->used + 2 < sizeof(s->text)) {
		if (quote != '\'' && is_substitution(p)) {
			p = run_substitution(sh, p, nest);
			continue;
		}
		if (quote ? *p == quote : (*p == '\'' || *p == '"'))
			quote = quote ? 0 : *p;
		else if (*p == '\\' && p[1] && quote != '\'')
			s->text[s->used++] = *++p;
		else
			s->text[s->used++] = *p;
		p++;
	}
	s->text[s->used++] = '\0';
	return p;
}

static const char *read_redirection(struct shell *sh, const char *p, unsigned nest)
{
	enum op op = *p == '<' ? OP_READ : OP_WRITE;
	struct simple target = { .n = 0 };
	char path[LIMIT_PATH];

	while (*p == '>' || *p == '<' || *p == '&' || *p == ' ')
		p++;
	p = read_word(sh, &target, p, nest);
	case_path(CASES_WORKSPACE, target.words[0], path, sizeof(path));
	if (sh->effects && *target.words[0])
		tighten(sh, judge_path(sh->img, op, path));
	return p;
}

static void run_line(struct shell *sh, const char *line, unsigned nest)
{
	struct simple s = { .n = 0 };
	const char *p = line;

	if (nest > MAX_NEST)
		return;
	while (*p) {
		if (*p == ' ' || *p == '\t') {
			p++;
		} else if (*p == '#') {
			p += strcspn(p, "\n");
		} else if (*p == '<' && p[1] == '(') {
			p = run_substitution(sh, p, nest);
		} else if (*p == '>' || *p == '<') {
			p = read_redirection(sh, p, nest);
		} else if (strchr("\n;&|()", *p)) {
			simple_end(sh, &s, nest);
			p++;
		} else {
			p = read_word(sh, &s, p, nest);
		}
	}
	simple_end(sh, &s, nest);
}

/* ["a", "b"] as argv; the number of words. */
static size_t read_json(const char *p, struct simple *s)
{
	while ((p = strchr(p, '"')) != NULL && s->n < MAX_WORDS) {
		s->words[s->n++] = &s->text[s->used];
		for (p++; *p && *p != '"'; p++) {
			if (*p == '\\' && p[1])
				p++;
			s->text[s->used++] = *p;
		}
		s->text[s->used++] = '\0';
		p += *p == '"';
	}
	s->words[s->n] = NULL;
	return s->n;
}

static const char *run_any(const struct image *img, const struct kase *c, bool effects)
{
	struct shell sh = { img, effects, VERDICT_ALLOW };
	struct simple s = { .n = 0 };
	const char *json = strncmp(c->action, "execve argv=", 12) == 0 ? c->action + 12 : c->action;

	if (json[0] == '[' && json[1] == '"')
		run_simple(&sh, s.words, read_json(json, &s), 0);
	else if (c->action[0] != '(' || strncmp(c->action, "(whitespace", 11) != 0)
		run_line(&sh, c->action, 0);
	return verdict_word(sh.verdict);
}

const char *run_shell(const struct image *img, const struct kase *c)
{
	return run_any(img, c, false);
}

const char *run_effects(const struct image *img, const struct kase *c)
{
	if (strncmp(c->action, "read ", 5) == 0 || strncmp(c->action, "write ", 6) == 0 ||
	    strncmp(c->action, "edit ", 5) == 0 || strncmp(c->action, "create ", 7) == 0)
		return run_path(img, c);
	return run_any(img, c, true);
}
