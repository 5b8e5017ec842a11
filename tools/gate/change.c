/* The store of changes: see change.h. */
#include "change.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "policy/record/replacefile.h"
#include "policy/system/cleanup.h"
#include "policy/system/system.h"

#include "tools/base/output.h"
#include "tools/base/paths.h"
#include "tools/base/readfile.h"

#include "plumbing.h"

#define FILE_LIMIT (256u << 10)
#define LOCK_MS	   10000
#define REFS_MAX   (1u << 20)

static const char *const states[] = { "open", "pushed", "denied", "failed" };

const char *change_state_name(enum change_state s)
{
	return (size_t)s < NELEM(states) ? states[s] : "?";
}

/* Opens STATE/gate/changes; made: where it is missing, it is made. */
static int open_store(const char *state_dir, bool made)
{
	char path[PATH_MAX];
	int n = snprintf(path, sizeof(path), "%s/gate/changes", state_dir), fd;
	int e = n >= (int)sizeof(path) ? -ENAMETOOLONG : made ? dir_make(path) : 0;

	if (e < 0)
		return e;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* --- a change as a file --- */

json_t *change_facts(const struct change *c)
{
	return json_pack("{si, so, so, so, so, so, so, ss, ss, ss, ss, sI, so}", "number", (int)c->number,
			 "repository", json_text(c->repository), "url", json_text(c->url), "session",
			 json_text(c->session), "agent", json_text(c->agent), "asked", json_text(c->asked),
			 "ref", json_text(c->ref), "old", c->old_oid, "new", c->new_oid, "base", c->base,
			 "state", change_state_name(c->state), "made", (json_int_t)c->made, "text",
			 json_text(c->text ?: ""));
}

static int write_change(int store, const struct change *c)
{
	_cleanup_json_ json_t *j = change_facts(c);
	_cleanup_free_ char *text = j ? json_dumps(j, JSON_INDENT(2)) : NULL;
	char name[32];

	if (!text)
		return -ENOMEM;
	snprintf(name, sizeof(name), "%u.json", c->number);
	return replace_file(store, name, NULL, 0600, text, strlen(text));
}

static bool take_text(const json_t *j, const char *key, char **ret)
{
	const char *s = json_string_value(json_object_get(j, key));

	*ret = s ? strdup(s) : NULL;
	return *ret;
}

/* Names of objects go to git as words, so they must be names. */
static bool take_oid(const json_t *j, const char *key, char ret[GIT_HEX])
{
	const char *s = json_str(j, key);
	size_t n = strlen(s);

	snprintf(ret, GIT_HEX, "%s", s);
	return strspn(s, "0123456789abcdef") == n && (n == 0 || n == 40 || n == 64);
}

static bool take_state(const json_t *j, enum change_state *ret)
{
	for (size_t i = 0; i < NELEM(states); i++)
		if (strcmp(json_str(j, "state"), states[i]) == 0) {
			*ret = (enum change_state)i;
			return true;
		}
	return false;
}

int change_load(const char *state_dir, unsigned n, struct change *ret)
{
	_cleanup_json_ json_t *j = NULL;
	_cleanup_free_ char *text = NULL;
	char path[PATH_MAX];
	size_t len;
	int e;

	*ret = (struct change){ .number = n };
	snprintf(path, sizeof(path), "%s/gate/changes/%u.json", state_dir, n);
	e = file_read(path, FILE_LIMIT, &text, &len);
	if (e < 0)
		return e;
	j = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);
	ret->made = (time_t)json_integer_value(json_object_get(j, "made"));
	return take_text(j, "repository", &ret->repository) && take_text(j, "url", &ret->url) &&
			       take_text(j, "session", &ret->session) && take_text(j, "agent", &ret->agent) &&
			       take_text(j, "asked", &ret->asked) && take_text(j, "ref", &ret->ref) &&
			       take_text(j, "text", &ret->text) && take_oid(j, "old", ret->old_oid) &&
			       take_oid(j, "new", ret->new_oid) && take_oid(j, "base", ret->base) &&
			       take_state(j, &ret->state) && *ret->new_oid &&
			       json_integer_value(json_object_get(j, "number")) == (json_int_t)n
		       ? 0
		       : -EBADMSG;
}

static unsigned number_of(const char *name)
{
	char *end;
	unsigned long n = strtoul(name, &end, 10);

	return *name >= '1' && *name <= '9' && n < UINT_MAX && strcmp(end, ".json") == 0 ? (unsigned)n : 0;
}

