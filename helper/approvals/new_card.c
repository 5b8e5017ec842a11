/*
 * Makes a card of a question: which process asks, the whole question, how much harm a yes could do, and which
 * grants are offered.
 *
 * All of it comes from a copy of the canonical request and from the kernel.  What a process claims about
 * itself is used only where the kernel does not show it, and is marked as a claim.
 */
#include "new_card.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "policy/judge/eval.h"
#include "policy/programs/loads.h"
#include "policy/system/cleanup.h"
#include "policy/system/system.h"

#include "helper/base/taint.h"
#include "helper/base/images.h"
#include "helper/base/stamp.h"
#include "helper/base/state.h"
#include "helper/ledger/event.h"
#include "helper/ledger/ledger.h"
#include "helper/ledger/programs.h"

#include "approval.h"
#include "card_json.h"
#include "grants_held.h"
#include "queue.h"
#include "shown.h"

#define ID_TRIES  64
#define TREE_WALK 64 /* most ancestors examined */

/* --- the copy of the request --- */

struct copy {
	char *at;
	size_t need;
};

static const char *copy_text(struct copy *c, const char *s)
{
	size_t n = s ? strlen(s) + 1 : 0;
	char *to = c->at;

	c->need += n;
	if (!to || !s)
		return NULL;
	memcpy(to, s, n);
	c->at += n;
	return to;
}

static void copy_list(struct copy *c, const char *const *from, size_t n, const char **to)
{
	for (size_t i = 0; i < n; i++) {
		const char *word = copy_text(c, from[i]);

		if (to)
			to[i] = word;
	}
}

static size_t count_list(const char *const *list)
{
	size_t n = 0;

	while (list && list[n])
		n++;
	return n;
}

/* Called twice: without memory, to count the bytes, and then to copy. */
static void copy_texts(struct copy *c, struct request *to, const struct request *from, const char **argv,
		       const char **env)
{
	to->path = copy_text(c, from->path);
	to->given = copy_text(c, from->given);
	to->raw = copy_text(c, from->raw);
	to->ident = copy_text(c, from->ident);
	to->cwd = copy_text(c, from->cwd);
	to->variable = copy_text(c, from->variable);
	to->git_branch = copy_text(c, from->git_branch);
	to->aim = copy_text(c, from->aim);
	to->file = copy_text(c, from->file);
	to->loads = copy_text(c, from->loads);
	to->loads_ident = copy_text(c, from->loads_ident);
	to->host = copy_text(c, from->host);
	copy_list(c, from->argv, from->argc, argv);
	copy_list(c, from->env, count_list(from->env), env);
}

int card_keep(struct approval *ap, const struct request *from)
{
	size_t envc = count_list(from->env), vector = (from->argc + envc + 2) * sizeof(char *);
	struct copy c = { .at = NULL };
	const char **argv, **env;

	ap->req = *from;
	ap->req.memo = NULL;
	copy_texts(&c, &ap->req, from, NULL, NULL);
	ap->store = malloc(vector + c.need);
	if (!ap->store)
		return -ENOMEM;
	argv = ap->store;
	argv[from->argc] = NULL;
	env = argv + from->argc + 1;
	env[envc] = NULL;
	c.at = (char *)ap->store + vector;
	copy_texts(&c, &ap->req, from, argv, env);
	ap->req.argv = from->argc > 0 ? argv : NULL;
	ap->req.env = envc > 0 ? env : NULL;
	loads_place(&ap->req);
	return 0;
}

/* --- the question --- */

static char *rule_text(struct helper *h, const struct card_question *q)
{
	char rule[1024], *text;

	decision_describe(image_of(h, q->image), q->decision, rule, sizeof(rule));
	/* The agent wrote this rule.  That is said first, where it cannot be cut off. */
	if (q->image > 0 && q->decision->nested == 0)
		return asprintf(&text, "(nested run %u) %s", q->image, rule) < 0 ? NULL : text;
	return strdup(rule);
}

/* --- the asking process --- */

/* The program of a process: from the kernel where the helper may read it, otherwise as claimed. */
static struct card_process process_of(struct helper *h, pid_t pid)
{
	char link[48], exe[LIMIT_PATH];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%d/exe", pid);
	n = readlink(link, exe, sizeof(exe) - 1);
	if (n > 0) {
		exe[n] = '\0';
		return (struct card_process){ .pid = pid, .exe = strdup(exe) };
	}
	return (struct card_process){ .pid = pid,
				      .exe = strdup(program_of(h, pid)->exe),
				      .claimed = h->level == LEVEL_HOOKS };
}

/* The asking process and its ancestors up to the agent.  If there are more than CARD_TREE, the last entry is
 * the agent. */
