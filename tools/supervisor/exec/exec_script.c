/*
 * What a script starts: the interpreter that its first line names is a command, with words of its own,
 * and a rule that names it holds whatever the script is called.
 */
#include <errno.h>
#include <string.h>

#include "policy/base/path.h"
#include "policy/command/script.h"

#include "tools/supervisor/threads/workers.h"
#include "tools/supervisor/verdict/verdict.h"

#include "exec.h"

void script_begin(struct exec *x)
{
	x->script.called = x->place.raw;
	x->script.last = x->req;
	x->script.d = (struct decision){ .verdict = VERDICT_ALLOW, .rule = RULE_NONE };
}

int script_judge(struct exec *x, struct caller *c, const struct elf_info *script,
		 const struct elf_info *interpreter, const char *real)
{
	struct script_words *s = &x->script;
	const char **words = caller_scratch(c, (s->last.argc + 4) * sizeof(*words));
	size_t len = strlen(real) + 1;
	char *path = caller_scratch(c, len);
	struct request req;
	struct decision d;

	if (!path || !words)
		return -ENOMEM;
	req = script_request(script, s->called, &s->last, words);
	s->called = script->interp;
	req.path = memcpy(path, real, len);
	exec_stamp(x, &x->file, path);
	req.given = strcmp(script->interp, real) == 0 ? NULL : script->interp;
	if (interpreter->build_id_len == sizeof(interpreter->build_id))
		req.ident = image_ident(&c->image, interpreter->build_id);
	exec_loads(x, c, &req, interpreter);
	s->last = req;
	/* An unknown branch counts as a protected one. */
	d = verdict_of(c, &req);
	if (script_is_held(&s->d, &d)) {
		s->d = d;
		s->held = req;
	}
	/* `#!/bin/sh FILE` interprets FILE, not the script.  What env(1) runs is executed anew. */
	if (!script->interp_arg[0] || interpreter->kind == ELF_SCRIPT ||
	    (!req.ident && strcmp(path_basename(real), "env") == 0))
		return 0;
	return exec_tool(x, c, &req);
}
