/*
 * A commit names its parents, and its own name is the hash of what it says.  So whoever has hashed each
 * commit on the way from one to another knows that the way is there, whatever read the bytes.
 *
 * Both ends are walked towards the past.  The new one descends from the old one if its walk meets it.  It
 * does not if all that its walk has left is reached from the old one, too: no commit comes before itself.
 */
#include "git_descent.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sha1.h>
#include <signal.h>
#include <sodium.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "policy/base/buf.h"
#include "policy/system/system.h"

#define COMMITS_MAX 10000
#define SLOTS	    32768 /* of the table: a power of two, well above COMMITS_MAX */
#define TIME_MS	    1000
#define ANSWER_MAX  (1u << 20) /* bytes of a commit, with what git says before it */
/* Steps of the old end's walk for each one of the new end's, so that it catches up. */
#define OLD_STEPS 3

/* --- git reads ------------------------------------------------------------------------------------------ */

struct reader {
	pid_t pid;
	int fd;
	int64_t end_ms;
	size_t hash_len;
	char *buf; /* of ANSWER_MAX bytes */
	size_t len;
};

/*
 * No configuration but the repository's own, which the session cannot make run anything; nothing is fetched,
 * and no object is shown in another's place.
 */
static int spawn(struct reader *r, const char *program, const char *common, int fd)
{
	static char name[] = "git", cat_file[] = "cat-file", batch[] = "--batch";
	static char path[] = "PATH=/usr/bin:/bin", home[] = "HOME=/nonexistent",
		    no_system[] = "GIT_CONFIG_NOSYSTEM=1", no_global[] = "GIT_CONFIG_GLOBAL=/dev/null",
		    no_replace[] = "GIT_NO_REPLACE_OBJECTS=1", no_fetch[] = "GIT_NO_LAZY_FETCH=1",
		    no_protocol[] = "GIT_ALLOW_PROTOCOL=none", no_locks[] = "GIT_OPTIONAL_LOCKS=0";
	char dir[PATH_MAX + 16];
	char *argv[] = { name, cat_file, batch, NULL };
	char *envp[] = { path,	   home,	no_system, no_global, no_replace,
			 no_fetch, no_protocol, no_locks,  dir,	      NULL };
	posix_spawn_file_actions_t files;
	int e;

	snprintf(dir, sizeof(dir), "GIT_DIR=%s", common);
	(void)posix_spawn_file_actions_init(&files);
	e = posix_spawn_file_actions_adddup2(&files, fd, STDIN_FILENO);
	if (e == 0)
		e = posix_spawn_file_actions_adddup2(&files, fd, STDOUT_FILENO);
	if (e == 0)
		e = posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	if (e == 0)
		e = -spawn_plainly(&r->pid, program, &files, 0, argv, envp);
	posix_spawn_file_actions_destroy(&files);
	return -e;
}

/* One socket for both ways, since a pipe whose reader died would end this process by SIGPIPE. */
static int reader_open(struct reader *r, const char *program, const char *common, size_t hash_len)
{
	int pair[2], e;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	r->fd = pair[0];
	r->end_ms = clock_awake_ms() + TIME_MS;
	r->hash_len = hash_len;
	r->buf = malloc(ANSWER_MAX);
	e = r->buf ? spawn(r, program, common, pair[1]) : -ENOMEM;
	(void)close(pair[1]);
	return e;
}

static void reader_close(struct reader *r)
{
	if (r->fd >= 0)
		(void)close(r->fd);
	if (r->pid > 0) {
		(void)kill(r->pid, SIGKILL);
		(void)TEMP_FAILURE_RETRY(waitpid(r->pid, NULL, 0));
	}
	free(r->buf);
}

/* More of the answer; false where it does not come in time. */
static bool fill(struct reader *r)
{
	struct pollfd p = { .fd = r->fd, .events = POLLIN };
	int64_t left = r->end_ms - clock_awake_ms();
	ssize_t n;

	if (left <= 0 || r->len == ANSWER_MAX || poll(&p, 1, (int)left) <= 0)
		return false;
	n = read(r->fd, r->buf + r->len, ANSWER_MAX - r->len);
	r->len += n > 0 ? (size_t)n : 0;
	return n > 0;
}

