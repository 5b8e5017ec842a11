/* Where things are: directories of the user and of the sessions, and real paths. */
#ifndef PALE_PATHS_H
#define PALE_PATHS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

struct dirs {
	char home[PATH_MAX];   /* real path */
	char config[PATH_MAX]; /* $XDG_CONFIG_HOME/pale */
	char state[PATH_MAX];  /* $XDG_STATE_HOME/pale */
};

/* Joins dir and name.  0 or -ENAMETOOLONG. */
int path_join(char *buf, size_t size, const char *dir, const char *name);
/* 0, -ENOENT (no home directory), -ENAMETOOLONG. */
int dirs_find(struct dirs *ret);
/* The home directory of the user in passwd(5), whatever HOME says, or NULL.  Valid until the next
 * getpwuid(). */
const char *home_of_login(void);
/* Creates dir and its parents, new ones with mode 0700.  0 or -errno. */
int dir_make(const char *dir);
/* 0 where dir is a directory (no link) of this user that no other user may enter, or -errno. */
int dir_check_private(const char *dir);
/* 0 where dir, or the directory that it links to, is missing or belongs to this user and no other user may
 * write it: another writer could remove ledgers, or add grants.  Or -errno. */
int dir_check_own(const char *dir);
/*
 * Opens the directory `name`, which must be no link, in directory dir.  A session may have closed it to its
 * owner: then its mode is restored, with a message that names `shown`.  A descriptor for reading, or
 * -errno: -EPERM where another user owns it or every user may write it.
 */
int dir_open_own(int dir, const char *name, const char *shown);
/* Directories that hold the sessions' runtime directories, best first.  Missing ones are listed too, so
 * that a session can be kept from making them. */
#define RUNTIME_CANDIDATES 5
size_t runtime_candidates(char list[RUNTIME_CANDIDATES][PATH_MAX]);
/* The first candidate that is, or can be made, private.  0 or -errno. */
int runtime_make(char *buf, size_t size);
/* The real path of path, which need not exist: its longest existing ancestor is resolved.  0 or -errno. */
int path_real(const char *path, char *buf, size_t size);
/* path_real() for many names below few directories, which it remembers: { 0 } to begin with, reals_done()
 * at the end.  It may miss changes in between. */
#define REALS_MAX 512
struct reals {
	struct real_dir {
		char *path, *real;
		bool missing;
	} dirs[REALS_MAX];
	size_t n;
};
int reals_find(struct reals *r, const char *path, char *buf, size_t size);
void reals_done(struct reals *r);

#endif
