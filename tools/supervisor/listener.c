/* Talks to the listener by its ioctls. */
#include "listener.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "supervisor.h"
#include "worker.h"

#define PALE_ADDFD_FLAG_SEND (1u << 1) /* Linux 5.14; Debian 12's headers do not have it */

bool listener_is_valid(const struct supervisor *s, uint64_t id)
{
	/* The ioctl waits for the filter's lock, and a signal may end that. */
	return TEMP_FAILURE_RETRY(ioctl(s->listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &id)) == 0;
}

bool caller_alive(const struct caller *c)
{
	if (c->is_stand_in)
		return !atomic_load(&c->sup->stopping) &&
		       (tgkill(c->tgid, c->tgid, 0) == 0 || errno == EPERM);
	return listener_is_valid(c->sup, c->id);
}

void listener_send(struct supervisor *s, struct seccomp_notif_resp *resp)
{
	(void)TEMP_FAILURE_RETRY(ioctl(s->listener, SECCOMP_IOCTL_NOTIF_SEND, resp));
}

void listener_answer(struct supervisor *s, uint64_t id, int result)
{
	_Alignas(8) uint8_t room[RESPONSE_MAX] = { 0 };
	struct seccomp_notif_resp *resp = (struct seccomp_notif_resp *)room;

	resp->id = id;
	resp->val = result > 0 ? result : 0;
	resp->error = result < 0 ? result : 0;
	listener_send(s, resp);
}

static int add_fd(struct caller *c, int fd, bool cloexec, unsigned flags)
{
	struct seccomp_notif_addfd add = {
		.id = c->id,
		.flags = flags,
		.srcfd = (uint32_t)fd,
		.newfd_flags = cloexec ? O_CLOEXEC : 0,
	};
	int r = ioctl(c->sup->listener, SECCOMP_IOCTL_NOTIF_ADDFD, &add);

	return r < 0 ? -errno : r;
}

int listener_give_fd(struct caller *c, int fd, bool cloexec)
{
	int r = add_fd(c, fd, cloexec, 0);

	return r == -ENOENT ? -ESRCH : r;
}

int listener_answer_fd(struct caller *c, int fd, bool cloexec)
{
	int r = add_fd(c, fd, cloexec, PALE_ADDFD_FLAG_SEND);

	/* ENOENT: the caller was killed, and no answer is due. */
	return r < 0 && r != -ENOENT ? r : 0;
}
