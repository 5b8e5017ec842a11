/*
 * One call of an operator's client, and what answers it.
 *
 * To add to the operator's protocol: a method is a row in a table of the file that implements it, and the
 * table is a row in helper/session/start.c.  A method runs after the taint check and after the limits were
 * applied.
 */
#ifndef PALE_HELPER_CALL_H
#define PALE_HELPER_CALL_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct conn;
struct helper;

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

#endif
