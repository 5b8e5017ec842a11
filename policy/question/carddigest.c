/* The digest of a card; see carddigest.h. */
#include "carddigest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *const card_members[] = { "agent",	"argv",	  "askers", "branch", "cwd",  "env",  "exe",  "file",
				     "id",	"needs",  "offers", "op",     "pid",  "risk", "rule", "sends",
				     "session", "stepup", "target", "to",     "tree", NULL };

/* A new object that shares these members with card; NULL where memory is exhausted. */
static json_t *shown_part(const json_t *card)
{
	json_t *part = json_object();

	for (size_t i = 0; part && card_members[i]; i++) {
		json_t *value = json_object_get(card, card_members[i]);

		if (!value || json_object_set(part, card_members[i], value) == 0)
			continue;
		json_decref(part);
		part = NULL;
	}
	return part;
}

int card_digest(const json_t *card, char hex[DIGEST_HEX])
{
	json_t *part = shown_part(card);
	char *text = part ? json_dumps(part, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
	unsigned char sum[crypto_hash_sha256_BYTES];

	json_decref(part);
	hex[0] = '\0';
	if (!text)
		return -ENOMEM;
	crypto_hash_sha256(sum, (const unsigned char *)text, strlen(text));
	sodium_bin2hex(hex, DIGEST_HEX, sum, sizeof(sum));
	free(text);
	return 0;
}
