/*
 * The home: a table of what tools keep there, and what becomes of all that no rule names ([files] home).
 */
#include "parse_impl.h"

#include <stdio.h>

int parser_read_home(struct parser *ps)
{
	struct source src = { .layer = SOURCE_PRESET, .path = (char *)HOME_TABLE };

	src.text = (char *)home_text(&src.len);
	return parser_read_source(ps, &src);
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

	if (ps->p->s.home == HOME_OPEN || !ps->home_from)
		return 0;
	(void)snprintf(preset, sizeof(preset), "preset %s", ps->p->preset);
	if (ps->home_from->file)
		proto.file = (char *)ps->home_from->file;
	proto.line = ps->home_from->line;
	if (pattern_resolve(ps->b, all ? "~/*" : "~/.*", buf, sizeof(buf), &why) < 0)
		return diag_add(ps->d, SEVERITY_ERROR, "bad-path", proto.file, proto.line, 1, NULL,
				"the home cannot be closed: %s", why);
	return parser_add_path(ps, &proto, buf);
}
