/*
 * Gathers the policy of a running session again: `pale run` does that when its helper asks.
 *
 * Policy files are read again.  The session's workspace and repository stay as they were at its start,
 * since a session may have changed the files that name them.
 */
#include <errno.h>
#include <string.h>

#include "policy/system/cleanup.h"

#include "tools/base/output.h"
#include "tools/gather/gather.h"
#include "tools/gather/load.h"

#include "run.h"

#define FINDINGS_BYTES (32 * 1024)

static void swap_lists(char ***a, size_t *n, char ***b, size_t *m)
{
	char **list = *a;
	size_t len = *n;

	*a = *b;
	*n = *m;
	*b = list;
	*m = len;
}

static void swap(char **a, char **b)
{
	char *s = *a;

	*a = *b;
	*b = s;
}

/* Keeps what git may write as it was when the session began. */
static int keep_repository(struct bundle *b, const struct bundle *first)
{
	struct bundle own;
	int r = 0;

	bundle_init(&own);
	for (size_t i = 0; r == 0 && i < first->n_git_write; i++)
		r = bundle_add_git_write(&own, first->git_write[i]);
	for (size_t i = 0; r == 0 && i < first->n_git_keep; i++)
		r = bundle_add_git_keep(&own, first->git_keep[i]);
	for (size_t i = 0; r == 0 && i < first->n_git_trunk; i++)
		r = bundle_add_git_trunk(&own, first->git_trunk[i]);
	b->git_unborn = first->git_unborn;
	if (first->git_head)
		own.git_head = strdup(first->git_head);
	if (first->git_own)
		own.git_own = strdup(first->git_own);
	if (first->git_common)
		own.git_common = strdup(first->git_common);
	if (r == 0 && (!own.git_own != !first->git_own || !own.git_common != !first->git_common ||
		       !own.git_head != !first->git_head))
		r = -ENOMEM;
	swap(&b->git_own, &own.git_own);
	swap(&b->git_common, &own.git_common);
	swap(&b->git_head, &own.git_head);
	swap_lists(&b->git_trunk, &b->n_git_trunk, &own.git_trunk, &own.n_git_trunk);
	swap_lists(&b->git_write, &b->n_git_write, &own.git_write, &own.n_git_write);
	swap_lists(&b->git_keep, &b->n_git_keep, &own.git_keep, &own.n_git_keep);
	bundle_done(&own);
	return r;
}

static int gather_again(const struct options *o, const char *session, const struct bundle *first,
			struct bundle *b, struct diags *d)
{
	struct policy p;
	int r;

	policy_init(&p);
	r = bundle_gather(o, session, b, d);
	if (r == 0 && strcmp(b->workspace, first->workspace) != 0)
		r = diag_add(d, SEVERITY_ERROR, "workspace", b->workspace, 0, 0, NULL,
			     "the session works in %s, which is another directory by now", first->workspace);
	if (r == 0)
		r = d->n_errors ? -EBADMSG : keep_repository(b, first);
	if (r == 0)
		r = bundle_parse(b, first, &p, d);
	policy_done(&p);
	return r;
}

/* As many findings as fit into a packet beside its other fields. */
static json_t *findings_json(const struct diags *d)
{
	json_t *list = diags_to_json(d);

	while (json_dumpb(list, NULL, 0, JSON_COMPACT | JSON_ENSURE_ASCII) > FINDINGS_BYTES)
		json_array_remove(list, json_array_size(list) - 1);
	return list;
}

int reload_gather(const struct options *o, const char *session, const struct bundle *first,
		  json_t **ret_findings, const char **ret_err)
{
	struct bundle b;
	struct diags d;
	int r;

	diags_init(&d);
	r = gather_again(o, session, first, &b, &d);
	*ret_findings = findings_json(&d);
	*ret_err = r == -EBADMSG ? "the policy has errors" : "the policy cannot be gathered";
	if (r == 0)
		r = bundle_file(&b);
	bundle_done(&b);
	diags_done(&d);
	return r;
}

/* --- the helper's messages --- */

/* Sends the policy as it is now, with its findings even after an error. */
static void send_gathered(const struct launch *l)
{
	json_t *findings = NULL, *j;
	const char *err = "this run cannot gather its policy again";
	_cleanup_close_ int fd = l->on_gather ? l->on_gather(l->gather_ctx, &findings, &err) : -ENOSYS;

	j = json_pack("{ss, so}", "type", "bundle", "diags", findings ? findings : json_array());
	if (fd < 0)
		json_object_set_new(j, "error", json_string(err));
	(void)launch_tell(l, j, fd);
}

static void take_over(const struct launch *l)
{
	bool performs = false;
	int r = l->on_reload ? l->on_reload(l->narrowed_ctx, &performs) : -ENOSYS;

	(void)launch_tell(
		l, json_pack("{ss, sb, sb}", "type", "reloaded", "ok", r == 0, "performed", performs), -1);
}

void reload_listen(struct launch *l, const char *type)
{
	if (strcmp(type, "gather") == 0)
		send_gathered(l);
	else if (strcmp(type, "reload") == 0)
		take_over(l);
}
