/* A configuration file of git: read or refused with a line; what it says is its own and changes nothing. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "policy/gitfiles/gitconfig.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gitconfig g;
	unsigned line;

	if (gitconfig_parse((const char *)data, size, &g, &line) < 0) {
		if (g.n != 0 || line == 0)
			abort();
		return 0;
	}
	for (size_t i = 0; i < g.n; i++)
		if (!g.entries[i].section || !g.entries[i].name || !*g.entries[i].name || !g.entries[i].line)
			abort();
	(void)gitconfig_forbidden(NULL, &g, "/w/.git/modules/x", "/w");
	/* What stood there may stay. */
	if (gitconfig_forbidden(&g, &g, "/w/.git", NULL))
		abort();
	gitconfig_done(&g);
	return 0;
}
