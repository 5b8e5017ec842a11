/*
 * What the gate obeys (pale-git(7)): the remotes that it stands in for, what a pushed branch is called there,
 * and the paths that no push may bring.
 */
#include "ini.h"
#include "parse_impl.h"
#include "policy/base/path.h"

#include <errno.h>
#include <string.h>

/* The lines of a higher layer replace those of a lower one; `none` is an empty list. */
static int take_word(struct parser *ps, struct word_list *l, const char *word)
{
	int from = parser_precedence(ps);

	if (!ps->applies || from < l->from)
		return 0;
	if (from > l->from)
		word_list_done(l);
	l->from = from;
	return strcmp(word, "none") == 0 ? 0 : word_list_add(l, word);
}

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
	return take_word(ps, &ps->p->ghosts, v);
}

/* Why v is no ref, or all refs below one, or NULL. */
static const char *fetched_wrong(const char *v)
{
	size_t n = strlen(v);

	if (n > 2 && strcmp(v + n - 2, "/*") == 0)
		n -= 2;
	if ((strncmp(v, "refs/heads/", 11) != 0 && strncmp(v, "refs/tags/", 10) != 0) ||
	    strcspn(v, " \t~^:?*[]\\") < n || strstr(v, "..") || strstr(v, "//"))
		return "write refs/heads/* or refs/tags/*, or one ref of these";
	return NULL;
}

int parser_on_fetched(struct parser *ps, const struct key_def *def, const struct ini_pair *pair)
{
	int r;

	ps->last_rule = false;
	r = parser_may_say(ps, def, pair, fetched_wrong(pair->value));
	if (r < 0)
		return r == -EBADMSG ? 0 : r;
	return take_word(ps, &ps->p->fetched, pair->value);
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
		if (strncmp(at, "{branch}", 8) == 0 && at[8])
			return "{branch} stands at the end, as in session/{id}/{branch}";
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
	return ps->applies ? word_list_add(&ps->p->change_deny, v) : 0;
}
