/* What this process and the supervisor say to each other: see service.h. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "policy/system/cleanup.h"
#include "policy/system/system.h"
#include "policy/wire/wire.h"

#include "tools/base/output.h"

#include "service.h"

#define PACKET_MAX (1u << 20)

/* One packet; the first descriptor with it in *ret_fd, the others are closed.  NULL at the end. */
static json_t *receive(int *ret_fd)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(4 * sizeof(int))];
	_cleanup_free_ char *buf = malloc(PACKET_MAX);
	struct iovec iov = { buf, PACKET_MAX };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)
	};
	ssize_t n = -1;

	*ret_fd = -1;
	while (buf && (n = recvmsg(SUPERVISOR_FD, &msg, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR)
		;
	for (struct cmsghdr *c = n >= 0 ? CMSG_FIRSTHDR(&msg) : NULL; c; c = CMSG_NXTHDR(&msg, c)) {
		int fds[4];
		size_t have = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS || have > 4)
			continue;
		memcpy(fds, CMSG_DATA(c), have * sizeof(int));
		for (size_t i = 0; i < have; i++)
			if (*ret_fd < 0)
				*ret_fd = fds[i];
			else
				close(fds[i]);
	}
	return n <= 0 || msg.msg_flags & MSG_TRUNC ? NULL : json_loadb(buf, (size_t)n, 0, NULL);
}

static bool send_packet(json_t *j)
{
	_cleanup_free_ char *text = j ? json_dumps(j, JSON_COMPACT) : NULL;

	json_decref(j);
	return text && send(SUPERVISOR_FD, text, strlen(text), MSG_NOSIGNAL) >= 0;
}

int supervisor_order(struct service *s)
{
	static const char *const needed[] = {
		"service", "url", "session", "agent", "state", "git", "branch"
	};

	s->order = receive(&s->secrets);
	for (size_t i = 0; i < NELEM(needed); i++)
		if (!*json_str(s->order, needed[i]))
			return -EPROTO;
	s->gate.state = json_str(s->order, "state");
	s->gate.git = json_str(s->order, "git");
	s->gate.url = json_str(s->order, "url");
	return s->gate.state[0] == '/' ? 0 : -EPROTO;
}

bool supervisor_ask(const char *target, const char *aim)
{
	struct pollfd p = { .fd = SUPERVISOR_FD, .events = POLLIN };

	if (!send_packet(json_pack("{s{soso}}", "ask", "target", json_text(target), "aim", json_text(aim))))
		return true;
	return poll(&p, 1, 2 * WIRE_SETTLE_MS) != 0;
}

enum said supervisor_said(char **ret_text)
{
	_cleanup_json_ json_t *answer;
	int fd;

	*ret_text = NULL;
	answer = receive(&fd);
	if (fd >= 0)
		close(fd);
	if (!json_is_boolean(json_object_get(answer, "allow")))
		return SAID_NOTHING;
	*ret_text = strdup(json_str(answer, "text"));
	return json_is_true(json_object_get(answer, "allow")) ? SAID_YES : SAID_NO;
}

void supervisor_done(unsigned change, const char *result, const char *text)
{
	(void)send_packet(json_pack("{s{sissso}}", "done", "change", (int)change, "result", result, "text",
				    json_text(text ?: "")));
}
