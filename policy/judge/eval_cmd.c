/*
 * Judges commands by command rules.
 *
 * The command and every command that its wrappers wrap are judged, and the strictest verdict counts.  A
 * rule is found by hash, so ten thousand rules cost as much as ten.  Offsets in the image are checked
 * before use.  The code must not allocate, and keeps no list of words: it walks the arguments.
 */
#include "eval.h"

#include <string.h>

#include "ballot.h"
#include "policy/base/path.h"
#include "policy/command/cmd.h"
#include "policy/command/git.h"

struct judged {
	const struct image *img;
	const struct request *req;
	struct cmd_table table;
	bool has_table;
	struct trace *trace;
	struct decision *d;
	bool any; /* d holds a command's decision already */
};

static bool table_open(const struct image *img, struct cmd_table *t)
{
	size_t len, need;
	const struct cmd_header *h = image_sec(img, SEC_CMD, &len);

	if (!h || len < sizeof(*h) || h->n_buckets == 0)
		return false;
	need = sizeof(*h) + (size_t)h->n_entries * sizeof(*t->entries) +
	       (size_t)h->n_tokens * sizeof(*t->tokens) +
	       ((size_t)h->n_buckets + 1 + h->n_chain + h->n_wild) * sizeof(uint32_t);
	if (need > len)
		return false;
	t->img = img;
	t->h = h;
	t->entries = (const struct cmd_entry *)(h + 1);
	t->tokens = (const struct cmd_token *)(t->entries + h->n_entries);
	t->bucket = (const uint32_t *)(t->tokens + h->n_tokens);
	t->chain = t->bucket + h->n_buckets + 1;
	t->wild = t->chain + h->n_chain;
	return true;
}

static enum verdict verdict_of(uint8_t kind)
{
	return kind == RULE_CMD_ALLOW ? VERDICT_ALLOW : kind == RULE_CMD_ASK ? VERDICT_ASK : VERDICT_DENY;
}

struct votes {
	struct ballot ballot;
	uint32_t hard; /* the denylist rule that matched, or RULE_NONE */
	uint32_t lost; /* an allow rule that matches, but a variable changes the command; or RULE_NONE */
};

static void entry_vote(const struct judged *j, const struct cmd_view *v, const struct cmd_names *names,
		       uint32_t i, struct votes *votes)
{
	const struct cmd_entry *e = &j->table.entries[i];
	const struct image_rule *r;
	/* a variable may add words to a command that would only print */
	enum cmd_reading wide = j->req->variable ? READ_WIDE : READ_ACTS;
	enum verdict verdict;

	if (i >= j->table.h->n_entries || !cmd_program_matches(&j->table, e, names))
		return;
	r = image_rule(j->img, e->rule);
	if (!r || r->kind < RULE_CMD_ALLOW || r->kind > RULE_CMD_DENYLIST)
		return;
	if (r->kind == RULE_CMD_DENYLIST && j->img->h->allow_denylisted)
		return;
	/* An allow rule does not match a second reading of the words (cmd_view_skip()), one goal of
	 * several (cmd_view_goal()), or a command that argv[0] calls by another name
	 * (cmd_called_matches()). */
	if (r->kind == RULE_CMD_ALLOW && (v->skip || v->from || !cmd_called_matches(&j->table, e, v->c)))
		return;
	if ((r->kind == RULE_CMD_ALLOW && same_text(j->req->git_branch, GIT_UNTOLD)) ||
	    !cmd_entry_matches(&j->table, v, e, r->kind == RULE_CMD_ALLOW ? READ_STRICT : wide)) {
		if (j->trace && r->kind == RULE_CMD_ALLOW && cmd_entry_matches(&j->table, v, e, READ_WIDE))
			trace_uncovered(j->trace, e->rule);
		return;
	}
	if (r->kind == RULE_CMD_ALLOW && j->req->variable) {
		votes->lost = e->rule;
		return;
	}
	verdict = verdict_of(r->kind);
	trace_add(j->trace, e->rule, verdict, e->specificity);
	if (r->kind == RULE_CMD_DENYLIST && votes->hard == RULE_NONE)
		votes->hard = e->rule;
	ballot_cast(&votes->ballot, r->layer, ballot_key(e->specificity, r->rank, verdict_weight(verdict)),
		    verdict, e->rule);
}

static void bucket_vote(const struct judged *j, const struct cmd_view *v, const struct cmd_names *names,
			uint32_t hash, struct votes *votes)
{
	const struct cmd_table *t = &j->table;
	uint32_t b = hash % t->h->n_buckets, from = t->bucket[b], to = t->bucket[b + 1];

	for (uint32_t i = from; i < to && i < t->h->n_chain; i++)
		entry_vote(j, v, names, t->chain[i], votes);
}

