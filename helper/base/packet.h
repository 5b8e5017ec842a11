/* Packets of the sockets, their descriptors, and untrusted text as JSON. */
#ifndef PALE_HELPER_PACKET_H
#define PALE_HELPER_PACKET_H

#include <jansson.h>
#include <stddef.h>
#include <sys/types.h>

/* Sends j as one packet and releases it; never blocks. 0 or -errno (-EMSGSIZE beyond LIMIT_FRAME). */
int packet_send_json(int fd, json_t *j);
/* An escaped JSON string of untrusted bytes (new reference), JSON null on ENOMEM. */
json_t *json_escaped(const char *bytes, size_t len);

/* Descriptors that came with a packet, at most `max`; passed_done() closes them. */
#define PASSED_MAX 4
struct passed {
	int fd[PASSED_MAX];
	size_t n, max;
};
void passed_done(struct passed *p);
#define _cleanup_passed_ __attribute__((cleanup(passed_done)))

/*
 * Receives one packet without blocking.  Its length (0: the peer hung up) or -errno: -EAGAIN there is no
 * packet yet, -EMSGSIZE it is too long, -EPERM it came with more descriptors than wanted (these are closed)
 * or its writer is not `writer` (0: any).  passed is NULL where no descriptors are wanted.
 */
ssize_t packet_receive(int fd, char *buf, size_t size, struct passed *passed, pid_t writer);

#endif
