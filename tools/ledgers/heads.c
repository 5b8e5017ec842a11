/* Heads of ledgers at the end of their sessions; see heads.h. */
#include "heads.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <spawn.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "policy/system/cleanup.h"

#include "tools/base/output.h"
#include "tools/base/outside.h"
#include "tools/base/paths.h"
#include "tools/base/readfile.h"
#include "tools/sessions/sessions.h"

#define HEADS_FILE "heads.jsonl"
#define HEADS_OLD  "heads.1.jsonl"
#define HEADS_MAX  (4u << 20) /* then HEADS_FILE becomes HEADS_OLD; both hold some 40,000 sessions */

extern char **environ;

static int heads_path(char *buf, size_t size, const char *name)
{
	struct dirs dirs;
	int r = dirs_find(&dirs);

	return r < 0 ? r : path_join(buf, size, dirs.state, name);
}

static char *head_line(const char *session, uint64_t count, const char *hash, bool sealed)
{
	struct timespec now;
	char when[32];
	json_t *j;
	char *text, *line;
	struct tm tm;

	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &tm);
	strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", &tm);
	j = json_pack("{ss, ss, sI, ss, sb}", "time", when, "session", session, "records", (json_int_t)count,
		      "head", hash, "sealed", sealed);
	text = j ? json_dumps(j, JSON_COMPACT) : NULL;
	json_decref(j);
	if (!text || asprintf(&line, "%s\n", text) < 0)
		line = NULL;
	free(text);
	return line;
}

static int append_head(const struct dirs *dirs, const char *line)
{
	_cleanup_close_ int fd = -1;
	char path[PATH_MAX], old[PATH_MAX];
	struct stat st;
	size_t len;
	ssize_t n;
	int r;

	if (!line)
		return -ENOMEM;
	/* Where the helper keeps the ledgers elsewhere, this directory may not exist yet. */
	r = dir_make(dirs->state);
	if (r < 0)
		return r;
	if (path_join(path, sizeof(path), dirs->state, HEADS_FILE) < 0 ||
	    path_join(old, sizeof(old), dirs->state, HEADS_OLD) < 0)
		return -ENAMETOOLONG;
	if (lstat(path, &st) == 0 && st.st_size > HEADS_MAX)
		(void)rename(path, old);
	fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK, 0600);
	if (fd < 0)
		return -errno;
	/* One write, so that sessions that end at once do not mix their lines. */
	len = strlen(line);
	n = write(fd, line, len);
	return n == (ssize_t)len ? 0 : n < 0 ? -errno : -EIO;
}

void heads_keep(const struct dirs *dirs, const char *session, uint64_t records, const char *hash, bool sealed)
{
	_cleanup_free_ char *line = head_line(session, records, hash, sealed);
	int e = append_head(dirs, line);

	if (e < 0)
		talk("session %s: the ledger's head cannot be kept in %s: %s", session, dirs->state,
		     strerror(-e));
}

/* Which heads are wanted, and the function that gets them. */
struct search {
	const char *session; /* NULL: all */
	uid_t writer, owner;
	head_fn *fn;
	void *ctx;
};

static bool found(const struct search *s, const struct head *head)
{
	if (!head->session || !head->hash || head->count == 0 ||
	    (s->session && strcmp(head->session, s->session) != 0))
		return false;
	s->fn(s->ctx, head);
	return true;
}

static void look_at_line(const struct search *s, const char *line, size_t len)
{
	_cleanup_json_ json_t *j = json_loadb(line, len, JSON_REJECT_DUPLICATES, NULL);
	json_int_t count = json_integer_value(json_object_get(j, "records"));
	const struct head head = { .session = json_string_value(json_object_get(j, "session")),
				   .time = json_string_value(json_object_get(j, "time")) ?: "",
				   .hash = json_string_value(json_object_get(j, "head")),
				   .count = count > 0 ? (uint64_t)count : 0 };

	(void)found(s, &head);
}

static int look_in_file(const struct search *s, const char *name)
{
	_cleanup_free_ char *text = NULL;
	char path[PATH_MAX];
	size_t len = 0;
	int r = heads_path(path, sizeof(path), name);

	if (r == 0)
		r = file_read(path, 2 * HEADS_MAX, &text, &len);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	for (const char *at = text, *end; at < text + len; at = end + 1) {
		end = memchr(at, '\n', (size_t)(text + len - at));
		if (!end)
			break;
		look_at_line(s, at, (size_t)(end - at));
	}
	return 0;
}

