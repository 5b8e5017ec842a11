/*
 * What crosses from one process of pale to another: questions, answers, and the ring of records.
 *
 * The protocol between a process of the session and the helper: one question, one answer, one
 * short SEQPACKET connection to `agent.sock` in the session's runtime directory.
 *
 * Frames are at most LIMIT_FRAME bytes; a longer one (MSG_TRUNC), one with descriptors that its
 * type does not have or one that does not decode drops the peer.  Identity is what the kernel says at accept,
 * never what the message says.  Bump WIRE_VERSION when a message changes; the helper refuses others.
 *
 * The operator's side is another socket, `control.sock`: JSON-RPC 2.0, one line a packet
 * (see pale-control in helper/control/control.c).
 */
#ifndef PALE_WIRE_H
#define PALE_WIRE_H

#include "policy/base/buf.h"
#include "policy/base/op.h"

#define WIRE_MAGIC   0x454c4150u /* "PALE" */
#define WIRE_VERSION 8u

/*
 * Of what `pale run` and its helper say to each other, one JSON object a packet on a line of their own.  Bump
 * it when a message is added or changes; the helper refuses a start by another.
 */
#define START_VERSION 8

/* Of the operator's side, pale-control(5): bump it when a method takes, answers or tells something else. */
#define CONTROL_VERSION 4

/* A question that somebody reads waits longer than its policy says, by so much in all. */
#define WIRE_HOLD_S 600
/* A question that was not answered by then waits for somebody: the asker is told so.  Where nobody can be
 * reached the answer is there at once. */
#define WIRE_SETTLE_MS 100

#define WIRE_AGENT_SOCKET   "agent.sock"
#define WIRE_CONTROL_SOCKET "control.sock"
#define WIRE_IMAGE_FILE	    "image"
/*
 * Where a new process gets the ring.  No file has this name: where there is a supervisor, it answers the open
 * of it with a descriptor.  At level hooks the helper passes one (WIRE_NARROW without a bundle).
 */
#define WIRE_RING_NAME "ring"
/* Images of nested runs are named image.1 to image.64, the session's own image is number 0. */
#define WIRE_IMAGE_MAX	64u
#define WIRE_IMAGE_NAME 16 /* bytes of such a name with its NUL */
#define WIRE_IMAGE_NONE UINT32_MAX
/* The environment of every process of the session, restored at each exec. */
#define ENV_SESSION_DIR "PALE_SESSION_DIR" /* the runtime directory */
#define ENV_IMAGE	"PALE_IMAGE" /* name of the image that holds here; absent for the session's own */
#define ENV_PRELOAD	"LD_PRELOAD"

/*
 * Where a helper that runs as a user of its own keeps the sessions of the others: made by root for that user
 * (see helper/base/places.h).
 */
#define PLACE_RUNTIME "/run/pale"
#define PLACE_STATE   "/var/lib/pale"
#define PLACE_CONFIG  "/etc/pale"
#define PLACE_SERVICE                                                                                        \
	PLACE_RUNTIME "/helper.sock" /* SEQPACKET; a connection is a session (pale-helper service) */

/*
 * ioctl(2, WIRE_DENIED, struct wire_denial *), from a hook to the supervisor: I denied this.  The supervisor
 * writes the record, as the process's claim, under an id that the supervisor alone chooses; the result is
 * that id, with WIRE_SAY_LATER where a program draws on that terminal: then the denial is told afterwards.
 * Without a denial (NULL) it is asked only whether a line may be written there.  An error: nobody is there to
 * record it.  The number is no terminal's.  A libpale of another version asks so whether there is a
 * supervisor: the call without a denial stays what it is in all versions.
 */
#define WIRE_DENIED    0x70616c65u /* "pale" */
#define WIRE_SAY_LATER (1ll << 32)

#define WIRE_WHY_MAX 256
struct wire_denial {
	uint32_t size; /* of this struct: the supervisor knows no other */
	uint32_t op, access, reason, rule, nested, image;
	uint32_t is_quiet; /* nothing will be said of it: this process has said the same before */
	uint64_t target, target_len;
	char why[WIRE_WHY_MAX];
};

/*
 * ioctl(2, WIRE_LOST, enum ring_written): a hook could not write its record into the ring.  Said to the
 * supervisor, since what is said in memory that the session can write may be taken back.
 */
#define WIRE_LOST 0x70616c66u

enum wire_type {
	WIRE_ASK = 1,  /* process -> helper: a request whose verdict is ask */
	WIRE_ANSWER,   /* helper -> process */
	WIRE_NARROW,   /* nested pale run -> helper: compile the bundle passed along inside my image */
	WIRE_NARROWED, /* helper -> nested pale run, with the image and the ring passed along */
	WIRE_BEHALF,   /* supervisor -> helper, first on a connection: what follows is another process's */
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
	int32_t pid;	/* claimed; the kernel's answer counts */
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
 * Which image came of it, or WIRE_IMAGE_NONE and why none did.  A NARROW without a bundle asks for
 * the image that it names itself.
 */
struct wire_narrowed {
	uint32_t image;
	const char *text;
};

/*
 * The supervisor connects for the processes of the session, so the kernel names it as the peer of
 * each.  A connection of its own begins with whose it is; the nonce, which the launcher gave the
 * helper at the start, proves that the supervisor says so and no process that got hold of the socket.
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

/* Number of the image that name is the file of, or -EINVAL: one spelling for each. async-signal-safe. */
int wire_image_number(const char *name);
void wire_image_name(char name[WIRE_IMAGE_NAME], uint32_t number);

#endif
