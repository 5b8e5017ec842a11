/*
 * Which files a program is, for a question and for what is granted by it: its own, the interpreters that the
 * first lines of scripts name, and the file that a loader or an interpreter is given.
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
	x->req.file = x->stamp;
	if (x->n_stamped < STAMPED_MAX)
		x->stamped[x->n_stamped] = (struct stamped){ *st, path };
	if (x->n_stamped <= STAMPED_MAX)
		x->n_stamped++;
}

/*
 * Opens the very file that was stamped: by the path at which it was found, as the program that process pid
 * runs (0: no process), or by its own path, for the script of an interpreter.  -1: it cannot be opened.
 */
static int open_stamped(const struct exec *x, const struct stamped *of, pid_t pid)
{
	char link[48];
	const char *const paths[] = { of->path ?: link, x->real };
	struct stat st;
	int fd;

	if (pid)
		(void)snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
	else
		procfs_own_link(x->held, link);
	for (size_t i = 0; i < NELEM(paths); i++) {
		fd = open(paths[i], O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
		if (fd >= 0 && fstat(fd, &st) == 0 && st.st_dev == of->st.st_dev &&
		    st.st_ino == of->st.st_ino)
			return fd;
		if (fd >= 0)
			(void)close(fd);
	}
	return -1;
}

/* False where the file cannot be read whole. */
static bool add_content(crypto_generichash_state *state, const struct exec *x, const struct stamped *of,
			pid_t pid)
{
	_cleanup_close_ int fd = open_stamped(x, of, pid);
	uint8_t part[16384];
	size_t size = 0;
	ssize_t n;

	if (fd < 0)
		return false;
	while ((n = read(fd, part, sizeof(part))) > 0 && (size += (size_t)n) <= HASHED_MAX)
		crypto_generichash_update(state, part, (size_t)n);
	return n == 0;
}

/* Where the file is, and its last change: the length in buf. */
static size_t place_text(const struct stat *st, char buf[EXEC_STAMP])
{
	return (size_t)snprintf(buf, EXEC_STAMP, "%jx:%ju %jd.%09ld ", (uintmax_t)st->st_dev,
				(uintmax_t)st->st_ino, (intmax_t)st->st_ctim.tv_sec, st->st_ctim.tv_nsec);
}

/* The places of all files but the first are hashed, too. */
static bool hash_all(const struct exec *x, pid_t pid, uint8_t hash[HASH_BYTES])
{
	crypto_generichash_state state;
	char place[EXEC_STAMP];

	if (x->n_stamped > STAMPED_MAX)
		return false;
	crypto_generichash_init(&state, NULL, 0, HASH_BYTES);
	for (size_t i = 0; i < x->n_stamped; i++) {
		const struct stamped *of = &x->stamped[i];

		if (i > 0)
			crypto_generichash_update(&state, (const uint8_t *)place, place_text(&of->st, place));
		if (!add_content(&state, x, of, pid))
			return false;
	}
	crypto_generichash_final(&state, hash, HASH_BYTES);
	return true;
}

bool exec_stamp_whole(const struct exec *x, pid_t pid, char buf[EXEC_STAMP])
{
	char hex[2 * HASH_BYTES + 1];
	uint8_t hash[HASH_BYTES];

	buf[0] = '\0';
	if (!x->req.file)
		return true;
	if (!hash_all(x, pid, hash))
		return false;
	(void)sodium_bin2hex(hex, sizeof(hex), hash, sizeof(hash));
	(void)strcpy(buf + place_text(&x->stamped[0].st, buf), hex);
	return true;
}

bool exec_stamp_stands(const struct exec *x, pid_t pid)
{
	char now[EXEC_STAMP];

	return !x->req.env || (exec_stamp_whole(x, pid, now) && strcmp(now, x->stamp) == 0);
}
