/*
 * The policy of a running session loaded anew: `policy/reload` of the control socket.
 *
 *   asked       the launcher is told to gather ("gather"); an operator's connection waits
 *   gathered    its bundle came ("bundle"): compiled for the session and each nested run, the images
 *               laid beside those that hold, under names that no process of the session may open
 *   taken over  above level hooks the supervisor said that it judges by them ("reloaded"): they take the old
 *               ones' names, the old files are marked, and hooks map anew at their next call
 *
 * Until the last step everything is as it was, and whatever goes wrong leaves it so: the operator is told
 * with the findings.  Included by helper.h.
 */
#ifndef PALE_HELPER_RELOAD_H
#define PALE_HELPER_RELOAD_H

#include <jansson.h>

#include "policy/image/image.h"

struct bundle;
struct diags;
struct helper;
struct passed;
struct reload;

/* Of one session at most: the supervisor keeps each image to the end. */
#define RELOADS_MAX 256

/* The launcher's "bundle", with its descriptor, and "reloaded".  -EPROTO: nobody asked for that. */
int reload_gathered(struct helper *h, json_t *msg, const struct passed *passed);
int reload_taken(struct helper *h, json_t *msg);
/* Gives up what the launcher does not answer. */
void reload_tick(struct helper *h, uint64_t now_ns);
/* No nested run can be made meanwhile: its image would be inside one that is about to go. */
bool reload_is_under_way(const struct helper *h);
/* The image that a record of the ring names (policy/wire/ring.h), of this generation or one before; or NULL.
 */
const struct image *image_recorded(const struct helper *h, uint32_t numbered);
void reload_free(struct helper *h);

/* start.c: findings for the launcher or the operator, as many as fit into a packet. */
json_t *diags_json(const struct diags *d);

#endif
