/*
 * pale policy edit, in visudo's manner: a copy is edited, judged with all that would be loaded beside it, and
 * takes the file's place in one step, or not at all.
 *
 * The file's directory is locked for as long as that takes.  What is saved is the text that was judged,
 * whatever becomes of the copy.  Whatever ends us leaves the old file as it was, and at most a copy beside it
 * that nothing reads.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "policy/path.h"
#include "policy/wire.h"

#include "edit.h"

struct edit {
	const struct options *o;
	enum source_layer layer;
	char path[PATH_MAX], dir[PATH_MAX], copy[PATH_MAX], fresh[PATH_MAX];
	bool made_dir;
	int lock;	  /* its directory */
	char *old, *text; /* as the file was, NULL: there was none; as it is edited */
	size_t old_len, len;
	struct stat st;	    /* of the old file, or as a new one shall be */
	struct diags known; /* of the old one and those beside it */
	bool can_compare;   /* the old one can be judged by */
	bool was_trusted;   /* a project's, pinned */
	struct loaded before, after;
};

/* One row a layer that can be edited. */
static const struct place {
	enum source_layer layer;
	mode_t mode, dir_mode; /* of new ones: everybody reads the floor */
	const char *head;      /* how a new file begins */
} places[] = {
	{ SOURCE_USER, 0600, 0700,
	  "# Your policy for pale, see pale.ini(5).  It lies on a preset: agent, security-v0, review or ci.\n"
	  "preset = agent\n\n"
	  "[files]\n# write = ~/build\n# deny = ~/private\n\n"
	  "[commands]\n# ask = npm publish\n\n"
	  "[network]\n# allow = git.example.org:443\n" },
	{ SOURCE_PROJECT, 0600, 0700,
	  "# This project's policy for pale, see pale.ini(5).  It may only tighten, until `pale trust`.\n\n"
	  "[files]\n# deny = private\n\n"
	  "[commands]\n# ask = make deploy\n" },
	{ SOURCE_FLOOR, 0644, 0755,
	  "# The floor of this machine, see pale.ini(5): no other policy allows what is denied here.\n\n"
	  "[files]\n# deny = /srv/secret\n\n"
	  "[network]\n# deny = paste.example.org\n" },
};

static const struct place *place_of(const struct edit *e)
{
	for (size_t i = 0; i < NELEM(places); i++)
		if (places[i].layer == e->layer)
			return &places[i];
	return &places[0];
}

/* --- the file and its copy -------------------------------------------------------------------------------
 */

static int name_user(const struct options *o, char *named, size_t size)
{
	char cwd[PATH_MAX];
	struct dirs dirs;
	int r;

	if (o->policy) {
		if (!getcwd(cwd, sizeof(cwd)))
			return -errno;
		r = path_normalise(cwd, o->policy, named, size);
		return r < 0 ? r : 0;
	}
	r = dirs_find(&dirs);
	return r < 0 ? r : path_join(named, size, dirs.config, "policy.ini");
}

static int name_project(const struct options *o, char *named, size_t size)
{
	char workspace[PATH_MAX];

	if (!realpath(o->workspace ? o->workspace : ".", workspace))
		return -errno;
	return path_join(named, size, workspace, ".pale/policy.ini");
}

static int beside(const struct edit *e, const char *prefix, char *buf, size_t size)
{
	int n = snprintf(buf, size, "%s/%s%s", e->dir, prefix, path_basename(e->path));

	return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}

/* What a link leads to is what is edited; but a project's links are whoever's that wrote the project. */
static int find_file(struct edit *e)
{
	char named[PATH_MAX];
	int r = 0;

	e->layer = e->o->floor ? SOURCE_FLOOR : e->o->for_project ? SOURCE_PROJECT : SOURCE_USER;
	if (e->o->floor)
		strcpy(named, PLACE_CONFIG "/policy.ini");
	else if (e->o->for_project)
		r = name_project(e->o, named, sizeof(named));
	else
		r = name_user(e->o, named, sizeof(named));
	if (r == 0)
		r = path_real(named, e->path, sizeof(e->path));
	if (r < 0)
		return r;
	if (e->layer == SOURCE_PROJECT && strcmp(named, e->path) != 0)
		return -ELOOP;
	strcpy(e->dir, e->path);
	*strrchr(e->dir, '/') = '\0';
	if (!e->dir[0])
		return -EINVAL;
	r = beside(e, ".edit-", e->copy, sizeof(e->copy));
	return r < 0 ? r : beside(e, ".new-", e->fresh, sizeof(e->fresh));
}

