/*
 * Bounds for each owner where the helper runs as another user, in whose name all is stored: sessions, memory,
 * bytes of ledgers and of the runtime directory.  A session beyond a bound is refused with a message; a
 * ledger beyond a bound records how much it could not hold.  No owner's use affects another owner.
 */
#include "helper.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define SLOTS_FILE     "slots"
#define SESSIONS_MAX   32
#define MEMORY_MOST    ((rlim_t)192 << 20)
#define RUNTIME_MOST   ((size_t)16 << 20)
#define PARTS_MAX      4096
#define SESSION_FILES  8 /* ledger files of full size that a session may write */
#define OWNER_SESSIONS 8 /* running sessions of that size that an owner may have */

/* --- sessions and memory --- */

/* Each session locks one byte of a file.  The kernel releases the lock however this process ends. */
static int take_slot(struct helper *h)
{
	h->slots_fd = openat(h->places.user, SLOTS_FILE, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (h->slots_fd < 0)
		return -errno;
	for (off_t i = 0; i < SESSIONS_MAX; i++) {
		struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = i, .l_len = 1 };

		if (fcntl(h->slots_fd, F_OFD_SETLK, &lock) == 0)
			return 0;
		if (errno != EAGAIN && errno != EACCES)
			return -errno;
	}
	return -EUSERS;
}

static int limit_memory(void)
{
	struct rlimit data;

	if (getrlimit(RLIMIT_DATA, &data) < 0)
		return -errno;
	if (data.rlim_max > MEMORY_MOST)
		data.rlim_max = MEMORY_MOST;
	if (data.rlim_cur > data.rlim_max)
		data.rlim_cur = data.rlim_max;
	return setrlimit(RLIMIT_DATA, &data) < 0 ? -errno : 0;
}

int bounds_enter(struct helper *h, const char **ret_err, const char **ret_path)
{
	int r;

	if (!h->foreign)
		return 0;
	r = places_open_owner(h, ret_err, ret_path);
	if (r < 0)
		return r;
	*ret_err = "the sessions of this user cannot be counted";
	r = take_slot(h);
	if (r == -EUSERS)
		*ret_err =
			"this user has 32 sessions, as many as pale-helper serves one user (pale-helper(8)): "
			"end one, see pale session list";
	if (r < 0)
		return r;
	*ret_err = "the memory of the session cannot be limited";
	return limit_memory();
}

int bounds_runtime(struct helper *h, size_t bytes)
{
	if (!h->foreign)
		return 0;
	if (bytes > RUNTIME_MOST - h->runtime_bytes)
		return -EDQUOT;
	h->runtime_bytes += bytes;
	return 0;
}

/* --- ledgers --- */

static off_t size_of(int sessions, const char *session, const char *file)
{
	char path[128];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", session, file);
	return fstatat(sessions, path, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) ? st.st_size
											     : -1;
}

off_t ledger_bytes(int sessions, const char *session)
{
	off_t n = size_of(sessions, session, LEDGER_FILE), sum = n > 0 ? n : 0;

	for (unsigned part = 1; n >= 0 && part < PARTS_MAX; part++) {
		char file[32];

		snprintf(file, sizeof(file), LEDGER_PART ".gz", part);
		n = size_of(sessions, session, file);
		/* The part may not be compressed yet. */
		file[strlen(file) - strlen(".gz")] = '\0';
		if (n < 0)
			n = size_of(sessions, session, file);
		sum += n > 0 ? n : 0;
	}
	return sum;
}

/* Bytes that this session may write, by the files' size on the disk; a launcher may lower ledger.size. */
static off_t session_most(const struct helper *h)
{
	return SESSION_FILES * h->ledger.size;
}

/* Bytes that all sessions of an owner may have: the ended ones, and OWNER_SESSIONS running ones. */
static off_t owner_most(const struct helper *h)
{
	return ((off_t)h->kept_mib << 20) + OWNER_SESSIONS * session_most(h);
}

int bounds_room(void *ctx)
{
	const struct helper *h = ctx;

	if (ledger_bytes(h->places.sessions, h->session) > session_most(h))
		return -EDQUOT;
	return retention_sum(h) > owner_most(h) ? -EDQUOT : 0;
}
