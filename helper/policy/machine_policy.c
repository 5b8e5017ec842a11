/*
 * The floor of a machine where the helper is a user of its own: the helper reads PLACE_CONFIG itself, and
 * ignores the floor that the launcher sends.  Only what root alone can have written is a floor.  Without a
 * file there is no floor; a file that cannot be read or trusted refuses the session.
 */
#include "machine_policy.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "policy/parse/parse.h"
#include "policy/system/cleanup.h"
#include "policy/system/system.h"

#include "helper/base/images.h"
#include "helper/base/state.h"

#define FLOOR_DROPINS "policy.d"

/*
 * Opens one component, so that no link is followed on the way.  Not by openat2(2): where systemd keeps a
 * service from making setuid files (RestrictSUIDSGID), its filter answers that with ENOSYS.
 */
static int open_step(int dirfd, const char *name, int flags)
{
	int fd = openat(dirfd, name, flags | O_NOFOLLOW | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static int complain(struct diags *d, const char *path, const char *code, const char *why)
{
	int r = diag_add(d, SEVERITY_ERROR, code, path, 0, 0, NULL, "%s", why);

	return r < 0 ? r : -EBADMSG;
}

static int complain_errno(struct diags *d, const char *path, int err)
{
	return complain(d, path, "policy-file", strerrordesc_np(-err) ?: "unknown error");
}

static int check_roots(int fd, mode_t type, const char *path, struct diags *d)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return complain_errno(d, path, -errno);
	if ((st.st_mode & S_IFMT) != type)
		return complain(d, path, "policy-file",
				type == S_IFREG ? "is not a regular file" : "is no directory");
	if (st.st_uid != 0)
		return complain(d, path, "policy-owner", "does not belong to root");
	if (st.st_mode & (S_IWGRP | S_IWOTH))
		return complain(d, path, "policy-mode", "may be written by others than root");
	if (type == S_IFREG && st.st_size > (off_t)LIMIT_POLICY)
		return complain(d, path, "policy-size", "is larger than a policy may be (8 MiB)");
	return 0;
}

static int read_text(struct bundle *b, int fd, const char *path, struct diags *d)
{
	_cleanup_free_ char *text = malloc(LIMIT_POLICY + 1);
	ssize_t n;

	if (!text)
		return -ENOMEM;
	n = read_up_to(fd, text, LIMIT_POLICY + 1, -1);
	if (n < 0)
		return complain_errno(d, path, (int)n);
	if (n > LIMIT_POLICY)
		return complain(d, path, "policy-size", "grew larger than a policy may be (8 MiB)");
	return bundle_add_source(b, SOURCE_FLOOR, path, text, (size_t)n);
}

static int add_file(struct bundle *b, int dirfd, const char *name, const char *path, struct diags *d)
{
	_cleanup_close_ int fd = open_step(dirfd, name, O_RDONLY | O_NOCTTY | O_NONBLOCK);
	int r;

	if (fd < 0)
		return complain_errno(d, path, fd);
	r = check_roots(fd, S_IFREG, path, d);
	return r < 0 ? r : read_text(b, fd, path, d);
}

static int is_ini(const struct dirent *e)
{
	size_t len = strlen(e->d_name);

	return e->d_name[0] != '.' && len > 4 && strcmp(e->d_name + len - 4, ".ini") == 0;
}

/* Byte order, as the launcher sorts them. */
static int compare_names(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int add_dropins(struct bundle *b, int etc, struct diags *d)
{
	static const char dir[] = PLACE_CONFIG "/" FLOOR_DROPINS;
	_cleanup_close_ int fd = open_step(etc, FLOOR_DROPINS, O_RDONLY | O_DIRECTORY);
	struct dirent **entries = NULL;
	int n, r;

	if (fd < 0)
		return fd == -ENOENT ? 0 : complain_errno(d, dir, fd);
	r = check_roots(fd, S_IFDIR, dir, d);
	if (r < 0)
		return r;
	n = scandirat(fd, ".", &entries, is_ini, compare_names);
	if (n < 0)
		return complain_errno(d, dir, -errno);
	for (int i = 0; i < n; i++) {
		_cleanup_free_ char *path = NULL;

		if (r == 0 && asprintf(&path, "%s/%s", dir, entries[i]->d_name) < 0)
			r = -ENOMEM;
		if (r == 0)
			r = add_file(b, fd, entries[i]->d_name, path, d);
		free(entries[i]);
	}
	free(entries);
	return r;
}

/* Adds all files of PLACE_CONFIG, which need not exist. */
static int add_all(struct bundle *b, struct diags *d)
{
	_cleanup_close_ int above = open_step(AT_FDCWD, "/etc", O_PATH | O_DIRECTORY);
	_cleanup_close_ int etc = -1;
	int r = above < 0 ? complain_errno(d, "/etc", above) : check_roots(above, S_IFDIR, "/etc", d);

	if (r < 0)
		return r;
	etc = open_step(above, strrchr(PLACE_CONFIG, '/') + 1, O_PATH | O_DIRECTORY);
	if (etc < 0)
		return etc == -ENOENT ? 0 : complain_errno(d, PLACE_CONFIG, etc);
	r = check_roots(etc, S_IFDIR, PLACE_CONFIG, d);
	if (r == 0 && (faccessat(etc, "policy.ini", F_OK, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT))
		r = add_file(b, etc, "policy.ini", PLACE_CONFIG "/policy.ini", d);
	return r < 0 ? r : add_dropins(b, etc, d);
}

static void drop_claimed(struct bundle *b)
{
	size_t kept = 0;

	for (size_t i = 0; i < b->n_sources; i++) {
		if (b->sources[i].layer != SOURCE_FLOOR) {
			b->sources[kept++] = b->sources[i];
			continue;
		}
		source_done(&b->sources[i]);
	}
	b->n_sources = kept;
}

/* Moves the sources after the first n before these, where a floor must be. */
static int floor_first(struct bundle *b, size_t n)
{
	size_t added = b->n_sources - n;
	struct source *list;

	if (added == 0 || n == 0)
		return 0;
	list = calloc(b->n_sources, sizeof(*list));
	if (!list)
		return -ENOMEM;
	memcpy(list, b->sources + n, added * sizeof(*list));
	memcpy(list + added, b->sources, n * sizeof(*list));
	free(b->sources);
	b->sources = list;
	return 0;
}

int floor_replace(const struct helper *h, struct bundle *b, struct diags *d)
{
	size_t n;
	int r;

	if (!h->foreign)
		return 0;
	drop_claimed(b);
	n = b->n_sources;
	r = add_all(b, d);
	return r < 0 ? r : floor_first(b, n);
}
