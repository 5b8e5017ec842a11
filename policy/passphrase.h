/*
 * The operator's passphrase as it is kept: what it is checked against, and the phrase by which he knows that
 * the question for it is pale's own.
 *
 * A file of JSON: {"version": 1, "hash": "$argon2id$...", "phrase": "..."}.  Allocates and takes 64 MiB and
 * some 0.2 s for each hash; not for a poll loop and not for the preload.
 */
#ifndef PALE_PASSPHRASE_H
#define PALE_PASSPHRASE_H

#include <stddef.h>

#define PASSPHRASE_FILE	    "passphrase"
#define PASSPHRASE_FILE_MAX 4096
#define PASSPHRASE_MIN	    8	/* bytes */
#define PASSPHRASE_MAX	    512 /* bytes, without the NUL */
#define PASSPHRASE_HASH_MAX 128 /* crypto_pwhash_STRBYTES */
#define PHRASE_MAX	    80	/* bytes: what is shown, printable ASCII */

struct passphrase {
	char hash[PASSPHRASE_HASH_MAX];
	char phrase[PHRASE_MAX + 1];
};

/* NULL, or a static sentence that says why secret cannot be taken. */
const char *passphrase_unfit(const char *secret);
/* The same of the phrase: printable ASCII, so that it can be shown anywhere as it is. */
const char *phrase_unfit(const char *phrase);
/* Argon2id of secret (RFC 9106: 64 MiB, t = 3, p = 1).  0 or -ENOMEM. */
int passphrase_make(struct passphrase *ret, const char *secret, const char *phrase);
/*
 * Is it this one?  0, -EACCES (it is not), -ENOMEM, -EBADMSG (the kept hash is not one of ours: its cost
 * is never taken from the file).
 */
int passphrase_check(const struct passphrase *p, const char *secret);
/* The file's text (caller frees), or NULL. */
char *passphrase_write(const struct passphrase *p);
/* 0 or -EBADMSG. */
int passphrase_read(struct passphrase *ret, const char *text, size_t len);

#endif
