/* Judges a chain: see command_chain.h. */
#include <stdlib.h>
#include <string.h>

#include "policy/programs/tool.h"

#include "command_chain.h"

/* The words of each interpreter, of the scripts that are kept, and of one more.  Verdicts only get stricter,
 * so a script is kept for an ask and for a deny. */
#define CHAIN_ARRAYS (SCRIPT_DEPTH + 2 + 1)

/* Keeps the verdict on req where a rule is stricter about it than about what leads there. */
static bool keep_stricter(struct chain *c, const struct request *req)
{
	struct decision d = c->verdict(c->img, req);

	if (!script_is_held(&c->d, &d))
		return false;
	c->d = d;
	c->held = *req;
	return true;
}

/* Only a supervisor examines what an interpreter is given. */
static void judge_tools(struct chain *c, const struct request *of, struct found_files *found)
{
	struct tool_script t = { .words = c->rest, .split = &c->split[c->n_split++] };

	while (c->level > LEVEL_HOOKS && program_tool(of, found, &t)) {
		if (!keep_stricter(c, &t.req))
			continue;
		/* Looking for the next one takes the room of this path. */
		c->held.path = t.req.path ? strcpy(c->tool, t.req.path) : NULL;
		t.words = c->rest += TOOL_WORDS(of->argc);
	}
}

/* Judges interpreter n as the program of *req, the exec of its script. */
static void judge_interpreter(struct chain *c, size_t n, const char *called, struct request *req)
{
	const struct elf_info *script = &c->elf[n];
	bool setid;

	*req = script_request(script, called, req, c->rest);
	c->rest += req->argc + 1;
	if (realpath(req->path, c->real[n]) && strcmp(req->path, c->real[n]) != 0) {
		req->given = req->path;
		req->path = c->real[n];
	}
	if (program_look(req->path, &c->elf[n + 1], &setid) == 0)
		c->is_unknown |= !program_note(req, c->img, &c->elf[n + 1], &c->found[n]);
	(void)keep_stricter(c, req);
	/* `#!/bin/sh FILE` interprets FILE, not the script. */
	if (script->interp_arg[0] && c->elf[n + 1].kind != ELF_SCRIPT)
		judge_tools(c, req, &c->found[n]);
}

struct chain *chain_judge(const struct image *img, enum level level, chain_verdict_fn *verdict,
			  const struct request *req, const struct elf_info *elf, const char *called)
{
	struct chain *c = calloc(1, sizeof(*c));
	struct request last = *req;

	if (!c)
		return NULL;
	c->words = c->rest =
		calloc(CHAIN_ARRAYS * TOOL_WORDS(req->argc + 2 * SCRIPT_DEPTH), sizeof(*c->words));
	if (!c->words) {
		free(c);
		return NULL;
	}
	c->img = img;
	c->level = level;
	c->verdict = verdict;
	c->held = *req;
	c->d = verdict(img, req);
	c->elf[0] = *elf;
	if (elf->kind != ELF_SCRIPT)
		judge_tools(c, req, &c->found[0]);
	for (size_t n = 0; n < SCRIPT_DEPTH && c->elf[n].kind == ELF_SCRIPT; n++) {
		judge_interpreter(c, n, called, &last);
		called = c->elf[n].interp;
	}
	return c;
}

void chain_free(struct chain *c)
{
	if (c)
		free(c->words);
	free(c);
}
