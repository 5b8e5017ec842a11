/*
 * Resource limits of a session ([limits] in a policy): the resources, and values as people write them.
 */
#ifndef PALE_RESOURCE_H
#define PALE_RESOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum resource {
	RESOURCE_MEMORY,    /* bytes */
	RESOURCE_CPU,	    /* percent of one processor */
	RESOURCE_PROCESSES, /* and threads */
	RESOURCE_FILES,	    /* descriptors open in one process */
	RESOURCE_FILE_SIZE, /* bytes */
	RESOURCE_TIME,	    /* seconds of real time, from the session's start */
	RESOURCE_COUNT
};

/* One limit, and where it was set; owns file. */
struct limit {
	uint64_t value; /* 0: none */
	char *file;	/* "policy.ini" as the caller named it, "--limit", or NULL */
	unsigned line;	/* 0: no line */
};

struct limits {
	struct limit of[RESOURCE_COUNT];
	bool best_effort; /* a limit that this machine cannot enforce is reported, and the session starts */
};

/* "memory", "file_size", ...: the key in the policy. */
const char *resource_name(enum resource r);
/* The resource of that name, or RESOURCE_COUNT. */
enum resource resource_by_name(const char *name);
/* What a value looks like, for people. */
const char *resource_expected(enum resource r);
/* Parses "4G", "200%", "2h", "512": 0 or -EINVAL (see resource_expected()).  Strict: no sign, no blank, one
 * unit where there are units. */
int resource_parse(enum resource r, const char *text, uint64_t *ret);
/* Writes the number to buf with the largest unit that divides it, so that it parses to the same.  Returns
 * buf. */
const char *resource_text(enum resource r, uint64_t value, char *buf, size_t size);

#endif
