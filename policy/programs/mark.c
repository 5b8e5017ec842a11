/* The mark of a session's processes: see mark.h. */
#include "mark.h"

#include <stdlib.h>
#include <string.h>

#include "policy/image/image.h"

#define MARK_MIN 4096u
#define MARK_END 819200u /* the kernel's default limit: getrlimit(2), mq_overview(7) */

uint64_t mark_of(const char *session)
{
	return MARK_MIN + image_checksum(session, strlen(session)) % (MARK_END - MARK_MIN);
}

bool mark_is_in(const char *limits, uint64_t mark)
{
	static const char line[] = "\nMax msgqueue size";
	const char *p = strstr(limits, line);
	char *end;

	/* The soft limit and the hard one. */
	return p && strtoull(p + sizeof(line) - 1, &end, 10) == mark && strtoull(end, NULL, 10) == mark;
}
