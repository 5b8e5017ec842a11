/*
 * What crosses from one process of pale to another: questions, answers, and the ring of records.
 *
 * The protocol between a process of the session and the helper: one question, one answer, one
 * short SEQPACKET connection to `agent.sock` in the session's runtime directory.
 *
 * Frames are at most LIMIT_FRAME bytes.  The helper drops a peer that sends a longer one (MSG_TRUNC), one
 * with descriptors that its type does not have, or one that does not decode.  The kernel identifies the
 * peer at accept; the message does not.  Bump WIRE_VERSION when a message changes; the helper refuses other
 * versions.
 *
 * The operator's side is another socket, `control.sock`: JSON-RPC 2.0, one line a packet
 * (see pale-control in helper/control/control_socket.c).
 */
#ifndef PALE_WIRE_H
#define PALE_WIRE_H

#include "policy/base/buf.h"
#include "policy/base/op.h"

#define WIRE_MAGIC   0x454c4150u /* "PALE" */
#define WIRE_VERSION 8u

/*
 * The version of the protocol between `pale run` and its helper, one JSON object a packet on a connection
 * of their own.  Bump it when a message is added or changes; the helper refuses a start by another version.
 */
#define START_VERSION 10

/* The version of pale-control(5).  Bump it when a method's parameters, result or notifications change. */
#define CONTROL_VERSION 4

/* A question that a human reads waits longer than its policy says, at most this long in all. */
#define WIRE_HOLD_S 600
/* A question without an answer after this time waits for a human, and a message on the terminal says so.
 * Where no human can be reached, the answer comes at once. */
#define WIRE_SETTLE_MS 100

#define WIRE_AGENT_SOCKET   "agent.sock"
#define WIRE_CONTROL_SOCKET "control.sock"
#define WIRE_IMAGE_FILE	    "image"
/*
 * The name from which a new process gets the ring.  No file has this name: where there is a supervisor, it
 * answers an open of this name with a descriptor.  At level hooks the helper passes one (WIRE_NARROW
 * without a bundle).
 */
#define WIRE_RING_NAME "ring"
/* Images of nested runs are named image.1 to image.64, the session's own image is number 0. */
#define WIRE_IMAGE_MAX	64u
#define WIRE_IMAGE_NAME 16 /* bytes of such a name with its NUL */
#define WIRE_IMAGE_NONE UINT32_MAX
/* The environment of every process of the session, restored at each exec. */
#define ENV_SESSION_DIR "PALE_SESSION_DIR" /* the runtime directory */
#define ENV_IMAGE	"PALE_IMAGE"	   /* name of the image that applies; absent for the session's own */
#define ENV_PRELOAD	"LD_PRELOAD"

/*
 * Where a helper that runs as a user of its own keeps the sessions of other users.  root makes these
 * directories for the helper's user (see helper/base/places.h).
 */
#define PLACE_RUNTIME "/run/pale"
#define PLACE_STATE   "/var/lib/pale"
#define PLACE_CONFIG  "/etc/pale"
#define PLACE_SERVICE                                                                                        \
	PLACE_RUNTIME "/helper.sock" /* SEQPACKET; a connection is a session (pale-helper service) */

/*
 * ioctl(2, WIRE_DENIED, struct wire_denial *): a hook reports a denial to the supervisor, which records it
 * as the process's claim, under an id that the supervisor chooses.  The result is that id, with
 * WIRE_SAY_LATER where the descriptor is a terminal on which a program draws: then the denial is shown
 * afterwards.  With NULL nothing is recorded, and the result says only whether a line may be written there.
 * An error means that there is no supervisor to record it.  No terminal uses this number.  A libpale of
 * another version makes the call with NULL to find out whether there is a supervisor, so that call must not
 * change in any version.
 */
#define WIRE_DENIED    0x70616c65u /* "pale" */
#define WIRE_SAY_LATER (1ll << 32)

#define WIRE_WHY_MAX 256
struct wire_denial {
	uint32_t size; /* of this struct: the supervisor refuses another size */
	uint32_t op, access, reason, rule, nested, image;
	uint32_t is_quiet; /* it will not be shown: this process has shown the same before */
	uint64_t target, target_len;
	char why[WIRE_WHY_MAX];
};

/*
 * ioctl(2, WIRE_LOST, enum ring_written): a hook reports to the supervisor that it could not write its
 * record into the ring.  The count is not kept in the ring, because the session could overwrite it there.
 */
#define WIRE_LOST 0x70616c66u

