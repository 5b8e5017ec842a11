/*
 * The operator's socket: its connections, its requests and what they subscribe to.
 *
 * To add to the operator's protocol: a method is a row in a table of the file that implements it, and the
 * table is a row in helper/session/start.c.  A method runs after the taint check and after the limits were
 * applied.
 */
#ifndef PALE_CONTROL_H
#define PALE_CONTROL_H

#include "helper/base/helper.h"

#define CONTROL_MAX	32 /* connections of operators */
#define CONTROL_PER_PID 8
#define CONTROL_DEPTH	8   /* of objects and arrays in a line */
#define CONTROL_MEMBERS 256 /* commas and colons in a line, outside of strings */

/*
 * Why a call fails; rpc_codes[] gives each its name and sentence.  Documented in pale-control(5), which
 * tests/docs.sh compares.
 */
enum rpc_code {
	RPC_PARSE = -32700,
	RPC_REQUEST = -32600,
	RPC_METHOD = -32601,
	RPC_PARAMS = -32602,
	RPC_REFUSED = -32001,
	RPC_NO_CARD = -32002,
	RPC_FAILED = -32003,
	RPC_DIGEST = -32005,
	RPC_CLOSED = -32006,
	RPC_STEPUP = -32007,
	RPC_RULE = -32008,
	RPC_LIMIT = -32009,
	RPC_VERSION = -32010,
	RPC_STATE = -32011,
	RPC_SCOPE = -32012,
};

/* What a method does with the session; a client may renounce some of these in hello. */
enum control_scope {
	CONTROL_READ = 1,   /* reads */
	CONTROL_ANSWER = 2, /* answers questions, makes and revokes grants */
	CONTROL_MANAGE = 4, /* turns, reload, the passphrase */
};

/* One call.  Valid while its method runs. */
struct call {
	struct helper *h;
	struct conn *c;
	json_t *params; /* an object, or NULL */
	json_t *id;	/* NULL: a notification, which gets no answer */
	int code;	/* 0, or enum rpc_code */
	char err[512];
	json_t *data;	    /* of the error; owned */
	json_int_t version; /* the protocol version of the client */
};

/* `run` returns the result (new reference), NULL after call_fail(), or CALL_LATER after call_later(). */
struct method {
	const char *name; /* NULL ends the table */
	unsigned states;  /* enum session_state */
	enum control_scope scope;
	json_t *(*run)(struct call *call);
};

extern const struct method control_session[], control_approvals[], control_log[], control_grants[],
	control_stepup[], control_policy[], control_reload[];

/* Keeps the tables of all methods; the last is NULL.  0 or -ENOMEM. */
int control_init(struct helper *h, const struct method *const tables[]);

/* Fails the call with a sentence, formatted as by printf.  Always NULL. */
json_t *call_fail(struct call *call, enum rpc_code code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* A string parameter, or `missing` where it is absent or not a string.  Borrowed. */
const char *call_param(const struct call *call, const char *name, const char *missing);
/* An integer parameter, or `missing` where it is absent or not an integer. */
json_int_t call_number(const struct call *call, const char *name, json_int_t missing);
bool call_flag(const struct call *call, const char *name);
/* An escaped JSON string of s (new reference); NULL counts as "". */
json_t *text_json(const char *s);

/*
 * For methods that must not block the loop: the method keeps a `struct later` and returns what call_later()
 * returns; later_answer() then gives the answer, exactly once.  The peer may be gone by then.
 */
struct later {
	uint64_t peer;
	json_t *id;
};
extern json_t control_later_mark;
#define CALL_LATER (&control_later_mark)
json_t *call_later(struct call *call, struct later *ret);
void later_answer(struct helper *h, struct later *l, json_t *result);

/*
 * Notifies each client that subscribed to approvals (log/subscribe); takes over params.  Never blocks: a
 * client that does not read is dropped.  Methods: approval/request, approval/resolved {id, state, by,
 * scope}, approval/refused, grant/made, grant/revoked, policy/changed, turn/began.
 */
void control_notify(struct helper *h, const char *method, json_t *params);
/* True where a client that subscribed to approvals is connected. */
bool control_has_listener(const struct helper *h);

/*
 * control_stepup.c: checks the confirmation that an approval needs.  0 where nothing is missing, and
 * reply->confirmed names the means; or -EACCES after call_fail().
 */
int control_confirm(struct call *call, const struct approval *ap, struct broker_reply *reply);

/* --- control_peer.c: one connection ----------------------------------------------------------------- */

struct packet {
	struct packet *next;
	size_t len;
	char bytes[];
};

struct peer {
	uint64_t serial;
	int pidfd; /* of the process that connected, open until the connection ends */
	unsigned scopes;
	bool approvals, records;      /* subscribed */
	struct packet *first, **last; /* what the socket has not taken yet */
	size_t queued;		      /* bytes */
	uint64_t stuck_ns;	      /* since when the socket takes nothing; 0: it takes data */
	uint64_t lost;		      /* records that were not sent to it */
	bool broken;		      /* to be dropped with the next tick */
};

/* Takes over pidfd; NULL where memory is out (pidfd is closed then, too). */
struct peer *peer_new(uint64_t serial, int pidfd);
/* Sends text or queues it.  0, or -errno where the peer must be dropped. */
int peer_send(struct peer *p, int fd, const char *text, size_t len);
/* The same for a JSON value, which is released. */
int peer_send_json(struct peer *p, int fd, json_t *j);
/* Tells a subscriber to records how many of them it missed (log/lost), if any.  0 or -errno. */
int peer_tell_lost(struct peer *p, int fd);
/* Sends what is queued, as far as the socket takes it.  0 or -errno. */
int peer_flush(struct peer *p, int fd);
/* True where the peer reads nothing for too long, or its socket is broken. */
bool peer_is_stuck(const struct peer *p, uint64_t now_ns);

#endif
