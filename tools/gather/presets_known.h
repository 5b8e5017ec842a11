/*
 * The presets as earlier programs had them: the rules of all presets, as text, in a file of the state
 * directory for each version that a run used.  Only so can a later program say which rules differ.
 */
#ifndef PALE_PRESETS_KNOWN_H
#define PALE_PRESETS_KNOWN_H

#include "policy/rules/rule.h"

struct dirs;

/* The version of this program's presets: its own version and a hash of their text. */
void presets_version(char version[VERSION_MAX]);

/* A rule that is new here (`+`) or gone (`-`), as "preset agent [files] deny = ~/.x", of len bytes. */
typedef void presets_fn(void *ctx, char mark, const char *rule, int len);

/*
 * Calls fn for the rules by which the preset of p, and what is read with it, differs from the newest known
 * version that `version =` of p names, or without that from the one that was used last before this; `since`
 * is that version.  The number of these rules, -ENOENT if no such version is known, -errno.
 */
int presets_compare(const struct dirs *dirs, const struct policy *p, char since[VERSION_MAX], presets_fn *fn,
		    void *ctx);

/* Notes that this version is used: 1 if it was not known before, 0, -errno. */
int presets_use(const struct dirs *dirs);

#endif
