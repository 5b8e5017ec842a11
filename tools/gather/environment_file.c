/*
 * Values from the launcher's .env files, only for names that rules or -e name.
 *
 * As with other readers of such files, a variable in the environment has priority over one in a file.  But
 * a name with an empty value in a file is always withheld: that is how the operator hides a variable from
 * the agent.  A file that an agent could have written may only withhold variables.
 */
#include "environment_file.h"

#include <errno.h>
#include <string.h>

#include "policy/base/op.h"
#include "policy/parse/envfile.h"
#include "policy/system/cleanup.h"

#include "tools/base/options.h"
#include "tools/base/readfile.h"
#include "tools/environment/environment.h"
#include "tools/sessions/sessions.h"

#include "dotenv.h"

/* The longest string that the kernel accepts (MAX_ARG_STRLEN), with its `=` and NUL. */
#define ENTRY_MAX ((size_t)128 * 1024)

struct reading {
	struct environment *env;
	const struct environment_source *s;
	const char *path;
	bool trusted;
	struct diags *d;
};

static int put_pair(const struct reading *r, const struct env_pair *pair, const struct environ_verdict *v)
{
	_cleanup_free_ char *where = NULL;

	if (asprintf(&where, "%s:%u", r->path, pair->line) < 0)
		return -ENOMEM;
	return environment_put(r->env, pair->key, pair->value, v, where);
}

static int file_finding(const struct reading *r, const struct env_pair *pair, enum severity severity,
			const char *hint, const char *why)
{
	return diag_add(r->d, severity, "env-value", r->path, pair->line, pair->key_col, hint, "`%s` %s",
			pair->key, why);
}

/*
 * True where the value comes from an earlier line of this file: the last line counts, as for other readers.
 */
static bool is_said_above(const struct reading *r, const struct environment_entry *there)
{
	size_t n = strlen(r->path);

	return there->given && there->where && strncmp(there->where, r->path, n) == 0 &&
	       there->where[n] == ':';
}

static int take_pair(struct reading *r, const struct env_pair *pair, const struct environ_verdict *v)
{
	const struct environ_verdict closed = { .why = WHY_CLOSED };
	const struct environment_entry *there = environment_find(r->env, pair->key);

	if (pair->value[0] == '\0')
		return put_pair(r, pair, &closed);
	if (there && (there->given || there->why == WHY_CLOSED) && !is_said_above(r, there))
		return 0;
	if (!r->trusted)
		return file_finding(r, pair, SEVERITY_WARNING,
				    "set it in your environment, or in the .env beside a workspace/ where no "
				    "agent worked",
				    "is not taken: an agent could have written this file");
	if (strlen(pair->key) + strlen(pair->value) + 2 > ENTRY_MAX)
		return file_finding(r, pair, SEVERITY_ERROR, NULL, "is too long to be passed on: 128 KiB");
	return put_pair(r, pair, v);
}

static int on_pair(void *ctx, const struct env_pair *pair)
{
	struct reading *r = ctx;
	/* An empty value gets a placeholder, so that the judge looks only at the name. */
	const struct environ_question q = { .name = pair->key,
					    .value = pair->value[0] ? pair->value : "-",
					    .asked = environment_asked(r->s->o, pair->key) };
	const struct environ_verdict v = environ_judge(r->s->p, &q);

	/* The standard names are taken only from the environment. */
	if (!v.given || (v.why != WHY_RULE && v.why != WHY_ASKED))
		return 0;
	return take_pair(r, pair, &v);
}

/* Whether the text can matter: it contains one of the names, or a name is a pattern. */
static bool mentions(const struct environment_source *s, const char *text, size_t len)
{
	for (size_t i = 0; i < s->p->n_environ; i++) {
		const struct environ_rule *rule = &s->p->environ[i];

		if (rule->kind == ENVIRON_PASS && (!environ_is_literal(rule->pattern) ||
						   memmem(text, len, rule->pattern, strlen(rule->pattern))))
			return true;
	}
	for (size_t i = 0; i < s->o->env.n; i++) {
		const char *word = s->o->env.v[i];

		if (!environ_is_literal(word) || memmem(text, len, word, strlen(word)))
			return true;
	}
	return false;
}

/* A file that may only withhold must not keep the session from starting: its errors are warnings. */
static int warn_of_findings(const struct reading *r, const struct diags *wrong)
{
	const struct diag *first = wrong->n ? &wrong->list[0] : NULL;

	if (!first)
		return 0;
	return diag_add(r->s->d, SEVERITY_WARNING, first->code, first->file, first->line, first->col,
			first->hint, "%s", first->text);
}

static int read_untrusted(const struct reading *r, const char *text, size_t len)
{
	struct reading apart = *r;
	struct diags wrong;
	int e;

	diags_init(&wrong);
	apart.d = &wrong;
	e = env_read(r->path, text, len, on_pair, &apart, &wrong);
	if (e == 0 || e == -EBADMSG)
		e = warn_of_findings(r, &wrong);
	diags_done(&wrong);
	return e;
}

static int read_trusted(struct reading *r, const char *text, size_t len, const struct stat *st)
{
	int e;

	r->d = r->s->d;
	/* A trusted file must pass the checks of a policy file. */
	e = policy_file_check(r->path, st, r->d);
	return e == 0 ? env_read(r->path, text, len, on_pair, r, r->d) : e;
}

/* Reads the file once, so that the trusted text is the text that is used. */
static int on_file(void *ctx, const char *path)
{
	struct reading *r = ctx;
	const struct environment_source *s = r->s;
	_cleanup_free_ char *text = NULL;
	struct stat st;
	size_t len;
	int e = 0;

	if (file_read_as(path, LIMIT_POLICY, &text, &len, &st) < 0)
		return 0;
	if (mentions(s, text, len)) {
		r->path = path;
		r->trusted = dotenv_is_trusted(s->b, s->dirs, path, text, len);
		e = r->trusted ? read_trusted(r, text, len, &st) : read_untrusted(r, text, len);
	}
	explicit_bzero(text, len);
	return e == -EPERM || e == -EBADMSG ? 0 : e;
}

int environment_from_files(struct environment *env, const struct environment_source *s)
{
	struct reading r = { .env = env, .s = s };

	/* Inside a session the environment comes from the session alone. */
	return session_around() ? 0 : dotenv_each(s->b, on_file, &r);
}
