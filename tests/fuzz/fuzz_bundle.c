/* A bundle as it arrives at the helper: any bytes are refused, or read, written and read to the same. */
#include <stdlib.h>
#include <string.h>

#include "policy/parse/parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REQUIRE(x)                                                                                           \
	do {                                                                                                 \
		if (!(x))                                                                                    \
			abort();                                                                             \
	} while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bundle b, again;
	struct policy p;
	struct diags d;
	char *one, *two;
	size_t n_one, n_two;

	if (bundle_decode((const char *)data, size, &b) < 0)
		return 0;
	REQUIRE(bundle_encode(&b, &one, &n_one) == 0);
	REQUIRE(bundle_decode(one, n_one, &again) == 0);
	REQUIRE(bundle_encode(&again, &two, &n_two) == 0);
	REQUIRE(n_one == n_two && memcmp(one, two, n_one) == 0);
	policy_init(&p);
	diags_init(&d);
	(void)policy_parse(&b, &p, &d);
	diags_done(&d);
	policy_done(&p);
	bundle_done(&b);
	bundle_done(&again);
	free(one);
	free(two);
	return 0;
}