/* The buckets that may hold a rule for one of the names, by the first zero to three words. */
static void buckets_vote(const struct judged *j, const struct cmd_view *v, const struct cmd_names *names,
			 struct votes *votes)
{
	for (size_t i = 0; i < names->n; i++) {
		uint32_t hash = cmd_hash(names->list[i].p, names->list[i].len);
		struct cmd_walk w = cmd_walk_words(v);
		enum cmd_arg kind = ARG_WORD;
		const char *word;

		bucket_vote(j, v, names, hash, votes);
		for (unsigned n = 0; n < CMD_HASH_WORDS && kind != ARG_END; n += kind == ARG_WORD) {
			kind = cmd_walk_next(&w, &word);
			if (kind != ARG_WORD)
				continue;
			hash = cmd_hash_word(hash, word);
			bucket_vote(j, v, names, hash, votes);
		}
	}
}

/* Every rule that matches this spelling of the command votes. */
static void collect(const struct judged *j, const struct command *c, const char *extra, struct votes *votes)
{
	struct cmd_view v = cmd_view_of(c);
	struct cmd_names names;

	if (!j->has_table)
		return;
	cmd_names_of(c, extra, &names);
	do {
		buckets_vote(j, &v, &names, votes);
		for (uint32_t i = 0; i < j->table.h->n_wild; i++)
			entry_vote(j, &v, &names, j->table.wild[i], votes);
	} while (cmd_view_skip(&v) || cmd_view_goal(&v));
}

static struct decision by_default(const struct image *img)
{
	struct decision d = { VERDICT_DENY, REASON_DEFAULT, RULE_NONE, 0 };

	if (img->h->mode <= MODE_READ_ONLY)
		d.reason = REASON_READONLY;
	else if (img->h->cmd_default == VERDICT_ALLOW || img->h->cmd_default == VERDICT_ASK)
		d.verdict = (enum verdict)img->h->cmd_default;
	return d;
}

bool (*eval_is_final)(const struct request *req);

static struct decision by_votes(const struct judged *j, const struct votes *votes)
{
	const struct image_rule *r;
	struct decision d;

	if (votes->hard != RULE_NONE)
		return decision_deny(REASON_RULE, votes->hard);
	if (!ballot_result(&votes->ballot, &d)) {
		d = by_default(j->img);
		if (votes->lost != RULE_NONE && d.verdict != VERDICT_ALLOW && d.reason == REASON_DEFAULT)
			d = (struct decision){ d.verdict, REASON_VARIABLE, votes->lost, 0 };
	}
	r = d.verdict == VERDICT_ALLOW ? image_rule(j->img, d.rule) : NULL;
	if (r && r->proof && (!eval_is_final || eval_is_final(j->req)))
		d = (struct decision){ VERDICT_ASK, REASON_PROOF, d.rule, 0 };
	/* the operator typed it: only a rule's denial refuses it */
	if (j->req->is_root && (d.verdict == VERDICT_ASK || d.reason != REASON_RULE))
		d = (struct decision){ VERDICT_ALLOW, REASON_OPERATOR, d.rule, 0 };
	return d;
}

static void tighten(struct judged *j, struct decision d)
{
	if (!j->any)
		*j->d = d;
	else
		decision_tighten(j->d, &d);
	j->any = true;
}

/* The network tools of the built-in denylist, and their other names; allow_denylisted permits them. */
static bool is_network_tool(const struct command *c, const char *extra)
{
	static const char tools[] =
		"curl wget ssh scp sftp nc ncat netcat nc.openbsd nc.traditional telnet ftp";
	struct cmd_names names;
	size_t i = 0;

	cmd_names_of(c, extra, &names);
	while (i < names.n && !word_in_list(tools, names.list[i].p, names.list[i].len))
		i++;
	return i < names.n;
}

/* What holds for every set of rules. */
static void judge_always(struct judged *j, const struct command *c, const char *extra)
{
	bool prints = cmd_only_prints(c, "git");
	uint32_t rule;

	if (!prints && git_touches_trunk(j->img, c, j->req->git_branch, &rule))
		tighten(j, decision_deny(REASON_TRUNK, rule));
	if (j->img->h->network == NETWORK_OFF && !j->req->is_root &&
	    ((!prints && git_is_online(c)) || (!j->img->h->allow_denylisted && is_network_tool(c, extra))))
		tighten(j, decision_deny(REASON_OFFLINE, RULE_NONE));
}

/* One command, in both spellings where it has two (git-push is git push). */
static void judge_command(struct judged *j, const struct command *c, const struct command *twin,
			  const char *extra)
{
	struct votes votes = { .hard = RULE_NONE, .lost = RULE_NONE };

	collect(j, c, extra, &votes);
	if (twin)
		collect(j, twin, NULL, &votes);
	tighten(j, by_votes(j, &votes));
	judge_always(j, twin ? twin : c, extra);
}

