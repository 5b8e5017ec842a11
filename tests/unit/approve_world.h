/* What else a helper has, as far as the broker asks: for test_approve_model.c, where it is included. */
#ifndef PALE_TEST_APPROVE_WORLD_H
#define PALE_TEST_APPROVE_WORLD_H

struct approval *card_new(struct helper *helper, const struct card_question *q)
{
	struct approval *ap = calloc(1, sizeof(*ap));

	(void)helper;
	snprintf(ap->id, sizeof(ap->id), "%08x%024x", ids++, 0);
	memcpy(ap->print, q->print, sizeof(ap->print));
	ap->pid = q->pid;
	ap->until_ns = now + 50 * NS_S;
	ap->rule = strdup("ask = ask-me");
	ap->target = strdup(q->req->argv[1]);
	unborn = ap;
	ap->req = *q->req;
	return ap;
}

int card_keep(struct approval *ap, const struct request *from)
{
	ap->req = *from;
	return 0;
}

uint64_t clock_boot_ns(void)
{
	return now;
}

const struct image *image_of(const struct helper *helper, uint32_t number)
{
	(void)helper;
	return number == 0 ? &policy.img : NULL;
}

bool image_may_ask(const struct helper *helper, uint32_t number)
{
	(void)helper;
	return number == 0;
}

bool reach_anybody(const struct helper *helper, const char **why)
{
	(void)helper;
	*why = "";
	return true;
}

void reach_asked(struct helper *helper, const struct approval *ap)
{
	(void)helper;
	ck_assert_msg(count_log("approval/request", ap->id, durable) == 1, "shown before it was on the disk");
}

void reach_closed(struct helper *helper, const struct approval *ap, const char *by, enum grant_scope scope)
{
	(void)helper;
	(void)ap;
	(void)by;
	(void)scope;
}

bool grants_cover(struct helper *helper, uint32_t image, const struct request *req, pid_t pid,
		  char ret_id[GRANT_ID_HEX])
{
	(void)helper;
	(void)image;
	(void)req;
	(void)pid;
	(void)ret_id;
	return false;
}

int grants_add(struct helper *helper, const struct approval *ap, const struct grant_order *o,
	       char ret_id[GRANT_ID_HEX], char *why, size_t size)
{
	(void)helper;
	(void)ap;
	(void)o;
	(void)ret_id;
	snprintf(why, size, "no");
	return -ENOSYS;
}

int grants_revoke(struct helper *helper, const char *id, const char *by, pid_t pid, char *why, size_t size)
{
	(void)helper;
	(void)id;
	(void)by;
	(void)pid;
	(void)why;
	(void)size;
	return -ENOENT;
}

int grants_check(struct helper *helper, const struct approval *ap, const char *line, char *why, size_t size)
{
	(void)helper;
	(void)ap;
	(void)line;
	(void)why;
	(void)size;
	return 0;
}

int card_record_request(struct helper *helper, const struct approval *ap)
{
	return card_record(helper, ap, "approval/request", "ask", "", CARD_DURABLE);
}

int shown_env(const struct helper *helper, struct wire_ask *ask)
{
	(void)helper;
	(void)ask;
	return 0;
}

int card_join(struct helper *helper, struct approval *ap, pid_t pid)
{
	(void)helper;
	ap->asker = reallocarray(ap->asker, ap->n_askers + 1, sizeof(*ap->asker));
	ck_assert_ptr_nonnull(ap->asker);
	ap->asker[ap->n_askers++] = (struct card_process){ .pid = pid };
	return 0;
}

size_t card_seen(const struct helper *helper, const struct approval *ap, const json_t *digests)
{
	(void)helper;
	(void)digests;
	return ap->n_askers;
}

enum stepup_by stepup_by(const struct helper *helper, uint32_t image, enum risk_level level)
{
	(void)helper;
	(void)image;
	(void)level;
	return STEPUP_BY_NOTHING;
}

#endif
