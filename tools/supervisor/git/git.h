/*
 * Protects the files that git obeys from the session: configuration, hooks and the index of any repository.
 *
 * The policy's built in `guard` rules (RULE_FILE_GIT) name these files by their last component, wherever they
 * lie.  The hooks leave such a call to the supervisor, which looks at the files around and at what would be
 * written.  Two things hold at any time, and all else follows from them.  A directory with `objects`, which
 * git takes for a repository whatever leads there (a `.git` file, a link, `commondir`, a worktree, a
 * submodule), holds no `config` and no hook by which the session could run something.  And where git may read
 * an index, beside `objects` or `commondir`, every entry of it lies in the work tree.
 */
#ifndef PALE_SUPERVISOR_GIT_H
#define PALE_SUPERVISOR_GIT_H

#include "policy/gitfiles/gitconfig.h"

#include "tools/supervisor/files/held.h"

struct git_home;
struct image;
struct out;
struct supervisor;
struct verdict_answer;

/* The supervisor's own name beside a `config` that it writes; nobody inside makes or touches it. */
#define GIT_OWN_COPY "config.pale"

#define GIT_A_HOOK                                                                                           \
	"a hook runs later as the operator, so a session may write only those of git lfs; ask the operator " \
	"to install it"

/*
 * Settles what eval() left open (VERDICT_ASK for REASON_GIT): *d becomes an allowance or a denial, whose
 * reason is put into a->text.  From an allowance to the end of the call no other such call is served.
 */
void git_guard(struct caller *c, const struct request *req, struct decision *d, struct verdict_answer *a);

/* What a rename would put in place of a configuration: judged, and held in memory. */
struct git_move {
	char *text; /* NULL: nothing to install, the rename is done as it stands; owned */
	size_t len;
	mode_t mode;
};

/*
 * A rename whose new name is `to`, which eval() left open: to->d is settled as by git_guard(), with the
 * reason in c->git_why.  Where the file is a configuration its text is in *m: what is put in place by
 * git_move_do() is that very text in a new file, since somebody may have the old one open.  free(m->text).
 */
void git_move(struct caller *c, const struct held *from, struct held *to, struct git_move *m);
long git_move_do(const struct held *from, const struct held *to, const struct git_move *m);

/*
 * The turn (git_turn.c): until git_release() no other such call is served.  git_take_turn() waits for it;
 * false where c has it already.  git_try_turn() and git_wait_turn() return false where another call has the
 * turn now, or still has it after 50 ms.
 */
bool git_take_turn(struct caller *c);
bool git_try_turn(struct caller *c);
bool git_wait_turn(struct caller *c);
/* At the end of each call. */
void git_release(struct caller *c);

/* --- git_late.c --- */

struct opening;
/*
 * A new file at name in dir, of which c->git_late says that it is judged once it is complete: a descriptor
 * for the caller to write it by, or -EACCES.  After git_guard() allowed it, in the same turn.
 */
int git_late_open(struct caller *c, const struct opening *o, int dir, const char *name);
/* Those that were closed are judged and installed: by who has the turn, or where nobody has it. */
void git_late_finish(struct supervisor *s);
void git_late_settle(struct supervisor *s);
/* Before a call is served, which may name what was closed before it: who has the turn is waited for. */
void git_late_wait(struct supervisor *s);

/* --- git_config.c --- */

/*
 * The text of a regular file of at most max bytes, which is read once, with a NUL behind it.  0, -ENOENT,
 * -EFBIG, -EINVAL where it is no regular file, -errno.
 */
int git_fd_read(int fd, size_t max, char **ret, size_t *ret_len, mode_t *ret_mode);
int git_file_read(int dir, const char *name, size_t max, char **ret, size_t *ret_len, mode_t *ret_mode);
/*
 * May a text stand where `before` (NULL: nothing) stands?  path is the file's real path; img says where the
 * session works.  False with the reason in why.
 */
bool git_config_allows(const struct image *img, const char *before, size_t before_len, const char *now,
		       size_t len, const char *path, char *why, size_t size);
/* An entry's key, as `git config` has it. */
void git_config_put_key(struct out *o, const struct gitconfig_entry *e);
/* Puts text into a new file and that in place of name.  0 or -errno. */
int git_file_install(int dir, const char *name, const char *text, size_t len, mode_t mode);

/* --- git_own.c --- */

/* Before the session begins: what the workspace's own configuration says then is kept. */
void git_own_begin(const struct git_home *home);
/* The configuration of the repository elsewhere that the workspace is a worktree of: of its branches alone.
 */
bool git_is_shared(const struct image *img, const char *path);
/*
 * May `now` stand where `before` (NULL: nothing) stands, of the configuration at path?  True of what is
 * neither the workspace's own nor shared.  False with the reason in why.
 */
bool git_own_allows(const struct git_home *home, const struct image *img, const char *path,
		    const char *before, size_t before_len, const char *now, size_t len, char *why,
		    size_t size);

/* --- git_trunk.c --- */

/* path is name below dir; dir NULL: there is none. */
bool git_is_at(const char *path, const char *dir, const char *name);
/* The branch (NULL: any at all) is protected by img (a struct image), or by a session around it. */
bool git_keeps(const void *img, const char *branch);
/* The path is the file of the protected branch that the session began on. */
bool git_is_head(const struct git_home *home, const struct image *img, const char *path);
/*
 * May that file come to say this?  Where not, or where that cannot be told and is to be asked, the reason is
 * in why.  Under c's turn, and may block.
 */
enum verdict git_head_may_be(struct caller *c, const char *text, size_t len, char *why, size_t size);
/*
 * May HEAD of the workspace's repository come to say this text?  It names no protected branch but the one
 * that it named as the session began: what a session begins on may grow.  False with the reason in why.
 */
bool git_now_may_be(const struct image *img, const char *text, char *why, size_t size);
/* The path is that of a ref of the workspace's repository, and no lock's. */
bool git_is_ref(const struct git_home *home, const char *path);
/* May it come to say this text?  A symbolic ref leads to no protected branch, which a push of it would move.
 */
bool git_ref_may_be(const struct image *img, const char *text, char *why, size_t size);

/* --- the index --- */

#define GIT_INDEX_MAX (64u << 20) /* bytes of an index: a larger one is refused */

/* May this text be the index in dir, by the object format of the repository there?  False with the reason in
 * why. */
bool git_index_may_be(int dir, const char *text, size_t len, char *why, size_t size);
/*
 * For a directory that becomes a repository: judges an index that is there already, and replaces it by a new
 * file with the same text, because a process may have the old one open.  False with the reason in why.
 */
bool git_index_renew(int dir, char *why, size_t size);
/*
 * May this text be `commondir` in dir?  An index that is there is judged by the object format of the
 * repository that it names, and replaced as by git_index_renew().  False with the reason in why.
 */
bool git_common_may_be(int dir, const char *text, char *why, size_t size);
/*
 * True where the index in dir is still sound after the configuration there has become `now` (before: its
 * present text, or NULL).  The configuration says in which object format git reads the index.  False with
 * the reason in why.
 */
bool git_index_fits(int dir, const char *before, size_t before_len, const char *now, size_t len, char *why,
		    size_t size);

#endif
