/*
 * pale-helper: the authority of one session.  Started by `pale run`, which hands it a socket as descriptor
 * 3, or by systemd.
 */
#include <malloc.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/judge/eval.h"
#include "policy/question/risk.h"
#include "policy/record/replacefile.h"

#include "helper/base/places.h"
#include "helper/base/state.h"
#include "helper/ledger/ledger.h"

#include "hygiene.h"
#include "serve.h"
#include "start.h"

#ifndef PALE_VERSION
#define PALE_VERSION "unversioned"
#endif

#define EXIT_USAGE  2
#define EXIT_FAILED 125
#define SESSION_FD  3

static int say_and_exit(int code, const char *text)
{
	(void)write_all(STDERR_FILENO, "pale-helper: ", 13);
	(void)write_all(STDERR_FILENO, text, strlen(text));
	(void)write_all(STDERR_FILENO, "\n", 1);
	return code;
}

static bool is_session_socket(void)
{
	socklen_t len = sizeof(int);
	int type = 0;

	return getsockopt(SESSION_FD, SOL_SOCKET, SO_TYPE, &type, &len) == 0 && type == SOCK_SEQPACKET;
}

static int serve(uid_t owner, bool foreign)
{
	struct helper *h;
	int r;

	if (!is_session_socket())
		return say_and_exit(EXIT_USAGE,
				    "descriptor 3 is no session: this program is started by `pale run`");
	h = session_new();
	if (!h)
		return say_and_exit(EXIT_FAILED, "out of memory");
	h->owner = owner;
	h->foreign = foreign;
	h->session_fd = SESSION_FD;
	h->places = PLACES_NONE;
	h->slots_fd = -1;
	h->dir_fd = h->state_fd = h->agent_fd = h->control_fd = h->signal_fd = h->ring_fd = h->ledger->fd =
		-1;
	r = session_start(h);
	if (r == 0)
		r = session_serve(h);
	session_free(h);
	return r;
}

/* Started by systemd as a user of its own: the kernel says which user connected and owns the session. */
static int serve_connection(bool setuid)
{
	struct ucred peer = { .pid = 0, .uid = (uid_t)-1, .gid = (gid_t)-1 };
	socklen_t len = sizeof(peer);

	if (setuid || geteuid() == 0)
		return say_and_exit(EXIT_FAILED,
				    "a service runs as a user of its own, neither setuid nor root");
	if (getsockopt(SESSION_FD, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0 || peer.uid == (uid_t)-1 ||
	    peer.pid <= 0)
		return say_and_exit(EXIT_FAILED, "the connected program cannot be determined");
	if (peer.uid == geteuid())
		return say_and_exit(EXIT_FAILED, "a service is for other users than its own");
	return serve(peer.uid, true);
}

int main(int argc, char *argv[])
{
	const char *err;
	uid_t owner = (uid_t)-1;
	bool foreign = false;
	int r = hygiene(argc, &owner, &foreign, &err);

	if (r != 0)
		return err ? say_and_exit(r, err) : r;
	eval_is_final = risk_is_final;
	if (argc == 2 && strcmp(argv[1], "--version") == 0)
		return write_all(STDOUT_FILENO, "pale-helper " PALE_VERSION "\n",
				 strlen("pale-helper " PALE_VERSION "\n"));
	if (argc == 2 && strcmp(argv[1], "session") == 0)
		return serve(owner, foreign);
	if (argc == 2 && strcmp(argv[1], "service") == 0)
		return serve_connection(foreign);
	return say_and_exit(
		EXIT_USAGE,
		"usage: pale-helper session|service|--version (started by `pale run` or systemd)");
}
