/*
 * Checkpoints of the ledger: the key, and when.  In a setuid install (or as a service) only the helper can
 * read the key, so that the session's owner cannot make a new chain that verifies; elsewhere checkpoints
 * are not signed and say so.
 */
#include "signing.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/record/replacefile.h"
#include "policy/system/cleanup.h"
#include "policy/system/system.h"

#include "helper/base/stamp.h"

#include "event.h"
#include "journal.h"
#include "ledger.h"

#define KEY_FILE    "ledger.key"
#define PUBLIC_FILE "ledger.pub"
#define POINT_EVERY 10000	 /* records */
#define POINT_NS    (600 * NS_S) /* and only if records were added since */

/* --- the key --- */

/* Reads the seed from a file that holds nothing else, and that no other user can have written or read. */
static int read_seed(int root, uint8_t seed[CHECKPOINT_SEED_BYTES])
{
	_cleanup_close_ int fd = openat(root, KEY_FILE, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & (S_IRWXG | S_IRWXO)) ||
	    st.st_nlink != 1)
		return -EPERM;
	return st.st_size == CHECKPOINT_SEED_BYTES &&
			       read(fd, seed, CHECKPOINT_SEED_BYTES) == CHECKPOINT_SEED_BYTES
		       ? 0
		       : -EBADMSG;
}

/* Makes a file that is whole and on the disk, or no file; another helper may do this at the same time. */
static int publish(int root, const char *name, mode_t mode, const void *bytes, size_t len)
{
	char temporary[64], random[17];
	int r = random_hex(random, 8), fd;

	if (r < 0)
		return r;
	snprintf(temporary, sizeof(temporary), ".%s.%s", name, random);
	fd = openat(root, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -errno;
	if (fchmod(fd, mode) < 0)
		r = -errno;
	if (r == 0)
		r = write_all(fd, bytes, len);
	if (r == 0 && fsync(fd) < 0)
		r = -errno;
	close(fd);
	/* Never replaces an existing file: the first one is valid. */
	if (r == 0 && linkat(root, temporary, root, name, 0) < 0)
		r = -errno;
	(void)unlinkat(root, temporary, 0);
	return r == 0 && fsync(root) < 0 ? -errno : r;
}

static int make_seed(int root, uint8_t seed[CHECKPOINT_SEED_BYTES])
{
	int r;

	if (getrandom(seed, CHECKPOINT_SEED_BYTES, 0) != CHECKPOINT_SEED_BYTES)
		return -EIO;
	r = publish(root, KEY_FILE, 0600, seed, CHECKPOINT_SEED_BYTES);
	return r == -EEXIST ? read_seed(root, seed) : r;
}

/*
 * The public key, which verifiers use.  It must belong to the key: with another one no checkpoint would
 * verify, or a forged one would.
 */
static int check_public(int root, const struct checkpoint_key *key)
{
	char hex[CHECKPOINT_KEY_HEX + 1], found[CHECKPOINT_KEY_HEX + 1];
	ssize_t n;
	int r;

	checkpoint_key_print(key->public, hex);
	strcat(hex, "\n");
	n = file_read_small(root, PUBLIC_FILE, found, sizeof(found));
	if (n == -ENOENT) {
		r = publish(root, PUBLIC_FILE, 0644, hex, strlen(hex));
		return r == -EEXIST ? 0 : r;
	}
	if (n < 0)
		return (int)n;
	return strcmp(found, hex) == 0 ? 0 : -EBADMSG;
}

int checkpoint_key_load(int root, struct checkpoint_key *ret, const char **ret_err)
{
	uint8_t seed[CHECKPOINT_SEED_BYTES];
	int r = read_seed(root, seed);

	*ret_err = "the key of the ledgers cannot be read";
	if (r == -ENOENT) {
		*ret_err = "the key of the ledgers cannot be made";
		r = make_seed(root, seed);
	}
	if (r == 0) {
		checkpoint_key_make(seed, ret);
		*ret_err = "the public key of the ledgers cannot be written, or is another's";
		r = check_public(root, ret);
	}
	sodium_memzero(seed, sizeof(seed));
	return r;
}

/* --- the records --- */

bool checkpoint_due(const struct ledger *l, uint64_t now_ns)
{
	if (l->seq - l->point_seq >= POINT_EVERY)
		return true;
	return l->seq > l->point_seq && now_ns >= l->point_ns + POINT_NS;
}

int checkpoint_add(struct ledger *l)
{
	struct checkpoint c = { .count = l->seq, .has_owner = true, .owner = l->owner };
	char detail[CHECKPOINT_DETAIL], time[32];
	struct event e = {
		.time_ns = clock_real_ns(), .op = CHECKPOINT_OP, .via = "helper", .detail = detail
	};
	int r = 0;

	memcpy(c.head, l->prev, sizeof(c.head));
	time_format(e.time_ns, time);
	if (l->sealed)
		r = checkpoint_sign(&c, l->session, time, &l->key);
	if (r < 0)
		return r;
	checkpoint_print(&c, detail);
	/* Before the append: otherwise ledger_append() would find a checkpoint due again. */
	l->point_seq = l->seq + 1;
	l->point_ns = clock_boot_ns();
	r = ledger_append(l, &e);
	memcpy(l->point_hash, l->prev, sizeof(l->point_hash));
	return r;
}

void checkpoint_synced(struct ledger *l)
{
	if (l->told_seq >= l->point_seq || l->point_seq > l->good_seq)
		return;
	l->told_seq = l->point_seq;
	l->untold = journal_head(l);
}
