/*
 * What is written down and kept: records and their chain, checkpoints, digests, secrets, the passphrase.
 *
 * The ledger: one JSON object a line is a record, and each record is chained to the one before.
 *
 *   hash = SHA-256("pale-ledger-1" NUL, then per field in the order of struct record:
 *                  u32 little-endian length, bytes)        (length-prefixed, never joined text)
 *
 * `prev` is the hash of the record before, for seq 1 the SHA-256 of "pale-ledger-1" NUL session.
 * All values are strings or integers.  Bytes that are not valid UTF-8 and control characters are
 * written as \xNN and the backslash is doubled (text_escaped() in buf.h does this for terminals),
 * so that what is hashed is what is read.  The helper writes, the tools read and verify.
 */
#ifndef PALE_RECORD_H
#define PALE_RECORD_H

#include <stdio.h>

#include "policy/base/op.h"

#define RECORD_HASH_HEX 65	   /* 64 hex digits and NUL */
#define RECORD_LINE_MAX (1u << 20) /* a longer line is not a record */

/* The operation of a record that says that the session overwrote the memory of its records. */
#define RECORD_TAMPERED "session/tampered"

struct record {
	uint64_t seq;
	char time[32]; /* RFC 3339 UTC with microseconds */
	const char *session;
	uint64_t turn;
	const char *agent;
	int64_t pid, ppid;
	const char *exe;
	const char *op; /* op_name() or session/start, session/end, approval/request, approval/decision, loss,
			   ... */
	const char *target;  /* not cut */
	const char *access;  /* "r", "rw", "d", "" ... */
	const char *verdict; /* allow, deny, ask, "" */
	const char *rule;    /* decision_describe() */
	const char *via;     /* hook | kernel | helper */
	const char *level;
	const char *approval;
	const char *detail; /* free text: count=12, id=4c81d20e, reason=... */
	uint64_t count;	    /* how many equal events this record stands for (1 = itself) */
	char prev[RECORD_HASH_HEX];
	char hash[RECORD_HASH_HEX];
};

/* Escapes into valid UTF-8, as described above.  The caller must free it; NULL on ENOMEM. */
char *record_escape(const char *bytes, size_t len);
/* Undoes that, and text_escaped(), in place.  Returns the length, because the result may contain NULs. */
size_t record_unescape(char *text);
/* As record_escape(), but to `to`, which has room for 4 * len + 1 bytes.  Returns the end, at its NUL. */
char *record_escape_to(char *to, const char *bytes, size_t len);
/* Sets r->hash to the hash of all other fields. */
void record_hash(struct record *r);
/* `prev` of the first record of a session. */
void record_genesis(const char *session, char prev[RECORD_HASH_HEX]);
/* The line with its newline, or NULL.  The caller must free it. */
char *record_to_line(const struct record *r, size_t *ret_len);
/* The most bytes that the line can take, 0 where a field is longer than any line. */
size_t record_room(const struct record *r);
/*
 * Hashes r, as record_hash() does, and prints the line to `to`, which has record_room() bytes, in one pass.
 * Returns the end (without a NUL), or NULL where a string is not as record_escape() makes it.
 */
char *record_finish(struct record *r, char *to);

/* A parsed record owns its strings through `owner`. */
struct record_owned {
	struct record r;
	void *owner;
};
/* Parses a line.  0 and the caller must call record_done(), or -EBADMSG (*ret_err is a static sentence). */
int record_from_line(const char *line, size_t len, struct record_owned *ret, const char **ret_err);
void record_done(struct record_owned *r);

#endif
