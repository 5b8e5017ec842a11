/*
 * Resource limits of a session ([limits] in a policy): what can be limited, and values as people write them.
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
	RESOURCE_FILES,	    /* open in one process */
	RESOURCE_FILE_SIZE, /* bytes */
	RESOURCE_TIME,	    /* seconds by the clock, from the session's start */
	RESOURCE_COUNT
};

/* What one limit is and who said so; owns file. */
struct limit {
	uint64_t value; /* 0: none */
	char *file;	/* "policy.ini" as the caller named it, "--limit", or NULL */
	unsigned line;	/* 0: no line */
};

struct limits {
	struct limit of[RESOURCE_COUNT];
	bool best_effort; /* what nothing on this machine enforces is told and not held */
};

/* "memory", "file_size", ...: the key in the policy. */
const char *resource_name(enum resource r);
/* The resource of that name, or RESOURCE_COUNT. */
enum resource resource_by_name(const char *name);
/* What a value looks like, for people. */
const char *resource_expected(enum resource r);
/* "4G", "200%", "2h", "512" to the number: 0 or -EINVAL (see resource_expected()).  Strict: no sign, no
 * blank, one unit where there are units. */
int resource_parse(enum resource r, const char *text, uint64_t *ret);
/* The shortest text that reads back as that number, in buf; returns buf. */
const char *resource_text(enum resource r, uint64_t value, char *buf, size_t size);

#endif