int heads_kept(const char *session, head_fn *fn, void *ctx)
{
	const struct search s = { .session = session, .fn = fn, .ctx = ctx };
	int r = look_in_file(&s, HEADS_OLD);

	return r < 0 ? r : look_in_file(&s, HEADS_FILE);
}

/* --- the journal --- */

/* For root, outside_find() refuses programs from PATH.  /usr/bin is safe: its owner can replace pale itself.
 */
static int find_journalctl(char ret[PATH_MAX])
{
	int r = outside_find(NULL, "journalctl", ret);

	if (r != -EPERM || geteuid() != 0)
		return r;
	strcpy(ret, "/usr/bin/journalctl");
	return access(ret, X_OK) < 0 ? -errno : 0;
}

/* Starts journalctl with these arguments: *ret reads its output.  0 or -errno. */
static int run_journalctl(char *const argv[], FILE **ret, pid_t *ret_pid)
{
	posix_spawn_file_actions_t files;
	char file[PATH_MAX];
	int p[2], r = find_journalctl(file);

	if (r < 0)
		return r;
	if (pipe2(p, O_CLOEXEC) < 0)
		return -errno;
	r = posix_spawn_file_actions_init(&files);
	if (r == 0)
		r = posix_spawn_file_actions_adddup2(&files, p[1], STDOUT_FILENO);
	if (r == 0)
		r = posix_spawn(ret_pid, file, &files, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&files);
	(void)close(p[1]);
	*ret = r == 0 ? fdopen(p[0], "r") : NULL;
	if (*ret)
		return 0;
	(void)close(p[0]);
	return r ? -r : -ENOMEM;
}

/*
 * Any user may write to the journal, which adds the writer's uid: only entries of the helper's user count.
 */
static bool is_a_helpers(const json_t *entry, uid_t owner)
{
	const char *uid = json_string_value(json_object_get(entry, "_UID"));
	const struct passwd *pale = getpwnam("pale");
	unsigned long n = uid ? strtoul(uid, NULL, 10) : 0;

	return uid && (n == owner || n == getuid() || (pale && n == pale->pw_uid));
}

/* An entry of an older helper names no owner: it counts where the session's name matches. */
static bool is_of_session(const json_t *entry, const struct search *s)
{
	const char *uid = json_string_value(json_object_get(entry, "PALE_OWNER"));

	return uid ? s->owner == NO_OWNER || strtoul(uid, NULL, 10) == s->owner : s->session != NULL;
}

static bool look_at_entry(const struct search *s, const char *line)
{
	_cleanup_json_ json_t *j = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
	const char *count = json_string_value(json_object_get(j, "PALE_COUNT"));
	const struct head head = { .session = json_string_value(json_object_get(j, "PALE_SESSION")),
				   .time = "",
				   .hash = json_string_value(json_object_get(j, "PALE_HEAD")),
				   .count = count ? strtoull(count, NULL, 10) : 0 };

	return is_a_helpers(j, s->writer) && is_of_session(j, s) && found(s, &head);
}

int heads_from_journal(const char *session, uid_t writer, uid_t owner, head_fn *fn, void *ctx)
{
	const struct search s = {
		.session = session, .writer = writer, .owner = owner, .fn = fn, .ctx = ctx
	};
	static char name[] = "journalctl", output[] = "--output=json", quiet[] = "--quiet",
		    pager[] = "--no-pager";
	char match[64 + SESSION_ID_MAX], *argv[] = { name, output, quiet, pager, match, NULL };
	char *line = NULL;
	size_t cap = 0;
	FILE *f = NULL;
	pid_t pid = -1;
	int r, status, n = 0;

	snprintf(match, sizeof(match), "%s=%s", session ? "PALE_SESSION" : "SYSLOG_IDENTIFIER",
		 session ? session : "pale-helper");
	r = run_journalctl(argv, &f, &pid);
	if (r < 0)
		return r;
	while (getline(&line, &cap, f) > 0)
		n += look_at_entry(&s, line);
	free(line);
	(void)fclose(f);
	if (waitpid(pid, &status, 0) < 0)
		return -errno;
	return WIFEXITED(status) && WEXITSTATUS(status) <= 1 ? n : -EIO;
}
