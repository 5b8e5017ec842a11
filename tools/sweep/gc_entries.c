/*
 * Entries of sessions.json: an object of entries by id, or an array of entries with an id, alone or as the
 * member `sessions` of an object.
 *
 * An entry is removed only where all its times are understood and old.  The file is not changed where it is
 * too big, is not well-formed, or is being written.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>

#include "policy/base/util.h"
#include "policy/record/replacefile.h"
#include "policy/system/cleanup.h"
#include "policy/system/system.h"

#include "gc.h"

#define NAME	      "sessions.json"
#define NAME_NEW      ".sessions.json.pale"
#define SIZE_MAX_READ ((off_t)16 << 20)
/* Limit at a start: the worst content takes 2 s and 1.3 GB of memory for 16 MiB. */
#define SIZE_MAX_START ((off_t)2 << 20)

/* --- when an entry was last used --- */

/* In the entry itself or in its member `time`, as opencode has it. */
static const char *const time_keys[] = { "updated", "created", "time" };

#define MS_FROM 100000000000.0 /* a number of seconds this large is the year 5138, so it is milliseconds */

static int64_t of_number(double n)
{
	if (!(n > 0) || n > 1e15)
		return -1;
	return (int64_t)(n >= MS_FROM ? n / 1000 : n);
}

/* "2026-11-22T10:00:00.123Z", "+02:00" in place of Z; -1 where it is no such time. */
static int64_t of_text(const char *s)
{
	struct tm tm = { 0 };
	const char *rest = strptime(s, "%Y-%m-%dT%H:%M:%S", &tm);
	int hours, minutes, n = 0;
	char sign;

	if (!rest)
		rest = strptime(s, "%Y-%m-%d %H:%M:%S", &tm);
	if (!rest)
		return -1;
	if (*rest == '.')
		rest += 1 + strspn(rest + 1, "0123456789");
	if (strcmp(rest, "Z") == 0)
		return timegm(&tm);
	if (sscanf(rest, "%c%2d:%2d%n", &sign, &hours, &minutes, &n) != 3 || rest[n] != '\0' ||
	    (sign != '+' && sign != '-'))
		return -1;
	return timegm(&tm) - (sign == '+' ? 1 : -1) * ((int64_t)hours * 3600 + (int64_t)minutes * 60);
}

static int64_t time_of(const json_t *value)
{
	if (json_is_number(value))
		return of_number(json_number_value(value));
	return json_is_string(value) ? of_text(json_string_value(value)) : -1;
}

struct used {
	int64_t newest; /* 0 without a time */
	bool unclear;
};

static void look_at_use(struct used *u, const json_t *entry, bool nested)
{
	for (size_t i = 0; i < NELEM(time_keys); i++) {
		const json_t *value = json_object_get(entry, time_keys[i]);
		int64_t t;

		if (!value)
			continue;
		if (json_is_object(value) && !nested) {
			look_at_use(u, value, true);
			continue;
		}
		t = time_of(value);
		u->unclear = u->unclear || t < 0;
		u->newest = t > u->newest ? t : u->newest;
	}
}

/* A word of the entry names a live session. */
static bool names_live(const struct sweep *g, const json_t *entry)
{
	json_t *all = (json_t *)entry;

	for (void *at = json_object_iter(all); at; at = json_object_iter_next(all, at)) {
		const char *word = json_string_value(json_object_iter_value(at));

		if (word && gc_is_live(g, word))
			return true;
	}
	return false;
}

static bool is_stale(const struct sweep *g, const char *id, const json_t *entry)
{
	int64_t cutoff = g->here_since < g->cutoff ? g->here_since : g->cutoff;
	struct used u = { .newest = 0 };

	if (!json_is_object(entry) || gc_is_live(g, id) || names_live(g, entry))
		return false;
	look_at_use(&u, entry, false);
	return u.newest > 0 && !u.unclear && u.newest < cutoff;
}

/* --- which entries are removed --- */

static void prune_object(const struct sweep *g, json_t *list, json_t *gone)
{
	const char *id;
	json_t *entry;
	void *tmp;

	json_object_foreach_safe(list, tmp, id, entry)
	{
		if (!is_stale(g, id, entry))
			continue;
		if (json_array_append_new(gone, json_string(id)) < 0 || json_object_del(list, id) < 0)
			return;
	}
}

/* The array is rebuilt at once, since each single removal would move all elements after it. */
static void prune_array(const struct sweep *g, json_t *list, json_t *gone)
{
	_cleanup_json_ json_t *kept = json_array();
	json_t *entry;
	size_t i;

	json_array_foreach(list, i, entry)
	{
		const char *id = json_string_value(json_object_get(entry, "id"));

		bool stale = id && is_stale(g, id, entry);

		if ((stale ? json_array_append_new(gone, json_string(id)) : json_array_append(kept, entry)) <
		    0) {
			(void)json_array_clear(gone);
			return;
		}
	}
	if (json_array_size(gone) && (json_array_clear(list) < 0 || json_array_extend(list, kept) < 0))
		(void)json_array_clear(gone);
}

static void prune_list(const struct sweep *g, json_t *list, json_t *gone)
{
	if (json_is_array(list))
		prune_array(g, list, gone);
	else if (json_is_object(list))
		prune_object(g, list, gone);
}

/* Removes stale entries from all and adds their ids to gone. */
static void prune(const struct sweep *g, json_t *all, json_t *gone)
{
	json_t *list = json_object_get(all, "sessions");

	prune_list(g, json_is_array(list) || json_is_object(list) ? list : all, gone);
}

/* --- the file --- */

struct file {
	int dir, fd;
	struct stat st;
	char *text;
	size_t len;
};

