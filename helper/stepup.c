/* Step-up: the passphrase's check beside the loop, its limits and records, the file it is kept in. */
#include "stepup.h"

#include <errno.h>
#include <pthread.h>
#include <sodium.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>

#include "policy/passphrase.h"

#define STACK_SIZE (256u << 10)

/* What the thread works on; nobody else touches it until it said so by fd. */
struct stepup_job {
	pthread_t thread;
	int fd;
	enum stepup_what what;
	bool is_set;
	char secret[PASSPHRASE_MAX + 1], fresh[PASSPHRASE_MAX + 1], phrase[PHRASE_MAX + 1];
	struct passphrase kept, made;
	int result;
	/* the loop's */
	char approval[APPROVAL_ID_HEX];
	pid_t pid;
	stepup_done_fn *done;
	void *arg;
};

/* --- when it is needed --- */

/* The strictest of the image and all around it: zero is the strict end. */
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

/* --- the file --- */

bool stepup_is_set(const struct helper *h)
{
	int dir = places_open_user(h);

	/* What cannot be looked at counts as set: then nothing is approved without it. */
	return dir >= 0 &&
	       (faccessat(dir, PASSPHRASE_FILE, F_OK, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT);
}

/* 0, -ENOKEY, or -EBADMSG for what is none, or not ours alone. */
static int load(const struct helper *h, struct passphrase *ret)
{
	_cleanup_close_ int fd = -1;
	int dir = places_open_user(h);
	char text[PASSPHRASE_FILE_MAX + 1];
	struct stat st;
	ssize_t n;
	int r;

	/* No place to keep one in. */
	if (dir < 0)
		return -ENOKEY;
	fd = openat(dir, PASSPHRASE_FILE, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ENOKEY : -EBADMSG;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 077))
		return -EBADMSG;
	n = read(fd, text, sizeof(text));
	r = n > 0 ? passphrase_read(ret, text, (size_t)n) : -EBADMSG;
	explicit_bzero(text, sizeof(text));
	return r;
}

/* Replaced in one step and durable, or the old one stays. */
static int store(const struct helper *h, const struct passphrase *p)
{
	_cleanup_free_ char *text = passphrase_write(p);
	int dir = places_open_user(h);

	if (dir < 0 || !text)
		return dir < 0 ? dir : -ENOMEM;
	return replace_file(dir, PASSPHRASE_FILE, NULL, 0600, text, strlen(text));
}

static int forget_file(const struct helper *h)
{
	int dir = places_open_user(h);

	if (dir < 0)
		return dir;
	if (unlinkat(dir, PASSPHRASE_FILE, 0) < 0)
		return -errno;
	(void)fsync(dir);
	return 0;
}

/* --- the check --- */

static void *work(void *arg)
{
	struct stepup_job *job = arg;
	const uint64_t one = 1;
	int r = 0;

	if (job->is_set)
		r = passphrase_check(&job->kept, job->secret);
	if (r == 0 && job->what == STEPUP_SET)
		r = passphrase_make(&job->made, job->fresh, job->phrase);
	job->result = r;
	(void)!write(job->fd, &one, sizeof(one));
	return NULL;
}

static void job_free(struct stepup_job *job)
{
	if (job->fd >= 0)
		close(job->fd);
	/* Wipes as well. */
	(void)sodium_munlock(job, sizeof(*job));
	free(job);
}

static int start(struct stepup_job *job)
{
	pthread_attr_t attr;
	int r;

	job->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (job->fd < 0)
		return -errno;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	r = pthread_create(&job->thread, &attr, work, job);
	pthread_attr_destroy(&attr);
	return -r;
}

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

static struct stepup_job *job_new(const struct stepup_task *t)
{
	struct stepup_job *job = calloc(1, sizeof(*job));

	if (!job)
		return NULL;
	/* Best effort: RLIMIT_MEMLOCK may leave nothing. */
	(void)sodium_mlock(job, sizeof(*job));
	*job = (struct stepup_job){
		.fd = -1, .what = t->what, .pid = t->pid, .done = t->done, .arg = t->arg
	};
	snprintf(job->secret, sizeof(job->secret), "%s", t->secret);
	snprintf(job->fresh, sizeof(job->fresh), "%s", t->what == STEPUP_SET ? t->fresh : "");
	snprintf(job->phrase, sizeof(job->phrase), "%s", t->what == STEPUP_SET ? t->phrase : "");
	snprintf(job->approval, sizeof(job->approval), "%s", t->approval ? t->approval : "");
	return job;
}