static void find_tree(struct helper *h, struct approval *ap, pid_t pid)
{
	for (unsigned i = 0; i < TREE_WALK && pid > 1 && pid != h->launcher_pid; i++) {
		size_t at = ap->n_tree < CARD_TREE ? ap->n_tree++ : CARD_TREE - 1;

		free(ap->tree[at].exe);
		ap->tree[at] = process_of(h, pid);
		if (pid == h->root_pid)
			return;
		pid = proc_parent(pid);
	}
}

int card_join(struct helper *h, struct approval *ap, pid_t pid)
{
	struct card_process *asker;

	if (ap->n_askers == CARD_ASKERS)
		return -ENOSPC;
	asker = LIST_NEW(ap->asker, ap->n_askers);
	if (!asker)
		return -ENOMEM;
	*asker = process_of(h, pid);
	ap->n_askers++;
	if (card_fits(h, ap))
		return 0;
	ap->n_askers--;
	free(asker->exe);
	return -EMSGSIZE;
}

static const char *exe_of(const struct approval *ap)
{
	return ap->n_tree > 0 && ap->tree[0].exe ? ap->tree[0].exe : "";
}

/* --- the card --- */

/*
 * The first digits of an id, which people type, are not used again for a long time.  Otherwise a process
 * could ask and cancel questions until the digits of an earlier one come again, and get another act approved.
 */
static int new_id(struct helper *h, char id[APPROVAL_ID_HEX])
{
	int r;

	for (int i = 0; i < ID_TRIES; i++) {
		r = random_hex(id, 16);
		if (r < 0 || queue_take_short(h->queue, id))
			return r;
	}
	return 0;
}

static int fill_card(struct helper *h, struct approval *ap, const struct card_question *q)
{
	ap->asked_real_ns = clock_real_ns();
	ap->asked_ns = clock_boot_ns();
	ap->until_ns = ap->asked_ns + image_of(h, q->image)->h->timeout_s * NS_S;
	ap->pid = q->pid;
	ap->image = q->image;
	ap->turn = h->queue->turn;
	memcpy(ap->print, q->print, sizeof(ap->print));
	if (new_id(h, ap->id) < 0 || card_keep(ap, q->req) < 0)
		return -ENOMEM;
	find_tree(h, ap, q->pid);
	ap->target = shown_target(&ap->req);
	ap->exe = strdup(exe_of(ap));
	ap->rule = rule_text(h, q);
	ap->risk = risk_of(&ap->req);
	if (!ap->target || !ap->exe || !ap->rule || grants_offer(h, q->image, &ap->req, &ap->offers) < 0)
		return -ENOMEM;
	return 0;
}

struct approval *card_new(struct helper *h, const struct card_question *q)
{
	struct approval *ap = calloc(1, sizeof(*ap));

	if (ap && fill_card(h, ap, q) < 0) {
		approval_free(ap);
		return NULL;
	}
	return ap;
}

/* --- records --- */

int card_record(struct helper *h, const struct approval *ap, const char *op, const char *verdict,
		const char *more, enum card_record how)
{
	_cleanup_free_ char *detail = NULL;
	struct event e = { .pid = ap->pid,
			   .exe = ap->exe,
			   .op = op,
			   .target = ap->target,
			   .access = access_name(ap->req.access),
			   .verdict = verdict,
			   .rule = ap->rule,
			   .via = "helper",
			   .approval = ap->id };
	pid_t parent = proc_parent((pid_t)ap->pid);

	e.ppid = parent > 0 ? parent : 0;
	/* cwd comes last: the agent chooses the names of directories, and one may be ` by=you`. */
	if (asprintf(&detail, "op=%s%s cwd=%s", op_name(ap->req.op), more, ap->req.cwd ? ap->req.cwd : "") <
	    0)
		return -ENOMEM;
	e.detail = detail;
	return how == CARD_DURABLE ? ledger_append_durable(h->ledger, &e) : ledger_append(h->ledger, &e);
}

int card_record_request(struct helper *h, const struct approval *ap)
{
	_cleanup_free_ char *variables = shown_variables(h, ap), *aim = shown_aim(h, &ap->req), *more = NULL;
	size_t urls;
	const char *sends = shown_sends(&ap->req, &urls);

	if (!variables || !aim ||
	    asprintf(&more, "%s%s%s%s%s%s", *aim ? " to=" : "", aim, *sends ? " sends=" : "", sends,
		     *variables ? " env=" : "", variables) < 0)
		return -ENOMEM;
	return card_record(h, ap, "approval/request", "ask", more, CARD_DURABLE);
}
