/*
 * What a script starts: the interpreter that its first line names is a command, with words of its own,
 * and a rule that names it holds whatever the script is called.
 */
#include <errno.h>
#include <string.h>

#include "policy/script.h"

#include "tools/supervisor/exec.h"

void script_begin(struct exec *x)
{
	x->script.called = x->place.raw;
	x->script.words = x->req.argv;
	x->script.n = x->req.argc;
	x->script.d = (struct decision){ .verdict = VERDICT_ALLOW, .rule = RULE_NONE };
}

/* The request about one interpreter, and with it the words that the next one gets. */
static bool next_words(struct exec *x, struct caller *c, const struct elf_info *script)
{
	struct script_words *s = &x->script;
	const char **words = caller_scratch(c, (s->n + 4) * sizeof(*words));

	if (!words)
		return false;
	s->n = script_words(script, s->called, s->words, s->n, words);
	s->words = words;
	s->called = script->interp;
	return true;
}

int script_judge(struct exec *x, struct caller *c, const struct elf_info *script,
		 const struct elf_info *interpreter, const char *real)
{
	struct script_words *s = &x->script;
	struct request req = { .op = OP_EXEC, .access = op_access(OP_EXEC), .cwd = x->req.cwd };
	size_t len = strlen(real) + 1;
	char *path = caller_scratch(c, len);
	struct decision d;

	if (!path || !next_words(x, c, script))
		return -ENOMEM;
	req.path = memcpy(path, real, len);
	req.given = strcmp(script->interp, real) == 0 ? NULL : script->interp;
	req.argv = s->words;
	req.argc = s->n;
	if (interpreter->build_id_len == sizeof(interpreter->build_id))
		req.ident = image_ident(&c->image, interpreter->build_id);
	/* A branch that nobody told is a protected one. */
	d = verdict_of(c, &req);
	if (script_is_held(&s->d, &d)) {
		s->d = d;
		s->held = req;
	}
	return 0;
}
