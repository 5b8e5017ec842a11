/* JSON-RPC with a session's helper. */
#ifndef PALE_CONTROL_CLIENT_H
#define PALE_CONTROL_CLIENT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* Connects to the helper in session_dir, which must run as this user or as the owner of that directory
 * (otherwise -EPERM).  The socket, or -errno. */
int control_open(const char *session_dir);
/*
 * Calls method (params are taken over, may be NULL).  0 with *ret_result (the caller drops it), or with the
 * helper's own words in why: -EALREADY (the card is closed), -ESTALE (the digest), -EACCES (the
 * passphrase), -EINVAL (the rule), -ENOSYS (no such method), -EREMOTE for any other; or -errno.
 * Notifications that come meanwhile are dropped: a client that subscribed must use another connection for
 * its calls.
 */
int control_call(int fd, const char *method, json_t *params, json_t **ret_result, char *why, size_t size);
/* The name of the operator for the record; it is not verified. */
const char *operator_name(void);
/* Calls log/subscribe.  Returns as control_call(). */
int control_listen(int fd, bool approvals, bool records, char *why, size_t size);
/* The next notification ({"method", "params"}, the caller drops it): 0, -EAGAIN after that time, -EPIPE,
 * -errno. */
int control_next(int fd, int timeout_ms, json_t **ret);

#endif
