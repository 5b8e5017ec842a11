/*
 * Reloads the policy of a running session: `policy/reload` of the control socket.
 *
 *   asked       the helper sends "gather" to the launcher; the operator's connection waits
 *   gathered    the launcher sends the bundle ("bundle"): the helper compiles it for the session and each
 *               nested run, and writes the new images beside the current ones, under names that no process
 *               of the session may open
 *   taken over  above level hooks, after the supervisor reports that it judges by them ("reloaded"): the new
 *               images take the names of the old ones, the old files are marked, and hooks map the new ones
 *               at their next call
 *
 * Until the last step nothing changes, and a failure before it changes nothing: the operator gets the
 * findings.
 */
#ifndef PALE_HELPER_RELOAD_H
#define PALE_HELPER_RELOAD_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "helper/control/call.h"

struct helper;
struct passed;

extern const struct method control_reload[];

/* Most reloads of one session: the supervisor keeps each image to the end. */
#define RELOADS_MAX 256

/* The launcher's "bundle", with its descriptor, and "reloaded".  -EPROTO: the helper did not request it. */
int reload_gathered(struct helper *h, json_t *msg, const struct passed *passed);
int reload_taken(struct helper *h, json_t *msg);
/* Gives up where the launcher does not answer in time. */
void reload_tick(struct helper *h, uint64_t now_ns);
/* Meanwhile no nested run can be made: its image would be inside one that is about to be replaced. */
bool reload_is_under_way(const struct helper *h);
void reload_free(struct helper *h);

#endif
