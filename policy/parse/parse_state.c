/*
 * [session] state, share and workspace: the directory for the state that the agent would keep in the home,
 * the operator's own files that are shared with it, and the directory that is the workspace.
 */
#include "ini.h"
#include "parse_impl.h"
#include "policy/base/path.h"
#include "policy/base/util.h"
#include "policy/rules/agent_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PROJECT_DIR ".pale"

const struct state_place state_places[STATE_PLACES] = {
	{ "data", "XDG_DATA_HOME", ".local/share" },
	{ "config", "XDG_CONFIG_HOME", ".config" },
	{ "cache", "XDG_CACHE_HOME", ".cache" },
	{ "state", "XDG_STATE_HOME", ".local/state" },
	{ "tmp", "TMPDIR", NULL },
};

const struct state_place *state_place_of(const char *path)
{
	size_t n = strcspn(path, "/");

	for (size_t i = 0; i < STATE_PLACES; i++)
		if (strlen(state_places[i].name) == n && strncmp(state_places[i].name, path, n) == 0)
			return &state_places[i];
	return NULL;
}

bool state_is_inside(const char *below)
{
	return state_place_of(below) || strcmp(below, ".gitignore") == 0;
}

/* Why v is not a path of one file or directory below another, or NULL. */
static const char *wrong(const char *v)
{
	if (v[0] == '/' || v[0] == '~' || path_has_dotdot(v) || strcmp(v, ".") == 0)
		return "a directory below is meant: write its name alone";
	if (strpbrk(v, "*?[]\\") || strstr(v, "//") || strncmp(v, "./", 2) == 0 || strstr(v, "/."))
		return "one directory is meant, without `.` and patterns";
	return NULL;
}

static const char *state_wrong(const char *v)
{
	if (path_is_under(v, ".git") || path_is_under(v, PROJECT_DIR "/policy.ini"))
		return "that one is closed to agents: name another, as in .pale";
	return wrong(v);
}

static const char *workspace_wrong(const char *v)
{
	return path_is_under(v, ".git") || path_is_under(v, PROJECT_DIR) ? "that one is closed to agents"
									 : wrong(v);
}

/* Why v is not "data/NAME", a place of the relocated state and a name in it, or NULL. */
static const char *share_wrong(const char *v)
{
	const struct state_place *place = state_place_of(v);
	size_t n = strcspn(v, "/");

	if (place && place->usual && v[n] && v[n + 1])
		return wrong(v);
	return "write data/NAME, config/NAME, cache/NAME, state/NAME or none";
}

int parser_on_state(struct parser *ps, const struct key_def *def, const struct ini_pair *pair)
{
	int r = parser_may_say(ps, def, pair,
			       strcmp(pair->value, "none") == 0 ? NULL : state_wrong(pair->value));

	if (r < 0)
		return r == -EBADMSG ? 0 : r;
	return parser_take(ps, pair->value, &ps->p->state, &ps->p->state_from);
}

int parser_on_share(struct parser *ps, const struct key_def *def, const struct ini_pair *pair)
{
	struct policy *p = ps->p;
	bool none = strcmp(pair->value, "none") == 0;
	int r = parser_may_say(ps, def, pair, none ? NULL : share_wrong(pair->value));
	size_t n = strlen(pair->value);
	char **share;

	if (r < 0)
		return r == -EBADMSG ? 0 : r;
	if (!ps->applies)
		return 0;
	p->shares_none |= none;
	if (none)
		return 0;
	share = LIST_NEW(p->shares, p->n_shares);
	/* A directory may be written with a slash at its end; the link gets the name without it. */
	if (share)
		*share = strndup(pair->value, n - (pair->value[n - 1] == '/'));
	return share && *share ? (p->n_shares++, 0) : -ENOMEM;
}

const char *policy_state(const struct bundle *b, const struct policy *p)
{
	/* In mode read-only the session cannot write state. */
	if (!b->relocated || !p->state || strcmp(p->state, "none") == 0 || p->s.mode <= MODE_READ_ONLY)
		return NULL;
	if (strcmp(p->state, "outside") != 0)
		return p->state;
	return b->state_dir ? b->state_dir : PROJECT_DIR;
}

bool policy_state_is_beside_project(const struct bundle *b, const struct policy *p)
{
	const char *state = policy_state(b, p);

	return state && path_is_under(state, PROJECT_DIR);
}

/* --- the workspace, looked up before the policy is parsed --- */

int parser_on_workspace(struct parser *ps, const struct key_def *def, const struct ini_pair *pair)
{
	const char *why = workspace_wrong(pair->value);
	int r;

	if (!why && ps->for_agent)
		why = "it is one for all agents: write it below [session]";
	/* policy_workspace() has used the value already: only check it here. */
	r = parser_may_say(ps, def, pair, why);
	return r == -EBADMSG ? 0 : r;
}

struct peek {
	bool in_session, above;
	char *workspace, *preset;
};

static int peek_section(void *ctx, const char *header, unsigned line)
{
	struct peek *k = ctx;

	(void)line;
	k->in_session = strcmp(header, "session") == 0;
	k->above = false;
	return 0;
}

static int peek_pair(void *ctx, const struct ini_pair *pair)
{
	struct peek *k = ctx;
	char **field = NULL;

	if (k->in_session && strcmp(pair->key, "workspace") == 0 && !workspace_wrong(pair->value))
		field = &k->workspace;
	else if (k->above && strcmp(pair->key, "preset") == 0)
		field = &k->preset;
	if (!field)
		return 0;
	free(*field);
	*field = strdup(pair->value);
	return *field ? 0 : -ENOMEM;
}

/* Ignores findings: policy_parse() reports them. */
static int peek_state(struct peek *k, const char *text, size_t len)
{
	const struct ini_handler h = { peek_section, peek_pair, k };
	struct diags ignored;
	int r;

	diags_init(&ignored);
	k->in_session = false;
	k->above = true;
	r = ini_read("", text, len, &h, &ignored);
	diags_done(&ignored);
	return r == -EBADMSG ? 0 : r;
}

/* The machine's policy is read last, so it overrides the user's. */
static int peek_sources(struct peek *k, const struct bundle *b)
{
	static const enum source_layer order[] = { SOURCE_USER, SOURCE_FLOOR };
	int r = 0;

	for (size_t o = 0; o < sizeof(order) / sizeof(order[0]); o++)
		for (size_t i = 0; r == 0 && i < b->n_sources; i++)
			if (b->sources[i].layer == order[o])
				r = peek_state(k, b->sources[i].text, b->sources[i].len);
	return r;
}

int policy_workspace(const struct bundle *b, char **ret_name)
{
	struct peek k = { 0 };
	int r = peek_sources(&k, b);

	if (r == 0 && !k.workspace) {
		const char *name = b->preset ? b->preset : k.preset;
		size_t len;
		const char *text = name ? preset_text(name, &len) : NULL;

		/* The default preset names no workspace. */
		if (text)
			r = peek_state(&k, text, len);
	}
	free(k.preset);
	if (r < 0) {
		free(k.workspace);
		k.workspace = NULL;
	}
	*ret_name = k.workspace;
	return r;
}
