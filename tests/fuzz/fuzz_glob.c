/*
 * Pattern and name: the matcher stays inside both, and the trie agrees with it about one
 * component.  Input: pattern, NUL, name.
 */
#include <stdlib.h>
#include <string.h>

#include "policy/base/path.h"
#include "policy/judge/eval.h"
#include "policy/parse/parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAX_PART 120

static bool is_component(const char *s, size_t n)
{
	if (n == 0 || n > MAX_PART || memchr(s, '/', n) || memchr(s, '\0', n))
		return false;
	return !(n == 1 && s[0] == '.') && !(n == 2 && memcmp(s, "..", 2) == 0);
}

static bool trie_says(const char *pattern, const char *path)
{
	struct rule r = { .kind = RULE_FILE_DENY,
			  .layer = LAYER_USER,
			  .pattern = (char *)(uintptr_t)pattern };
	const struct policy p = { .rules = &r, .n_rules = 1 };
	const struct request req = { .op = OP_READ, .path = path };
	struct image img;
	struct diags d;
	uint8_t *bytes;
	size_t len;
	bool denied;

	diags_init(&d);
	if (image_compile(&p, NULL, &d, &bytes, &len) < 0 || image_open_checked(&img, bytes, len) < 0)
		abort();
	denied = eval(&img, &req).verdict == VERDICT_DENY;
	free(bytes);
	diags_done(&d);
	return denied;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *sep = size ? memchr(data, '\0', size) : NULL;
	size_t n = sep ? (size_t)(sep - data) : 0, m = sep ? size - n - 1 : 0;
	char pattern[MAX_PART + 2] = "/", path[MAX_PART + 2] = "/";
	const char *name = sep ? (const char *)sep + 1 : NULL;
	char buf[64];

	if (!sep || m > 4096 || n > 4096)
		return 0;
	glob_match((const char *)data, n, name, m);
	glob_is_literal((const char *)data, n);
	path_normalise("/base", (const char *)data, buf, sizeof(buf));
	if (!is_component((const char *)data, n) || !is_component(name, m) ||
	    (n == 2 && memcmp(data, "**", 2) == 0))
		return 0;
	memcpy(pattern + 1, data, n);
	memcpy(path + 1, name, m);
	if (trie_says(pattern, path) != glob_match((const char *)data, n, name, m))
		abort();
	return 0;
}
