/*
 * The operator's passphrase as it is kept: what it is checked against, and the phrase by which he knows that
 * the question for it is pale's own.
 *
 * A file of JSON: {"version": 1, "hash": "$argon2id$...", "phrase": "..."}.  Each hash takes 64 MiB and about
 * a tenth of a second, in which the caller does nothing else.
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
/* Argon2id of secret, at the cost that libsodium calls interactive.  0 or -ENOMEM. */
int passphrase_make(struct passphrase *ret, const char *secret, const char *phrase);
/*
 * Is it this one?  0, -EACCES (it is not), -ENOMEM, -EBADMSG (the kept hash is not one of ours: its cost
 * is never taken from the file).
 */
int passphrase_check(const struct passphrase *p, const char *secret);
/* From the text of the file: 0 or -EBADMSG.  passphrase_load() is for all but tests. */
int passphrase_read(struct passphrase *ret, const char *text, size_t len);
/*
 * The file in that directory: 0; -ENOKEY where there is none; -EBADMSG where it is damaged, or anybody but
 * the caller's user can read it.
 */
int passphrase_load(int dir, struct passphrase *ret);
/* Keeps p in that directory, in place of the one before.  0 or -errno. */
int passphrase_store(int dir, const struct passphrase *p);
/* Removes it.  0 or -errno. */
int passphrase_forget(int dir);

#endif
