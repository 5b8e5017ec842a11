/*
 * Grants a tree except for some places in it: the list of what is granted, the list of what is barred, and
 * the walk between the two.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/base/path.h"
#include "policy/base/util.h"

#include "floor.h"

/* Entries of one directory that are granted one by one; the rest is left to the supervisor. */
#define ENTRIES_MAX 8192

/* --- what is granted -------------------------------------------------------------------------------- */

int floor_add(struct floor *f, const char *path, unsigned grants)
{
	struct floor_rule *rule = LIST_NEW(f->list, f->n);
	char *copy = rule ? strdup(path) : NULL;

	if (!copy)
		return -ENOMEM;
	f->n++;
	*rule = (struct floor_rule){ .path = copy, .grants = grants };
	return 0;
}

int floor_add_gap(struct floor *f, const char *path)
{
	struct floor_gap *gap = LIST_NEW(f->gaps, f->n_gaps);
	char *copy = gap ? strdup(path) : NULL;

	if (!copy)
		return -ENOMEM;
	f->n_gaps++;
	*gap = (struct floor_gap){ copy };
	return 0;
}

static int by_path(const void *a, const void *b)
{
	const struct floor_rule *x = a, *y = b;

	return strcmp(x->path, y->path);
}

void floor_sort(struct floor *f)
{
	size_t used = 0;

	if (f->n == 0)
		return;
	qsort(f->list, f->n, sizeof(*f->list), by_path);
	for (size_t i = 1; i < f->n; i++) {
		if (strcmp(f->list[i].path, f->list[used].path) == 0) {
			f->list[used].grants |= f->list[i].grants;
			free(f->list[i].path);
		} else {
			f->list[++used] = f->list[i];
		}
	}
	f->n = used + 1;
}

void floor_done(struct floor *f)
{
	for (size_t i = 0; i < f->n; i++)
		free(f->list[i].path);
	for (size_t i = 0; i < f->n_gaps; i++)
		free(f->gaps[i].path);
	free(f->list);
	free(f->gaps);
	*f = (struct floor){ 0 };
}

/* Compares the first len bytes of path with a whole string, in the order of strcmp(). */
static int compare_prefix(const char *path, size_t len, const char *whole)
{
	int r = strncmp(path, whole, len);

	return r ? r : -(whole[len] != '\0');
}

/* The rule for exactly these bytes, or NULL. */
static const struct floor_rule *rule_at(const struct floor *f, const char *path, size_t len)
{
	size_t lo = 0, hi = f->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		int r = compare_prefix(path, len, f->list[mid].path);

		if (r == 0)
			return &f->list[mid];
		if (r < 0)
			hi = mid;
		else
			lo = mid + 1;
	}
	return NULL;
}

static unsigned granted_at(const struct floor *f, const char *path, size_t len)
{
	const struct floor_rule *r = rule_at(f, path, len);

	return r ? r->grants : 0;
}

unsigned floor_grants(const struct floor *f, const char *path)
{
	unsigned grants = granted_at(f, "/", 1);

	if (path[0] != '/')
		return 0;
	for (size_t i = 1; path[i]; i++)
		if (path[i] == '/' && i > 1)
			grants |= granted_at(f, path, i);
	return grants | granted_at(f, path, strlen(path));
}

/*
 * Landlock's rule holds for the object that was there at the start.  What has replaced it since (a file
 * that an editor wrote anew, a directory removed and made again) is not granted.  The kernel keeps the
 * object of a rule, so its inode number is not reused.
 */
static bool rule_stands(const struct floor_rule *r)
{
	struct stat st;

	if (!r->holds)
		return false;
	/* Directories in the root, such as "/usr", are not replaced during a session. */
	if (r->is_dir && !strchr(r->path + 1, '/'))
		return true;
	return stat(r->path, &st) == 0 && st.st_dev == r->dev && st.st_ino == r->ino;
}

/* Tests from the root down, since rules near it are the least likely to have changed. */
bool floor_lets_read(const struct floor *f, const char *path)
{
	for (size_t i = 1; path[0] == '/'; i++) {
		const struct floor_rule *r;

		if (path[i] != '/' && path[i] != '\0')
			continue;
		r = rule_at(f, path, i);
		if (r && r->grants & FLOOR_READ && rule_stands(r))
			return true;
		if (path[i] == '\0')
			break;
	}
	return false;
}

/* --- what is barred --------------------------------------------------------------------------------- */

int walk_bar(struct floor_walk *w, const char *path, unsigned grants)
{
	struct barred *bar = LIST_NEW(w->list, w->n);
	char *copy = bar ? strdup(path) : NULL;

	if (!copy)
		return -ENOMEM;
	w->n++;
	*bar = (struct barred){ copy, grants };
	return 0;
}

static int barred_by_path(const void *a, const void *b)
{
	const struct barred *x = a, *y = b;

	return strcmp(x->path, y->path);
}

void walk_ready(struct floor_walk *w)
{
	if (w->n > 0)
		qsort(w->list, w->n, sizeof(*w->list), barred_by_path);
}

void walk_done(struct floor_walk *w)
{
	for (size_t i = 0; i < w->n; i++)
		free(w->list[i].path);
	free(w->list);
	looks_done(w);
	w->list = NULL;
	w->n = 0;
}