static int lock_dir(struct edit *e)
{
	e->made_dir = mkdir(e->dir, place_of(e)->dir_mode) == 0;
	if (!e->made_dir && errno == ENOENT) {
		int r = dir_make(e->dir);

		if (r < 0)
			return r;
	}
	e->lock = open(e->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (e->lock < 0 || flock(e->lock, LOCK_EX | LOCK_NB) < 0)
		return -errno;
	/* Whatever the umask: a floor that users cannot read is an error to them. */
	return e->made_dir && fchmod(e->lock, place_of(e)->dir_mode) < 0 ? -errno : 0;
}

/* One that pale would not load is not edited either: -EPERM, told. */
static int read_old(struct edit *e)
{
	struct diags d;
	int r;

	diags_init(&d);
	r = policy_file_read(e->path, &e->old, &e->old_len, &d);
	print_diags(stderr, &d);
	diags_done(&d);
	if (r == -ENOENT) {
		e->st.st_mode = S_IFREG | place_of(e)->mode;
		e->st.st_uid = geteuid();
		e->st.st_gid = getegid();
		return 0;
	}
	return r == 0 && stat(e->path, &e->st) < 0 ? -errno : r;
}

static int write_all(int fd, const char *text, size_t len)
{
	while (len > 0) {
		ssize_t n = write(fd, text, len);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0) {
			text += n;
			len -= (size_t)n;
		}
	}
	return fsync(fd) < 0 ? -errno : 0;
}

/* A new file of ours, whatever was there; *ret_fd is the caller's. */
static int create(const char *path, int *ret_fd)
{
	if (unlink(path) < 0 && errno != ENOENT)
		return -errno;
	*ret_fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	return *ret_fd < 0 ? -errno : 0;
}

static int write_copy(const struct edit *e)
{
	const char *text = e->old ? e->old : place_of(e)->head;
	_cleanup_close_ int fd = -1;
	int r = create(e->copy, &fd);

	return r < 0 ? r : write_all(fd, text, e->old ? e->old_len : strlen(text));
}

static int write_fresh(const struct edit *e)
{
	_cleanup_close_ int fd = -1;
	struct stat st;
	int r = create(e->fresh, &fd);

	if (r < 0)
		return r;
	if (fstat(fd, &st) < 0)
		return -errno;
	if ((st.st_uid != e->st.st_uid || st.st_gid != e->st.st_gid) &&
	    fchown(fd, st.st_uid == e->st.st_uid ? (uid_t)-1 : e->st.st_uid, e->st.st_gid) < 0)
		return -errno;
	if (fchmod(fd, e->st.st_mode & 07777) < 0)
		return -errno;
	return write_all(fd, e->text, e->len);
}

/* Somebody else saved it while it was being edited: neither's work is lost. */
static bool changed_meanwhile(const struct edit *e)
{
	_cleanup_free_ char *now = NULL;
	size_t len = 0;
	int r = file_read(e->path, LIMIT_POLICY, &now, &len);

	if (!e->old)
		return r != -ENOENT;
	return r < 0 || len != e->old_len || memcmp(now, e->old, len) != 0;
}

/* Beside it, whole and on the disk, before it takes the name. */
static int install(const struct edit *e)
{
	int r = changed_meanwhile(e) ? -ESTALE : write_fresh(e);

	if (r == 0 && rename(e->fresh, e->path) < 0)
		r = -errno;
	if (r < 0 && r != -ESTALE)
		(void)unlink(e->fresh);
	if (r == 0)
		(void)fsync(e->lock);
	return r;
}

/* --- what it would mean ------------------------------------------------------------------------------------
 */

/* All that would be loaded, with this text in the file's place; NULL: as it is.  What is wrong with another
 * file does not keep this one from being judged. */
static int load_with(const struct edit *e, const char *text, size_t len, struct loaded *l, struct diags *d)
{
	struct bundle b;
	int gathered = bundle_gather_without(e->o, &b, d), r = gathered;

	if (r == -EBADMSG && b.workspace && b.home)
		r = 0;
	if (r == 0 && text)
		r = bundle_put_source(&b, e->layer, e->path, text, len);
	if (r == 0)
		r = loaded_from_bundle(l, &b, d);
	if (r == 0)
		r = lint_loaded(l, d);
	bundle_done(&b);
	diags_drop(d, diag_is_of_preset, NULL);
	return r < 0 ? r : gathered;
}

static void load_before(struct edit *e)
{
	e->can_compare = load_with(e, NULL, 0, &e->before, &e->known) == 0;
	for (size_t i = 0; i < e->before.bundle.n_sources; i++) {
		const struct source *s = &e->before.bundle.sources[i];

		e->was_trusted |= s->layer == SOURCE_PROJECT_TRUSTED && strcmp(s->path, e->path) == 0;
	}
}

static bool is_of_file(const struct diag *g, const struct edit *e)
{
	char real[PATH_MAX];

	return !g->file || (path_real(g->file, real, sizeof(real)) == 0 && strcmp(real, e->path) == 0);
}

/* What was wrong with other files before is not this one's. */
static bool is_known(const struct diag *g, const void *ctx)
{
	const struct edit *e = ctx;

	if (is_of_file(g, e))
		return false;
	for (size_t i = 0; i < e->known.n; i++) {
		const struct diag *k = &e->known.list[i];

		if (k->file && strcmp(k->file, g->file) == 0 && k->line == g->line &&
		    strcmp(k->code, g->code) == 0 && strcmp(k->text, g->text) == 0)
			return true;
	}
	return false;
}

static bool has_own_errors(const struct edit *e, const struct diags *d)
{
	for (size_t i = 0; i < d->n; i++)
		if (d->list[i].severity == SEVERITY_ERROR && !is_known(&d->list[i], e))
			return true;
	return false;
}

