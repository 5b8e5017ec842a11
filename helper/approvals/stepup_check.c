/* Step-up: the check of the passphrase, its limits and records. */
#include "stepup_check.h"

#include <unistd.h>
#include <fcntl.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "policy/record/passphrase.h"
#include "policy/system/system.h"

#include "helper/base/images.h"
#include "helper/base/places.h"
#include "helper/base/stamp.h"
#include "helper/base/state.h"
#include "helper/ledger/event.h"
#include "helper/ledger/ledger.h"

#define SPAN_NS (10 * NS_S)

/* --- when it is needed --- */

/* The strictest mode of the image and all images around it: zero is the strictest. */
static enum stepup mode_of(const struct image *img)
{
	struct image around = *img;
	enum stepup mode = around.h->stepup;

	while (image_outer(&around, &around))
		if (around.h->stepup < mode)
			mode = around.h->stepup;
	return mode;
}

enum stepup_by stepup_by(const struct helper *h, uint32_t image, enum risk_level level)
{
	const struct image *img = image_of(h, image);

	if (level < RISK_CRITICAL)
		return STEPUP_BY_NOTHING;
	switch (img ? mode_of(img) : STEPUP_PASSPHRASE) {
	case STEPUP_NONE:
		return STEPUP_BY_NOTHING;
	case STEPUP_AUTO:
		return stepup_is_set(h) ? STEPUP_BY_PASSPHRASE : STEPUP_BY_NOTHING;
	case STEPUP_PAM:
		return STEPUP_BY_PAM;
	case STEPUP_PASSPHRASE:
		break;
	}
	return STEPUP_BY_PASSPHRASE;
}

bool stepup_proves(const struct helper *h, enum stepup mode)
{
	return mode != STEPUP_NONE && (mode != STEPUP_AUTO || stepup_is_set(h));
}

json_t *stepup_ways(const struct helper *h)
{
	enum stepup_by by = stepup_by(h, 0, RISK_CRITICAL);

	return by == STEPUP_BY_NOTHING ? json_array() : json_pack("[s]", stepup_by_name(by));
}

const char *stepup_by_name(enum stepup_by by)
{
	static const char *const names[] = {
		[STEPUP_BY_NOTHING] = "", [STEPUP_BY_PASSPHRASE] = "passphrase", [STEPUP_BY_PAM] = "pam"
	};

	return names[by];
}

