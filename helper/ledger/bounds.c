/*
 * Limits for each owner, where the helper runs as another user and owns all these files: sessions, memory,
 * bytes of ledgers and of the runtime directory.  A session beyond a limit is refused with a message; a
 * ledger beyond a limit records how much it could not hold.  No owner's use affects another owner.
 */
#include "bounds.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "policy/system/cleanup.h"
#include "policy/system/system.h"

#include "helper/base/places.h"
#include "helper/base/smallfile.h"
#include "helper/base/state.h"

#include "ledger.h"
#include "retention.h"

#define SLOTS_FILE     "slots"
#define SESSIONS_MAX   32
#define MEMORY_MOST    ((rlim_t)192 << 20)
#define RUNTIME_MOST   ((size_t)16 << 20) /* of one session */
#define RUNTIME_OWNER  ((off_t)128 << 20) /* of all sessions of an owner */
#define RUNTIME_SMALL  ((size_t)1 << 20)  /* a session has this much even where half of the disk is full */
#define PAGE	       4096
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

/*
 * Limits memory, and raises the limit on descriptors: the kernel refuses to pass a descriptor where all
 * helpers together have passed more than this number that were not received yet.
 */
static int set_limits(void)
{
	struct rlimit data, files;

	if (getrlimit(RLIMIT_DATA, &data) < 0 || getrlimit(RLIMIT_NOFILE, &files) < 0)
		return -errno;
	files.rlim_cur = files.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &files) < 0)
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
	*ret_err = "the limits of the helper cannot be set";
	return set_limits();
}

/* --- the runtime directory --- */

/*
 * The owner may keep an unlinked file open, so its content is removed, too.  The first page stays: it tells
 * a process that outlives a session of level hooks that its image does not decide any more.
 */
static void drop_file(int dirfd, const char *name)
{
	const uint32_t yes = 1;
	_cleanup_close_ int fd = -1;
	struct stat st;

	if (fchmodat(dirfd, name, 0600, 0) == 0)
		fd = openat(dirfd, name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size > PAGE &&
	    (pwrite(fd, &yes, sizeof(yes), offsetof(struct image_header, superseded)) != sizeof(yes) ||
	     ftruncate(fd, PAGE) < 0))
		return; /* it keeps its name, so it is counted */
	(void)unlinkat(dirfd, name, 0);
}

/* The bytes of all files in the directory, with a page added for each; 0 after `drop`. */
static off_t look_at_files(int at, bool drop)
{
	_cleanup_dir_ DIR *dir = dir_open(at, ".");
	const char *name;
	struct stat st;
	off_t sum = 0;

	while ((name = dir_next(dir)))
		if (drop)
			drop_file(at, name);
		else if (fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
			sum += st.st_size + PAGE;
	return sum;
}

void bounds_empty(int dirfd)
{
	(void)look_at_files(dirfd, true);
}

/*
 * What the owner's sessions store in the runtime directory.  A helper locks its own directory, so a
 * directory that can be locked belongs to a helper that was killed, or that has not begun and has stored
 * nothing.
 */
static off_t runtime_sum(const struct helper *h)
{
	_cleanup_dir_ DIR *dir = dir_open(h->places.runtime, ".");
	const char *name;
	off_t sum = 0;

	while ((name = dir_next(dir))) {
		_cleanup_close_ int fd = openat(dirfd(dir), name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		off_t bytes = fd < 0 ? 0 : look_at_files(fd, false);

		if (bytes > 0 && flock(fd, LOCK_EX | LOCK_NB) == 0) {
			bounds_empty(fd);
			(void)unlinkat(dirfd(dir), name, AT_REMOVEDIR);
			bytes = 0;
		}
		sum += bytes;
	}
	return sum;
}

/* Large policies must not use the second half of the file system. */
static bool has_room(const struct helper *h)
{
	struct statvfs fs;

	return h->runtime_bytes <= RUNTIME_SMALL ||
	       (fstatvfs(h->dir_fd, &fs) == 0 && fs.f_bavail >= fs.f_blocks / 2);
}

int bounds_create(struct helper *h, const char *name, mode_t mode, const void *bytes, size_t len)
{
	int r;

	if (!h->foreign)
		return file_create(h->dir_fd, name, mode, bytes, len);
	if (len > RUNTIME_MOST - h->runtime_bytes)
		return -EDQUOT;
	h->runtime_bytes += len;
	/* Other sessions of the owner wait until the file is there. */
	r = file_lock(h->slots_fd, LOCK_MOMENT_MS);
	if (r == 0 && (!has_room(h) || runtime_sum(h) + (off_t)len > RUNTIME_OWNER))
		r = -EDQUOT;
	if (r == 0)
		r = file_create(h->dir_fd, name, mode, bytes, len);
	(void)flock(h->slots_fd, LOCK_UN);
	return r;
}

int bounds_replace(struct helper *h, const char *fresh, const char *name)
{
	char old[32];

	snprintf(old, sizeof(old), "old.%u", h->replaced++);
	if (h->foreign && linkat(h->dir_fd, name, h->dir_fd, old, 0) < 0 && errno != ENOENT)
		return -errno;
	return renameat(h->dir_fd, fresh, h->dir_fd, name) < 0 ? -errno : 0;
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
	return SESSION_FILES * h->ledger->size;
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