unsigned walk_barred(const struct floor_walk *w, const char *path)
{
	unsigned grants = 0;

	for (size_t i = 0; i < w->n; i++)
		if (path_is_under(path, w->list[i].path))
			grants |= w->list[i].grants;
	return grants;
}

/* The first place that does not sort before path. */
static size_t lower_bound(const struct floor_walk *w, const char *path)
{
	size_t lo = 0, hi = w->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (strcmp(w->list[mid].path, path) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static unsigned barred_at(const struct floor_walk *w, const char *path)
{
	unsigned grants = 0;

	for (size_t i = lower_bound(w, path); i < w->n && strcmp(w->list[i].path, path) == 0; i++)
		grants |= w->list[i].grants;
	return grants;
}

/* What is barred strictly below w->path, which is unchanged afterwards: all such paths begin with it and a
 * slash, and lie together. */
static unsigned barred_below(struct floor_walk *w, size_t len)
{
	unsigned grants = 0;
	size_t n = len;

	if (n > 1)
		w->path[n++] = '/';
	w->path[n] = '\0';
	for (size_t i = lower_bound(w, w->path); i < w->n && strncmp(w->list[i].path, w->path, n) == 0; i++)
		if (w->list[i].path[n] != '\0')
			grants |= w->list[i].grants;
	w->path[len] = '\0';
	return grants;
}

/* --- the walk ---------------------------------------------------------------------------------------- */

static int grant_here(struct floor_walk *w, unsigned grants);

static bool is_entry(const struct dirent *e)
{
	/* A rule is about an object, and the object behind a link has a place of its own. */
	return strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 && e->d_type != DT_LNK;
}

/*
 * Two directories have a hundred entries and more, with something barred among them.  Only the entries that
 * programs open often are granted; the supervisor opens the others, which slows a start less than so many
 * rules.  In byte order.
 */
static const char *const used_of_dev[] = {
	"dri", "full", "kvm", "null", "random", "shm", "tty", "urandom", "zero",
};
static const char *const used_of_etc[] = {
	"bash.bashrc",
	"bash_completion.d",
	"ca-certificates",
	"crypto-policies",
	"environment",
	"fish",
	"fonts",
	"gai.conf",
	"gitconfig",
	"group",
	"host.conf",
	"hosts",
	"inputrc",
	"ld.so.cache",
	"ld.so.preload",
	"locale.alias",
	"localtime",
	"magic",
	"mime.types",
	"nsswitch.conf",
	"passwd",
	"pki",
	"profile",
	"profile.d",
	"protocols",
	"python3",
	"resolv.conf",
	"services",
	"ssh",
	"ssl",
	"terminfo",
	"timezone",
	"vim",
	"xdg",
	"zsh",
};

static const struct {
	const char *dir;
	const char *const *names;
	size_t n;
} used[] = {
	{ "/dev", used_of_dev, NELEM(used_of_dev) },
	{ "/etc", used_of_etc, NELEM(used_of_etc) },
};

static int compare_name(const void *name, const void *entry)
{
	return strcmp(name, *(const char *const *)entry);
}

/* True where programs often open the entry name of directory dir. */
static bool is_used(const char *dir, const char *name)
{
	for (size_t i = 0; i < NELEM(used); i++)
		if (strcmp(dir, used[i].dir) == 0)
			return bsearch(name, used[i].names, used[i].n, sizeof(*used[i].names),
				       compare_name) != NULL;
	return true;
}

static int grant_entries(struct floor_walk *w, DIR *dir, unsigned grants)
{
	size_t len = strlen(w->path), n = len > 1 ? len : 0;
	const struct dirent *e;
	int r = 0;

	for (size_t i = 0; r == 0 && i < ENTRIES_MAX && (e = readdir(dir)); i++) {
		w->path[len] = '\0';
		if (!is_entry(e) || n + strlen(e->d_name) + 2 > sizeof(w->path) ||
		    !is_used(w->path, e->d_name))
			continue;
		w->path[n] = '/';
		strcpy(w->path + n + 1, e->d_name);
		r = grant_here(w, grants);
	}
	w->path[len] = '\0';
	return r;
}

static int grant_children(struct floor_walk *w, unsigned grants)
{
	int fd = open(w->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	int r;

	if (!dir) {
		if (fd >= 0)
			(void)close(fd);
		return 0;
	}
	r = grant_entries(w, dir, grants);
	(void)closedir(dir);
	return r;
}

/* Grants w->path whole where nothing below is barred, otherwise by its children. */
static int grant_here(struct floor_walk *w, unsigned grants)
{
	unsigned below = barred_below(w, strlen(w->path)), whole;
	int r = 0;

	grants &= ~barred_at(w, w->path);
	whole = grants & ~below;
	if (whole)
		r = floor_add(w->floor, w->path, whole);
	if (r == 0 && grants & below)
		r = grant_children(w, grants & below);
	return r;
}

int walk_grant(struct floor_walk *w, const char *path, unsigned grants)
{
	if (strlen(path) >= sizeof(w->path))
		return 0;
	strcpy(w->path, path);
	return grant_here(w, grants);
}