bool stepup_is_set(const struct helper *h)
{
	int dir = places_open_user(h);

	/* A file that cannot be looked at counts as set: then nothing is approved without it. */
	return dir >= 0 &&
	       (faccessat(dir, PASSPHRASE_FILE, F_OK, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT);
}

/* 0, -ENOKEY (also where there is no directory to keep a passphrase in) or -EBADMSG. */
static int load_passphrase(const struct helper *h, struct passphrase *ret)
{
	int dir = places_open_user(h);

	return dir < 0 ? -ENOKEY : passphrase_load(dir, ret);
}

/* --- the check --- */

static const char *unfit(const struct stepup_task *t)
{
	const char *why = NULL;

	if (t->what == STEPUP_SET)
		why = passphrase_unfit(t->fresh);
	if (!why && t->what == STEPUP_SET)
		why = phrase_unfit(t->phrase);
	if (!why && strlen(t->secret) > PASSPHRASE_MAX)
		why = "a passphrase has at most 512 bytes";
	return why;
}

/* Whether one more hash may be computed now.  The caller counts it. */
static bool may_hash(struct stepup_state *s)
{
	uint64_t now = clock_boot_ns();

	if (now - s->since_ns >= SPAN_NS)
		*s = (struct stepup_state){ .since_ns = now };
	return s->hashes < STEPUP_HASHES;
}

static int charge(struct helper *h, const char **ret_err)
{
	unsigned wait_s = 0;
	int r = tries_charge(h, &wait_s);

	if (r == -EAGAIN) {
		snprintf(h->stepup->err, sizeof(h->stepup->err),
			 "too many wrong passphrases: wait %u s (all sessions count together)", wait_s);
		*ret_err = h->stepup->err;
	} else if (r < 0) {
		*ret_err =
			"wrong passphrases cannot be counted, so none is looked at: see the state directory";
	}
	return r;
}

/* In the session's ledger, and in the machine's.  0, or -errno of the latter. */
static int record_stepup(struct helper *h, const struct stepup_task *t, const char *op, const char *verdict,
			 const char *detail)
{
	const struct event e = { .pid = t->pid,
				 .op = op,
				 .verdict = verdict,
				 .via = "helper",
				 .approval = t->approval,
				 .detail = detail };

	(void)ledger_append(h->ledger, &e);
	return machine_event(h, &e);
}

static int check_phrase(struct helper *h, const struct stepup_task *t, const struct passphrase *kept,
			const char **ret_err)
{
	int r = charge(h, ret_err);
	char left[32];

	if (r < 0)
		return r;
	h->stepup->hashes++;
	r = passphrase_check(kept, t->secret);
	tries_settle(h, r);
	if (r == -EACCES) {
		snprintf(left, sizeof(left), "%u tries left", tries_left(h));
		(void)record_stepup(h, t, "stepup/refused", "deny", left);
	}
	return r;
}

/* A change that cannot be recorded is not made. */
static int keep_phrase(struct helper *h, const struct stepup_task *t, const char **ret_err)
{
	const char *op = t->what == STEPUP_SET ? "stepup/set" : "stepup/removed";
	int dir = places_open_user(h), r = dir < 0 ? dir : record_stepup(h, t, op, "", "");
	struct passphrase made;

	if (r < 0) {
		*ret_err = "it cannot be recorded (pale log --machine), so nothing was changed";
		return r;
	}
	if (t->what == STEPUP_REMOVE) {
		r = passphrase_forget(dir);
	} else {
		h->stepup->hashes++;
		r = passphrase_make(&made, t->fresh, t->phrase);
		if (r == 0)
			r = passphrase_store(dir, &made);
		explicit_bzero(&made, sizeof(made));
	}
	if (r < 0)
		(void)record_stepup(h, t, op, "", "not done");
	return r;
}

static const char *sentence(int result)
{
	switch (result) {
	case -EACCES:
		return "this is not the passphrase";
	case -ENOKEY:
		return "no passphrase is set, and the policy wants one for this: pale passphrase set";
	case -EBADMSG:
		return "the kept passphrase cannot be read: it is damaged, or not the helper's alone";
	case -ENOMEM:
		return "the passphrase cannot be checked: out of memory";
	default:
		return "the passphrase cannot be checked or kept";
	}
}

int stepup_run(struct helper *h, const struct stepup_task *t, const char **ret_err)
{
	struct passphrase kept;
	int r;

	*ret_err = unfit(t);
	if (*ret_err)
		return -EINVAL;
	if (!may_hash(h->stepup)) {
		*ret_err = "too many passphrases at once: wait 10 s";
		return -EAGAIN;
	}
	r = load_passphrase(h, &kept);
	if (r == 0)
		r = check_phrase(h, t, &kept, ret_err);
	else if (r == -ENOKEY && t->what == STEPUP_SET)
		r = 0;
	explicit_bzero(&kept, sizeof(kept));
	if (r == 0 && t->what != STEPUP_CHECK)
		r = keep_phrase(h, t, ret_err);
	if (r < 0 && !*ret_err)
		*ret_err = sentence(r);
	return r;
}

json_t *stepup_status(struct helper *h)
{
	struct passphrase kept = { 0 };
	int r = load_passphrase(h, &kept);
	json_t *j = json_pack("{s:b, s:s, s:i}", "set", r != -ENOKEY, "phrase", kept.phrase, "left",
			      (int)tries_left(h));

	explicit_bzero(&kept, sizeof(kept));
	return j;
}
