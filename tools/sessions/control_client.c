/*
 * The operator's side of a session: JSON-RPC 2.0 with its helper, one line a packet (pale-control(5)).
 *
 * Only the session's own helper may answer, so the server is checked by the kernel's credentials, and
 * nothing from another server is shown.
 */
#include "control_client.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>

#include "policy/base/util.h"
#include "policy/system/cleanup.h"
#include "policy/wire/wire.h"

#include "tools/base/foreign.h"

/* A helper that does not answer in this time counts as dead. */
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
	r = connect(fd, (struct sockaddr *)&sun, sizeof(sun)) < 0 ? -errno
								  : foreign_check_server(fd, session_dir);
	if (r < 0) {
		(void)close(fd);
		return r;
	}
	return fd;
}

static int send_call(int fd, int id, const char *method, json_t *params)
{
	_cleanup_json_ json_t *call = NULL;
	_cleanup_free_ char *text = NULL;
	size_t len;
	int r;

	call = json_pack("{ss, si, si, ss, so}", "jsonrpc", "2.0", "version", CONTROL_VERSION, "id", id,
			 "method", method, "params", params ? params : json_object());
	text = call ? json_dumps(call, JSON_COMPACT) : NULL;
	if (!text)
		return -ENOMEM;
	len = strlen(text);
	r = send(fd, text, len, MSG_NOSIGNAL) == (ssize_t)len ? 0 : -errno;
	/* The text may have held a passphrase. */
	explicit_bzero(text, len);
	return r;
}

/* Errors that a caller may need to tell apart; the others are -EREMOTE. */
static int error_of(json_int_t code)
{
	static const struct {
		json_int_t code;
		int err;
	} known[] = {
		{ -32006, -EALREADY }, { -32601, -ENOSYS }, { -32007, -EACCES },
		{ -32005, -ESTALE },   { -32008, -EINVAL }, { -32010, -EPROTO },
	};

	for (size_t i = 0; i < NELEM(known); i++)
		if (known[i].code == code)
			return known[i].err;
	return -EREMOTE;
}

static int take_answer(const json_t *answer, json_t **ret_result, char *why, size_t size)
{
	const json_t *error = json_object_get(answer, "error");
	json_t *result = json_object_get(answer, "result");
	const char *message = json_string_value(json_object_get(error, "message"));

	if (error) {
		int r = error_of(json_integer_value(json_object_get(error, "code")));

		snprintf(why, size, "%s%s", message ? message : "refused without a reason",
			 r == -EPROTO ? " (this is pale " PALE_VERSION ")" : "");
		return r;
	}
	if (!result) {
		snprintf(why, size, "the helper's answer is not understood");
		return -EPROTO;
	}
	*ret_result = json_incref(result);
	return 0;
}

/* One packet as JSON (the caller drops it).  0, -EAGAIN, -EPIPE (hung up), -EMSGSIZE, -EPROTO, -errno. */
static int receive_json(int fd, json_t **ret)
{
	_cleanup_free_ char *buf = malloc(LIMIT_FRAME);
	ssize_t n;

	if (!buf)
		return -ENOMEM;
	n = TEMP_FAILURE_RETRY(recv(fd, buf, LIMIT_FRAME, MSG_TRUNC));
	if (n <= 0)
		return n < 0 ? -errno : -EPIPE;
	if ((size_t)n > LIMIT_FRAME)
		return -EMSGSIZE;
	*ret = json_loadb(buf, (size_t)n, JSON_REJECT_DUPLICATES, NULL);
	return *ret ? 0 : -EPROTO;
}

int control_call(int fd, const char *method, json_t *params, json_t **ret_result, char *why, size_t size)
{
	static int calls;
	int id = ++calls, r = send_call(fd, id, method, params);

	while (r == 0) {
		_cleanup_json_ json_t *answer = NULL;
		const json_t *its;

		r = receive_json(fd, &answer);
		if (r < 0)
			break;
		/* Skips notifications and answers to other calls; an error without an id answers the last
		 * call. */
		its = json_object_get(answer, "id");
		if (json_object_get(answer, "method") ||
		    (json_is_integer(its) && json_integer_value(its) != id))
			continue;
		return take_answer(answer, ret_result, why, size);
	}
	snprintf(why, size, "the helper does not answer: %s", strerror(-r));
	return r;
}

const char *operator_name(void)
{
	const char *name = getenv("USER");

	return name && *name ? name : "operator";
}

int control_listen(int fd, bool approvals, bool records, char *why, size_t size)
{
	_cleanup_json_ json_t *result = NULL;

	return control_call(fd, "log/subscribe",
			    json_pack("{sb, sb}", "approvals", approvals, "records", records), &result, why,
			    size);
}

int control_next(int fd, int timeout_ms, json_t **ret)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	_cleanup_json_ json_t *note = NULL;
	int r = poll(&p, 1, timeout_ms);

	if (r <= 0)
		return r < 0 && errno != EINTR ? -errno : -EAGAIN;
	r = receive_json(fd, &note);
	if (r < 0)
		return r;
	if (!json_is_string(json_object_get(note, "method")))
		return -EAGAIN;
	*ret = json_incref(note);
	return 0;
}
