/*
 * The rings' mappings.  The file of the session's ring belongs to the session's owner as well, so a process
 * inside can cut it short, and then the next look at it raises SIGBUS.  That must cost what the ring held and
 * not the session: the handler puts empty memory in the place of the mapping, which is the least
 * that lets the interrupted look go on, and the loop makes a whole ring of the file again.  Whoever
 * writes goes on in it; that there was a loss is a record.
 *
 * The supervisor's ring has no name and is sealed, so none of this can happen to it.
 */
#include "helper.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>

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

int ringmap_make(struct helper *h, int fd)
{
	struct sigaction sa = { .sa_sigaction = on_bus, .sa_flags = SA_SIGINFO };
	void *map;

	if (ftruncate(fd, (off_t)ring_size()) < 0)
		return -errno;
	map = mmap(NULL, ring_size(), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return -errno;
	/* RANDOM: without readahead, so that the file stays as sparse as its use. */
	(void)madvise(map, ring_size(), MADV_RANDOM);
	guard.base = map;
	guard.size = ring_size();
	if (sigaction(SIGBUS, &sa, NULL) < 0)
		return -errno;
	ring_init(map);
	h->feed[FEED_HOOK].ring = h->feed[FEED_HOOK].reader.h = map;
	return 0;
}

int ringmap_adopt(struct helper *h, int fd)
{
	const int seals = F_SEAL_SHRINK | F_SEAL_GROW, has = fcntl(fd, F_GET_SEALS);
	struct stat st;
	void *map;

	if (has < 0 || (has & seals) != seals || fstat(fd, &st) < 0 || st.st_size != (off_t)ring_size())
		return -EINVAL;
	map = mmap(NULL, ring_size(), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return -errno;
	if (ring_check(map, ring_size()) < 0) {
		(void)munmap(map, ring_size());
		return -EINVAL;
	}
	h->feed[FEED_KERNEL].ring = h->feed[FEED_KERNEL].reader.h = map;
	return 0;
}

/* The file whole and zero; a hole rather than a cut, which would hit the writers. */
static int empty_file(int fd)
{
	if (ftruncate(fd, (off_t)ring_size()) < 0)
		return -errno;
	return fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, (off_t)ring_size()) < 0 ? -errno
												    : 0;
}

/* A cut behind what is in use shows itself to newcomers first: they would find no ring. */
static bool is_cut(const struct helper *h)
{
	struct stat st;

	return guard.cut || (fstat(h->ring_fd, &st) == 0 && st.st_size < (off_t)ring_size());
}

bool ringmap_mend(struct helper *h, uint64_t now_ns)
{
	struct feed *f = &h->feed[FEED_HOOK];

	/* Once a second at most: what cut it may go on cutting, and a full file system stays full. */
	if (now_ns - h->ring_mended_ns < NS_S || !is_cut(h))
		return false;
	h->ring_mended_ns = now_ns;
	guard.cut = 0;
	if (empty_file(h->ring_fd) < 0 || mmap(guard.base, guard.size, PROT_READ | PROT_WRITE,
					       MAP_SHARED | MAP_FIXED, h->ring_fd, 0) == MAP_FAILED)
		guard.cut = 1;
	(void)madvise(guard.base, guard.size, MADV_RANDOM);
	ring_init(f->ring);
	/* Not a count that was there before: somebody may remember by it. */
	atomic_store(&f->ring->moved, now_ns & UINT32_MAX);
	atomic_store(&f->ring->root_pid, (int32_t)h->root_pid);
	atomic_store(&f->ring->closed, h->state == SESSION_ENDING);
	f->reader.next = f->reader.stuck_pos = f->reader.stuck_since_ns = 0;
	f->ring_lost_seen = 0;
	return true;
}
