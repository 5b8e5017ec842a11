/*
 * What a process of the session can do to the ring, by system calls that no hook sees.
 *
 *   ring_attack NAME                one attack; ends 0 when the call was refused or did what it may do
 *   ring_attack fuzz SECONDS SEED   writes over all of it, at random, for so long
 *   ring_attack set WORD VALUE      writes one word
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "tests/victims/rawcall.h"

#define PIECE (1 << 20)

static char *map;
static size_t size;
static int fd;
static char path[4096];

static int raw(long nr, long a, long b, long c, long d)
{
	long r = raw_call(nr, a, b, c, d, 0, 0);

	errno = r < 0 ? (int)-r : 0;
	return r < 0 ? -1 : (int)r;
}

static int ring_open(int flags)
{
	return raw(SYS_openat, AT_FDCWD, (long)path, flags, 0600);
}

static void ring_get(void)
{
	struct stat st;

	snprintf(path, sizeof(path), "%s/ring", getenv("PALE_SESSION_DIR"));
	fd = ring_open(O_RDWR | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		err(3, "%s", path);
	size = (size_t)st.st_size;
	map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		err(3, "mmap");
}

/* --- refused ---------------------------------------------------------------------------------------- */

static int shrink(void)
{
	return raw(SYS_ftruncate, fd, 0, 0, 0);
}

static int shrink_a_little(void)
{
	return raw(SYS_ftruncate, fd, (long)size - 1, 0, 0);
}

static int grow(void)
{
	return raw(SYS_ftruncate, fd, (long)size + PIECE, 0, 0);
}

static int fill(void)
{
	return fallocate(fd, 0, (off_t)size, 600 * (off_t)PIECE);
}

static int append(void)
{
	static char piece[PIECE];

	if (fcntl(fd, F_SETFL, O_APPEND) < 0 || write(fd, piece, sizeof(piece)) >= 0)
		return 0;
	return (int)pwrite(fd, piece, sizeof(piece), (off_t)size);
}

static int seal_writes(void)
{
	return fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE);
}

static int seal_later_writes(void)
{
	return fcntl(fd, F_ADD_SEALS, 0x10 /* F_SEAL_FUTURE_WRITE */);
}

/* By the names that a descriptor has. */
static int truncate_by_link(void)
{
	char link[64];

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	if (raw(SYS_truncate, (long)link, 0, 0, 0) == 0)
		return 0;
	return raw(SYS_openat, AT_FDCWD, (long)link, O_RDWR | O_TRUNC, 0);
}

static int truncate_by_mapping(void)
{
	char link[128];

	snprintf(link, sizeof(link), "/proc/self/map_files/%lx-%lx", (unsigned long)map,
		 (unsigned long)map + ((size + 4095) & ~4095ul));
	return raw(SYS_openat, AT_FDCWD, (long)link, O_RDWR | O_TRUNC, 0);
}

/* By the name that no file has. */
static int truncating_open(void)
{
	int got = ring_open(O_RDWR | O_TRUNC);
	struct stat st;

	return got >= 0 && fstat(got, &st) == 0 && st.st_size == (off_t)size ? -1 : got;
}

static int put_a_file_there(void)
{
	return ring_open(O_WRONLY | O_CREAT | O_EXCL);
}

static int put_a_directory_there(void)
{
	return raw(SYS_mkdirat, AT_FDCWD, (long)path, 0700, 0);
}

static int put_a_link_there(void)
{
	return raw(SYS_symlinkat, (long)"/dev/zero", AT_FDCWD, (long)path, 0);
}

/* --- allowed, and no harm ------------------------------------------------------------------------------- */

static int punch(void)
{
	return fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, (off_t)size);
}

static int take_away(void)
{
	return madvise(map, size & ~4095ul, MADV_REMOVE);
}

static int forget(void)
{
	int r = 0;

	for (int advice = 0; advice < 30; advice++)
		if (advice != MADV_REMOVE)
			r |= madvise(map, size & ~4095ul, advice) == 0;
	return r - 1;
}

static int protect(void)
{
	return mprotect(map, size, PROT_NONE);
}

static int remap(void)
{
	char *larger = mremap(map, size, 4 * size, MREMAP_MAYMOVE);

	return larger == MAP_FAILED ? -1 : mprotect(larger, 4 * size, PROT_READ);
}

static int close_to_all(void)
{
	return fchmod(fd, 0);
}

static int zero(void)
{
	memset(map, 0, size);
	return 0;
}

static int ones(void)
{
	memset(map, 0xff, size);
	return 0;
}

static int zero_by_write(void)
{
	struct iovec v = { .iov_base = calloc(1, size), .iov_len = size };

	return pwritev(fd, &v, 1, 0) == (ssize_t)size ? 0 : -1;
}

