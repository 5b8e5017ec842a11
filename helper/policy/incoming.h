/*
 * A policy as it comes in, at the start, for a nested run and with a reload: read, its level compared, its
 * sources and findings put into words.
 */
#ifndef PALE_HELPER_INCOMING_H
#define PALE_HELPER_INCOMING_H

#include <jansson.h>
#include <stddef.h>

#include "policy/base/op.h"

struct bundle;
struct diags;
struct policy;

/* The bundle's text out of a file of at most max bytes (caller frees).  0 or -errno. */
int bundle_read(int fd, size_t max, char **ret, size_t *ret_len);
/* -EBADMSG with a finding where the policy demands a higher level than the session has; 0, -ENOMEM. */
int level_check(const struct policy *p, enum level level, struct diags *d);
/* "preset=NAME sha256=...; policy=/path sha256=..." (caller frees), or NULL. */
char *sources_text(const struct bundle *b, const char *preset);
/* Findings for the launcher or the operator, as many as fit into a packet. */
json_t *diags_json(const struct diags *d);

#endif
