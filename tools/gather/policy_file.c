/*
 * A policy file that is going to be replaced: found, locked by its directory, read, and replaced as a whole
 * or not at all.
 *
 * A crash leaves the old file as it was, and at most one more file beside it that is never read.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "policy/base/path.h"
#include "policy/record/replacefile.h"
#include "policy/system/cleanup.h"
#include "policy/wire/wire.h"

#include "tools/base/options.h"
#include "tools/base/output.h"
#include "tools/base/paths.h"
#include "tools/base/readfile.h"
#include "tools/edit/edit.h"
#include "tools/ledgers/deeds.h"

#include "load.h"

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

/* An edit goes to the target of a link; a project's link is refused, since the project's author chose its
 * target. */
static int find_file(struct policy_file *f)
{
	char named[PATH_MAX];
	int r = 0;

	f->layer = f->o->floor ? SOURCE_FLOOR : f->o->for_project ? SOURCE_PROJECT : SOURCE_USER;
	if (f->o->floor)
		strcpy(named, PLACE_CONFIG "/policy.ini");
	else if (f->o->for_project)
		r = name_project(f->o, named, sizeof(named));
	else
		r = name_user(f->o, named, sizeof(named));
	if (r == 0)
		r = path_real(named, f->path, sizeof(f->path));
	if (r < 0)
		return r;
	if (f->layer == SOURCE_PROJECT && strcmp(named, f->path) != 0)
		return -ELOOP;
	strcpy(f->dir, f->path);
	*strrchr(f->dir, '/') = '\0';
	return f->dir[0] ? 0 : -EINVAL;
}

static int lock_dir(struct policy_file *f)
{
	const mode_t mode = f->layer == SOURCE_FLOOR ? 0755 : 0700; /* all users read the floor */

	f->made_dir = mkdir(f->dir, mode) == 0;
	if (!f->made_dir && errno != EEXIST) {
		int r = errno == ENOENT ? dir_make(f->dir) : -errno;

		if (r < 0)
			return r;
	}
	f->lock = open(f->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (f->lock < 0 || flock(f->lock, LOCK_EX | LOCK_NB) < 0)
		return -errno;
	/* Independent of the umask: a floor that users cannot read is an error for them. */
	return f->made_dir && fchmod(f->lock, mode) < 0 ? -errno : 0;
}

/* A file that pale would not load cannot be edited: -EPERM, with findings. */
static int read_old(struct policy_file *f)
{
	struct diags d;
	int r;

	diags_init(&d);
	r = policy_file_read(f->path, &f->old, &f->old_len, &d);
	print_diags(stderr, &d);
	diags_done(&d);
	if (r == -ENOENT) {
		f->st.st_mode = S_IFREG | (f->layer == SOURCE_FLOOR ? 0644 : 0600);
		f->st.st_uid = geteuid();
		f->st.st_gid = getegid();
		return 0;
	}
	return r == 0 && stat(f->path, &f->st) < 0 ? -errno : r;
}

/* Another process has saved the file since it was opened: then neither change must be lost. */
static bool changed_meanwhile(const struct policy_file *f)
{
	_cleanup_free_ char *now = NULL;
	size_t len = 0;
	int r = file_read(f->path, LIMIT_POLICY, &now, &len);

	if (!f->old)
		return r != -ENOENT;
	return r < 0 || len != f->old_len || memcmp(now, f->old, len) != 0;
}

static int save(const struct policy_file *f, const char *text, size_t len)
{
	return changed_meanwhile(f) ? -ESTALE
				    : replace_file(f->lock, path_basename(f->path), &f->st, 0, text, len);
}

int policy_file_save(const struct policy_file *f, const char *text, size_t len)
{
	int r = machine_note("policy/saved", f->path, text, len);

	return r < 0 ? r : machine_done("policy/saved", f->path, save(f, text, len));
}

int policy_file_find(struct policy_file *f, const struct options *o)
{
	*f = (struct policy_file){ .o = o, .lock = -1 };
	return find_file(f);
}

int policy_file_open(struct policy_file *f)
{
	int r = lock_dir(f);

	return r < 0 ? r : read_old(f);
}

void policy_file_done(struct policy_file *f)
{
	if (f->lock >= 0)
		(void)close(f->lock);
	free(f->old);
}

void policy_file_tell(const struct policy_file *f, int err)
{
	const char *path = f->path[0] ? f->path : "the policy";

	if (err == -EWOULDBLOCK)
		talk("%s is being edited already", path);
	else if (err == -ELOOP)
		talk("%s is reached by a link of the project; name the file itself (-p)", path);
	else if (err == -ESTALE)
		talk("%s was changed by another program meanwhile", path);
	else
		talk("%s: %s", path, strerror(-err));
}

int policy_load_with(const struct policy_file *f, const char *text, size_t len, struct loaded *l,
		     struct diags *d)
{
	struct bundle b;
	int r = bundle_gather_without(f->o, &b, d);

	if (r == -EBADMSG && b.workspace && b.home)
		r = 0;
	if (r == 0 && text)
		r = bundle_put_source(&b, f->layer, f->path, text, len, d);
	if (r == 0)
		r = loaded_from_bundle(l, &b, d);
	if (r == 0)
		r = lint_loaded(l, d);
	bundle_done(&b);
	diags_drop(d, diag_is_of_preset, NULL);
	return r < 0 ? r : d->n_errors ? -EBADMSG : 0;
}
