/*
 * The agent's environment: the launcher's variables that the judge passes, what rules and options set, and
 * first what the session needs.
 */
#include "environment.h"

#include <errno.h>
#include <string.h>

#include "policy/base/util.h"
#include "policy/system/cleanup.h"
#include "policy/wire/wire.h"

#include "tools/base/options.h"
#include "tools/base/output.h"
#include "tools/sessions/sessions.h"

extern char **environ;

#define ENV_RESOLVER "RES_OPTIONS"

/* --- the list ---------------------------------------------------------------------------------------- */

void environment_init(struct environment *env)
{
	memset(env, 0, sizeof(*env));
}

static void entry_done(struct environment_entry *e)
{
	/* The value may be a secret, and freed memory is used again. */
	if (e->value)
		explicit_bzero(e->value, strlen(e->value));
	free(e->name);
	free(e->value);
	free(e->where);
}

void environment_done(struct environment *env)
{
	for (size_t i = 0; i < env->n; i++)
		entry_done(&env->list[i]);
	free(env->list);
	environment_init(env);
}

static struct environment_entry *find_entry(const struct environment *env, const char *name)
{
	for (size_t i = 0; i < env->n; i++)
		if (strcmp(env->list[i].name, name) == 0)
			return &env->list[i];
	return NULL;
}

const struct environment_entry *environment_find(const struct environment *env, const char *name)
{
	return find_entry(env, name);
}

const char *environment_get(const struct environment *env, const char *name)
{
	const struct environment_entry *e = find_entry(env, name);

	return e && e->given ? e->value : NULL;
}

/* Adds an empty entry; NULL where there is no memory. */
static struct environment_entry *add_empty_entry(struct environment *env)
{
	struct environment_entry *e = LIST_NEW(env->list, env->n);

	env->n += e != NULL;
	return e;
}

int environment_put(struct environment *env, const char *name, const char *value,
		    const struct environ_verdict *verdict, const char *where)
{
	struct environment_entry *e = find_entry(env, name);
	struct environment_entry made = { .name = strdup(name),
					  .value = strdup(value),
					  .given = verdict->given,
					  .why = verdict->why,
					  .where = where ? strdup(where) : NULL };

	if (!made.name || !made.value || (where && !made.where)) {
		entry_done(&made);
		return -ENOMEM;
	}
	if (e)
		entry_done(e);
	else
		e = add_empty_entry(env);
	if (!e) {
		entry_done(&made);
		return -ENOMEM;
	}
	*e = made;
	return 0;
}

int environment_set(struct environment *env, const char *name, const char *value, const char *where)
{
	const struct environ_verdict set = { .given = true, .why = WHY_SET };

	return environment_put(env, name, value, &set, where);
}

/* --- variables that the operator names by -e ----------------------------------------------------------- */

const char *environment_word_wrong(const char *word)
{
	_cleanup_free_ char *name = strndup(word, strcspn(word, "="));

	if (!name)
		return "cannot be held: out of memory";
	if (strchr(word, '=') ? !environ_is_name(name) : !environ_is_pattern(name))
		return "is no name of a variable: write NAME, NAME=VALUE or a pattern as in CARGO_*";
	if (environ_is_name(name) && environ_is_never(name))
		return "is pale's to set: no run may give it";
	return NULL;
}

enum environ_asked environment_asked(const struct options *o, const char *name)
{
	enum environ_asked asked = ASKED_NOT;

	for (size_t i = 0; i < o->env.n; i++) {
		const char *word = o->env.v[i];

		if (strchr(word, '=') || !environ_matches(word, name))
			continue;
		if (environ_is_literal(word))
			return ASKED_BY_NAME;
		asked = ASKED_BY_PATTERN;
	}
	return asked;
}

static int check_words(const struct environment_source *s)
{
	for (size_t i = 0; i < s->o->env.n; i++) {
		const char *why = environment_word_wrong(s->o->env.v[i]);

		if (why && diag_add(s->d, SEVERITY_ERROR, "bad-value", "--env", 0, 0, NULL, "`%.*s` %s",
				    (int)strcspn(s->o->env.v[i], "="), s->o->env.v[i], why) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* --- gathering ----------------------------------------------------------------------------------------- */

static int put_judged(struct environment *env, const struct environ_question *q,
		      const struct environ_verdict *v)
{
	_cleanup_free_ char *where = NULL;

	if (v->rule && asprintf(&where, "%s:%u", v->rule->file, v->rule->line) < 0)
		return -ENOMEM;
	return environment_put(env, q->name, q->value, v, where);
}

/* Of two variables with the same name getenv() finds the first one, so the agent gets that one. */
static int from_launcher(struct environment *env, const struct environment_source *s)
{
	int r = 0;

	for (char **e = environ; r == 0 && *e; e++) {
		size_t n = strcspn(*e, "=");
		_cleanup_free_ char *name = strndup(*e, n);
		struct environ_question q = { .name = name,
					      .value = (*e)[n] ? *e + n + 1 : "",
					      .around = session_around() != NULL };
		struct environ_verdict v;

		if (!name)
			return -ENOMEM;
		if (n == 0 || find_entry(env, name))
			continue;
		q.asked = environment_asked(s->o, name);
		v = environ_judge(s->p, &q);
		r = put_judged(env, &q, &v);
	}
	return r;
}

static int from_rules(struct environment *env, const struct environment_source *s)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < s->p->n_environ; i++) {
		const struct environ_rule *rule = &s->p->environ[i];
		const struct environ_verdict v = { .given = true, .why = WHY_SET, .rule = rule };
		const struct environ_question q = { .name = rule->pattern, .value = rule->value };

		if (rule->kind == ENVIRON_SET)
			r = put_judged(env, &q, &v);
	}
	return r;
}

static int from_options(struct environment *env, const struct environment_source *s)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < s->o->env.n; i++) {
		const char *word = s->o->env.v[i], *equals = strchr(word, '=');
		_cleanup_free_ char *name = strndup(word, strcspn(word, "="));

		if (!name)
			return -ENOMEM;
		if (equals)
			r = environment_set(env, name, equals + 1, "-e");
	}
	return r;
}

