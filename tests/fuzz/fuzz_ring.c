/*
 * The ring as a process of the session may leave it: the bytes are written over its header, its first
 * slots and its names.  Reading comes to an end, and what it gives is text that ends and numbers that exist.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "policy/wire/ring_names.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REQUIRE(x)                                                                                           \
	do {                                                                                                 \
		if (!(x))                                                                                    \
			abort();                                                                             \
	} while (0)

#define ROUNDS 64 /* of a reader, each two seconds after the one before */

static struct ring_header *ring;
static struct ring_reader reader;

static bool somebody_lives(int32_t pid)
{
	return pid % 2;
}

static void check(const struct ring_record *r)
{
	REQUIRE(r->op < OP_COUNT && r->reason < REASON_COUNT && r->note < NOTE_COUNT);
	REQUIRE(r->kind == RING_DECISION || r->kind == RING_ATTACH);
	REQUIRE(r->target[r->target_len] == '\0');
	(void)strlen(r->exe);
	(void)strlen(r->approval);
}

static void read_all(void)
{
	struct ring_record r;

	for (uint64_t i = 1; i <= ROUNDS; i++)
		if (ring_read(&reader, i * 2000000000u, somebody_lives, &r) == 1)
			check(&r);
}

/* Half of the bytes are slots, the other half names: by them, the first 16 are an address. */
static void names(const uint8_t *data, size_t size)
{
	char name[LIMIT_HOST];
	uint8_t addr[16] = { 0 };

	memcpy(addr, data, size < sizeof(addr) ? size : sizeof(addr));
	if (ring_name_find(ring, addr, name))
		REQUIRE(memchr(name, '\0', sizeof(name)));
	ring_name_put(ring, addr, "host.example");
	(void)ring_name_find(ring, addr, name);
}

static bool give_up(unsigned round)
{
	(void)round;
	return false;
}

/* A whole record first, so that the bytes may also be a small change of one. */
static void write_one(void)
{
	struct ring_record r = { .kind = RING_DECISION,
				 .op = OP_READ,
				 .reason = REASON_RULE,
				 .note = NOTE_AROUND,
				 .pid = 7,
				 .target = "/etc/passwd",
				 .target_len = 11,
				 .exe = "",
				 .approval = "" };

	(void)ring_write(ring, &r, give_up);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t half = size / 2;
	uint64_t head;

	if (!ring) {
		ring = mmap(NULL, ring_size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		REQUIRE(ring != MAP_FAILED);
	}
	if (size < 1 + sizeof(head) || half > RING_SLOT * RING_RECORD_SLOTS)
		return 0;
	REQUIRE(madvise(ring, ring_size(), MADV_DONTNEED) == 0);
	ring_init(ring);
	memset(&reader, 0, sizeof(reader));
	reader.h = ring;
	write_one();
	memcpy(&head, data, sizeof(head));
	/* Few slots are plausible, anything else is nonsense. */
	if (data[8] & 1)
		atomic_store(&ring->head, data[8] & 2 ? head : head % RING_RECORD_SLOTS);
	for (size_t i = 9; i < half; i++)
		((uint8_t *)(ring + 1))[i - 9] ^= data[i];
	memcpy((char *)ring + ring_names_at(), data + half, size - half);
	read_all();
	names(data + half, size - half);
	read_all();
	return 0;
}
