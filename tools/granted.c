/*
 * The files of grants, read and, where it is our own, changed; and which of them would answer a question.
 */
#include "grants.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "foreign.h"

#define LOCK_TRIES 10
#define LOCK_NS	   5000000

/* --- reading --- */

static int read_file(const char *dir, json_t **ret, const char **ret_why)
{
	_cleanup_free_ char *text = NULL;
	char path[PATH_MAX];
	size_t len = 0;
	int r = path_join(path, sizeof(path), dir, GRANT_FILE);

	if (r == 0)
		r = file_read(path, GRANT_FILE_MAX, &text, &len);
	if (r < 0)
		return r;
	*ret_why = "it is empty";
	*ret = len > 0 ? grant_file_parse(text, len, ret_why) : NULL;
	return *ret ? 0 : -EBADMSG;
}

static void find_dirs(struct kept *k)
{
	struct dirs dirs;
	char *slash;

	if (dirs_find(&dirs) == 0)
		snprintf(k->dir[KEPT_OWN], PATH_MAX, "%s", dirs.state);
	if (foreign_sessions(k->dir[KEPT_FOREIGN], PATH_MAX) < 0)
		k->dir[KEPT_FOREIGN][0] = '\0';
	/* beside the sessions */
	slash = strrchr(k->dir[KEPT_FOREIGN], '/');
	if (slash)
		*slash = '\0';
}

void kept_read(struct kept *ret)
{
	memset(ret, 0, sizeof(*ret));
	find_dirs(ret);
	for (size_t i = 0; i < KEPT_STORES; i++) {
		const char *why = NULL;
		int r = ret->dir[i][0] ? read_file(ret->dir[i], &ret->file[i], &why) : -ENOENT;

		if (r < 0 && r != -ENOENT && !(i == KEPT_FOREIGN && r == -ENOTDIR))
			talk("%s/%s grants nothing: %s", ret->dir[i], GRANT_FILE, why ? why : strerror(-r));
	}
}

void kept_done(struct kept *k)
{
	for (size_t i = 0; i < KEPT_STORES; i++)
		json_decref(k->file[i]);
	memset(k, 0, sizeof(*k));
}

/* --- changing --- */

static int lock(int dir)
{
	struct flock l = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int fd = openat(dir, GRANT_LOCK, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

	for (int i = 0; fd >= 0 && fcntl(fd, F_OFD_SETLK, &l) < 0; i++) {
		if (i == LOCK_TRIES) {
			(void)close(fd);
			return -EAGAIN;
		}
		(void)nanosleep(&(struct timespec){ .tv_nsec = LOCK_NS }, NULL);
	}
	return fd < 0 ? -errno : fd;
}

static int write_text(int fd, const char *text)
{
	size_t len = strlen(text);

	while (len > 0) {
		ssize_t n = write(fd, text, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		text += n;
		len -= (size_t)n;
	}
	return fsync(fd) < 0 ? -errno : 0;
}

static int replace(int dir, const json_t *file)
{
	static const char fresh[] = GRANT_FILE ".new";
	_cleanup_free_ char *text = grant_file_text(file);
	_cleanup_close_ int fd = -1;
	int r;

	if (!text)
		return -ENOMEM;
	(void)unlinkat(dir, fresh, 0);
	fd = openat(dir, fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -errno;
	r = write_text(fd, text);
	if (r == 0 && renameat(dir, fresh, dir, GRANT_FILE) < 0)
		r = -errno;
	if (r < 0)
		(void)unlinkat(dir, fresh, 0);
	return r < 0 ? r : fsync(dir) < 0 ? -errno : 0;
}

int kept_revoke(const char *path, const char *id)
{
	_cleanup_close_ int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_close_ int held = -1;
	_cleanup_json_ json_t *file = NULL;
	const char *why;
	size_t i;
	int r;

	if (dir < 0)
		return -errno;
	held = lock(dir);
	if (held < 0)
		return held;
	r = read_file(path, &file, &why);
	if (r == 0)
		r = grant_file_find(file, id, &i);
	if (r == 0)
		r = grant_file_remove(file, i);
	return r < 0 ? r : replace(dir, file);
}

/* --- what would answer --- */

struct holding {
	struct grant_line *lines;
	struct grant_entry *entries;
	size_t n;
};

static void hold(const struct image *img, const json_t *file, const char *agent, const char *workspace,
		 struct holding *h)
{
	struct grant_entry e;
	char why[256];

	for (size_t i = 0; grant_file_get(file, i, &e); i++) {
		if (grant_entry_off(&e, agent && *agent ? agent : e.agent, workspace, (uint64_t)time(NULL)) ||
		    grant_check(img, e.section, e.line, NULL, why, sizeof(why)) < 0)
			continue;
		h->lines[h->n] = (struct grant_line){ e.section, e.line };
		h->entries[h->n++] = e;
	}
}

static void tell(const struct grant_entry *e, struct granted_by *ret)
{
	snprintf(ret->id, sizeof(ret->id), "%s", e->id);
	snprintf(ret->until, sizeof(ret->until), "%s", e->until);
	snprintf(ret->section, sizeof(ret->section), "%s", e->section);
	snprintf(ret->line, sizeof(ret->line), "%s", e->line);
	ret->scope = e->scope;
}

static bool find_among(const struct image *img, const struct holding *h, const struct request *req,
		       struct granted_by *ret)
{
	_cleanup_free_ uint8_t *bytes = NULL;
	struct image grants;
	struct diags d;
	size_t size, i;
	int r;

	diags_init(&d);
	r = grants_compile(img, h->lines, h->n, &d, &bytes, &size);
	diags_done(&d);
	if (r < 0 || image_open(&grants, bytes, size, IMAGE_CHECK_HEADER) < 0 ||
	    !grants_allow(&grants, img, req, &i) || i >= h->n)
		return false;
	tell(&h->entries[i], ret);
	return true;
}

bool granted_find(const struct image *img, const char *agent, const char *workspace,
		  const struct request *req, struct granted_by *ret)
{
	_cleanup_free_ struct grant_line *lines = calloc((size_t)KEPT_STORES * GRANT_ENTRIES, sizeof(*lines));
	_cleanup_free_ struct grant_entry *entries =
		calloc((size_t)KEPT_STORES * GRANT_ENTRIES, sizeof(*entries));
	_cleanup_free_ char *shown = record_escape(workspace, strlen(workspace));
	_cleanup_free_ char *name = agent ? record_escape(agent, strlen(agent)) : NULL;
	struct holding h = { .lines = lines, .entries = entries };
	struct kept k;
	bool found;

	if (!lines || !entries || !shown)
		return false;
	kept_read(&k);
	for (size_t i = 0; i < KEPT_STORES; i++)
		if (k.file[i])
			hold(img, k.file[i], name, shown, &h);
	found = h.n > 0 && find_among(img, &h, req, ret);
	kept_done(&k);
	return found;
}

void granted_text(const struct granted_by *g, char *buf, size_t size)
{
	snprintf(buf, size, "granted by %.8s (%s%s%s): %s", g->id, grant_scope_name(g->scope),
		 g->until[0] ? " until " : "", g->until, g->line);
}
