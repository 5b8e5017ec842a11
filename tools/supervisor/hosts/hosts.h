/*
 * Names and addresses: the session's resolver, what it answered, and questions about a name.
 *
 * A table of the names that lead to an address: by the forwarder's answers, for as long as they live, and
 * by /etc/hosts.  It contains nothing that a process of the session claims.
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
/* How long an answer is kept, in seconds: a minimum, since programs connect to what they looked up, and a
 * maximum. */
#define HOSTS_FLOOR 120u
#define HOSTS_CAP   86400u

#define HOSTS_ASKERS 8

struct image;

/*
 * The operator's yes to a look-up.  It holds for what one process looks up and connects to by that name, for
 * YES_S, and until the policy is reloaded, as when a grant ends.
 */
#define YES_S 120u
struct host_yes {
	char approval[40]; /* its id; "": the policy allowed the look-up */
	pid_t pid;
	uint64_t start; /* of that process (start_of()): its number may be used again; 0: it was gone, for no
			   process */
	uint64_t until_s;	    /* clock_awake_ns() */
	const struct image *policy; /* the session's when the answer came */
};

struct host_name {
	char name[LIMIT_HOST]; /* the name that was looked up, lower case, not one that a CNAME led to */
	struct host_yes yes;
	/* Processes that got this answer, as far as remembered: hosts_learn() adds the first one to those
	 * that are known already.  n_askers 0: not known; more than HOSTS_ASKERS: others too. */
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
/* True where the yes holds for this process under this policy of the session. */
bool host_yes_holds(const struct host_yes *yes, pid_t pid, const struct image *policy);
/* Ages all answers by this many seconds: for tests. */
void hosts_shift(struct hosts *h, uint32_t seconds);

/* --- hosts_file.c ----------------------------------------------------------------------------------- */

/* A file of hosts(5), read when it is needed and has changed.  Thread-safe. */
struct hosts_line;
struct hosts_file {
	const char *path;
	pthread_mutex_t lock;
	struct stat seen; /* at the last read */
	char *text;
	struct hosts_line *lines; /* by address */
	size_t n;
};

/* The file of the machine, /etc/hosts. */
struct hosts_file *hosts_file_etc(void);
/* Finds the names for addr, in the file's order; returns how many. */
size_t hosts_file_find(struct hosts_file *f, const uint8_t addr[16], struct host_name *ret, size_t max);
/* Frees what was read. */
void hosts_file_done(struct hosts_file *f);

#endif
