/*
 * What exists at a place: one look-up for each place, and none below a missing directory.
 *
 * A policy names the same hundred paths both as barred and as gaps, and half of them lie in directories that
 * most users do not have.  The results are remembered, because the plan describes the file system at one
 * moment.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "floor.h"

#define PROBES 16

static int open_to_look(const char *path)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_SYMLINKS };
	long fd = syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));

	if (fd < 0)
		return errno == ENOTDIR ? -ENOENT : -errno;
	(void)close((int)fd);
	return 0;
}

/* The slot of the first len bytes of path, or a free slot for them; NULL where there is no room. */
static struct look *look_slot(struct floor_walk *w, const char *path, size_t len)
{
	uint32_t h = 2166136261u;

	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)path[i]) * 16777619u;
	for (size_t i = 0; i < PROBES; i++) {
		struct look *l = &w->looks[(h + i) % LOOKS_MAX];

		if (!l->path || (strncmp(l->path, path, len) == 0 && l->path[len] == '\0'))
			return l;
	}
	return NULL;
}

/* The remembered result for the directory above path: -errno, 0, or 1 where none is remembered. */
static int look_above(struct floor_walk *w, const char *path, size_t len)
{
	const struct look *l = len ? look_slot(w, path, len) : NULL;

	return l && l->path ? l->result : 1;
}

int floor_look(struct floor_walk *w, const char *path)
{
	const char *slash = strrchr(path, '/');
	size_t dir = slash ? (size_t)(slash - path) : 0;
	struct look *l = look_slot(w, path, strlen(path));
	int above, r;

	if (l && l->path)
		return l->result;
	above = look_above(w, path, dir);
	r = above == -ENOENT ? -ENOENT : open_to_look(path);
	if (l) {
		l->path = strdup(path);
		l->result = r;
	}
	if (r == -ENOENT && above == 1 && dir > 0 && dir < LIMIT_PATH) {
		char parent[LIMIT_PATH] UNINITIALIZED;

		memcpy(parent, path, dir);
		parent[dir] = '\0';
		(void)floor_look(w, parent);
	}
	return r;
}

static char *read_names(const char *dir)
{
	DIR *d = opendir(dir);
	const struct dirent *e;
	char *names = NULL;
	size_t size = 0;
	bool bad;
	FILE *f = d ? open_memstream(&names, &size) : NULL;

	for (errno = 0; f && (e = readdir(d)); errno = 0)
		(void)fwrite(e->d_name, strlen(e->d_name) + 1, 1, f);
	bad = f && (errno || fputc('\0', f) == EOF || ferror(f));
	if (d)
		(void)closedir(d);
	/* An incomplete list must not be used. */
	if (f && (fclose(f) == EOF || bad)) {
		free(names);
		names = NULL;
	}
	return names;
}

const char *floor_list(struct floor_walk *w, const char *dir)
{
	for (size_t i = 0; i < LISTINGS_MAX; i++) {
		struct listing *l = &w->listings[i];

		if (l->dir && strcmp(l->dir, dir) == 0)
			return l->names;
		if (l->dir)
			continue;
		l->names = floor_look(w, dir) == -ENOENT ? calloc(1, 1) : read_names(dir);
		l->dir = l->names ? strdup(dir) : NULL;
		if (!l->dir) {
			free(l->names);
			l->names = NULL;
		}
		return l->names;
	}
	return NULL;
}

void looks_done(struct floor_walk *w)
{
	for (size_t i = 0; i < LOOKS_MAX; i++)
		free(w->looks[i].path);
	for (size_t i = 0; i < LISTINGS_MAX; i++) {
		free(w->listings[i].dir);
		free(w->listings[i].names);
	}
	memset(w->looks, 0, sizeof(w->looks));
	memset(w->listings, 0, sizeof(w->listings));
}