/* The text's hash as an object of type commit is `name`. */
static bool is_named(const struct reader *r, const char *text, size_t len, const struct git_name *name)
{
	struct git_name own = { { 0 } };
	char head[32];
	size_t n = (size_t)snprintf(head, sizeof(head), "commit %zu", len) + 1;

	if (r->hash_len == SHA1_DIGEST_LENGTH) {
		SHA1_CTX sha1;

		SHA1Init(&sha1);
		SHA1Update(&sha1, (const uint8_t *)head, n);
		SHA1Update(&sha1, (const uint8_t *)text, len);
		SHA1Final(own.b, &sha1);
	} else {
		crypto_hash_sha256_state sha256;

		crypto_hash_sha256_init(&sha256);
		crypto_hash_sha256_update(&sha256, (const unsigned char *)head, n);
		crypto_hash_sha256_update(&sha256, (const unsigned char *)text, len);
		crypto_hash_sha256_final(&sha256, own.b);
	}
	return memcmp(&own, name, sizeof(own)) == 0;
}

/* The commit of that name: its text, which stands until the next one is read; NULL: not to be had. */
static const char *read_commit(struct reader *r, const struct git_name *name)
{
	char line[2 * GIT_HASH_MAX + 2], head[2 * GIT_HASH_MAX + 32];
	char *end = NULL;
	size_t n, size;

	r->len = 0;
	sodium_bin2hex(line, sizeof(line), name->b, r->hash_len);
	n = strlen(line);
	snprintf(head, sizeof(head), "%s commit ", line);
	line[n++] = '\n';
	if (send(r->fd, line, n, MSG_NOSIGNAL) != (ssize_t)n)
		return NULL;
	while (!end && fill(r))
		end = memchr(r->buf, '\n', r->len);
	if (!end || strncmp(r->buf, head, strlen(head)) != 0)
		return NULL;
	*end++ = '\0';
	size = strtoul(r->buf + strlen(head), NULL, 10);
	n = (size_t)(end - r->buf);
	if (size >= ANSWER_MAX - n)
		return NULL;
	while (r->len < n + size + 1)
		if (!fill(r))
			return NULL;
	end[size] = '\0';
	return is_named(r, end, size, name) ? end : NULL;
}

/* --- the walk --------------------------------------------------------------------------------------------
 */

enum colour { FROM_NEW = 1, FROM_OLD = 2 };

struct seen {
	struct git_name name;
	unsigned colours; /* 0: the slot is free */
};

struct queue {
	uint32_t slot[COMMITS_MAX];
	size_t head, n;
};

struct descent {
	struct reader reader;
	struct git_name old;
	struct seen seen[SLOTS];
	struct queue new_end, old_end;
	size_t n;
	bool is_lost; /* a commit of the new end's walk cannot be read */
	bool lost_old;
	bool branches; /* a commit of the new end's walk has not one parent */
	bool is_full;
	bool meets;
};

size_t git_name_parse(const char *hex, struct git_name *ret)
{
	size_t n = strspn(hex, "0123456789abcdef");

	*ret = (struct git_name){ { 0 } };
	if (n != 2 * SHA1_DIGEST_LENGTH && n != 2 * GIT_HASH_MAX)
		return 0;
	return sodium_hex2bin(ret->b, sizeof(ret->b), hex, n, NULL, NULL, NULL) == 0 ? n / 2 : 0;
}

static struct seen *find(struct descent *d, const struct git_name *name)
{
	uint32_t at;

	memcpy(&at, name->b, sizeof(at));
	for (at %= SLOTS; d->seen[at].colours; at = (at + 1) % SLOTS)
		if (memcmp(&d->seen[at].name, name, sizeof(*name)) == 0)
			break;
	return &d->seen[at];
}

static void meet(struct descent *d, const struct git_name *name, enum colour colour)
{
	struct queue *q = colour == FROM_NEW ? &d->new_end : &d->old_end;
	struct seen *s = find(d, name);

	if (colour == FROM_NEW && memcmp(name, &d->old, sizeof(*name)) == 0)
		d->meets = true;
	if (s->colours & colour)
		return;
	d->is_full |= (!s->colours && d->n == COMMITS_MAX) || q->n == COMMITS_MAX;
	if (d->is_full)
		return;
	d->n += !s->colours;
	s->name = *name;
	s->colours |= colour;
	q->slot[q->n++] = (uint32_t)(s - d->seen);
}

