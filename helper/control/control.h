/* The operator's socket: its connections, its requests and what they subscribe to. */
#ifndef PALE_HELPER_CONTROL_H
#define PALE_HELPER_CONTROL_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct conn;
struct helper;
struct method;

#define CONTROL_MAX	32 /* connections of operators */
#define CONTROL_PER_PID 8

/* Keeps the tables of all methods; the last is NULL.  0 or -ENOMEM. */
int control_init(struct helper *h, const struct method *const tables[]);
void control_done(struct helper *h);
void control_accept(struct helper *h);
void control_ready(struct helper *h, struct conn *c, short events);
/* The events to poll c for. */
short control_events(const struct conn *c);
/* Drops connections that do not read their answers for too long. */
void control_tick(struct helper *h, uint64_t now_ns);

/*
 * Notifies each client that subscribed to approvals (log/subscribe); takes over params.  Never blocks: a
 * client that does not read is dropped.  Methods: approval/request, approval/resolved {id, state, by,
 * scope}, approval/refused, grant/made, grant/revoked, policy/changed, turn/began.
 */
void control_notify(struct helper *h, const char *method, json_t *params);
/* True where a client that subscribed to approvals is connected. */
bool control_has_listener(const struct helper *h);

#endif
