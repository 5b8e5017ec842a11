/*
 * What the gate obeys (pale-git(7)): the remotes that it stands in for, what a pushed branch is called there,
 * and the paths that no push may bring.
 */
#include "ini.h"
#include "parse_impl.h"
#include "policy/base/path.h"
#include "policy/base/util.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int add_word(char ***list, size_t *n, const char *word)
{
	char **to = LIST_NEW(*list, *n);

	if (to)
		*to = strdup(word);
	return to && *to ? ((*n)++, 0) : -ENOMEM;
}

static void forget_ghosts(struct policy *p)
{
	while (p->n_ghosts > 0)
		free(p->ghosts[--p->n_ghosts]);
}

/* `*`, `none`, or one name a line; the lines of a higher layer replace those of a lower one. */
int parser_on_remote(struct parser *ps, const struct key_def *def, const struct ini_pair *pair)
{
	const char *v = pair->value;
	int r;

	ps->last_rule = false;
	r = parser_may_say(ps, def, pair,
			   *v == '-' || strpbrk(v, " \t\\\"~^:?[")
				   ? "write the name of a remote, as in origin, or `*`, or none"
				   : NULL);

	if (r < 0)
		return r == -EBADMSG ? 0 : r;
	if (!ps->applies || parser_precedence(ps) < ps->p->ghosts_from)
		return 0;
	if (parser_precedence(ps) > ps->p->ghosts_from)
		forget_ghosts(ps->p);
	ps->p->ghosts_from = parser_precedence(ps);
	return strcmp(v, "none") == 0 ? 0 : add_word(&ps->p->ghosts, &ps->p->n_ghosts, v);
}

/* Why v does not make a name of a branch once {id} and {branch} are put in, or NULL. */
static const char *pushed_wrong(const char *v)
{
	const char *at = v;

	if (*v == '-' || *v == '/' || v[strlen(v) - 1] == '/' || strpbrk(v, " \t~^:?*[]\\") ||
	    strstr(v, "..") || strstr(v, "//"))
		return "write a name of a branch with {id} and {branch} in it, as in session/{id}/{branch}";
	while ((at = strchr(at, '{')) != NULL) {
		if (strncmp(at, "{id}", 4) != 0 && strncmp(at, "{branch}", 8) != 0)
			return "{id} is the session's and {branch} the branch's name; nothing else stands in "
			       "braces";
		at++;
	}
	return NULL;
}

int parser_on_pushed(struct parser *ps, const struct key_def *def, const struct ini_pair *pair)
{
	int r;

	ps->last_rule = false;
	r = parser_may_say(ps, def, pair, pushed_wrong(pair->value));
	if (r < 0)
		return r == -EBADMSG ? 0 : r;
	return parser_take(ps, pair->value, &ps->p->branch, &ps->p->branch_from);
}

/* Every layer may close more. */
int parser_on_change(struct parser *ps, const struct key_def *def, const struct ini_pair *pair)
{
	const char *v = pair->value;

	(void)def;
	ps->last_rule = false;
	if (*v == '/' || *v == '~' || path_has_dotdot(v) || strchr(v, '\\') || path_has_open_class(v))
		return parser_error(ps, pair, "bad-path", NULL,
				    "`%s` is no pattern of paths in a repository, as in .env* or keys/**", v);
	return ps->applies ? add_word(&ps->p->change_deny, &ps->p->n_change_deny, v) : 0;
}
