/* Where a pushed branch goes at the remote: the policy's `branch`, such as session/{id}/{branch}. */
#include <stdio.h>
#include <string.h>

#include "service.h"

#define HEADS "refs/heads/"

/* The pattern with the session's id, up to {branch} and after it; false where it is too long.  ret_after is
 * NULL without {branch}. */
static bool split(const char *pattern, const char *session, char ret_before[GIT_REF_MAX],
		  const char **ret_after, bool *ret_id)
{
	size_t n = 0;

	*ret_after = NULL;
	*ret_id = false;
	while (*pattern && n + strlen(session) + 1 < GIT_REF_MAX) {
		if (strncmp(pattern, "{branch}", 8) == 0) {
			*ret_after = pattern + 8;
			break;
		}
		if (strncmp(pattern, "{id}", 4) == 0) {
			n += (size_t)snprintf(ret_before + n, GIT_REF_MAX - n, "%s", session);
			pattern += 4;
			*ret_id = true;
			continue;
		}
		ret_before[n++] = *pattern++;
	}
	ret_before[n] = '\0';
	return !*pattern || *ret_after;
}

const char *target_of(const char *ref, const char *branch, const char *session, char ret[GIT_REF_MAX],
		      bool *ret_own)
{
	char before[GIT_REF_MAX];
	const char *after, *name = ref + strlen(HEADS);
	bool id, is_there;

	*ret_own = false;
	if (strncmp(ref, HEADS, strlen(HEADS)) != 0 || !*name)
		return strncmp(ref, "refs/tags/", 10) == 0 ? "tags are not pushed"
							   : "only branches are pushed";
	if (!split(branch, session, before, &after, &id) || (after && *after))
		return "`branch` of the policy must end with {branch}, or name one branch";
	is_there = after ? strncmp(name, before, strlen(before)) == 0 && name[strlen(before)]
			 : strcmp(name, before) == 0;
	*ret_own = id;
	if (snprintf(ret, GIT_REF_MAX, HEADS "%s%s", is_there ? "" : before,
		     is_there ? name
		     : after  ? name
			      : "") >= GIT_REF_MAX)
		return "its name is too long";
	return NULL;
}
