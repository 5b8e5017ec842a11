/* Ghosts: remotes that the session reaches through the gate alone (pale-git(7)). */
#ifndef PALE_GHOSTS_H
#define PALE_GHOSTS_H

#include <stdbool.h>
#include <stddef.h>

struct bundle;
struct environment;
struct installed;
struct policy;

struct ghost {
	char *name, *url; /* as the repository's configuration has them; a name has several URLs at times */
};

struct ghosts {
	struct ghost *list;
	size_t n;
	char config[4096]; /* the file that git reads as its system configuration, "" before ghosts_tell() */
};

/*
 * Finds the remotes of the workspace's repository that lie on a network (https, http, ssh, git).  None where
 * the configuration cannot be read.  0 or -ENOMEM; call ghosts_done() in each case.
 */
int ghosts_find(struct ghosts *g, const struct bundle *b);
/* Leaves those for which keep() is true. */
void ghosts_keep(struct ghosts *g, bool (*keep)(const struct ghost *one, const void *ctx), const void *ctx);
/* For ghosts_keep(): ctx is the policy that names it. */
bool ghost_is_named(const struct ghost *one, const void *ctx);
/*
 * Points env to git's system configuration of the session, below config_home, and withholds the tokens of
 * forges that only a preset passes.  0, or -errno: -EEXIST where the operator has such a configuration of
 * their own; then g is empty.
 */
int ghosts_tell(struct ghosts *g, const char *config_home, struct environment *env);
/* Writes that configuration, into a directory that no session may write.  helper: the path of
 * git-remote-pale. 0 or -errno. */
int ghosts_write(const struct ghosts *g, const char *config_home, const char *helper);
/* What `git remote -v` shows is one of them. */
bool ghosts_have(const struct ghosts *g, const char *url);
/* Each line of text, the URLs of a push, is one of them. */
bool ghosts_have_all(const struct ghosts *g, const char *text, size_t len);
/* A URL that the gate takes: https, http, ssh or git, or HOST:PATH, and nothing that git, a shell or a
 * configuration file could read in two ways. */
bool ghost_is_url(const char *url);
void ghosts_done(struct ghosts *g);

#endif
