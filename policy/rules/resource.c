/* Values of resource limits: text to number and back. */
#include "policy/base/util.h"
#include "resource.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define KIB (UINT64_C(1) << 10)
#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)
#define TIB (UINT64_C(1) << 40)

/* The units of a value, the largest first. */
struct unit {
	char letter; /* 0: the number alone */
	uint64_t size;
};

static const struct unit bytes[] = { { 'T', TIB }, { 'G', GIB }, { 'M', MIB }, { 'K', KIB } };
static const struct unit percent[] = { { '%', 1 } };
static const struct unit seconds[] = { { 'd', 86400 }, { 'h', 3600 }, { 'm', 60 }, { 's', 1 } };
static const struct unit count[] = { { 0, 1 } };

/* Below `least` no program starts; above `most` a number is taken for a typing error. */
static const struct {
	const char *name, *expected;
	const struct unit *units;
	size_t n_units;
	uint64_t least, most;
} resources[RESOURCE_COUNT] = {
	[RESOURCE_MEMORY] = { "memory", "1M to 1024T, as in 512M or 4G", bytes, NELEM(bytes), MIB,
			      1024 * TIB },
	[RESOURCE_CPU] = { "cpu", "1% to 100000% of one processor, as in 50% or 200%", percent,
			   NELEM(percent), 1, 100000 },
	[RESOURCE_PROCESSES] = { "processes", "1 to 4194304", count, NELEM(count), 1, 4194304 },
	[RESOURCE_FILES] = { "files", "16 to 1048576", count, NELEM(count), 16, 1048576 },
	[RESOURCE_FILE_SIZE] = { "file_size", "1K to 1024T, as in 100M or 10G", bytes, NELEM(bytes), KIB,
				 1024 * TIB },
	[RESOURCE_TIME] = { "time", "1s to 365d, as in 90s, 30m, 2h or 1d", seconds, NELEM(seconds), 1,
			    365 * 86400 },
};

const char *resource_name(enum resource r)
{
	return (unsigned)r < RESOURCE_COUNT ? resources[r].name : "?";
}

enum resource resource_by_name(const char *name)
{
	unsigned r = 0;

	while (r < RESOURCE_COUNT && strcmp(resources[r].name, name) != 0)
		r++;
	return (enum resource)r;
}

const char *resource_expected(enum resource r)
{
	return (unsigned)r < RESOURCE_COUNT ? resources[r].expected : "";
}

static const struct unit *unit_of(enum resource r, const char *letter)
{
	for (size_t i = 0; i < resources[r].n_units; i++) {
		const struct unit *u = &resources[r].units[i];

		if (u->letter == letter[0] && (letter[0] == '\0' || letter[1] == '\0'))
			return u;
	}
	return NULL;
}

int resource_parse(enum resource r, const char *text, uint64_t *ret)
{
	const struct unit *unit;
	uint64_t n = 0;
	size_t i = 0;

	for (; text[i] >= '0' && text[i] <= '9'; i++)
		if (__builtin_mul_overflow(n, 10, &n) ||
		    __builtin_add_overflow(n, (uint64_t)(text[i] - '0'), &n))
			return -EINVAL;
	unit = i > 0 ? unit_of(r, text + i) : NULL;
	if (!unit || __builtin_mul_overflow(n, unit->size, &n) || n < resources[r].least ||
	    n > resources[r].most)
		return -EINVAL;
	*ret = n;
	return 0;
}

const char *resource_text(enum resource r, uint64_t value, char *buf, size_t size)
{
	const struct unit *u = resources[r].units;
	size_t i = 0;

	while (i + 1 < resources[r].n_units && value % u[i].size != 0)
		i++;
	(void)snprintf(buf, size, "%" PRIu64 "%.1s", value / u[i].size, &u[i].letter);
	return buf;
}