static const struct {
	const char *name;
	int (*attack)(void);
	int refused; /* 1: it must be, 0: it may be */
} attacks[] = {
	{ "shrink", shrink, 1 },
	{ "shrink_a_little", shrink_a_little, 1 },
	{ "grow", grow, 1 },
	{ "fill", fill, 1 },
	{ "append", append, 1 },
	{ "seal_writes", seal_writes, 1 },
	{ "seal_later_writes", seal_later_writes, 1 },
	{ "truncate_by_link", truncate_by_link, 1 },
	{ "truncate_by_mapping", truncate_by_mapping, 1 },
	{ "truncating_open", truncating_open, 1 },
	{ "put_a_file_there", put_a_file_there, 1 },
	{ "put_a_directory_there", put_a_directory_there, 1 },
	{ "put_a_link_there", put_a_link_there, 1 },
	{ "forget", forget, 0 },
	{ "protect", protect, 0 },
	{ "remap", remap, 0 },
	{ "close_to_all", close_to_all, 0 },
	{ "punch", punch, 0 },
	{ "take_away", take_away, 0 },
	{ "zero", zero, 0 },
	{ "ones", ones, 0 },
	{ "zero_by_write", zero_by_write, 0 },
};

/* --- at random ------------------------------------------------------------------------------------------ */

static uint64_t dice;

static uint64_t roll(void)
{
	dice ^= dice << 13;
	dice ^= dice >> 7;
	return dice ^= dice << 17;
}

/* Words that are near the truth, or far from it. */
static uint64_t word(uint64_t now)
{
	const uint64_t some[] = {
		0,
		1,
		~0ull,
		1ull << 63,
		now + roll() % 8,
		now - roll() % 8,
		now + roll() % 100000,
		now ^ 1ull << roll() % 64,
		roll(),
		roll() % 20000,
		2 | (roll() % 128) << 2 | roll() << 32,
	};

	return some[roll() % (sizeof(some) / sizeof(some[0]))];
}

static void blow(volatile uint64_t *words, size_t n)
{
	const size_t head = 8, tail = 16, slots = 40;
	uint64_t at = words[roll() % 2 ? head : tail];
	size_t near = slots + (at + roll() % 64 - 8) % 16384 * 8;

	switch (roll() % 8) {
	case 0:
		words[roll() % slots] = word(words[roll() % slots]);
		break;
	case 1:
		words[head] = word(words[head]);
		break;
	case 2:
		words[tail] = word(words[tail]);
		break;
	case 3:
	case 4:
		words[near] = word(words[near]);
		break;
	case 5:
		words[near + roll() % 8] = word(at << 32);
		break;
	case 6:
		words[roll() % n] = word(at);
		break;
	default:
		memset((char *)words + roll() % (size - 4096), (int)roll(), roll() % 4096);
	}
}

static int fuzz(double seconds, uint64_t seed)
{
	const bool seldom = seed % 2; /* one at a time: nothing else is there to be noticed */
	struct timespec begun, now;
	double past;

	dice = seed | 1;
	clock_gettime(CLOCK_MONOTONIC, &begun);
	do {
		struct timespec pause = { .tv_nsec = (long)(roll() % 300000) };

		for (uint64_t n = seldom ? 1 : 1ull << roll() % 12; n > 0; n--)
			blow((volatile uint64_t *)map, size / 8);
		if (!seldom && roll() % 64 == 0)
			(void)punch();
		/* Now and then it is left alone, so that records arrive. */
		if (seldom || roll() % 4 == 0)
			pause.tv_nsec *= 100;
		if (seldom)
			pause.tv_nsec *= 10;
		nanosleep(&pause, NULL);
		clock_gettime(CLOCK_MONOTONIC, &now);
		past = (double)(now.tv_sec - begun.tv_sec) + (double)(now.tv_nsec - begun.tv_nsec) / 1e9;
	} while (past < seconds);
	return 0;
}

/* One word of the header, which no call tells. */
static int set_word(size_t at, uint64_t value)
{
	((volatile uint64_t *)map)[at] = value;
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "list") == 0) {
		for (size_t i = 0; i < sizeof(attacks) / sizeof(attacks[0]); i++)
			printf("%s %s\n", attacks[i].refused ? "refused" : "harmless", attacks[i].name);
		return 0;
	}
	ring_get();
	if (argc == 4 && strcmp(argv[1], "fuzz") == 0)
		return fuzz(atof(argv[2]), strtoull(argv[3], NULL, 10));
	if (argc == 4 && strcmp(argv[1], "set") == 0)
		return set_word(strtoull(argv[2], NULL, 0), strtoull(argv[3], NULL, 0));
	for (size_t i = 0; argc == 2 && i < sizeof(attacks) / sizeof(attacks[0]); i++)
		if (strcmp(argv[1], attacks[i].name) == 0)
			return attacks[i].attack() >= 0 && attacks[i].refused;
	return 2;
}
