/*
 * The protocol between a process of the session and the helper: one question, one answer, one
 * short SEQPACKET connection to `agent.sock` in the session's runtime directory.
 *
 * Frames are at most LIMIT_FRAME bytes; a longer one (MSG_TRUNC), one with passed descriptors or
 * one that does not decode drops the peer.  Identity is what the kernel says at accept, never
 * what the message says.  Bump WIRE_VERSION when a message changes; the helper refuses others.
 *
 * The operator's side is another socket, `control.sock`: JSON-RPC 2.0, one line a packet
 * (see pale-control in helper/control.c).
 */
#ifndef PALE_WIRE_H
#define PALE_WIRE_H

#include "buf.h"
#include "op.h"

#define WIRE_MAGIC 0x454c4150u /* "PALE" */
#define WIRE_VERSION 1u

#define WIRE_AGENT_SOCKET "agent.sock"
#define WIRE_CONTROL_SOCKET "control.sock"
#define WIRE_IMAGE_FILE "image"
#define WIRE_RING_FILE "ring"
/* The environment of every process of the session, restored at each exec. */
#define ENV_SESSION_DIR "PALE_SESSION_DIR" /* the runtime directory */
#define ENV_PRELOAD "LD_PRELOAD"

enum wire_type {
	WIRE_ASK = 1,  /* process -> helper: a request whose verdict is ask */
	WIRE_ANSWER,   /* helper -> process */
};

struct wire_header {
	uint32_t magic;
	uint16_t version, type;
};

/* An ASK is the canonical request with its rule.  argv points into argv_store. */
struct wire_ask {
	struct request req;
	uint32_t rule;
	int32_t pid; /* claimed; the kernel's answer counts */
	const char *argv_store[LIMIT_ARGC + 1];
};

struct wire_answer {
	enum verdict verdict; /* allow or deny */
	enum reason reason;
	const char *text;     /* what the human said, or "" */
	const char *approval; /* id of the approval that was given, or "" */
};

/* Encoders return the frame's length or -EMSGSIZE; decoders 0 or -EPROTO. async-signal-safe. */
int wire_put_ask(void *frame, size_t cap, const struct request *req, uint32_t rule, int32_t pid);
int wire_get_ask(const void *frame, size_t len, struct wire_ask *ret);
int wire_put_answer(void *frame, size_t cap, const struct wire_answer *a);
int wire_get_answer(const void *frame, size_t len, struct wire_answer *ret);

#endif
