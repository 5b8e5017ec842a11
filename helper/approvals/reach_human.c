/*
 * Where a human can be asked, and notices to them.
 *
 * The launcher reports at the start where it runs (a terminal, tmux, a desktop); the helper itself knows
 * which clients listen on the control socket.  Where no human can be asked, a question is denied at once,
 * with a sentence that says how one could be: neither an agent nor a build may wait for an answer that
 * cannot come.
 */
#include "reach_human.h"

#include <stdio.h>
#include <string.h>

#include "policy/base/util.h"

#include "helper/base/packet.h"
#include "helper/base/stamp.h"
#include "helper/base/state.h"
#include "helper/control/control.h"

#include "approval.h"
#include "card_json.h"
#include "queue.h"

enum reach { REACH_TERMINAL = 1, REACH_TMUX = 2, REACH_DESKTOP = 4, REACH_APPROVE = 8 };

static const struct {
	const char *word;
	enum reach reach;
} words[] = {
	{ "terminal", REACH_TERMINAL },
	{ "tmux", REACH_TMUX },
	{ "desktop", REACH_DESKTOP },
	{ "approve", REACH_APPROVE }, /* PALE_PROMPT=1: the operator answers by `pale approve` */
};

unsigned reach_of(const json_t *list)
{
	unsigned found = 0;
	const json_t *item;
	size_t i;

	json_array_foreach(list, i, item)
	{
		const char *word = json_string_value(item);

		for (size_t k = 0; word && k < NELEM(words); k++)
			found |= strcmp(words[k].word, word) == 0 ? (unsigned)words[k].reach : 0;
	}
	return found;
}

bool reach_anybody(const struct helper *h, const char **ret_why)
{
	*ret_why =
		"no terminal, tmux or desktop to ask at, and no `pale watch`; with PALE_PROMPT=1 a question "
		"waits for `pale approve`";
	return h->reach != 0 || control_has_listener(h);
}

/* If the launcher does not read, a notice is lost, but not the answer. */
static void tell_launcher(struct helper *h, json_t *msg)
{
	if (h->session_fd >= 0)
		(void)packet_send_json(h->session_fd, msg);
	else
		json_decref(msg);
}

/*
 * Bytes of the question that the launcher gets for its notice, which says that the text is cut; a user
 * interface fetches the whole question.
 */
#define TOLD_BYTES 400

void reach_asked(struct helper *h, const struct approval *ap)
{
	size_t len = strlen(ap->target);
	char id[APPROVAL_ID_HEX];

	snprintf(id, sizeof(id), "%.*s", queue_short(h->queue, ap), ap->id);
	tell_launcher(h, json_pack("{s:s, s:s, s:s, s:s, s:s, s:o}", "type", "asked", "id", ap->id, "short",
				   id, "risk", risk_name(ap->risk.level), "op", op_name(ap->req.op), "target",
				   json_escaped(ap->target, len < TOLD_BYTES ? len : TOLD_BYTES)));
	control_notify(h, "approval/request", card_json(h, ap, clock_boot_ns()));
}

void reach_closed(struct helper *h, const struct approval *ap, const char *by, enum grant_scope scope)
{
	queue_note_closed(h->queue, ap, by);
	tell_launcher(h, json_pack("{s:s, s:s}", "type", "answered", "id", ap->id));
	control_notify(h, "approval/resolved",
		       json_pack("{s:s, s:s, s:o, s:s}", "id", ap->id, "state",
				 approval_state_name(ap->state), "by", json_escaped(by, strlen(by)), "scope",
				 grant_scope_name(scope)));
}
