/*
 * Examples inside a policy: read strictly, judged by the evaluator.
 *
 * Guarantees that `match` holds only where the rule above it decides: it matches, and what it says is what
 * happens.  Looks at no file: the same policy gives the same answers everywhere.
 */
#include "example.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "addr.h"
#include "lint_impl.h"
#include "parse_impl.h"
#include "path.h"

const char *example_result_name(enum example_result r)
{
	static const char *const names[] = { "holds", "fails", "silent" };

	return (unsigned)r < sizeof(names) / sizeof(names[0]) ? names[r] : "?";
}

/* `OPERATION PATH`: a rule speaks of some operations and not of others, so the example names one. */
static int read_file(const struct bundle *b, const char *text, struct example_request *r, const char **why)
{
	size_t n = strcspn(text, " ");
	char word[16];

	*why = "write an operation and a path, as in `read ~/.ssh/config`";
	if (n >= sizeof(word) || text[n] == '\0')
		return -EINVAL;
	memcpy(word, text, n);
	word[n] = '\0';
	r->req.op = op_by_name(word);
	if (r->req.op < OP_READ || r->req.op > OP_XATTR)
		return -EINVAL;
	r->req.access = op_access(r->req.op);
	r->req.path = r->path;
	return pattern_resolve(b, text + n + strspn(text + n, " "), r->path, sizeof(r->path), why);
}

/* One character of a command line, quotes taken off: its length in the text, 0 at the end of a word. */
static size_t take_char(const char *s, char *quote, bool *ret_literal)
{
	*ret_literal = false;
	if (*quote ? *s == *quote : *s == '\'' || *s == '"') {
		*quote = *quote ? '\0' : *s;
		return 1;
	}
	if (*s == '\\' && *quote != '\'' && s[1] != '\0') {
		*ret_literal = true;
		return 2;
	}
	*ret_literal = true;
	return *s == '\0' || (!*quote && *s == ' ') ? 0 : 1;
}

/* Words as a shell would make them of a simple command; what only a shell understands is refused. */
static int split_words(struct example_request *r, const char *text, const char **why)
{
	char *to = r->text, quote = '\0';
	size_t n = 0, len;
	bool literal;

	if (strlen(text) >= sizeof(r->text)) {
		*why = "longer than a line may be";
		return -EINVAL;
	}
	for (const char *s = text + strspn(text, " "); *s; s += strspn(s, " ")) {
		if (n == EXAMPLE_WORDS) {
			*why = "more words than an example may have";
			return -EINVAL;
		}
		r->words[n++] = to;
		for (; (len = take_char(s, &quote, &literal)) > 0; s += len) {
			if (len == 1 && literal && !quote && strchr("|&;<>`()", *s)) {
				*why = "write one command, not a line of the shell";
				return -EINVAL;
			}
			if (literal)
				*to++ = s[len - 1];
		}
		*to++ = '\0';
	}
	*why = quote ? "a quote that is not closed" : "no command";
	r->words[n] = NULL;
	r->req.argc = n;
	return quote || n == 0 || r->words[0][0] == '\0' ? -EINVAL : 0;
}

static int read_command(const struct bundle *b, const char *text, struct example_request *r, const char **why)
{
	const char *name;
	int err = split_words(r, text, why);

	if (err < 0)
		return err;
	name = r->words[0];
	r->req.op = OP_EXEC;
	r->req.access = op_access(OP_EXEC);
	r->req.argv = r->words;
	r->req.path = r->path;
	/* What git does without a branch's name it does to one that nothing protects. */
	r->req.git_branch = "topic";
	*why = "the program's path is not understood";
	if (path_normalise(strchr(name, '/') ? b->workspace : "/usr/bin", name, r->path, sizeof(r->path)) < 0)
		return -EINVAL;
	return 0;
}

static bool read_address(const char *text, uint8_t addr[16])
{
	size_t n = strlen(text);

	if (n > 2 && text[0] == '[' && text[n - 1] == ']')
		return addr_parse(text + 1, n - 2, addr);
	return addr_parse(text, n, addr);
}

/* The name as resolvers have it, in r->host. */
static int set_name(struct example_request *r, const char **why)
{
	char *ascii = NULL;
	int err = host_to_ascii(r->host, &ascii, why);

	if (err == 0 && strlen(ascii) >= sizeof(r->host))
		err = -EINVAL;
	if (err == 0)
		strcpy(r->host, ascii);
	free(ascii);
	r->req.host = r->host;
	return err;
}

static int read_host(enum rule_kind kind, const char *text, struct example_request *r, const char **why)
{
	const char *blank = strchr(text, ' ');
	int err;

	*why = "write HOST or HOST:PORT, and perhaps the address it leads to";
	r->req.op = kind == RULE_NET_BIND ? OP_BIND : OP_CONNECT;
	r->req.is_datagram = kind == RULE_NET_UDP || strncmp(text, "udp:", 4) == 0;
	if (strncmp(text, "udp:", 4) == 0)
		text += 4;
	if (strlen(text) >= sizeof(r->text))
		return -EINVAL;
	strcpy(r->text, text);
	if (blank) {
		blank += strspn(blank, " ");
		r->text[strcspn(text, " ")] = '\0';
	}
	if (host_port_split(r->text, r->host, sizeof(r->host), &r->req.port) < 0)
		return -EINVAL;
	r->req.has_addr = read_address(r->host, r->req.addr);
	if (r->req.has_addr)
		return blank ? -EINVAL : 0;
	if (kind == RULE_NET_BIND) {
		*why = "write ADDRESS:PORT";
		return -EINVAL;
	}
	err = strchr(r->host, ':') ? -EINVAL : set_name(r, why);
	if (err == 0 && blank) {
		r->req.has_addr = read_address(blank, r->req.addr);
		err = r->req.has_addr ? 0 : -EINVAL;
	}
	return err;
}

