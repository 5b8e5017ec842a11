/* A ring of one's own, its reader, and a record: for the suites of the ring. */
#ifndef UNIT_RING_FIXTURE_H
#define UNIT_RING_FIXTURE_H

#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "policy/wire/ring.h"

static struct ring_header *h;
static struct ring_reader *rd;

static void make_ring(void)
{
	h = mmap(NULL, ring_size(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(h, MAP_FAILED);
	ring_init(h);
	ck_assert_int_eq(ring_check(h, ring_size()), 0);
	rd = calloc(1, sizeof(*rd));
	rd->h = h;
}

static void free_ring(void)
{
	munmap(h, ring_size());
	free(rd);
}

static bool alive(int32_t pid)
{
	return kill(pid, 0) == 0 || errno == EPERM;
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

static bool give_up(unsigned round)
{
	(void)round;
	return false;
}

static struct ring_record record(const char *target)
{
	return (struct ring_record){ .kind = RING_DECISION,
				     .op = OP_READ,
				     .verdict = VERDICT_ALLOW,
				     .reason = REASON_RULE,
				     .access = ACCESS_READ,
				     .rule = 3,
				     .pid = getpid(),
				     .ppid = 1,
				     .time_ns = 5,
				     .target = target,
				     .target_len = strlen(target),
				     .exe = "",
				     .approval = "",
				     .why = "" };
}

#endif
