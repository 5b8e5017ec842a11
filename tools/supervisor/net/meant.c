/*
 * Finds by which name an address was meant.  Only names that really led to the address are judged
 * (hosts.h); what processes of the session claim to have looked up (the ring) only selects among several
 * such names.
 *
 * A public address is judged by the best of its names: they share it, and connect(2) has no name.  An
 * address that is not public is judged by the name for which the same process got it as answer, or which it
 * looked up last as its hooks claim.  So a public name that leads to this machine or into its network is a
 * rebinding, even where such addresses themselves may be reached.
 *
 * On this machine the owner of the port decides, unless the operator has a rule for it (ports.h).
 */
#include <string.h>

#include "policy/base/util.h"

#include "tools/supervisor/caller.h"
#include "tools/supervisor/verdict/pushes.h"
#include "tools/supervisor/hosts/resolver.h"
#include "tools/supervisor/setup.h"
#include "tools/supervisor/supervisor.h"
#include "tools/supervisor/threads/workers.h"
#include "tools/supervisor/verdict/verdict.h"

#include "net.h"

#define NAMES_MAX 32

struct candidates {
	size_t n_answers, n; /* first the names from answers, newest first, then those of /etc/hosts */
	const char *hint;    /* one of the names, or NULL */
	struct host_name list[NAMES_MAX];
};

static bool is_answer_to(const struct host_name *n, pid_t tgid)
{
	for (size_t i = 0; i < n->n_askers && i < NELEM(n->askers); i++)
		if (n->askers[i] == tgid)
			return true;
	/* True also where the askers are not known, or are more than can be remembered. */
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
	/* At level strict nothing that processes claim is used. */
	if (setup->level != LEVEL_FULL || !ring_name_find(setup->ring, addr, claim))
		return;
	for (size_t i = 0; i < l->n && !l->hint; i++)
		if (strcmp(l->list[i].name, claim) == 0)
			l->hint = l->list[i].name;
}

/* --- judging ------------------------------------------------------------------------------------------ */

/* A name whose look-up the operator allowed to this process needs no second question about the name. */
static struct meaning judge_by(struct caller *c, struct request *req, const struct host_name *n)
{
	struct meaning m = { 0 };

	if (n)
		memcpy(m.name, n->name, sizeof(m.name));
	req->host = n ? n->name : NULL;
	m.d = verdict_of(c, req);
	if (m.d.verdict == VERDICT_ASK && m.d.reason != REASON_REBIND && n &&
	    host_yes_holds(&n->yes, caller_tgid(c), session_image(c->sup))) {
		m.d.verdict = VERDICT_ALLOW;
		m.d.reason = REASON_HUMAN;
		memcpy(m.approval, n->yes.approval, sizeof(m.approval));
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
	/* A rule may allow the address itself, but it does not override a rule about its name. */
	if (any && (best.d.verdict == VERDICT_ALLOW || best.d.reason == REASON_RULE))
		return best;
	m = judge_by(c, req, NULL);
	return !any || (m.d.reason == REASON_RULE && rank(m.d.verdict) > rank(best.d.verdict)) ? m : best;
}

static struct meaning judge_inner(struct caller *c, struct request *req, const struct candidates *l)
{
	const struct host_name *n = NULL;
	struct meaning m;

	for (size_t i = 0; i < l->n && !n && l->hint; i++)
		if (strcmp(l->hint, l->list[i].name) == 0)
			n = &l->list[i];
	for (size_t i = 0; i < l->n_answers && !n; i++)
		if (is_answer_to(&l->list[i], caller_tgid(c)))
			n = &l->list[i];
	m = judge_by(c, req, n);
	/* A name that only /etc/hosts gives to the address counts only where a rule names it; otherwise
	 * the address itself is judged. */
	return n >= l->list + l->n_answers && m.d.reason != REASON_RULE ? judge_by(c, req, NULL) : m;
}

/* --- this machine ------------------------------------------------------------------------------------- */

/* A rule names that host or its domain: a rule for every host does not count for this machine. */
static bool is_host_named(struct caller *c, const struct meaning *m)
{
	struct image img;
	const struct image_rule *r =
		decision_image(&c->image, &m->d, &img) ? image_rule(&img, m->d.rule) : NULL;
	const char *pattern = r ? image_str(&img, r->pattern) : "*";

	return m->approval[0] || (m->d.reason == REASON_RULE && (pattern[0] != '*' || pattern[1] == '.'));
}

/* A port of the session is allowed; a port of others is asked about or denied, with that as the reason. */
static void judge_port(struct caller *c, const struct request *req, struct meaning *m)
{
	if (!decision_is_by_port(&c->image, &m->d))
		return;
	m->port = ports_find(&c->sup->ports, req, c->image_number);
	if (m->port.owner == PORT_OWN)
		m->d = (struct decision){ VERDICT_ALLOW, REASON_OWN, RULE_NONE, 0 };
	else if (m->d.verdict == VERDICT_DENY && m->d.reason != REASON_NEVER)
		m->d.reason = REASON_PROCESS;
}

bool meaning_conclude(struct caller *c, struct request *req, const struct meaning *m)
{
	char target[INET_TARGET], addr[INET_TARGET], who[PORT_TEXT];
	struct request by_addr = *req;

	by_addr.host = NULL;
	inet_target(req, target);
	if (m->approval[0]) {
		verdict_granted(c, req, target, m->d, m->approval);
		return true;
	}
	if (m->port.owner == PORT_OTHERS && m->d.verdict == VERDICT_ASK)
		req->aim = port_text(&m->port, who);
	else if (m->d.reason == REASON_REBIND && m->d.verdict == VERDICT_ASK)
		req->aim = inet_target(&by_addr, addr);
	if (!verdict_conclude(c, req, target, m->d))
		return false;
	if (m->port.owner != PORT_OTHERS || !req->aim ||
	    ports_find(&c->sup->ports, req, c->image_number).cookie == m->port.cookie)
		return true;
	verdict_refuse(c, req, target, REASON_CHANGED);
	return false;
}

void meaning_find(struct caller *c, struct request *req, struct meaning *ret)
{
	struct candidates *l = caller_scratch(c, sizeof(*l));
	bool is_public = sockaddr_is_public(req->addr), is_machine;

	*ret = (struct meaning){
		.d = { .verdict = VERDICT_DENY, .reason = REASON_MALFORMED, .rule = RULE_NONE }
	};
	if (!l)
		return;
	candidates_find(l, c, req->addr);
	is_machine = ports_is_here(&c->sup->ports, req->addr);
	req->is_here = is_machine && !is_public && !ports_is_loopback(req->addr);
	*ret = is_public ? judge_public(c, req, l) : judge_inner(c, req, l);
	if (is_public && is_machine) {
		is_machine = req->is_here = !is_host_named(c, ret);
		if (is_machine)
			*ret = judge_by(c, req, NULL);
	}
	req->host = ret->name[0] ? ret->name : NULL;
	/* With several nested images, the image judged last is kept: it must be that of the chosen name. */
	if (c->is_orphan)
		(void)verdict_of(c, req);
	if (is_machine)
		judge_port(c, req, ret);
	(void)pushes_reach(c, req, &ret->d);
}
