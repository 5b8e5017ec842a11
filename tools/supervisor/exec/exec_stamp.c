/*
 * Which file a program is, for a question and for what is granted by it.
 *
 * Of a file that the session may write the content counts: a store through a shared mapping that is dirty
 * already changes neither mtime nor ctime.  The content is compared once more when the new program is stopped
 * before its first instruction, because from then on no process can write to the file.
 */
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "policy/base/util.h"
#include "policy/system/cleanup.h"

#include "tools/supervisor/caller.h"
#include "tools/supervisor/procfs.h"

#include "exec.h"

#define HASHED_MAX (1u << 30)
#define HASH_BYTES 16

void exec_stamp(struct exec *x, const struct stat *st, const char *path)
{
	if (exec_is_settled(st))
		return;
	x->stamped = *st;
	x->stamped_at = path;
	x->req.file = x->stamp;
}

/*
 * Opens the very file that was stamped: by the path at which it was found, as the program that process pid
 * runs (0: no process), or by its own path, for the script of an interpreter.  -1: it cannot be opened.
 */
static int open_stamped(const struct exec *x, pid_t pid)
{
	char link[48];
	const char *const paths[] = { x->stamped_at ?: link, x->real };
	struct stat st;
	int fd;

	if (pid)
		(void)snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
	else
		procfs_own_link(x->held, link);
	for (size_t i = 0; i < NELEM(paths); i++) {
		fd = open(paths[i], O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
		if (fd >= 0 && fstat(fd, &st) == 0 && st.st_dev == x->stamped.st_dev &&
		    st.st_ino == x->stamped.st_ino)
			return fd;
		if (fd >= 0)
			(void)close(fd);
	}
	return -1;
}

/* False where the file cannot be read whole. */
static bool hash_content(const struct exec *x, pid_t pid, uint8_t hash[HASH_BYTES])
{
	_cleanup_close_ int fd = open_stamped(x, pid);
	crypto_generichash_state state;
	uint8_t part[16384];
	size_t size = 0;
	ssize_t n;

	if (fd < 0)
		return false;
	crypto_generichash_init(&state, NULL, 0, HASH_BYTES);
	while ((n = read(fd, part, sizeof(part))) > 0 && (size += (size_t)n) <= HASHED_MAX)
		crypto_generichash_update(&state, part, (size_t)n);
	crypto_generichash_final(&state, hash, HASH_BYTES);
	return n == 0;
}

bool exec_stamp_whole(const struct exec *x, pid_t pid, char buf[EXEC_STAMP])
{
	char hex[2 * HASH_BYTES + 1];
	uint8_t hash[HASH_BYTES];

	buf[0] = '\0';
	if (!x->req.file)
		return true;
	if (!hash_content(x, pid, hash))
		return false;
	(void)sodium_bin2hex(hex, sizeof(hex), hash, sizeof(hash));
	(void)snprintf(buf, EXEC_STAMP, "%jx:%ju %jd.%09ld %s", (uintmax_t)x->stamped.st_dev,
		       (uintmax_t)x->stamped.st_ino, (intmax_t)x->stamped.st_ctim.tv_sec,
		       x->stamped.st_ctim.tv_nsec, hex);
	return true;
}

bool exec_stamp_stands(const struct exec *x, pid_t pid)
{
	char now[EXEC_STAMP];

	return !x->req.env || (exec_stamp_whole(x, pid, now) && strcmp(now, x->stamp) == 0);
}
