/*
 * Names and addresses: the session's resolver, what it answered, and questions about a name.
 *
 * Which names an address was given by: what the forwarder's answers said, for as long as they live, and what
 * /etc/hosts says.  Nothing that a process of the session claims is in here.
 *
 * Thread-safe.  Bounded: of more than HOSTS_MAX entries the oldest are forgotten.
 */
#ifndef PALE_HOSTS_H
#define PALE_HOSTS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "policy/base/op.h"

#define HOSTS_MAX 8192
/* Seconds that an answer lives: at least, since programs connect by what they looked up; and at most. */
#define HOSTS_FLOOR 120u
#define HOSTS_CAP   86400u

#define HOSTS_ASKERS 8

struct host_name {
	char name[LIMIT_HOST]; /* what was asked for, lower case, not what a CNAME made of it */
	char approval[40];     /* of the human who let it be looked up, "": the policy did */
	pid_t approved_for;    /* the process that was asked about, 0: none */
	/* Who was answered so, as far as they are remembered: hosts_learn() adds the first to those that are
	 * known already.  n_askers 0: nobody says; more than there is room for: others too. */
	pid_t askers[HOSTS_ASKERS];
	unsigned n_askers;
};

struct hosts;
struct hosts *hosts_new(void);
void hosts_free(struct hosts *h);

/* An answer to a question about `name` holds addr (16 bytes, v4 mapped) for ttl seconds. */
void hosts_learn(struct hosts *h, const struct host_name *name, const uint8_t addr[16], uint32_t ttl);
/* The names that led to addr and still live, newest first; how many. */
size_t hosts_find(struct hosts *h, const uint8_t addr[16], struct host_name *ret, size_t max);
/* All answers age by so many seconds: for tests, which cannot wait. */
void hosts_shift(struct hosts *h, uint32_t seconds);

/* --- hosts_file.c --- */

/* A file of hosts(5), read when it is needed and has changed.  Thread-safe. */
struct hosts_line;
struct hosts_file {
	const char *path;
	pthread_mutex_t lock;
	struct stat seen; /* as it was read */
	char *text;
	struct hosts_line *lines; /* by address */
	size_t n;
};

/* The machine's own. */
struct hosts_file *hosts_file_etc(void);
/* The names that it has for addr, in its order; how many. */
size_t hosts_file_find(struct hosts_file *f, const uint8_t addr[16], struct host_name *ret, size_t max);
/* Forgets what was read. */
void hosts_file_done(struct hosts_file *f);

#endif