static int charge(struct helper *h, const char **ret_err)
{
	unsigned wait_s = 0;
	int r = tries_charge(h, &wait_s);

	if (r == -EAGAIN) {
		snprintf(h->stepup.err, sizeof(h->stepup.err),
			 "too many wrong passphrases: wait %u s (all sessions count together)", wait_s);
		*ret_err = h->stepup.err;
	} else if (r < 0) {
		*ret_err =
			"wrong passphrases cannot be counted, so none is looked at: see the state directory";
	}
	return r;
}

int stepup_begin(struct helper *h, const struct stepup_task *t, const char **ret_err)
{
	struct stepup_job *job;
	int r;

	*ret_err = unfit(t);
	if (*ret_err)
		return -EINVAL;
	if (h->stepup.job) {
		*ret_err = "another passphrase is being checked: try again";
		return -EBUSY;
	}
	job = job_new(t);
	r = job ? load(h, &job->kept) : -ENOMEM;
	if (r == 0) {
		job->is_set = true;
		r = charge(h, ret_err);
	} else if (r == -ENOKEY && t->what == STEPUP_SET) {
		r = 0;
	}
	if (r == 0) {
		r = start(job);
		if (r < 0 && job->is_set)
			tries_settle(h, r);
	}
	if (r == 0) {
		h->stepup.job = job;
		return 0;
	}
	if (job)
		job_free(job);
	if (!*ret_err)
		*ret_err = stepup_sentence(r);
	return r;
}

int stepup_fd(const struct helper *h)
{
	return h->stepup.job ? h->stepup.job->fd : -1;
}

static void record(struct helper *h, const struct stepup_job *job, const char *op, const char *verdict)
{
	char detail[64];
	const struct event e = { .pid = job->pid,
				 .op = op,
				 .verdict = verdict,
				 .via = "helper",
				 .approval = job->approval,
				 .detail = detail };

	snprintf(detail, sizeof(detail), "%u tries left", tries_left(h));
	if (*verdict == '\0')
		*detail = '\0';
	(void)ledger_append(&h->ledger, &e);
}

/* What follows from the thread's word. */
static int conclude(struct helper *h, struct stepup_job *job)
{
	int r = job->result;

	if (job->is_set)
		tries_settle(h, r);
	if (r == -EACCES)
		record(h, job, "stepup/refused", "deny");
	if (r < 0)
		return r;
	if (job->what == STEPUP_CHECK)
		return 0;
	r = job->what == STEPUP_SET ? store(h, &job->made) : forget_file(h);
	if (r == 0)
		record(h, job, job->what == STEPUP_SET ? "stepup/set" : "stepup/removed", "");
	return r;
}

void stepup_ready(struct helper *h)
{
	struct stepup_job *job = h->stepup.job;
	uint64_t done;
	int r;

	if (!job || read(job->fd, &done, sizeof(done)) != (ssize_t)sizeof(done))
		return;
	(void)pthread_join(job->thread, NULL);
	h->stepup.job = NULL;
	r = conclude(h, job);
	job->done(h, job->arg, r);
	job_free(job);
}

void stepup_end(struct helper *h)
{
	struct stepup_job *job = h->stepup.job;

	if (!job)
		return;
	h->stepup.job = NULL;
	(void)pthread_join(job->thread, NULL);
	if (job->is_set)
		tries_settle(h, job->result);
	job->done(h, job->arg, -ECANCELED);
	job_free(job);
}

json_t *stepup_status(struct helper *h)
{
	struct passphrase kept = { 0 };
	int r = load(h, &kept);
	json_t *j = json_pack("{s:b, s:s, s:i, s:b}", "set", r != -ENOKEY, "phrase", kept.phrase, "left",
			      (int)tries_left(h), "busy", h->stepup.job != NULL);

	explicit_bzero(&kept, sizeof(kept));
	return j;
}

const char *stepup_sentence(int result)
{
	switch (result) {
	case 0:
		return "";
	case -EACCES:
		return "this is not the passphrase";
	case -ENOKEY:
		return "no passphrase is set, and the policy wants one for this: pale passphrase set";
	case -ECANCELED:
		return "the session is over";
	case -EBADMSG:
		return "the kept passphrase cannot be read: it is damaged, or not the helper's alone";
	case -ENOMEM:
		return "the passphrase cannot be checked: out of memory";
	default:
		return "the passphrase cannot be checked or kept";
	}
}