static int last_in(int store, unsigned *ret)
{
	int fd = openat(store, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_dir_ DIR *d = fd < 0 ? NULL : fdopendir(fd);

	*ret = 0;
	for (struct dirent *e; d && (e = readdir(d));)
		if (number_of(e->d_name) > *ret)
			*ret = number_of(e->d_name);
	return d ? 0 : -errno;
}

int change_last(const char *state_dir, unsigned *ret)
{
	_cleanup_close_ int store = open_store(state_dir, false);

	*ret = 0;
	return store == -ENOENT ? 0 : store < 0 ? store : last_in(store, ret);
}

/* --- a new change --- */

/* Takes the first object's name of what git prints. */
static bool take_first(const struct depot *d, const char *const words[], char mark, char ret[GIT_HEX])
{
	_cleanup_free_ char *out = NULL;
	size_t len;

	if (plumbing_read(d, words, NULL, REFS_MAX, &out, &len) < 0)
		return false;
	for (const char *line = out; *line; line += strcspn(line, "\n"), line += *line != '\0') {
		if (mark && *line++ != mark)
			continue;
		snprintf(ret, GIT_HEX, "%.*s", (int)strcspn(line, "\n"), line);
		return true;
	}
	return false;
}

/*
 * What the reviewer knows already: the remote's ref, where it can be moved on to the commit; otherwise where
 * the commit left the default branch, so that all is shown that a merge there would bring; otherwise the
 * newest commit that another branch has.  Without any of them everything is new.
 */
static void find_base(const struct depot *d, struct change *c)
{
	const char *const before[] = { "merge-base", c->old_oid, c->new_oid, NULL };
	const char *const trunk[] = { "merge-base", "HEAD", c->new_oid, NULL };
	const char *const other[] = { "rev-list",   "--boundary", "--topo-order", c->new_oid, "--not",
				      "--branches", NULL };

	if (!oid_is_none(c->old_oid) && take_first(d, before, 0, c->base) && strcmp(c->base, c->old_oid) == 0)
		return;
	*c->base = '\0';
	if (!take_first(d, trunk, 0, c->base))
		(void)take_first(d, other, '-', c->base);
}

/* Both refs, or neither. */
static int write_refs(const struct depot *d, const struct change *c)
{
	const char *const words[] = { "-c", "core.fsync=all", "update-ref", "--stdin", NULL };
	_cleanup_free_ char *input = NULL, *base = NULL, *out = NULL;
	size_t len;

	if (asprintf(&base, "update refs/changes/%u/base %s\n", c->number, c->base) < 0 ||
	    asprintf(&input, "update refs/changes/%u/head %s\n%s", c->number, c->new_oid,
		     *c->base ? base : "") < 0)
		return -ENOMEM;
	return plumbing_read(d, words, input, 4096, &out, &len);
}

/* Opens the store and locks it: one writer at a time.  0 or -errno. */
static int lock_store(const char *state_dir, int *store, int *lock)
{
	*store = open_store(state_dir, true);
	if (*store < 0)
		return *store;
	*lock = openat(*store, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	return *lock < 0 ? -errno : file_lock(*lock, LOCK_MS);
}

int change_make(const char *state_dir, const char *git, struct change *c)
{
	const struct depot d = { git, c->repository };
	_cleanup_close_ int store = -1, lock = -1;
	int e = lock_store(state_dir, &store, &lock);

	if (e == 0)
		e = last_in(store, &c->number);
	if (e < 0)
		return e;
	c->number++;
	c->state = CHANGE_OPEN;
	c->made = time(NULL);
	e = plumbing_attributes(c->repository);
	if (e == 0 && !*c->base)
		find_base(&d, c);
	if (e == 0)
		e = write_refs(&d, c);
	return e < 0 ? e : write_change(store, c);
}

int change_settle(const char *state_dir, struct change *c, enum change_state s, const char *text)
{
	_cleanup_close_ int store = -1, lock = -1;
	struct change now;
	char *copy = strdup(text ?: "");
	int e = copy ? lock_store(state_dir, &store, &lock) : -ENOMEM;

	if (e < 0) {
		free(copy);
		return e;
	}
	free(c->text);
	c->text = copy;
	/* A question that ends after the operator pushed takes nothing back. */
	c->state = change_load(state_dir, c->number, &now) == 0 && now.state == CHANGE_PUSHED ? CHANGE_PUSHED
											      : s;
	change_done(&now);
	return write_change(store, c);
}

void change_done(struct change *c)
{
	char **const strings[] = { &c->repository, &c->url, &c->session, &c->agent,
				   &c->asked,	   &c->ref, &c->text };

	for (size_t i = 0; i < NELEM(strings); i++) {
		free(*strings[i]);
		*strings[i] = NULL;
	}
}
