/*
 * Which file a program is, for a question and for what is granted by it.
 *
 * Of a file that the session may write the content counts: a store through a shared mapping that is dirty
 * already changes neither mtime nor ctime.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <unistd.h>

#include "policy/system/cleanup.h"

#include "tools/supervisor/caller.h"
#include "tools/supervisor/procfs.h"

#include "exec.h"

#define HASHED_MAX (16 << 20)
#define HASH_BYTES 16

void exec_stamp(struct exec *x, const struct stat *st, const char *path)
{
	if (exec_is_settled(st))
		return;
	x->stamped = *st;
	x->stamped_at = path;
	x->req.file = x->stamp;
}

/* The content of the very file that was stamped; false where it cannot be read whole. */
static bool hash_content(const struct exec *x, uint8_t hash[HASH_BYTES])
{
	char link[PROCFS_LINK_MAX];
	_cleanup_close_ int fd = -1;
	crypto_generichash_state state;
	uint8_t part[16384];
	size_t size = 0;
	struct stat st;
	ssize_t n;

	procfs_own_link(x->held, link);
	fd = open(x->stamped_at ? x->stamped_at : link, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 || fstat(fd, &st) < 0 || st.st_dev != x->stamped.st_dev || st.st_ino != x->stamped.st_ino)
		return false;
	crypto_generichash_init(&state, NULL, 0, HASH_BYTES);
	while ((n = read(fd, part, sizeof(part))) > 0 && (size += (size_t)n) <= HASHED_MAX)
		crypto_generichash_update(&state, part, (size_t)n);
	crypto_generichash_final(&state, hash, HASH_BYTES);
	return n == 0;
}

void exec_stamp_whole(const struct exec *x, const struct caller *c, char buf[EXEC_STAMP])
{
	char hex[2 * HASH_BYTES + 1];
	uint8_t hash[HASH_BYTES];

	buf[0] = '\0';
	if (!x->req.file)
		return;
	if (hash_content(x, hash))
		(void)sodium_bin2hex(hex, sizeof(hex), hash, sizeof(hash));
	else
		(void)snprintf(hex, sizeof(hex), "unread %" PRIx64, c->id);
	(void)snprintf(buf, EXEC_STAMP, "%jx:%ju %jd.%09ld %s", (uintmax_t)x->stamped.st_dev,
		       (uintmax_t)x->stamped.st_ino, (intmax_t)x->stamped.st_ctim.tv_sec,
		       x->stamped.st_ctim.tv_nsec, hex);
}