/* --- the dialogue ------------------------------------------------------------------------------------------
 */

/* Judges the text and asks where it is not plainly good. */
static enum next judge(struct edit *e)
{
	enum next next = NEXT_SAVE;
	struct diags d;
	bool bad;
	int r;

	diags_init(&d);
	loaded_done(&e->after);
	memset(&e->after, 0, sizeof(e->after));
	r = load_with(e, e->text, e->len, &e->after, &d);
	diags_drop(&d, is_known, e);
	print_diags(stderr, &d);
	if (r < 0 && d.n_errors == 0)
		talk("the policy cannot be judged: %s", strerror(-r));
	bad = (r < 0 && d.n_errors == 0) || has_own_errors(e, &d);
	if (bad || r < 0 || diags_have_findings(&d))
		next = ask_next(!bad);
	e->can_compare = e->can_compare && r == 0;
	diags_done(&d);
	return next;
}

static bool is_unchanged(const struct edit *e)
{
	const char *was = e->old ? e->old : place_of(e)->head;
	size_t len = e->old ? e->old_len : strlen(was);

	return e->len == len && memcmp(e->text, was, len) == 0;
}

static int take_text(struct edit *e)
{
	int r;

	free(e->text);
	e->text = NULL;
	r = file_read(e->copy, LIMIT_POLICY, &e->text, &e->len);
	if (r < 0)
		talk("%s: %s", e->copy, strerror(-r));
	return r;
}

enum ended { ENDED_UNCHANGED, ENDED_LEFT, ENDED_SAVE };

static enum ended dialogue(struct edit *e)
{
	for (;;) {
		enum next next;

		if (editor_run(e->copy) < 0)
			return ENDED_LEFT;
		if (take_text(e) < 0) {
			next = ask_next(false);
		} else if (is_unchanged(e)) {
			talk("%s is unchanged", e->path);
			return ENDED_UNCHANGED;
		} else {
			next = judge(e);
		}
		if (next != NEXT_EDIT)
			return next == NEXT_SAVE ? ENDED_SAVE : ENDED_LEFT;
	}
}

/* --- together
 * ----------------------------------------------------------------------------------------------- */

static void offer_reload(const struct edit *e)
{
	_cleanup_free_ struct session_ref *refs = NULL;
	size_t n = 0;

	if (sessions_live(&refs, &n) < 0 || n == 0)
		return;
	if (e->o->yes || ask_yes("Load it into the sessions that run?"))
		(void)policy_reload(e->o);
	else
		talk("sessions that run keep the old policy until `pale policy reload`");
}

static void tell_saved(const struct edit *e)
{
	talk("%s is saved", e->path);
	if (e->was_trusted)
		talk("it was trusted and may only tighten now, until `pale trust`");
	if (e->can_compare)
		past_report(&e->before, &e->after);
	fflush(stdout);
}

static int save(struct edit *e)
{
	int r = install(e);

	if (r < 0) {
		if (r == -ESTALE)
			talk("%s was changed by somebody else meanwhile", e->path);
		talk("what you wrote is in %s", e->copy);
		return r;
	}
	(void)unlink(e->copy);
	tell_saved(e);
	offer_reload(e);
	return 0;
}

static int edit(struct edit *e)
{
	enum ended ended;
	int r = read_old(e);

	if (r == 0)
		r = write_copy(e);
	if (r < 0)
		return r;
	load_before(e);
	ended = dialogue(e);
	if (ended == ENDED_SAVE)
		return save(e);
	(void)unlink(e->copy);
	if (e->made_dir)
		(void)rmdir(e->dir);
	if (ended == ENDED_LEFT)
		talk("%s is as it was", e->path);
	return ended == ENDED_LEFT;
}

static void tell_failure(const struct edit *e, int err)
{
	const char *path = e->path[0] ? e->path : "the policy";

	if (err == -EWOULDBLOCK)
		talk("%s is being edited already", path);
	else if (err == -ELOOP)
		talk("%s is reached by a link of the project; name the file itself (-p)", path);
	else if (err != -ESTALE)
		talk("%s: %s", path, strerror(-err));
}

int policy_edit(const struct options *o)
{
	struct edit e = { .o = o, .lock = -1 };
	int r;

	if (session_around()) {
		talk("a session may not edit policies; run `pale policy edit` outside");
		return EXIT_FINDINGS;
	}
	if (!!o->floor + !!o->for_project + !!o->policy > 1) {
		talk("--project, --floor and --policy name different files");
		return EXIT_USAGE;
	}
	diags_init(&e.known);
	r = find_file(&e);
	if (r == 0)
		r = lock_dir(&e);
	if (r == 0)
		r = edit(&e);
	if (r < 0)
		tell_failure(&e, r);
	if (e.lock >= 0)
		(void)close(e.lock);
	loaded_done(&e.before);
	loaded_done(&e.after);
	diags_done(&e.known);
	free(e.old);
	free(e.text);
	return r < 0 ? EXIT_USAGE : r == 0 ? EXIT_OK : EXIT_FINDINGS;
}
