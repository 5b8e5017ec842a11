/* pale-gate: one fetch or push of an agent's git, served outside the session; see service.h. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "policy/base/buf.h"
#include "policy/programs/mark.h"
#include "policy/record/replacefile.h"
#include "policy/system/cleanup.h"
#include "policy/system/system.h"

#include "tools/base/output.h"

#include "service.h"

#define EXIT_USAGE  2
#define EXIT_FAILED 125
#define SERVE_MS    (3600 * 1000ll) /* of a fetch, or until what is pushed has come in */
#define END_MS	    30000	    /* after the answer */

/* git shows it as `remote error: WHY`. */
static int say_error(const char *why)
{
	char line[WHY_MAX + 8];
	int n = snprintf(line, sizeof(line), "ERR %s", why);

	(void)pkt_write(STDOUT_FILENO, line, (size_t)n);
	return EXIT_FAILED;
}

/* The three descriptors of the hook.  False where it sends none: then no ref is pushed. */
static bool take_hook(int hook, int fds[3])
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(3 * sizeof(int))];
	char byte;
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)
	};
	struct cmsghdr *c;

	if (recvmsg(hook, &msg, MSG_CMSG_CLOEXEC | MSG_DONTWAIT) != 1 || !(c = CMSG_FIRSTHDR(&msg)) ||
	    c->cmsg_type != SCM_RIGHTS || c->cmsg_len != CMSG_LEN(3 * sizeof(int)))
		return false;
	memcpy(fds, CMSG_DATA(c), 3 * sizeof(int));
	return true;
}

static void serve_hook(struct service *s, const struct intake *in)
{
	struct pollfd p = { .fd = in->hook, .events = POLLIN };
	int fds[3] = { -1, -1, -1 };
	uint8_t status;

	/* It ends, too, where all of the intake has ended. */
	if (poll(&p, 1, (int)SERVE_MS) <= 0 || !take_hook(in->hook, fds))
		return;
	status = (uint8_t)receive_commands(s, fds[0], fds[1], fds[2]);
	for (size_t i = 0; i < NELEM(fds); i++)
		cleanup_close(&fds[i]);
	(void)send(in->hook, &status, 1, MSG_NOSIGNAL);
}

static int serve(struct service *s)
{
	const char *service = json_str(s->order, "service");
	bool push = strcmp(service, "git-receive-pack") == 0;
	char why[WHY_MAX] = "", host[256];
	struct intake in;

	if (!push && strcmp(service, "git-upload-pack") != 0)
		return say_error("pale serves git-upload-pack and git-receive-pack");
	if (!courier_takes(s->gate.url, host, sizeof(host)))
		return say_error("pale fetches and pushes by https, http, ssh, git and HOST:PATH alone");
	if (gate_refresh(&s->gate, why) < 0 || intake_start(s, push, &in, why) < 0)
		return say_error(why);
	if (push)
		serve_hook(s, &in);
	intake_end(&in, push ? END_MS : SERVE_MS);
	return 0;
}

static bool is_supervised(void)
{
	socklen_t len = sizeof(int);
	int type = 0;

	return getsockopt(SUPERVISOR_FD, SOL_SOCKET, SO_TYPE, &type, &len) == 0 && type == SOCK_SEQPACKET;
}

int main(int argc, char *argv[])
{
	static const char version[] = "pale-gate " PALE_VERSION "\n";
	struct service s = { .secrets = -1 };
	const char *name = argc > 0 ? strrchr(argv[0], '/') : NULL;
	int r;

	name = name ? name + 1 : argc > 0 ? argv[0] : "";
	if (strcmp(name, "pre-receive") == 0)
		return hook_pre_receive();
	if (strcmp(name, "proc-receive") == 0)
		return hook_proc_receive();
	if (argc == 2 && strcmp(argv[1], "--version") == 0)
		return write_all(STDOUT_FILENO, version, strlen(version)) < 0;
	if (argc != 1 || !is_supervised()) {
		fprintf(stderr,
			"pale-gate: it is started by `pale run`, with the supervisor as descriptor 3\n");
		return EXIT_USAGE;
	}
	(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	if (setrlimit(MARK_RESOURCE, &(struct rlimit){ MARK_OUTSIDE, MARK_OUTSIDE }) < 0)
		return EXIT_USAGE;
	(void)signal(SIGPIPE, SIG_IGN);
	(void)fcntl(SUPERVISOR_FD, F_SETFD, FD_CLOEXEC);
	r = supervisor_order(&s) < 0 ? say_error("the supervisor gave no order") : serve(&s);
	json_decref(s.order);
	cleanup_close(&s.secrets);
	return r;
}