/*
 * ioctl(2, WIRE_TOOL, struct wire_tool *): `pale tool hook` asks the supervisor about a tool that the agent
 * is about to use.  0; -EACCES, and the reason is written to the caller's standard error as for any denial;
 * or another -errno, and nothing is written.  A question is answered before the call returns.  Where there is
 * no supervisor, no terminal uses this number.
 */
#define WIRE_TOOL 0x70616c67u
struct wire_tool {
	uint32_t size; /* of this struct: the supervisor refuses another size */
	uint32_t unused;
	uint64_t name, input; /* strings; the input is shown in a question and may be cut */
};

/*
 * ioctl(2, WIRE_GATE, struct wire_gate *): git-remote-pale asks the supervisor for a connection to the gate,
 * for a service of git (git-upload-pack, git-receive-pack) on a remote by its URL.  A descriptor of a stream
 * socket, closed at exec, on which the service's own protocol begins; -EACCES where the URL is not one that
 * the session began with, -EAGAIN where too many are open; ENOTTY, as from any terminal, where there is no
 * supervisor.
 */
#define WIRE_GATE 0x70616c68u
struct wire_gate {
	uint32_t size; /* of this struct: the supervisor refuses another size */
	uint32_t unused;
	uint64_t service, url; /* strings */
};

enum wire_type {
	WIRE_ASK = 1,  /* process -> helper: a request whose verdict is ask */
	WIRE_ANSWER,   /* helper -> process */
	WIRE_NARROW,   /* nested pale run -> helper: compile the attached bundle inside my image */
	WIRE_NARROWED, /* helper -> nested pale run, with the image and the ring attached */
	WIRE_BEHALF,   /* supervisor -> helper, first on a connection: names the process that asks */
};

struct wire_header {
	uint32_t magic;
	uint16_t version, type;
};

#define WIRE_ENV 4096 /* variables that a question may have */

/* An ASK is the canonical request with its rule.  argv points into argv_store, env into env_store. */
struct wire_ask {
	struct request req;
	uint32_t rule;
	uint32_t image; /* number of the image that rule belongs to; claimed */
	int32_t pid;	/* claimed; the kernel says which pid it really is */
	const char *argv_store[LIMIT_ARGC + 1];
	const char *env_store[WIRE_ENV + 1];
};

struct wire_answer {
	enum verdict verdict; /* allow or deny */
	enum reason reason;
	const char *text;     /* what the human said, or "" */
	const char *approval; /* id of the approval that was given, or "" */
};

/*
 * The image that was compiled, or WIRE_IMAGE_NONE and in `text` why there is none.  A NARROW without a
 * bundle asks for the image that it names.
 */
struct wire_narrowed {
	uint32_t image;
	const char *text;
};

/*
 * The supervisor connects on behalf of the processes of the session, so the kernel names the supervisor as
 * the peer.  Such a connection begins with the pid of the process that asks.  The nonce, which the launcher
 * gave to the helper at the start, proves that the supervisor sent it, and not a process that got hold of
 * the socket.
 */
#define WIRE_NONCE 16
struct wire_behalf {
	uint8_t nonce[WIRE_NONCE];
	int32_t pid;
};

/* Type of a frame with a good header, or -EPROTO. */
int wire_type(const void *frame, size_t len);

/* Encoders return the frame's length or -EMSGSIZE; decoders 0 or -EPROTO. async-signal-safe. */
int wire_put_ask(void *frame, size_t cap, const struct request *req, uint32_t rule, uint32_t image,
		 int32_t pid);
int wire_get_ask(const void *frame, size_t len, struct wire_ask *ret);
int wire_put_answer(void *frame, size_t cap, const struct wire_answer *a);
int wire_get_answer(const void *frame, size_t len, struct wire_answer *ret);
int wire_put_narrow(void *frame, size_t cap, uint32_t image);
int wire_get_narrow(const void *frame, size_t len, uint32_t *ret_image);
int wire_put_narrowed(void *frame, size_t cap, const struct wire_narrowed *n);
int wire_get_narrowed(const void *frame, size_t len, struct wire_narrowed *ret);

int wire_put_behalf(void *frame, size_t cap, const struct wire_behalf *b);
int wire_get_behalf(const void *frame, size_t len, struct wire_behalf *ret);

/* The number of the image whose file has this name, in its one spelling; or -EINVAL.  async-signal-safe. */
int wire_image_number(const char *name);
void wire_image_name(char name[WIRE_IMAGE_NAME], uint32_t number);

#endif
