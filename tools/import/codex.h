/*
 * What the readers of codex's config.toml share: codex_config.c, codex_permissions.c.
 */
#ifndef PALE_IMPORT_CODEX_H
#define PALE_IMPORT_CODEX_H

#include "import.h"

#define TOML_NAME    128
#define PROFILES_MAX 32

/* `extends =` of a permission profile. */
struct toml_base {
	char name[TOML_NAME], base[TOML_NAME];
};

struct toml {
	struct import *im;
	const char *p;
	unsigned line;
	char table[TOML_NAME];
	bool choosing; /* the first reading: which profiles hold */
	bool legacy;   /* sandbox_mode is there, so permission profiles do not count */
	char profile[TOML_NAME],
		permissions[TOML_NAME]; /* chosen by `profile =`, `default_permissions =`, or "" */
	struct toml_base bases[PROFILES_MAX];
	size_t n_bases;
	bool network, sandboxed; /* what was said of them */
	bool seen, never;	 /* the profile is there; nothing is asked */
	bool roots, reads,
		named; /* workspace roots may be written; everything may be read; hosts are named */
};

/* --- codex_config.c --- */

void toml_skip_blanks(struct toml *t, bool lines);
/* A key, quoted or not; false where it is none. */
bool toml_key(struct toml *t, char key[TOML_NAME]);
/* A string, a boolean, a list of strings or a table in braces; NULL for what is none of these. */
json_t *toml_value(struct toml *t);
/* sandbox_mode, and network_access of old. */
void codex_mode(struct toml *t, const char *from, const json_t *value);
void codex_network(struct toml *t, const char *from, const json_t *value);

/* --- codex_permissions.c --- */

/* The profile that is chosen, and those beneath it, have been found: what it lies on. */
void permissions_begin(struct toml *t);
/* One pair of a [permissions...] table. */
void permissions_pair(struct toml *t, const char *key, const char *from, const json_t *value);
/* What holds where the profile says nothing of it. */
void permissions_end(struct toml *t);

#endif
