/*
 * What is read with a preset: the table of what tools keep in the home, with the rule for entries that no
 * rule names ([files] home); and the agents' profiles.
 */
#include "parse_impl.h"
#include "policy/base/path.h"
#include "policy/presets/agents.h"
#include "policy/rules/agent_state.h"

#include <stdio.h>
#include <string.h>

int parser_read_home(struct parser *ps)
{
	struct source src = { .layer = SOURCE_PRESET, .path = (char *)HOME_TABLE };

	src.text = (char *)home_text(&src.len);
	return parser_read_source(ps, &src);
}

/* Opens each place that the operator shares (`share =`), also if no row of the table names it. */
static int open_shares(struct parser *ps)
{
	struct rule proto = {
		.kind = RULE_FILE_READ, .layer = LAYER_USER, .rank = RANK_PRESET, .file = (char *)"built in"
	};
	char text[LIMIT_PATH], buf[LIMIT_PATH] UNINITIALIZED;
	const struct policy *p = ps->p;
	const char *why;
	int err = 0;

	for (size_t i = 0; err == 0 && i < p->n_shares && !p->shares_none; i++) {
		const struct state_place *pl = state_place_of(p->shares[i]);
		int n = pl && pl->usual ? snprintf(text, sizeof(text), "~/%s%s", pl->usual,
						   p->shares[i] + strlen(pl->name))
					: -1;

		proto.text = p->shares[i];
		if (n > 0 && n < (int)sizeof(text) &&
		    pattern_resolve(ps->b, text, buf, sizeof(buf), &why) == 0)
			err = parser_add_path(ps, &proto, buf);
	}
	return err;
}

int parser_add_home(struct parser *ps)
{
	bool all = ps->p->s.home == HOME_CLOSED;
	char buf[LIMIT_PATH] UNINITIALIZED, preset[64];
	struct rule proto = {
		.kind = RULE_FILE_HOME,
		.layer = LAYER_USER,
		.rank = RANK_PRESET,
		.text = (char *)(all ? "closed" : "known"),
		.file = preset,
	};
	const char *why;
	int err;

	/* Nothing is hidden where the whole home is the workspace (--danger). */
	if (ps->p->s.home == HOME_OPEN || !ps->home_from ||
	    (ps->b->workspace && path_is_under(ps->p->home, ps->b->workspace)))
		return 0;
	(void)snprintf(preset, sizeof(preset), "preset %s", ps->p->preset);
	if (ps->home_from->file)
		proto.file = (char *)ps->home_from->file;
	proto.line = ps->home_from->line;
	if (pattern_resolve(ps->b, all ? "~/*" : "~/.*", buf, sizeof(buf), &why) < 0)
		return diag_add(ps->d, SEVERITY_ERROR, "bad-path", proto.file, proto.line, 1, NULL,
				"the home cannot be closed: %s", why);
	err = parser_add_path(ps, &proto, buf);
	return err < 0 ? err : open_shares(ps);
}

/*
 * The rules of a profile that open something apply when its agent runs, and those that close something when
 * any other command runs.  So every profile is read, and part of it is left out.
 */
int parser_read_agents(struct parser *ps)
{
	const struct agent_profile *a;
	int err = 0;

	for (size_t i = 0; err == 0 && (a = agent_profile(i)); i++) {
		char path[64];
		struct source src = { .layer = SOURCE_AGENT, .path = path, .text = (char *)a->text };

		src.len = (size_t)(a->end - a->text);
		(void)snprintf(path, sizeof(path), "agent %s", a->name);
		ps->own_profile = ps->b->agent && strcmp(ps->b->agent, a->name) == 0;
		err = parser_read_source(ps, &src);
	}
	return err;
}
