/* A grant of a command holds only with the directory, program and variables that the answered card showed. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "policy/judge/eval.h"
#include "policy/record/digest.h"
#include "policy/record/record.h"
#include "policy/system/cleanup.h"

#include "helper/base/state.h"

#include "approval.h"
#include "grants_held.h"
#include "shown.h"

void grants_binding(const char *id, const struct request *req, char binding[65])
{
	struct digest d;
	size_t urls;

	digest_begin(&d, "pale-grant-1");
	digest_text(&d, id);
	digest_text(&d, req->cwd);
	digest_text(&d, req->path);
	/* Added only where they exist, so that grants of older versions without them still hold. */
	if (req->aim) {
		digest_text(&d, "to");
		/* Only the URLs: the next push has other commits. */
		(void)shown_sends(req, &urls);
		digest_bytes(&d, req->aim, urls);
	}
	if (req->file) {
		digest_text(&d, "file");
		digest_text(&d, req->file);
	}
	if (req->loads) {
		digest_text(&d, "loads");
		digest_text(&d, req->loads);
	}
	for (size_t i = 0; req->env && req->env[i]; i++)
		digest_text(&d, req->env[i]);
	digest_end(&d, binding);
}

const char *grants_why_once(struct helper *h, uint32_t image, const struct request *req)
{
	if (image > 0 && eval(&h->image, req).verdict != VERDICT_ASK)
		return "the nested run's own policy asks: allow it once";
	if (!req->aim || strncmp(req->aim, AIM_UNKNOWN, strlen(AIM_UNKNOWN)) != 0)
		return NULL;
	return req->op == OP_EXEC ? "where it goes is not known: allow it once"
				  : "a yes is for this one commit: allow it once";
}

int grants_bind(struct helper *h, const struct approval *ap, const char *id, char **ret_bound,
		char binding[DIGEST_HEX])
{
	const struct request *req = &ap->req;
	_cleanup_free_ char *with = NULL, *to = NULL, *text = NULL;

	binding[0] = '\0';
	if (req->op != OP_EXEC) {
		*ret_bound = strdup("");
		return *ret_bound ? 0 : -ENOMEM;
	}
	grants_binding(id, req, binding);
	with = shown_variables(h, ap);
	to = shown_aim(h, req);
	if (!with || !to ||
	    asprintf(&text, "in %s: %s%s%s%s%s", req->cwd ? req->cwd : "?", req->path ? req->path : "?",
		     *to ? " to " : "", to, *with ? " with " : "", with) < 0) {
		text = NULL;
		return -ENOMEM;
	}
	*ret_bound = record_escape(text, strlen(text));
	return *ret_bound ? 0 : -ENOMEM;
}
