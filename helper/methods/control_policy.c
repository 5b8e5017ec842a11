/*
 * The operator's calls about the policy that holds in this session: what it would decide.
 *
 * The helper looks at no file for that: a path is judged as it is given, its links are not followed, and no
 * host name is looked up.  The client gives all facts; the call changes nothing and is not recorded.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "policy/base/addr.h"
#include "policy/base/path.h"
#include "policy/judge/eval.h"

#include "helper/approvals/grants_held.h"
#include "helper/base/state.h"
#include "helper/control/call.h"

#include "methods.h"

#define WORDS_MAX 128

/* A question made of the parameters, with the memory that it points to. */
struct supposed {
	struct request req;
	const char *words[WORDS_MAX + 1];
	char path[LIMIT_PATH];
};

static int words_of_question(struct call *call, struct supposed *s)
{
	const json_t *args = json_object_get(call->params, "args");
	size_t n = json_array_size(args);

	for (size_t i = 0; i < n && i < WORDS_MAX; i++)
		s->words[i] = json_string_value(json_array_get(args, i));
	for (size_t i = 0; i < n && i < WORDS_MAX; i++)
		if (!s->words[i])
			n = 0;
	return n == 0 || n > WORDS_MAX ? -EINVAL : (int)n;
}

static const char *suppose_exec(struct call *call, struct supposed *s, int n)
{
	const char *path = call_param(call, "path", NULL);

	s->req.argv = s->words;
	s->req.argc = (size_t)n;
	if (path_normalise("/usr/bin", path ? path : path_basename(s->words[0]), s->path, sizeof(s->path)) <
	    0)
		return "path is not that of a program";
	s->req.path = s->path;
	return NULL;
}

static const char *suppose_host(struct supposed *s, int n)
{
	char *end = NULL;
	unsigned long port = n == 2 ? strtoul(s->words[1], &end, 10) : 0;

	if (n != 2 || *end || port < 1 || port > UINT16_MAX)
		return "args are a host or an address, and a port";
	s->req.port = (uint16_t)port;
	s->req.has_addr = addr_parse(s->words[0], strlen(s->words[0]), s->req.addr);
	if (!s->req.has_addr)
		s->req.host = s->words[0];
	return NULL;
}

/* NULL, or a sentence that says what is wrong. */
static const char *suppose(struct call *call, struct supposed *s)
{
	int n = words_of_question(call, s);

	s->req.op = op_by_name(call_param(call, "op", ""));
	s->req.cwd = call_param(call, "cwd", call->h->workspace);
	if (n < 0)
		return "args are one to 128 strings";
	if (s->req.cwd[0] != '/')
		return "cwd is an absolute path";
	if (s->req.op == OP_EXEC)
		return suppose_exec(call, s, n);
	if (s->req.op == OP_CONNECT)
		return suppose_host(s, n);
	s->req.access = op_access(s->req.op);
	if (s->req.op == OP_NONE || s->req.access == 0)
		return "op is exec, connect or an operation on a file";
	if (n != 1 || path_normalise(s->req.cwd, s->words[0], s->path, sizeof(s->path)) < 0)
		return "args are one path";
	s->req.path = s->path;
	return NULL;
}

/* {"op", "args", "cwd"?, "path"?} */
static json_t *policy_explain(struct call *call)
{
	struct supposed s = { .req = { .op = OP_NONE } };
	const char *wrong = suppose(call, &s);
	struct helper *h = call->h;
	char rule[1024];
	struct decision d;
	const struct grant_entry *e = NULL;

	if (wrong)
		return call_fail(call, RPC_PARAMS, "%s", wrong);
	d = eval(&h->image, &s.req);
	decision_describe(&h->image, &d, rule, sizeof(rule));
	/* The environment is not known here: any grant of these words is named, whatever it is bound to. */
	if (d.verdict == VERDICT_ASK)
		e = grants_find(h, &h->image, &s.req, NULL);
	return json_pack("{s:s, s:s, s:o, s:s?}", "verdict", verdict_name(d.verdict), "reason",
			 reason_text(d.reason), "rule", text_json(rule), "granted", e ? e->id : NULL);
}

const struct method control_policy[] = {
	{ "policy/explain", SESSION_LIVE, CONTROL_READ, policy_explain },
	{ 0 },
};