/* A denied name is removed, wherever it came from. */
static void take_denied(struct environment *env, const struct policy *p)
{
	for (size_t i = 0; i < env->n; i++) {
		struct environment_entry *e = &env->list[i];
		const struct environ_question q = { .name = e->name,
						    .value = e->value,
						    .asked = ASKED_BY_NAME };
		struct environ_verdict v = environ_judge(p, &q);

		if (!e->given || v.why != WHY_DENIED)
			continue;
		e->given = false;
		e->why = WHY_DENIED;
		free(e->where);
		e->where = NULL;
		if (asprintf(&e->where, "%s:%u", v.rule->file, v.rule->line) < 0)
			e->where = NULL;
	}
}

int environment_gather(struct environment *env, const struct environment_source *s)
{
	int (*const steps[])(struct environment *,
			     const struct environment_source *) = { from_launcher, s->from_files, from_rules,
								    from_options };
	size_t errors = s->d->n_errors;
	int r = check_words(s);

	environment_init(env);
	for (size_t i = 0; r == 0 && i < NELEM(steps); i++)
		r = steps[i](env, s);
	take_denied(env, s->p);
	return r < 0 ? r : s->d->n_errors > errors ? -EBADMSG : 0;
}

/* --- the vector ---------------------------------------------------------------------------------------- */

/* The entries that pale adds before those of the list. */
#define OURS_MAX 8

struct vector {
	char **v;
	size_t n;
	bool failed;
};

static void vector_add(struct vector *e, char *entry)
{
	if (entry)
		e->v[e->n++] = entry;
	else
		e->failed = true;
}

static void add_pair(struct vector *e, const char *name, const char *value)
{
	char *entry;

	vector_add(e, asprintf(&entry, "%s=%s", name, value) < 0 ? NULL : entry);
}

/* glibc waits five seconds for the answer to a datagram, but without limit for that of a stream: the
 * operator may have to be asked whether the name may be looked up. */
static void add_resolver(struct vector *e, const char *old)
{
	char *entry;

	vector_add(e, asprintf(&entry, ENV_RESOLVER "=%s%suse-vc", old ? old : "", old ? " " : "") < 0
			      ? NULL
			      : entry);
}

char **agent_environment(const struct environment *env, const char *preload, const char *session_dir,
			 const char *image, enum level level)
{
	struct vector e = { .v = calloc(env->n + OURS_MAX, sizeof(*e.v)) };

	if (!e.v)
		return NULL;
	add_pair(&e, ENV_PRELOAD, preload);
	add_pair(&e, ENV_SESSION_DIR, session_dir);
	if (image)
		vector_add(&e, strdup(image));
	/* The filter that man-db puts on its pipelines answers ENOSYS to system calls of the hooks. */
	if (!environment_get(env, "MAN_DISABLE_SECCOMP"))
		add_pair(&e, "MAN_DISABLE_SECCOMP", "1");
	if (level >= LEVEL_FULL)
		add_resolver(&e, environment_get(env, ENV_RESOLVER));
	for (size_t i = 0; i < env->n; i++) {
		const struct environment_entry *entry = &env->list[i];

		if (entry->given && (level < LEVEL_FULL || strcmp(entry->name, ENV_RESOLVER) != 0))
			add_pair(&e, entry->name, entry->value);
	}
	if (!e.failed)
		return e.v;
	environment_free(e.v);
	return NULL;
}

void environment_free(char **envp)
{
	for (size_t i = 0; envp && envp[i]; i++) {
		explicit_bzero(envp[i], strlen(envp[i]));
		free(envp[i]);
	}
	free(envp);
}

void environment_tell_too_big(const struct environment *env, const char *path, char *const *argv)
{
	size_t words = 0, variables = 0;

	for (; *argv; argv++)
		words += strlen(*argv) + 1;
	for (size_t i = 0; i < env->n; i++)
		if (env->list[i].given)
			variables += strlen(env->list[i].name) + strlen(env->list[i].value) + 2;
	talk("cannot run %s: its arguments (%zu KiB) and its environment (%zu KiB) are more than the kernel "
	     "passes on; see which variables are that large: pale env",
	     path, words >> 10, variables >> 10);
}
