/* The operator's passphrase: made, kept as text, checked.  All cryptography is libsodium's. */
#include "passphrase.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <sodium.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "replacefile.h"

#define VERSION 1
#define OPS	crypto_pwhash_OPSLIMIT_INTERACTIVE
#define MEM	crypto_pwhash_MEMLIMIT_INTERACTIVE
/* How a kept hash with OPS and MEM begins.  Any other is refused: a file must not change the cost. */
#define HASH_HEAD "$argon2id$v=19$m=65536,t=2,p=1$"

_Static_assert(PASSPHRASE_HASH_MAX == crypto_pwhash_STRBYTES, "as libsodium has it");

const char *passphrase_unfit(const char *secret)
{
	size_t len = strlen(secret);

	json_t *text;

	if (len < PASSPHRASE_MIN)
		return "a passphrase has at least 8 characters";
	if (len > PASSPHRASE_MAX)
		return "a passphrase has at most 512 bytes";
	/* It is sent as JSON, and must be the same text at the other end. */
	text = json_string(secret);
	json_decref(text);
	return text ? NULL : "a passphrase is text in UTF-8";
}

const char *phrase_unfit(const char *phrase)
{
	size_t len = strlen(phrase);

	if (len == 0 || len > PHRASE_MAX)
		return "the phrase that is shown has 1 to 80 characters";
	for (size_t i = 0; i < len; i++)
		if (phrase[i] < 0x20 || phrase[i] > 0x7e)
			return "the phrase that is shown is printable ASCII";
	return NULL;
}

int passphrase_make(struct passphrase *ret, const char *secret, const char *phrase)
{
	struct passphrase made = { 0 };

	/* sodium_init() selects the fastest code for the processor; a second call does nothing. */
	if (sodium_init() < 0 || crypto_pwhash_str_alg(made.hash, secret, strlen(secret), OPS, MEM,
						       crypto_pwhash_ALG_ARGON2ID13) < 0)
		return -ENOMEM;
	memcpy(made.phrase, phrase, strlen(phrase) < PHRASE_MAX ? strlen(phrase) : PHRASE_MAX);
	*ret = made;
	return 0;
}

static bool is_our_hash(const char hash[PASSPHRASE_HASH_MAX])
{
	return memchr(hash, '\0', PASSPHRASE_HASH_MAX) && strncmp(hash, HASH_HEAD, strlen(HASH_HEAD)) == 0;
}

int passphrase_check(const struct passphrase *p, const char *secret)
{
	if (!is_our_hash(p->hash))
		return -EBADMSG;
	if (sodium_init() < 0)
		return -ENOMEM;
	errno = 0;
	if (crypto_pwhash_str_verify(p->hash, secret, strlen(secret)) == 0)
		return 0;
	/* Out of memory does not mean a wrong passphrase; any other error is treated as one. */
	return errno == ENOMEM ? -ENOMEM : -EACCES;
}

int passphrase_read(struct passphrase *ret, const char *text, size_t len)
{
	json_t *j = len <= PASSPHRASE_FILE_MAX ? json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL) : NULL;
	const char *hash = json_string_value(json_object_get(j, "hash"));
	const char *phrase = json_string_value(json_object_get(j, "phrase"));
	struct passphrase read = { 0 };
	int r = -EBADMSG;

	if (json_integer_value(json_object_get(j, "version")) == VERSION && hash && phrase &&
	    strlen(hash) < sizeof(read.hash) && !phrase_unfit(phrase)) {
		memcpy(read.hash, hash, strlen(hash));
		memcpy(read.phrase, phrase, strlen(phrase));
		r = is_our_hash(read.hash) ? 0 : -EBADMSG;
	}
	if (r == 0)
		*ret = read;
	json_decref(j);
	return r;
}

static int read_open(int fd, struct passphrase *ret)
{
	char text[PASSPHRASE_FILE_MAX + 1];
	struct stat st;
	ssize_t n;
	int r;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 077))
		return -EBADMSG;
	n = read(fd, text, sizeof(text));
	r = n > 0 ? passphrase_read(ret, text, (size_t)n) : -EBADMSG;
	explicit_bzero(text, sizeof(text));
	return r;
}

int passphrase_load(int dir, struct passphrase *ret)
{
	int fd = openat(dir, PASSPHRASE_FILE, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	int r;

	if (fd < 0)
		return errno == ENOENT ? -ENOKEY : -EBADMSG;
	r = read_open(fd, ret);
	(void)close(fd);
	return r;
}

int passphrase_store(int dir, const struct passphrase *p)
{
	json_t *j = json_pack("{s:i, s:s, s:s}", "version", VERSION, "hash", p->hash, "phrase", p->phrase);
	char text[PASSPHRASE_FILE_MAX];
	size_t len = j ? json_dumpb(j, text, sizeof(text), JSON_INDENT(1) | JSON_PRESERVE_ORDER) : 0;
	int r = len > 0 ? replace_file(dir, PASSPHRASE_FILE, NULL, 0600, text, len) : -ENOMEM;

	json_decref(j);
	explicit_bzero(text, sizeof(text));
	return r;
}

int passphrase_forget(int dir)
{
	if (unlinkat(dir, PASSPHRASE_FILE, 0) < 0)
		return -errno;
	(void)fsync(dir);
	return 0;
}
