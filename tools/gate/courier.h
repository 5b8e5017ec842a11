/*
 * The courier: the operator's own git, outside every session, fetches from the remote and pushes what a
 * person approved.
 *
 * It runs with the operator's credentials and configuration, and asks no terminal: what it lacks becomes a
 * sentence with the host and what to do.  Its words are pale's, never the agent's.
 */
#ifndef PALE_COURIER_H
#define PALE_COURIER_H

#include <stdbool.h>
#include <stddef.h>

#include "change.h"

#define COURIER_TOGETHER 32 /* refs of one push */
#define GIT_REF_MAX	 1024
#define WHY_MAX		 1024 /* bytes of a sentence, which is ASCII on one line */

/*
 * True for a URL that the courier takes: https, http, ssh, git or HOST:PATH, of a host that git, ssh and curl
 * read alike.  ret_host: the host, and its port.
 */
bool courier_takes(const char *url, char *ret_host, size_t size);
/* The URL without the user and the password, for a card.  The caller frees it. */
char *courier_shown(const char *url);

/*
 * The remote's HEAD, branches and tags, one `OID\tREF` a line, `ref: REF\tHEAD` before them.  0; the caller
 * frees *ret.  Otherwise -errno, and a sentence in why.
 */
int courier_list(const char *git, const char *url, char **ret, char why[WHY_MAX]);
/* Fetches branches and tags into the repository.  0 or -errno with a sentence. */
int courier_fetch(const char *git, const char *url, const char *repository, char why[WHY_MAX]);

/* The remote has it; the remote refused it; or it could not be asked, so that a later try may succeed. */
enum courier_end { COURIER_PUSHED, COURIER_REFUSED, COURIER_FAILED };
/*
 * Pushes n changes of one repository, all or none, where each ref is still at its old_oid; new_oid "" removes
 * the ref.  Where git cannot say what became of it, the remote is asked where the refs are.  A sentence in
 * why unless it is pushed.
 */
enum courier_end courier_push(const char *git, const struct change *const list[], size_t n,
			      char why[WHY_MAX]);

/* The sentence for what git said, escaped; the URL's user and password are removed. */
void courier_sentence(const char *url, const char *said, char why[WHY_MAX]);

#endif