static int read_socket(const struct bundle *b, const char *text, struct example_request *r, const char **why)
{
	r->req.op = OP_UNIX;
	r->req.access = op_access(OP_UNIX);
	r->req.path = r->path;
	if (text[0] != '@')
		return pattern_resolve(b, text, r->path, sizeof(r->path), why);
	*why = "longer than a socket's name may be";
	if (strlen(text) >= sizeof(r->path))
		return -EINVAL;
	strcpy(r->path, text);
	return 0;
}

int example_parse(const struct bundle *b, enum rule_kind kind, const char *text, struct example_request *ret,
		  const char **ret_why)
{
	const char *section = rule_section(kind);

	memset(ret, 0, sizeof(*ret));
	ret->req.cwd = b->workspace;
	if (kind == RULE_NET_UNIX)
		return read_socket(b, text, ret, ret_why);
	if (strcmp(section, "files") == 0)
		return read_file(b, text, ret, ret_why);
	if (strcmp(section, "network") == 0)
		return read_host(kind, text, ret, ret_why);
	return read_command(b, text, ret, ret_why);
}

/* The modes in which a rule says nothing, whatever it names; NULL where it speaks. */
static const char *silenced(const struct policy *p, const struct rule *r)
{
	const char *section = rule_section(r->kind);
	bool network = strcmp(section, "network") == 0, opens = rule_verdict(r->kind) != VERDICT_DENY;

	if (r->layer == LAYER_PROJECT && rule_verdict(r->kind) == VERDICT_ALLOW)
		return "the project is not trusted, so its rules only tighten";
	if (network && p->s.network == NETWORK_OFF)
		return "the network is off";
	if (network && p->s.network == NETWORK_STRICT && opens && r->rank != RANK_PRESET &&
	    r->kind != RULE_NET_CORE)
		return "in network mode strict the preset's core alone opens anything";
	if (p->s.mode != MODE_READ_ONLY)
		return NULL;
	if (r->kind == RULE_FILE_WRITE)
		return "mode is read-only";
	return strcmp(section, "commands") == 0 && !p->s.children_in_ro ? "mode read-only runs no commands"
									: NULL;
}

/* What rule i of the trace says, as far as approvals = never leaves it. */
static bool is_said(const struct beaten *hit, const struct decision *d)
{
	return d->verdict == hit->verdict || (hit->verdict == VERDICT_ASK && d->reason == REASON_NEVER);
}

/* A protected branch is no rule of commands: it is told as the reason. */
static bool is_branch(const struct policy *p, const struct policy_example *e)
{
	return p->rules[e->first].kind == RULE_BRANCH;
}

static bool decides(const struct policy *p, const struct policy_example *e, const struct trace *t,
		    const struct decision *d, bool *ret_matches)
{
	bool said = false;

	*ret_matches = d->rule >= e->first && d->rule < e->end;
	/* An allowed name that leads to a private address names its rule too, and is denied. */
	if (*ret_matches)
		said = d->reason == REASON_RULE || d->reason == REASON_NEVER || d->reason == REASON_TRUNK;
	if (is_branch(p, e))
		return said && d->reason == REASON_TRUNK;
	for (size_t i = 0; i < t->n; i++) {
		if (t->list[i].rule < e->first || t->list[i].rule >= e->end)
			continue;
		*ret_matches = true;
		said = said || is_said(&t->list[i], d);
	}
	return said;
}

static void explain(const struct image *img, const struct policy_example *e, bool matches,
		    struct example_verdict *ret)
{
	char what[384];

	decision_describe(img, &ret->d, what, sizeof(what));
	(void)snprintf(ret->why, sizeof(ret->why), "the rule above %s: %s, by %s",
		       e->negative ? "decides this"
		       : matches   ? "matches this and is beaten"
				   : "does not match this",
		       verdict_name(ret->d.verdict), what);
}

int example_judge(const struct policy *p, const struct bundle *b, const struct image *img,
		  const struct policy_example *e, struct example_verdict *ret)
{
	const struct rule *r = &p->rules[e->first];
	const char *why = silenced(p, r);
	struct example_request *x;
	struct trace t;
	bool matches, held;
	int err;

	memset(ret, 0, sizeof(*ret));
	if (why) {
		ret->result = EXAMPLE_SILENT;
		(void)snprintf(ret->why, sizeof(ret->why), "not judged: %s", why);
		return 0;
	}
	x = malloc(sizeof(*x));
	if (!x)
		return -ENOMEM;
	err = example_parse(b, r->kind, e->text, x, &why);
	if (err == 0) {
		ret->d = eval_trace(img, &x->req, &t);
		held = decides(p, e, &t, &ret->d, &matches) != e->negative;
		ret->result = held ? EXAMPLE_HOLDS : EXAMPLE_FAILS;
		if (!held)
			explain(img, e, matches, ret);
	}
	free(x);
	return err;
}

int lint_examples(struct lint *l)
{
	for (size_t i = 0; l->img && i < l->p->n_examples; i++) {
		const struct policy_example *e = &l->p->examples[i];
		struct example_verdict v;
		int err = example_judge(l->p, l->b, l->img, e, &v);

		if (err == 0 && v.result == EXAMPLE_FAILS)
			err = diag_add(l->d, SEVERITY_WARNING, "example", e->file, e->line, e->col,
				       "pale policy test", "%s = %s: %s", e->negative ? "not_match" : "match",
				       e->text, v.why);
		if (err < 0)
			return err;
	}
	return 0;
}
