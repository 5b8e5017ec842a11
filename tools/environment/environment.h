/*
 * The environment that an agent gets, as a list with a reason for each name; built from nothing by the judge
 * of policy/rules/environ.h.
 */
#ifndef PALE_ENVIRONMENT_H
#define PALE_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "policy/base/op.h"
#include "policy/rules/environ.h"

struct bundle;
struct diags;
struct dirs;
struct options;
struct policy;

/* One variable.  Strings are owned. */
struct environment_entry {
	char *name, *value;
	bool given;
	enum environ_why why;
	char *where; /* file:line of the rule or of the .env file, or a few words; may be NULL */
};

struct environment {
	struct environment_entry *list;
	size_t n;
};

/* The variables that the launcher offers, judged: from its environment, its .env files, `set =` and -e, in
 * this order. */
struct environment_source {
	const struct options *o;
	const struct policy *p;
	const struct bundle *b;
	const struct dirs *dirs;
	struct diags *d;
	/* environment_from_files() of tools/gather: adds variables of the .env files that rules or -e name.
	 * 0, -ENOMEM; findings. */
	int (*from_files)(struct environment *env, const struct environment_source *s);
};

void environment_init(struct environment *env);
void environment_done(struct environment *env);
/* Fills env.  0, -EBADMSG with findings, -ENOMEM; the caller must call environment_done() in each case. */
int environment_gather(struct environment *env, const struct environment_source *s);
/* Sets a variable of the agent, whatever its value was.  where: the source of the value, for `pale env`.
 * 0, -ENOMEM. */
int environment_set(struct environment *env, const char *name, const char *value, const char *where);
/* Adds or replaces an entry; strings are copied, where may be NULL.  0, -ENOMEM. */
int environment_put(struct environment *env, const char *name, const char *value,
		    const struct environ_verdict *verdict, const char *where);
/* The entry, or NULL. */
const struct environment_entry *environment_find(const struct environment *env, const char *name);
/* The value that the agent gets, or NULL. */
const char *environment_get(const struct environment *env, const char *name);
/* Whether -e names it. */
enum environ_asked environment_asked(const struct options *o, const char *name);
/* What is wrong with a word of -e, as the end of a sentence about it, or NULL. */
const char *environment_word_wrong(const char *word);

/* The vector for execve(), pale's own variables with the preload first, or NULL.  The caller must free it
 * by environment_free().  image: the entry (NAME=value) for a nested run's image, or NULL. */
char **agent_environment(const struct environment *env, const char *preload, const char *session_dir,
			 const char *image, enum level level);
void environment_free(char **envp);
/*
 * Prints why path cannot be run with these: the kernel limits the size of arguments and variables together.
 */
void environment_tell_too_big(const struct environment *env, const char *path, char *const *argv);

extern const struct subcommand subcommand_env;

#endif
