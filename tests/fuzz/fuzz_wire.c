/* Wire frames: what decodes must encode to the very same bytes. */
#include <stdlib.h>
#include <string.h>

#include "policy/wire/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct wire_ask ask;
	static uint8_t again[LIMIT_FRAME];
	struct wire_narrowed narrowed;
	struct wire_answer answer;
	struct wire_behalf behalf;
	uint32_t image;
	int n;

	if (wire_get_ask(data, size, &ask) == 0) {
		n = wire_put_ask(again, sizeof(again), &ask.req, ask.rule, ask.image, ask.pid);
		if (n < 0 || (size_t)n != size || memcmp(again, data, size) != 0)
			abort();
	}
	if (wire_get_answer(data, size, &answer) == 0) {
		n = wire_put_answer(again, sizeof(again), &answer);
		if (n < 0 || (size_t)n != size || memcmp(again, data, size) != 0)
			abort();
	}
	if (wire_get_narrow(data, size, &image) == 0) {
		n = wire_put_narrow(again, sizeof(again), image);
		if (n < 0 || (size_t)n != size || memcmp(again, data, size) != 0)
			abort();
	}
	if (wire_get_narrowed(data, size, &narrowed) == 0) {
		n = wire_put_narrowed(again, sizeof(again), &narrowed);
		if (n < 0 || (size_t)n != size || memcmp(again, data, size) != 0)
			abort();
	}
	if (wire_get_behalf(data, size, &behalf) == 0) {
		n = wire_put_behalf(again, sizeof(again), &behalf);
		if (n < 0 || (size_t)n != size || memcmp(again, data, size) != 0)
			abort();
	}
	return 0;
}
