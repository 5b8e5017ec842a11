/*
 * The operator's passphrase as it is kept: its hash, and the phrase that pale shows when it asks for the
 * passphrase, so that the operator knows that pale asks.
 *
 * A JSON file: {"version": 1, "hash": "$argon2id$...", "phrase": "..."}.  To make or check a hash takes 64
 * MiB and about a tenth of a second, during which the caller is blocked.
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
/* The same for the phrase: printable ASCII, so that any terminal can show it unchanged. */
const char *phrase_unfit(const char *phrase);
/* Fills *ret with the phrase and Argon2id of secret, at libsodium's interactive cost.  0 or -ENOMEM. */
int passphrase_make(struct passphrase *ret, const char *secret, const char *phrase);
/*
 * Checks secret against *p.  0, -EACCES (it is another), -ENOMEM, -EBADMSG (the hash is not one that
 * passphrase_make() makes: the cost is never taken from the file).
 */
int passphrase_check(const struct passphrase *p, const char *secret);
/* Parses the text of the file: 0 or -EBADMSG.  For tests; all other code calls passphrase_load(). */
int passphrase_read(struct passphrase *ret, const char *text, size_t len);
/*
 * Reads the file in the directory dir: 0; -ENOKEY where it does not exist; -EBADMSG where it is damaged, or
 * another user owns it or has any access to it.
 */
int passphrase_load(int dir, struct passphrase *ret);
/* Writes p to that directory and replaces an earlier one.  0 or -errno. */
int passphrase_store(int dir, const struct passphrase *p);
/* Removes the file.  0 or -errno. */
int passphrase_forget(int dir);

#endif
