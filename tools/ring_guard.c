/*
 * The session's ring is a file of the user's, so a process inside can cut it short, and the next look
 * at it raises SIGBUS here.  That may cost what the ring is good for (names, the count of renames, the
 * proof that the hooks attached), never the supervisor: the handler puts empty memory in its place, and
 * the file is mapped again once the helper has made it whole.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "policy/ring.h"

#include "tools.h"

static struct {
	char *base;
	size_t size;
	volatile sig_atomic_t cut;
} guard;

/* async-signal-safe: one system call, no state but the flag. */
static void on_bus(int sig, siginfo_t *si, void *context)
{
	const char *at = si->si_addr;
	const int how = MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS;

	(void)context;
	if (si->si_code > 0 && guard.base && at >= guard.base && at < guard.base + guard.size &&
	    mmap(guard.base, guard.size, PROT_READ | PROT_WRITE, how, -1, 0) != MAP_FAILED) {
		guard.cut = 1;
		return;
	}
	/* Not ours to survive: the instruction is run again and ends the process. */
	(void)signal(sig, SIG_DFL);
}

void ring_guard(struct ring_header *ring)
{
	struct sigaction sa = { .sa_sigaction = on_bus, .sa_flags = SA_SIGINFO };

	guard.base = (char *)ring;
	guard.size = ring_size();
	(void)sigaction(SIGBUS, &sa, NULL);
}

void ring_mend(const struct launch *l)
{
	_cleanup_close_ int fd = -1;
	char path[PATH_MAX];
	struct stat st;

	if (!guard.cut || path_join(path, sizeof(path), l->runtime_dir, WIRE_RING_FILE) < 0)
		return;
	fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0 || fstat(fd, &st) < 0 || st.st_size < (off_t)guard.size)
		return;
	guard.cut = 0;
	(void)mmap(guard.base, guard.size, PROT_READ | PROT_WRITE, MAP_FIXED | MAP_SHARED, fd, 0);
}