/* The command and what it wraps, outermost first. */
static void judge_chain(struct judged *j, struct command c, const char *extra)
{
	struct split store;
	struct command inner;
	const char *next;
	int wraps;

	for (unsigned depth = 0; depth <= LIMIT_DEPTH; depth++) {
		wraps = request_unwrap(j->req, depth, &c, &inner, &next);
		if (wraps && inner.first) {
			judge_command(j, &c, &inner, extra);
			c = inner;
			wraps = 0;
		} else {
			judge_command(j, &c, NULL, extra);
		}
		if (!wraps)
			wraps = command_unwrap_split(&c, &store, &inner);
		if (wraps == 0)
			return;
		if (wraps < 0)
			break;
		c = inner;
		extra = next;
	}
	tighten(j, decision_deny(REASON_TOO_LONG, RULE_NONE));
}

static enum reason argv_fault(const struct request *req)
{
	size_t bytes = 0;

	if (!req->argv || req->argc == 0)
		return REASON_MALFORMED;
	if (req->argc > LIMIT_ARGC)
		return REASON_TOO_LONG;
	for (size_t i = 0; i < req->argc; i++) {
		if (!req->argv[i])
			return REASON_MALFORMED;
		bytes += strnlen(req->argv[i], LIMIT_ARGV) + 1;
		if (bytes > LIMIT_ARGV)
			return REASON_TOO_LONG;
	}
	return REASON_NONE;
}

/* http:// or https:// anywhere in the word, in any case */
static bool has_url(const char *word)
{
	for (const char *p = word; (p = strstr(p, "://")) != NULL; p++) {
		const char *s = p - word >= 1 && (p[-1] | 0x20) == 's' ? p - 1 : p;

		if (s - word >= 4 && (s[-4] | 0x20) == 'h' && (s[-3] | 0x20) == 't' &&
		    (s[-2] | 0x20) == 't' && (s[-1] | 0x20) == 'p')
			return true;
	}
	return false;
}

/* The reason to refuse a child process before any rule is read, or REASON_NONE. */
static enum reason mode_refuses(const struct image *img, const struct request *req)
{
	if (req->is_root)
		return REASON_NONE;
	if (img->h->mode <= MODE_READ_ONLY && !img->h->children_in_ro)
		return REASON_CHILDREN;
	if (img->h->network != NETWORK_OFF)
		return REASON_NONE;
	for (size_t i = 0; i < req->argc; i++)
		if (has_url(req->argv[i]))
			return REASON_URL;
	return REASON_NONE;
}

void eval_command(const struct image *img, const struct request *req, struct decision *d, struct trace *t)
{
	struct judged j = { .img = img, .req = req, .trace = t, .d = d };
	enum reason reason = argv_fault(req);
	struct command c;
	const char *extra;

	*d = decision_deny(REASON_MALFORMED, RULE_NONE);
	if (!img->h)
		return;
	if (reason == REASON_NONE)
		reason = mode_refuses(img, req);
	if (reason != REASON_NONE) {
		*d = decision_deny(reason, RULE_NONE);
		return;
	}
	j.has_table = table_open(img, &j.table);
	/* a section of rules that cannot be read denies */
	if (!j.has_table && img->h->sec[SEC_CMD].len > 0)
		return;
	c = command_of(req, &extra);
	judge_chain(&j, c, extra);
}

/* As judge_chain(), but each command has a decision of its own. */
bool eval_command_each(const struct image *img, const struct request *req, each_command_fn *fn, void *ctx)
{
	struct decision d;
	struct judged j = { .img = img, .req = req, .d = &d };
	struct split store;
	struct command c, inner;
	const char *extra, *next;
	int wraps;

	if (!img->h || argv_fault(req) != REASON_NONE || mode_refuses(img, req) != REASON_NONE)
		return false;
	j.has_table = table_open(img, &j.table);
	if (!j.has_table && img->h->sec[SEC_CMD].len > 0)
		return false;
	c = command_of(req, &extra);
	for (unsigned depth = 0; depth <= LIMIT_DEPTH; depth++) {
		bool twin;

		wraps = request_unwrap(req, depth, &c, &inner, &next);
		twin = wraps && inner.first;
		j.any = false;
		judge_command(&j, &c, twin ? &inner : NULL, extra);
		if (twin)
			c = inner;
		fn(&c, &d, ctx);
		if (twin || !wraps)
			wraps = command_unwrap_split(&c, &store, &inner);
		if (wraps <= 0)
			return wraps == 0;
		c = inner;
		extra = next;
	}
	return false;
}

unsigned command_wants_branch(const struct request *req)
{
	struct split store;
	struct command c, inner;
	const char *extra;
	int wraps;

	if (argv_fault(req) != REASON_NONE)
		return 0;
	c = command_of(req, &extra);
	for (unsigned depth = 0; depth <= LIMIT_DEPTH; depth++) {
		unsigned wants = git_wants(&c);

		if (wants)
			return wants;
		wraps = request_unwrap(req, depth, &c, &inner, &extra);
		if (!wraps)
			wraps = command_unwrap_split(&c, &store, &inner);
		if (wraps <= 0)
			return 0;
		c = inner;
	}
	return 0;
}