/* A line of a commit's head that is KEY, a blank and a name: what follows it, or NULL. */
static const char *name_line(const char *line, const char *key, size_t hash_len, struct git_name *ret)
{
	size_t n = strlen(key);

	if (strncmp(line, key, n) != 0 || git_name_parse(line + n, ret) != hash_len ||
	    line[n + 2 * hash_len] != '\n')
		return NULL;
	return line + n + 2 * hash_len + 1;
}

/*
 * Where the parents of a commit begin, behind its tree.  NULL where its head has another form than git
 * writes: git may then see other parents than we do, or none.
 */
static const char *parents_of(const char *text, size_t hash_len)
{
	const char *first = name_line(text, "tree ", hash_len, &(struct git_name){ 0 }), *line = first;

	while (line && strncmp(line, "parent ", 7) == 0)
		line = name_line(line, "parent ", hash_len, &(struct git_name){ 0 });
	return line && strncmp(line, "author ", 7) == 0 ? first : NULL;
}

static void step(struct descent *d, enum colour colour)
{
	struct queue *q = colour == FROM_NEW ? &d->new_end : &d->old_end;
	const struct seen *s = &d->seen[q->slot[q->head++]];
	const size_t hash_len = d->reader.hash_len;
	const char *line;
	struct git_name parent;
	unsigned n = 0;

	/* It comes before the old one, so the old one does not come before it. */
	if (colour == FROM_NEW && s->colours & FROM_OLD)
		return;
	line = read_commit(&d->reader, &s->name);
	line = line ? parents_of(line, hash_len) : NULL;
	*(colour == FROM_NEW ? &d->is_lost : &d->lost_old) |= !line;
	for (; line && (line = name_line(line, "parent ", hash_len, &parent)); n++)
		meet(d, &parent, colour);
	d->branches |= n != 1 && colour == FROM_NEW;
}

static void step_both(struct descent *d)
{
	step(d, FROM_NEW);
	for (int i = 0; i < OLD_STEPS && d->old_end.head < d->old_end.n; i++)
		step(d, FROM_OLD);
}

static enum git_descent walk(struct descent *d)
{
	while (!d->meets && !d->is_full && d->new_end.head < d->new_end.n)
		step_both(d);
	if (d->meets)
		return GIT_DESCENDS;
	return d->is_full || d->is_lost ? GIT_UNSHOWN : GIT_LOSES;
}

/*
 * Both walks to their ends.  Where the new end's is one line down to the old one, nothing in it comes before
 * that; else the old end's may colour more of it until it has reached the first commits of all.
 */
static void count_all(struct descent *d, struct git_count *ret)
{
	while (!d->is_full && d->new_end.head < d->new_end.n)
		step_both(d);
	ret->is_known = !d->is_lost && !d->is_full;
	while (!d->is_full && d->old_end.head < d->old_end.n && (d->branches || !d->meets))
		step(d, FROM_OLD);
	for (size_t i = 0; i < d->new_end.n; i++)
		ret->n += d->seen[d->new_end.slot[i]].colours == FROM_NEW;
	/* None at most is none. */
	ret->is_exact = ret->n == 0 || (d->meets && !d->branches);
	ret->is_exact |= d->old_end.head == d->old_end.n && !d->lost_old && !d->is_full;
}

enum git_descent git_descent(const char *program, const char *common, const struct git_name *old,
			     const struct git_name *now, size_t hash_len, struct git_count *count)
{
	struct descent *d = calloc(1, sizeof(*d));
	enum git_descent r = GIT_UNSHOWN;

	if (!d)
		return r;
	d->reader.fd = -1;
	d->old = *old;
	meet(d, now, FROM_NEW);
	meet(d, old, FROM_OLD);
	if (d->meets)
		r = GIT_DESCENDS;
	else if (program && reader_open(&d->reader, program, common, hash_len) == 0)
		r = walk(d);
	if (count && (d->meets || d->reader.fd >= 0))
		count_all(d, count);
	reader_close(&d->reader);
	free(d);
	return r;
}
