/* Ledger lines: any bytes are read or refused, and what is read prints and hashes again to itself. */
#include <stdlib.h>
#include <string.h>

#include "policy/record/chain.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_line(const char *line, size_t len)
{
	struct record_owned a, b;
	const char *err;
	size_t out_len;
	char *out;

	if (record_from_line(line, len, &a, &err) < 0)
		return;
	record_hash(&a.r);
	out = record_to_line(&a.r, &out_len);
	if (!out || record_from_line(out, out_len, &b, &err) < 0)
		abort();
	record_hash(&b.r);
	if (memcmp(a.r.hash, b.r.hash, sizeof(a.r.hash)) != 0)
		abort();
	record_done(&a);
	record_done(&b);
	free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *p = (const char *)data, *end = p + size;
	struct record_chain chain;
	const char *err;
	char *text;

	record_chain_init(&chain);
	while (p < end) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		size_t len = nl ? (size_t)(nl - p) + 1 : (size_t)(end - p);

		(void)record_chain_check(&chain, p, len, &err);
		check_line(p, len);
		p += len;
	}
	text = record_escape((const char *)data, size);
	free(text);
	return 0;
}
