/*
 * [session] forbid: the launch flags that the machine's policy forbids to its users.
 *
 * The check is in the parser, so that launcher and helper give the same answer: the launcher reports it
 * early, and the helper enforces it whatever the launcher says.
 */
#include "parse_impl.h"
#include "policy/base/util.h"

#include <string.h>

/* Every flag that makes a session enforce less than its policy says: FORBID_MAX of them. */
static const struct {
	const char *name;
	size_t at; /* offset in struct bundle of the bool that the flag sets */
} lifting[] = {
	{ "danger", offsetof(struct bundle, danger) },
	{ "allow-sensitive-roots", offsetof(struct bundle, allow_sensitive) },
	{ "allow-denylisted-commands", offsetof(struct bundle, allow_denylisted) },
	{ "allow-unhooked", offsetof(struct bundle, allow_unhooked) },
	{ "keep-home", offsetof(struct bundle, keep_home) },
	{ "level=hooks", offsetof(struct bundle, level_hooks) },
	{ "observe", offsetof(struct bundle, observes) },
	{ "abi-max", offsetof(struct bundle, abi_max) },
};
_Static_assert(NELEM(lifting) == FORBID_MAX, "one place for each flag");

static bool is_given(const struct bundle *b, size_t at)
{
	return *(const bool *)((const char *)b + at);
}

static size_t flag_find(const char *word, size_t len)
{
	size_t i = 0;

	if (len > 2 && strncmp(word, "--", 2) == 0) {
		word += 2;
		len -= 2;
	}
	while (i < NELEM(lifting) &&
	       (strlen(lifting[i].name) != len || memcmp(lifting[i].name, word, len) != 0))
		i++;
	return i;
}

int parser_on_forbid(struct parser *ps, const struct key_def *def, const struct ini_pair *pair)
{
	const char *word = pair->value;

	if (ps->src->layer != SOURCE_FLOOR)
		return parser_error(ps, pair, "floor-key", "write it in /etc/pale/policy.ini",
				    "`%s` is allowed only in the machine's own policy", def->key);
	while (*word) {
		size_t len = strcspn(word, " "), i = flag_find(word, len);

		if (i == NELEM(lifting))
			return parser_error(ps, pair, "bad-value", NULL,
					    "`%.*s` is not a flag that can be forbidden: danger, "
					    "allow-sensitive-roots, allow-denylisted-commands, "
					    "allow-unhooked, keep-home, level=hooks, observe or abi-max",
					    (int)len, word);
		if (ps->applies)
			ps->forbidden[i] = (struct forbidden){ ps->src->path, pair->line };
		word += len;
		word += strspn(word, " ");
	}
	return 0;
}

int parser_check_forbidden(struct parser *ps)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < NELEM(lifting); i++)
		if (ps->forbidden[i].file && is_given(ps->b, lifting[i].at))
			r = diag_add(ps->d, SEVERITY_ERROR, "forbidden-flag", ps->forbidden[i].file,
				     ps->forbidden[i].line, 1, "start without it",
				     "--%s is forbidden on this machine", lifting[i].name);
	return r;
}
