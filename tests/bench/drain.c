/*
 * How fast the helper brings records from the supervisor's ring to the disk: this process plays the
 * launcher of one session, writes records of which no two are alike, and waits for the ledger's end.
 *
 *   drain HELPER DIRECTORY [RECORDS [RATE]]
 *
 * RATE records a second at most; 0, the default, is as fast as the ring takes them.  Writes, between tabs:
 * records a second from the first record to the helper's goodbye, the helper's CPU time a record in
 * nanoseconds, how many were lost, records in the ledger.
 */
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "policy/wire/ring.h"
#include "policy/wire/wire.h"

#define NONCE "000102030405060708090a0b0c0d0e0f"

static double now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static int memory(const char *name, const void *bytes, size_t len, size_t size)
{
	int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0 || write(fd, bytes, len) != (ssize_t)len || ftruncate(fd, (off_t)size) < 0 ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
		err(1, "memfd");
	return fd;
}

static struct ring_header *make_ring(int *ret_fd)
{
	struct ring_header *ring;

	*ret_fd = memory("ring", "", 0, ring_size());
	ring = mmap(NULL, ring_size(), PROT_READ | PROT_WRITE, MAP_SHARED, *ret_fd, 0);
	if (ring == MAP_FAILED)
		err(1, "mmap");
	ring_init(ring);
	return ring;
}

static pid_t start_helper(const char *path, int *ret_fd)
{
	int sv[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv) < 0)
		err(1, "socketpair");
	pid = fork();
	if (pid == 0) {
		dup2(sv[1], 3);
		execl(path, "pale-helper", "session", (char *)NULL);
		err(127, "%s", path);
	}
	close(sv[1]);
	*ret_fd = sv[0];
	return pid;
}

static void send_start(int fd, const char *dir, int ring_fd)
{
	/* As policy/compile/bundle.c has it: two words of bits, five strings, nine empty lists. */
	static const char bundle[] = "\x1f\0\0\0"
				     "\x10\0\0\0"
				     "\x0d\0\0\0/home/nobody\0"
				     "\x05\0\0\0/srv\0"
				     "\x05\0\0\0/srv\0"
				     "\x06\0\0\0bench\0"
				     "\x06\0\0\0bench\0"
				     "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
				     "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
	int session_ring;
	int fds[3] = { memory("bundle", bundle, sizeof(bundle) - 1, sizeof(bundle) - 1), -1, ring_fd };
	union {
		struct cmsghdr c;
		char buf[CMSG_SPACE(sizeof(fds))];
	} control = { 0 };
	char text[2048];
	struct iovec iov = { .iov_base = text };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = control.buf,
			      .msg_controllen = sizeof(control.buf) };

	(void)make_ring(&session_ring);
	fds[1] = session_ring;
	iov.iov_len = (size_t)snprintf(
		text, sizeof(text),
		"{\"type\":\"start\",\"version\":%d,\"session\":\"bench\",\"runtime_dir\":\"%s/r/bench\","
		"\"state_dir\":\"%s/s/bench\",\"agent\":\"bench\",\"level\":\"full\",\"argv\":[],"
		"\"not_enforced\":\"\",\"facts\":\"\",\"limits\":\"\",\"reach\":[],\"environment\":{},"
		"\"nonce\":\"" NONCE "\"}",
		START_VERSION, dir, dir);
	control.c.cmsg_level = SOL_SOCKET;
	control.c.cmsg_type = SCM_RIGHTS;
	control.c.cmsg_len = CMSG_LEN(sizeof(fds));
	memcpy(CMSG_DATA(&control.c), fds, sizeof(fds));
	if (sendmsg(fd, &msg, 0) < 0)
		err(1, "sendmsg");
}

/* Waits for the packet of this type. */
static void await(int fd, const char *type)
{
	char buf[65536], want[64];
	ssize_t n;

	snprintf(want, sizeof(want), "\"type\":\"%s\"", type);
	while ((n = recv(fd, buf, sizeof(buf) - 1, 0)) > 0) {
		buf[n] = '\0';
		if (strstr(buf, want))
			return;
		fprintf(stderr, "drain: %s", buf);
	}
	errx(1, "the helper is gone before it said %s", type);
}

static bool wait_a_little(unsigned round)
{
	const struct timespec ts = { .tv_nsec = 200000 };

	nanosleep(&ts, NULL);
	return round < 100000;
}

static void produce(struct ring_header *ring, long n, double rate)
{
	double start = now_s();
	char path[128];

	for (long i = 0; i < n; i++) {
		const struct timespec ms = { .tv_nsec = 1000000 };
		struct timespec at;
		struct ring_record r = { .kind = RING_DECISION,
					 .op = OP_WRITE,
					 .verdict = VERDICT_ALLOW,
					 .reason = REASON_INSIDE,
					 .access = ACCESS_WRITE,
					 .pid = getpid(),
					 .ppid = 1,
					 .target = path,
					 .exe = "",
					 .approval = "" };

		clock_gettime(CLOCK_REALTIME, &at);
		r.time_ns = (uint64_t)at.tv_sec * 1000000000u + (uint64_t)at.tv_nsec;
		r.target_len = (size_t)snprintf(
			path, sizeof(path), "/home/u/project/build/objects/module-%ld/file-%ld.o", i % 97, i);
		if (ring_write(ring, &r, wait_a_little) != RING_WRITTEN)
			atomic_fetch_add(&ring->lost, 1);
		while (rate > 0 && (double)i > (now_s() - start) * rate)
			nanosleep(&ms, NULL);
	}
}

int main(int argc, char **argv)
{
	long n = argc > 3 ? atol(argv[3]) : 600000;
	double rate = argc > 4 ? atof(argv[4]) : 0, start, took;
	struct ring_header *ring;
	struct rusage ru;
	int fd, ring_fd, status;
	char path[4096];
	pid_t pid;

	if (argc < 3)
		errx(2, "usage: drain HELPER DIRECTORY [RECORDS [RATE]]");
	snprintf(path, sizeof(path), "%s/r", argv[2]);
	(void)mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/s", argv[2]);
	(void)mkdir(path, 0700);
	ring = make_ring(&ring_fd);
	pid = start_helper(argv[1], &fd);
	send_start(fd, argv[2], ring_fd);
	await(fd, "ready");
	start = now_s();
	produce(ring, n, rate);
	if (send(fd, "{\"type\":\"exit\",\"status\":\"exit 0\"}", 33, 0) < 0)
		err(1, "send");
	await(fd, "bye");
	if (wait4(pid, &status, 0, &ru) != pid || status != 0)
		errx(1, "the helper ended with %d", status);
	/* Until all is on the disk. */
	took = now_s() - start;
	printf("%.0f\t%.0f\t%lu\t%ld\n", (double)n / took,
	       ((double)(ru.ru_utime.tv_sec + ru.ru_stime.tv_sec) * 1e9 +
		(double)(ru.ru_utime.tv_usec + ru.ru_stime.tv_usec) * 1e3) /
		       (double)n,
	       (unsigned long)atomic_load(&ring->lost), n);
	return 0;
}
