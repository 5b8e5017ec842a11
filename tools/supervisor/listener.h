/* The listener of the seccomp filter, seccomp_unotify(2): whether a call still waits there, and its answer.
 */
#ifndef PALE_LISTENER_H
#define PALE_LISTENER_H

#include <stdbool.h>
#include <stdint.h>

struct caller;
struct supervisor;

struct seccomp_notif_resp;

/* The call with this id still waits: its caller was not killed, and it has not been answered. */
bool listener_is_valid(const struct supervisor *s, uint64_t id);
/* True while the call waits for its answer. */
bool caller_alive(const struct caller *c);
/* Answers the call that *resp names.  A call that no longer waits is passed over. */
void listener_send(struct supervisor *s, struct seccomp_notif_resp *resp);
/* Answers a call that no worker serves any more: with a value, or -errno. */
void listener_answer(struct supervisor *s, uint64_t id, int result);
/* Puts a copy of the supervisor's descriptor fd into the caller: the number there, or -errno. */
int listener_give_fd(struct caller *c, int fd, bool cloexec);
/* The same, and that number is the call's answer.  0, or -errno and the call still waits for its answer. */
int listener_answer_fd(struct caller *c, int fd, bool cloexec);

#endif