/* The file was not changed since it was opened. */
static bool is_unchanged(const struct file *f)
{
	struct stat st;

	return fstatat(f->dir, NAME, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_ino == f->st.st_ino &&
	       st.st_dev == f->st.st_dev && st.st_size == f->st.st_size &&
	       st.st_mtim.tv_sec == f->st.st_mtim.tv_sec && st.st_mtim.tv_nsec == f->st.st_mtim.tv_nsec;
}

static const char *too_big(const struct sweep *g, off_t size)
{
	if (size > SIZE_MAX_READ)
		return "it has more than 16 MiB";
	return g->until_ns && size > SIZE_MAX_START
		       ? "it has more than 2 MiB, too much for a start: pale session gc"
		       : NULL;
}

/* True if another sweep holds the lock: two sweeps at once would overwrite each other's file.  A file
 * system without locks counts as free. */
static bool is_taken(int fd)
{
	return flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK;
}

/* NULL, or the reason why the file must not be changed. */
static const char *open_file(const struct sweep *g, struct file *f)
{
	const char *why;

	f->fd = openat(f->dir, NAME, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (f->fd < 0)
		return errno == ELOOP ? "it is a symbolic link" : strerror(errno);
	if (fstat(f->fd, &f->st) < 0 || !S_ISREG(f->st.st_mode))
		return "it is no regular file";
	if (f->st.st_uid != geteuid())
		return "it belongs to another user";
	why = too_big(g, f->st.st_size);
	if (why)
		return why;
	/* The sweep that held the lock until now may have renamed another file to this name. */
	if (is_taken(f->fd) || !is_unchanged(f))
		return "another sweep has it";
	return gc_is_quiet(f->fd) ? NULL : "a program is writing it";
}

static int read_file(struct file *f)
{
	f->text = calloc(1, (size_t)f->st.st_size + 1);
	if (!f->text)
		return -ENOMEM;
	f->len = (size_t)f->st.st_size;
	return read_up_to(f->fd, f->text, f->len, -1) == f->st.st_size ? 0 : -EIO;
}

/* The file's indentation: the blanks of its second line. */
static size_t indent_of(const struct file *f)
{
	const char *line = memchr(f->text, '\n', f->len);
	size_t n = line && line[1] ? strspn(line + 1, " ") : 0;

	return !line || line == f->text + f->len - 1 ? 0 : n > 0 && n <= 8 ? n : 2;
}

static int write_new(const struct file *f, const json_t *all)
{
	size_t indent = indent_of(f), flags = JSON_PRESERVE_ORDER | JSON_ENCODE_ANY;
	_cleanup_free_ char *text = json_dumps(all, flags | (indent ? JSON_INDENT(indent) : JSON_COMPACT));
	_cleanup_close_ int fd = -1;
	int r;

	if (!text)
		return -ENOMEM;
	(void)unlinkat(f->dir, NAME_NEW, 0);
	fd = openat(f->dir, NAME_NEW, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	r = write_all(fd, text, strlen(text));
	if (r == 0 && f->text[f->len - 1] == '\n')
		r = write_all(fd, "\n", 1);
	if (r == 0 && (fchown(fd, (uid_t)-1, f->st.st_gid) < 0 || fchmod(fd, f->st.st_mode & 07777) < 0 ||
		       fsync(fd) < 0))
		r = -errno;
	return r;
}

static int rewrite_file(const struct file *f, const json_t *all)
{
	int r = write_new(f, all);

	if (r == 0 && !is_unchanged(f))
		r = -EBUSY;
	if (r == 0 && renameat(f->dir, NAME_NEW, f->dir, NAME) < 0)
		r = -errno;
	if (r < 0)
		(void)unlinkat(f->dir, NAME_NEW, 0);
	else
		(void)fsync(f->dir);
	return r;
}

/* NULL, or the reason why no entry is removed. */
static const char *sweep(struct sweep *g, struct file *f)
{
	_cleanup_json_ json_t *all = NULL, *gone = json_array();
	const char *why = open_file(g, f);
	json_t *id;
	size_t i;
	int r;

	if (why || f->st.st_size == 0)
		return why;
	r = read_file(f);
	if (r < 0)
		return strerror(-r);
	all = json_loadb(f->text, f->len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL | JSON_DECODE_ANY, NULL);
	if (!all)
		return "it is not JSON that is read here: a syntax error, a name twice, a number that is too "
		       "long";
	prune(g, all, gone);
	r = json_array_size(gone) && g->mode == GC_REMOVE ? rewrite_file(f, all) : 0;
	if (r < 0) {
		g->failed++;
		gc_note(g, "%s/" NAME " cannot be rewritten: %s", g->root, strerror(-r));
		return NULL;
	}
	json_array_foreach(gone, i, id) gc_found(g, GC_ENTRY, json_string_value(id), g->root, NAME);
	return NULL;
}

void gc_entries(struct sweep *g, int at)
{
	const struct sigaction ignore = { .sa_handler = SIG_IGN };
	/* A descriptor for fsync, since at is opened with O_PATH. */
	_cleanup_close_ int dir = openat(at, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct file f = { .dir = dir, .fd = -1 };
	struct sigaction before;
	const char *why;
	struct stat st;

	if (dir < 0 || (fstatat(dir, NAME, &st, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT))
		return;
	if (gc_is_over(g)) {
		g->left++;
		return;
	}
	(void)sigaction(SIGIO, &ignore, &before);
	why = sweep(g, &f);
	(void)sigaction(SIGIO, &before, NULL);
	if (why)
		gc_note(g, "%s/" NAME " is left as it is: %s", g->root, why);
	if (f.fd >= 0)
		(void)close(f.fd);
	free(f.text);
}
