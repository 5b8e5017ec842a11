/*
 * Which name was an address meant by?  Judged are the names that are true (hosts.h); what processes of the
 * session claim to have looked up (the ring) only says which of several true ones was meant.
 *
 * A public address is judged by the best of its names: they share it, and whoever connects says no name.  An
 * address that is not public is nobody's to hand out: what the same process was answered, or what was looked
 * up last by the claim of the hooks, is what is judged, so that a public name which leads to this machine or
 * into its network is a rebinding, even where such addresses may be reached by themselves.
 */
#include <string.h>

#include "tools/supervisor/net.h"
#include "tools/supervisor/resolver.h"
#include "tools/tools.h"

#define NAMES_MAX 32

struct candidates {
	size_t n_answers, n; /* first what was answered, newest first, then what /etc/hosts says */
	const char *hint;    /* one of them, or NULL */
	struct host_name list[NAMES_MAX];
};

static bool is_answer_to(const struct host_name *n, pid_t tgid)
{
	for (size_t i = 0; i < n->n_askers && i < NELEM(n->askers); i++)
		if (n->askers[i] == tgid)
			return true;
	/* More than are remembered, or nobody knows. */
	return n->n_askers == 0 || n->n_askers > NELEM(n->askers);
}

static void candidates_find(struct candidates *l, struct caller *c, const uint8_t addr[16])
{
	const struct supervisor_setup *setup = session_setup(c->sup);
	struct hosts *answers = session_hosts(c->sup);
	char claim[LIMIT_HOST];

	l->n_answers = answers ? hosts_find(answers, addr, l->list, NAMES_MAX) : 0;
	l->n = l->n_answers +
	       hosts_file_find(hosts_file_etc(), addr, l->list + l->n_answers, NAMES_MAX - l->n_answers);
	l->hint = NULL;
	/* At level strict nothing of theirs counts. */
	if (setup->level != LEVEL_FULL || !ring_name_find(setup->ring, addr, claim))
		return;
	for (size_t i = 0; i < l->n && !l->hint; i++)
		if (strcmp(l->list[i].name, claim) == 0)
			l->hint = l->list[i].name;
}

/* --- judging ------------------------------------------------------------------------------------------ */

/* What a human let be looked up by this process needs no second question. */
static bool is_approved(struct caller *c, const struct host_name *n)
{
	return n->approval[0] && n->approved_for == caller_tgid(c);
}

static struct meaning judge_by(struct caller *c, struct request *req, const struct host_name *n)
{
	struct meaning m = { 0 };

	if (n)
		memcpy(m.name, n->name, sizeof(m.name));
	req->host = n ? n->name : NULL;
	m.d = verdict_of(c, req);
	if (m.d.verdict == VERDICT_ASK && n && is_approved(c, n)) {
		m.d.verdict = VERDICT_ALLOW;
		m.d.reason = REASON_HUMAN;
		memcpy(m.approval, n->approval, sizeof(m.approval));
	}
	return m;
}

static int rank(enum verdict v)
{
	return v == VERDICT_ALLOW ? 2 : v == VERDICT_ASK ? 1 : 0;
}

static struct meaning judge_public(struct caller *c, struct request *req, const struct candidates *l)
{
	struct meaning best = { 0 }, m;
	bool any = false;

	for (size_t i = 0; i < l->n; i++) {
		bool hinted = l->hint && strcmp(l->hint, l->list[i].name) == 0;

		m = judge_by(c, req, &l->list[i]);
		if (!any || rank(m.d.verdict) > rank(best.d.verdict) ||
		    (hinted && rank(m.d.verdict) == rank(best.d.verdict) && !best.approval[0]))
			best = m;
		any = true;
	}
	/* A rule may open the address itself, but not over one that speaks of its name. */
	if (any && (best.d.verdict == VERDICT_ALLOW || best.d.reason == REASON_RULE))
		return best;
	m = judge_by(c, req, NULL);
	return !any || (m.d.reason == REASON_RULE && rank(m.d.verdict) > rank(best.d.verdict)) ? m : best;
}

static struct meaning judge_inner(struct caller *c, struct request *req, const struct candidates *l)
{
	const struct host_name *n = NULL;

	for (size_t i = 0; i < l->n && !n && l->hint; i++)
		if (strcmp(l->hint, l->list[i].name) == 0)
			n = &l->list[i];
	for (size_t i = 0; i < l->n_answers && !n; i++)
		if (is_answer_to(&l->list[i], caller_tgid(c)))
			n = &l->list[i];
	return judge_by(c, req, n);
}

void meaning_find(struct caller *c, struct request *req, struct meaning *ret)
{
	struct candidates *l = caller_scratch(c, sizeof(*l));

	*ret = (struct meaning){
		.d = { .verdict = VERDICT_DENY, .reason = REASON_MALFORMED, .rule = RULE_NONE }
	};
	if (!l)
		return;
	candidates_find(l, c, req->addr);
	*ret = sockaddr_is_public(req->addr) ? judge_public(c, req, l) : judge_inner(c, req, l);
	req->host = ret->name[0] ? ret->name : NULL;
	/* Of several nested images the last one judged by holds: that of what was chosen. */
	if (c->is_orphan)
		(void)verdict_of(c, req);
}
