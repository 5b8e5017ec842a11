/* What `pale` does outside of sessions: see deeds.h. */
#include "deeds.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>

#include "policy/record/digest.h"
#include "policy/system/cleanup.h"

#include "tools/base/output.h"
#include "tools/base/paths.h"
#include "tools/sessions/control_client.h"
#include "tools/sessions/sessions.h"

#include "heads.h"

static int append(struct record *r)
{
	_cleanup_close_ int dir = -1;
	struct timespec now;
	struct dirs dirs;
	struct tm tm;
	size_t n;
	int e = dirs_find(&dirs);

	if (e == 0)
		e = dir_make(dirs.state);
	if (e < 0)
		return e;
	dir = open(dirs.state, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return -errno;
	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &tm);
	n = strftime(r->time, sizeof(r->time), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(r->time + n, sizeof(r->time) - n, ".%06ldZ", now.tv_nsec / 1000);
	r->pid = getpid();
	r->ppid = getppid();
	r->via = "pale";
	e = machine_append(dir, MACHINE_OWN, 0600, getuid(), r);
	if (e == 0)
		heads_keep(&dirs, MACHINE_OWN, r->seq, r->hash, false);
	return e;
}

/* Tells the operator where the record cannot be written. */
static int record(const char *op, const char *verdict, const char *target, const char *detail)
{
	struct record r = { .op = op, .verdict = verdict, .target = target, .detail = detail };
	/* What a session does is in its own ledger, and it cannot write this one. */
	int e = session_around() ? 0 : append(&r);

	if (e < 0)
		talk("%s cannot be recorded (pale log --machine): %s", op,
		     e == -EBADMSG ? "the end of that ledger is damaged: see pale log verify" : strerror(-e));
	return e;
}

int machine_note(const char *op, const char *target, const char *text, size_t len)
{
	char hash[DIGEST_HEX] = "", detail[512];
	unsigned char sum[crypto_hash_sha256_BYTES];

	if (text) {
		crypto_hash_sha256(sum, (const unsigned char *)text, len);
		sodium_bin2hex(hash, sizeof(hash), sum, sizeof(sum));
	}
	snprintf(detail, sizeof(detail), "by=%.256s%s%s", operator_name(), text ? " sha256=" : "", hash);
	return record(op, "", target, detail);
}

void machine_refused(const char *op, const char *why)
{
	(void)record(op, "deny", "", why);
}

int machine_done(const char *op, const char *target, int r)
{
	char detail[128];

	snprintf(detail, sizeof(detail), "not done: %s", r < 0 ? strerror(-r) : "");
	if (r < 0)
		(void)record(op, "", target, detail);
	return r;
}
