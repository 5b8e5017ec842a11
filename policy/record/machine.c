/* The machine's ledger: see machine.h. */
#include "machine.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/system/cleanup.h"
#include "policy/system/system.h"

#include "replacefile.h"

#define TAIL_MAX (32 << 10) /* a record is far shorter */
#define WAIT_MS	 2000

static int open_ledger(int dir, const char *name, mode_t mode)
{
	_cleanup_close_ int sub = -1;
	int fd, r;

	if (mkdirat(dir, name, 0700) < 0 && errno != EEXIST)
		return -errno;
	sub = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	/* A user that may read the file may search its directory. */
	if (sub < 0 || fchmod(sub, 0700 | (mode & 0044) | (mode & 0044) >> 2) < 0)
		return -errno;
	fd = openat(sub, "ledger.jsonl",
		    O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, mode);
	/* Whatever the umask is. */
	if (fd < 0 || (fchmod(fd, mode) == 0 && fsync(sub) == 0 && fsync(dir) == 0))
		return fd < 0 ? -errno : fd;
	r = -errno;
	close(fd);
	return r;
}

/* Sets seq and prev of r from the last whole record, and *ret_end to its end: a writer that was killed may
 * have left a part of one after it. */
static int follow_last(int fd, struct record *r, off_t *ret_end)
{
	char tail[TAIL_MAX];
	struct record_owned last;
	const char *line, *end, *err;
	struct stat st;
	ssize_t n;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid())
		return -EPERM;
	*ret_end = st.st_size > TAIL_MAX ? st.st_size - TAIL_MAX : 0;
	n = read_up_to(fd, tail, TAIL_MAX, *ret_end);
	if (n < 0)
		return (int)n;
	end = memrchr(tail, '\n', (size_t)n);
	if (!end) {
		r->seq = 1;
		record_genesis(r->session, r->prev);
		return *ret_end == 0 ? 0 : -EBADMSG;
	}
	line = memrchr(tail, '\n', (size_t)(end - tail));
	line = line ? line + 1 : tail;
	if (record_from_line(line, (size_t)(end - line), &last, &err) < 0)
		return -EBADMSG;
	r->seq = last.r.seq + 1;
	memcpy(r->prev, last.r.hash, sizeof(r->prev));
	record_done(&last);
	*ret_end += end + 1 - tail;
	return 0;
}

/* Writes the line whole or not at all. */
static int write_line(int fd, off_t end, const struct record *r)
{
	size_t len = 0;
	_cleanup_free_ char *line = record_to_line(r, &len);
	int e;

	if (!line)
		return -ENOMEM;
	if (ftruncate(fd, end) < 0)
		return -errno;
	e = write_all(fd, line, len);
	if (e == 0 && fdatasync(fd) < 0)
		e = -errno;
	if (e < 0)
		(void)!ftruncate(fd, end);
	return e;
}

int machine_append(int dir, const char *name, mode_t mode, uid_t owner, struct record *r)
{
	_cleanup_close_ int fd = open_ledger(dir, name, mode);
	_cleanup_free_ char *exe = NULL, *target = NULL, *detail = NULL, *first = NULL;
	off_t end = 0;
	int e = fd < 0 ? fd : file_lock(fd, WAIT_MS);

	r->session = name;
	r->count = 1;
	if (e == 0)
		e = follow_last(fd, r, &end);
	if (e < 0)
		return e;
	exe = record_escape(r->exe ?: "", strlen(r->exe ?: ""));
	target = record_escape(r->target ?: "", strlen(r->target ?: ""));
	detail = record_escape(r->detail ?: "", strlen(r->detail ?: ""));
	if (!exe || !target || !detail)
		return -ENOMEM;
	/* The first record says whose the ledger is, in the form of a session's. */
	if (r->seq == 1 && asprintf(&first, "level=none; owner=%u; %s", (unsigned)owner, detail) < 0) {
		first = NULL;
		return -ENOMEM;
	}
	r->exe = exe;
	r->target = target;
	r->detail = first ?: detail;
	record_hash(r);
	e = write_line(fd, end, r);
	r->exe = r->target = r->detail = "";
	return e;
}
