/*
 * Questions to a name server, built by hand, and the ways to it.
 */
#ifndef PALE_TESTS_ESCAPES_DNSQUERY_H
#define PALE_TESTS_ESCAPES_DNSQUERY_H

#include "netprobe.h"

#define PATIENCE 150 /* ms */

#define A	  1
#define CNAME	  5
#define PTR	  12
#define TXT	  16
#define AAAA	  28
#define SRV	  33
#define OPT	  41
#define HTTPS	  65
#define AXFR	  252
#define ANY	  255
#define IN	  1
#define CHAOS	  3
#define RESPONSE  0x8000
#define NOTIFY	  0x2000
#define UPDATE	  0x2800
#define RECURSIVE 0x0100

struct message {
	uint8_t text[2048];
	size_t len;
};

void put8(struct message *m, unsigned v);
void put16(struct message *m, unsigned v);
void put_bytes(struct message *m, const void *text, size_t len);
void put_label(struct message *m, const void *text, size_t len);
void put_name(struct message *m, const char *dotted);
void put_header(struct message *m, unsigned id, unsigned flags, unsigned questions, unsigned more);
/* One for the name, of class IN. */
struct message *ask(struct message *m, const char *name, unsigned type);

/* PREFIX, the probe's name, SUFFIX; in a buffer that is used again. */
const char *named(const char *prefix, const char *suffix);
/* The probe's name where nobody may ask for it. */
const char *leak(void);

/* STOPPED, once the socket has something to read, or for PATIENCE; closes it. */
int await(int s);
int by_udp(const char *server, unsigned port, const struct message *m);
int by_tcp(const char *server, unsigned port, const struct message *m);

#endif
