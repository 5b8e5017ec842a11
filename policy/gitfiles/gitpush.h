/*
 * Where a `git push` goes, as its words and a configuration say: the URLs that remote.c of git would push to.
 *
 * Whatever could be read in two ways, or is another program's to say (gitremote-helpers(7)), is not known.
 */
#ifndef PALE_GITPUSH_H
#define PALE_GITPUSH_H

#include "gitconfig.h"
#include "policy/base/buf.h"
#include "policy/base/op.h"

/*
 * What the words of a push say: the remote or the URL in *ret, NULL where there is none.  NULL, or a clause
 * on why nobody can tell where it goes.
 */
const char *gitpush_words(const struct request *req, const char **ret);

/* The remote or URL that it goes to where the words say repo (or NULL); NULL: none is named. */
const char *gitpush_remote(const struct gitconfig *g, const char *repo, const char *branch);

#define GITPUSH_REF (2 * LIMIT_HOST + 16)
/*
 * Where the words push one branch and nothing else: its ref, and the one by which git remembers where that
 * of the remote stood.  False of all else, and of names that cannot be shown as one word.
 */
bool gitpush_branch(const struct request *req, const char *remote, char from[GITPUSH_REF],
		    char old[GITPUSH_REF]);

/*
 * The URLs, one a line.  g is all that git would read, in that order; where the words say none, repo is NULL
 * and branch is HEAD's.  NULL, or why nobody can tell.
 */
const char *gitpush_urls(const struct gitconfig *g, const char *repo, const char *branch, struct out *o);

/* The host of one; *len is 0 for this machine.  False of what git, ssh and curl might read otherwise than we.
 */
bool giturl_host(const char *url, const char **host, size_t *len);

#endif
