/*
 * A host rule as text and a host as text: parsing accepts or gives a finding, and judging by what
 * was accepted stays inside the image.  Input: rule, NUL, host, the last 16 bytes an address.
 */
#include <stdlib.h>
#include <string.h>

#include "policy/addr.h"
#include "policy/eval.h"
#include "policy/parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void judge(const struct image *img, const char *host, const uint8_t *addr)
{
	static const enum op ops[] = { OP_CONNECT, OP_RESOLVE, OP_BIND };

	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		struct request req = { .op = ops[i], .host = host, .port = 443, .has_addr = addr != NULL };

		if (addr)
			memcpy(req.addr, addr, sizeof(req.addr));
		eval(img, &req);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char text[600] = "";
	struct rule rules[2] = { { .kind = RULE_NET_DENY, .layer = LAYER_USER, .pattern = text },
				 { .kind = RULE_NET_BIND, .layer = LAYER_USER, .pattern = text } };
	struct policy p = { .s = { .network = NETWORK_OPEN }, .rules = rules, .n_rules = 1 };
	const char *host;
	struct image img;
	struct diags d;
	uint8_t *bytes, addr[16];
	size_t len, n;

	n = size < sizeof(text) - 1 ? size : sizeof(text) - 1;
	memcpy(text, data, n);
	len = strlen(text);
	host = text + (len < n ? len + 1 : len);
	addr_parse(host, strlen(host), addr);
	for (unsigned i = 0; i < 2; i++) {
		p.rules = rules + i;
		diags_init(&d);
		if (image_compile(&p, NULL, &d, &bytes, &len) == 0) {
			if (image_open(&img, bytes, len, IMAGE_CHECK_ALL) < 0)
				abort();
			judge(&img, host, NULL);
			judge(&img, host, size >= 16 ? data + size - 16 : NULL);
			judge(&img, NULL, size >= 16 ? data + size - 16 : NULL);
			free(bytes);
		} else if (d.n_errors == 0) {
			abort();
		}
		diags_done(&d);
	}
	return 0;
}
