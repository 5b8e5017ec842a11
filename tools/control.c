/*
 * The operator's side of a session: JSON-RPC 2.0 with its helper, one line a packet.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include "policy/wire.h"

#include "foreign.h"
#include "tools.h"

/* A helper that does not answer in this time is as good as dead. */
#define ANSWER_SECONDS 10

int control_open(const char *session_dir)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	struct timeval patience = { .tv_sec = ANSWER_SECONDS };
	int fd, r;

	r = snprintf(sun.sun_path, sizeof(sun.sun_path), "%s/%s", session_dir, WIRE_CONTROL_SOCKET);
	if (r < 0 || (size_t)r >= sizeof(sun.sun_path))
		return -ENAMETOOLONG;
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (connect(fd, (struct sockaddr *)&sun, sizeof(sun)) < 0) {
		r = -errno;
		(void)close(fd);
		return r;
	}
	r = foreign_check_server(fd, session_dir);
	if (r < 0) {
		(void)close(fd);
		return r;
	}
	return fd;
}

static int send_call(int fd, const char *method, json_t *params)
{
	_cleanup_json_ json_t *call = NULL;
	_cleanup_free_ char *text = NULL;
	_cleanup_free_ char *line = NULL;
	int n;

	call = json_pack("{ss, si, ss, so}", "jsonrpc", "2.0", "id", 1, "method", method, "params",
			 params ? params : json_object());
	text = call ? json_dumps(call, JSON_COMPACT) : NULL;
	if (!text)
		return -ENOMEM;
	n = asprintf(&line, "%s\n", text);
	if (n < 0) {
		line = NULL;
		return -ENOMEM;
	}
	return send(fd, line, (size_t)n, MSG_NOSIGNAL) == n ? 0 : -errno;
}

static int take_answer(const json_t *answer, json_t **ret_result, char *why, size_t size)
{
	const json_t *error = json_object_get(answer, "error");
	json_t *result = json_object_get(answer, "result");
	const char *message = json_string_value(json_object_get(error, "message"));

	if (error) {
		snprintf(why, size, "%s", message ? message : "refused without a reason");
		return -EREMOTE;
	}
	if (!result) {
		snprintf(why, size, "the helper's answer is not understood");
		return -EPROTO;
	}
	*ret_result = json_incref(result);
	return 0;
}

int control_call(int fd, const char *method, json_t *params, json_t **ret_result, char *why, size_t size)
{
	_cleanup_free_ char *buf = malloc(LIMIT_FRAME);
	_cleanup_json_ json_t *answer = NULL;
	ssize_t n;
	int r;

	if (!buf)
		return -ENOMEM;
	r = send_call(fd, method, params);
	if (r < 0) {
		snprintf(why, size, "%s", strerror(-r));
		return r;
	}
	n = recv(fd, buf, LIMIT_FRAME, MSG_TRUNC);
	if (n <= 0) {
		r = n < 0 ? -errno : -EPIPE;
		snprintf(why, size, "the helper does not answer: %s", strerror(-r));
		return r;
	}
	if ((size_t)n > LIMIT_FRAME) {
		snprintf(why, size, "the helper's answer is too long");
		return -EMSGSIZE;
	}
	answer = json_loadb(buf, (size_t)n, JSON_REJECT_DUPLICATES, NULL);
	return take_answer(answer, ret_result, why, size);
}
