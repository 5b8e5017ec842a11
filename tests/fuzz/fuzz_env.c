/* A .env file as text: read as assignments or refused with a place, and what is ours of it as a policy. */
#include <stdlib.h>
#include <string.h>

#include "policy/parse/envfile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct seen {
	size_t len, at;
};

/* Every assignment lies in the text, behind the one before. */
static int on_pair(void *ctx, const struct env_pair *pair)
{
	struct seen *s = ctx;

	if (pair->from < s->at || pair->to <= pair->from || pair->to > s->len || pair->line == 0)
		abort();
	s->at = pair->to;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct seen s = { .len = size };
	struct bundle b;
	struct policy p;
	struct diags d;

	diags_init(&d);
	bundle_init(&b);
	policy_init(&p);
	(void)env_read(".env", (const char *)data, size, on_pair, &s, &d);
	/* Of its own, so that no run reads a real one. */
	if (bundle_add_source(&b, SOURCE_PRESET, "preset", "", 0) == 0 &&
	    bundle_add_source(&b, SOURCE_ENV, ".env", (const char *)data, size) == 0)
		(void)policy_parse(&b, &p, &d);
	policy_done(&p);
	bundle_done(&b);
	diags_done(&d);
	return 0;
}
