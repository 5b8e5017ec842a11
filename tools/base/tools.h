/*
 * What all of `pale` uses: options, output, paths, files, threads, and what is installed here.
 *
 * It also declares how to gather the policy, find sessions and ledgers, and talk to a session's helper.  A
 * subcommand is one file with one `struct subcommand`, listed in pale.c.  Data goes to stdout, messages go
 * to stderr; bytes that come from the agent are always printed escaped.
 */
#ifndef PALE_TOOLS_H
#define PALE_TOOLS_H

#include <dirent.h>
#include <jansson.h>
#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include "policy/file/elfkind.h"
#include "policy/image/image.h"
#include "policy/judge/eval.h"
#include "policy/lesson/rejudge.h"
#include "policy/parse/parse.h"
#include "policy/record/record.h"
#include "policy/record/replacefile.h"
#include "policy/system/cleanup.h"
#include "policy/system/system.h"

/* The struct whose member `member` p points to. */
#define CONTAINER_OF(p, type, member) ((type *)(void *)((char *)(p)-offsetof(type, member)))
#define TAKE_PTR(p)                                                                                          \
	({                                                                                                   \
		__typeof__(p) *take_ = &(p);                                                                 \
		__typeof__(p) taken_ = *take_;                                                               \
		*take_ = NULL;                                                                               \
		taken_;                                                                                      \
	})

/* Exit codes; `run` uses those of env(1). */
enum exit_code {
	EXIT_OK = 0,
	EXIT_FINDINGS = 1,  /* lint: findings; explain: denied; others: failure */
	EXIT_USAGE = 2,	    /* wrong usage, or it could not run at all */
	EXIT_ASK = 3,	    /* explain: would be asked */
	EXIT_TIMEOUT = 124, /* run: the time limit ended it */
	EXIT_PALE = 125,    /* run: pale itself failed */
	EXIT_REFUSED = 126,
	EXIT_NOT_FOUND = 127
};

#include "options.h"

/* --- output.c -------------------------------------------------------------------------------------- */

enum paint { PAINT_RED, PAINT_GREEN, PAINT_YELLOW, PAINT_DIM, PAINT_BOLD };

/* Prints one line on stderr after "pale: "; bytes that are not printable ASCII are escaped, backslashes are
 * not. */
void talk(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Escape sequences, or "" where f must have no colour (NO_COLOR, CLICOLOR_FORCE, isatty). */
const char *paint_on(FILE *f, enum paint p);
const char *paint_off(FILE *f);
enum paint paint_of_verdict(const char *verdict);
/* Prints untrusted bytes, escaped visibly. */
void print_escaped(FILE *f, const char *s);
/*
 * Prints text that a ledger or a helper escaped already, and escapes what could still mislead a terminal.
 */
void print_recorded(FILE *f, const char *s);
/* The same as a string (the caller must free it), or NULL. */
char *recorded_visible(const char *s);
/* Undoes record_escape(): the original bytes (the caller must free them), or NULL. */
char *text_unescape(const char *s);
/* print_escaped() as a string (the caller must free it), or NULL. */
char *text_visible(const char *s);
/* Prints j with a newline on stdout, in ASCII, and drops the reference. */
void print_json(json_t *j);
/* The same for a line of JSON, unchanged where it is ASCII already. */
void print_json_line(const char *line, size_t len);
/* s as a JSON string; bytes that are not UTF-8 are escaped as in the ledger.  NULL gives null. */
json_t *json_text(const char *s);
/* The string member `key`, "" where it is missing.  Borrowed. */
const char *json_str(const json_t *j, const char *key);
/* Prints file:line:column: severity: text [code], one finding a line, hints below. */
void print_diags(FILE *f, const struct diags *d);
json_t *diags_to_json(const struct diags *d);
const char *severity_name(enum severity s);

/* --- paths.c: where things are ---------------------------------------------------------------------- */

struct dirs {
	char home[PATH_MAX];   /* real path */
	char config[PATH_MAX]; /* $XDG_CONFIG_HOME/pale */
	char state[PATH_MAX];  /* $XDG_STATE_HOME/pale */
};

/* The user that the helper runs as: the calling user, or a user of its own by the setuid bit or as a
 * service. */
enum helper_kind { HELPER_OWN, HELPER_SETUID, HELPER_SERVICE };

/* The installed parts of pale. */
struct installed {
	char self[PATH_MAX], preload[PATH_MAX], helper[PATH_MAX];
	enum helper_kind helper_kind;
	uid_t helper_uid;
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

/* worked.c: records that an agent works in this directory (a real path).  0 or -errno. */
int worked_note(const struct dirs *dirs, const char *workspace);
/* The same for a session that may write there; reports a failure to the operator. */
void worked_begin(const struct dirs *dirs, const struct image *img, const char *workspace);
/* True where an agent once worked in path or around it, or where that is not known. */
bool worked_in(const struct dirs *dirs, const char *path);

/* statedirs.c: makes the agent's own writable directories that are missing, before the floor is built. */
void state_dirs_make(const struct image *img);
/* True where state_dirs_make() has something to make. */
bool state_dirs_lack(const struct image *img);
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
/*
 * installed.c: finds libpale.so and pale-helper beside this program or in the places of an installation,
 * and the kind of the helper.  0, or -errno with the reason as a sentence in why.  A helper that should run
 * as another user and cannot is an error; no helper of the calling user replaces it.
 */
int installed_find(struct installed *ret, char *why, size_t size);
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

/* --- reach.c: ways to reach the operator --------------------------------------------------------------- */

/* The environment variable is set and not empty. */
bool env_is_set(const char *name);
/* There is a controlling terminal. */
bool terminal_is_here(void);
/* There is an X or Wayland display. */
bool desktop_is_here(void);

/* --- gather.c, readfile.c, load.c: the policy of a session -------------------------------------------- */

/* Reads a regular file of at most limit bytes; *ret_text is NUL-terminated, the caller must free it.  0 or
 * -errno. */
int file_read(const char *path, size_t limit, char **ret_text, size_t *ret_len);
/* The same, with the status of the file that was read. */
int file_read_as(const char *path, size_t limit, char **ret_text, size_t *ret_len, struct stat *ret_st);
/* A reader for elf_inspect(): ctx points to an int, the descriptor. */
long file_read_at(void *ctx, void *buf, size_t len, uint64_t off);
/* As file_read() for a policy file: it must be regular, owned by root or the user, and not writable by
 * other users.  Otherwise -EPERM and a finding; -ENOENT is left to the caller. */
int policy_file_read(const char *path, char **ret_text, size_t *ret_len, struct diags *d);
/* Only these checks, for a file read by file_read_as(): 0, or -EPERM and a finding. */
int policy_file_check(const char *path, const struct stat *st, struct diags *d);
/* Gathers everything a compilation depends on, from the file system and the options.  0, -EBADMSG with
 * findings, -ENOMEM.  The caller must call bundle_done() in each case. */
int bundle_gather(const struct options *o, const char *session, struct bundle *b, struct diags *d);
/*
 * Parses b into p.  Adds to b the real path of each literal prefix that leads elsewhere, and marks the
 * unproven ones; a rule that would have opened such a place gives a warning.  first: the bundle that the
 * running session began with, or NULL.  Returns as policy_parse().
 */
int bundle_parse(struct bundle *b, const struct bundle *first, struct policy *p, struct diags *d);
/*
 * proven.c: marks as unproven, in b, those real paths that lead through a link which the policy of b lets a
 * session make.  p: its rules, for the warnings.  first: the bundle that the running session began with, or
 * NULL; where it is given, a link that leads elsewhere than at the beginning is proven only where no
 * process of this user could have made it.  0 or -ENOMEM.
 */
int reals_prove(struct bundle *b, const struct policy *p, const struct bundle *first, struct diags *d);

/* policy.c: "off", "strict", ... */
const char *network_name(enum network network);

/* dotenv.c: adds to b what the launcher's environment and .env files say about the policy.  0 or -ENOMEM;
 * findings. */
int dotenv_gather(struct bundle *b, const struct dirs *dirs, struct diags *d);
/* True where the file mentions such a variable. */
bool dotenv_mentions(const char *path);
/* Calls fn for each .env file that counts, whether it exists or not, until fn returns other than 0; returns
 * that. */
int dotenv_each(const struct bundle *b, int (*fn)(void *ctx, const char *path), void *ctx);
/* True where no agent could have written this .env, or the operator trusts this very text. */
bool dotenv_is_trusted(const struct bundle *b, const struct dirs *dirs, const char *path, const char *text,
		       size_t len);

/* worktree.c: where the workspace is a linked worktree or a submodule, adds to b the files of its
 * repository that git writes.  0 or -errno. */
int worktree_gather(struct bundle *b);

/* A policy ready to judge. */
struct loaded {
	enum level level; /* at which it would be enforced */
	struct bundle bundle;
	struct policy policy;
	uint8_t *bytes;
	size_t size;
	struct image image;
};

/* Gathers, parses, compiles.  0, -EBADMSG with findings, -errno.  loaded_done() in each case. */
int loaded_init(struct loaded *l, const struct options *o, struct diags *d);
/* The same from a bundle, which is taken over. */
int loaded_from_bundle(struct loaded *l, struct bundle *b, struct diags *d);
void loaded_done(struct loaded *l);

/* policy_reload.c: makes the running sessions (or o->session) load their policy files again.  Exit code. */
int policy_reload(const struct options *o);

/* --- program.c: the command before it runs ------------------------------------------------------------- */

struct program {
	char found[PATH_MAX];  /* what to execute */
	char real[PATH_MAX];   /* its real path */
	char loaded[PATH_MAX]; /* what the kernel loads last: the interpreter of a script */
	struct elf_info elf;   /* of `loaded` */
	bool setid;
};

/* Finds name as execvp() does.  0, -ENOENT, -EACCES. */
int program_find(const char *name, struct program *ret);
/* agentname.c: the agent that the command starts (policy/presets/agents.h), or the name of its program.
 * workspace as given, or NULL.  Static, or borrowed from argv. */
const char *agent_name(char *const *argv, const char *workspace);
/* Prints a note where name is nearly a profile's name; any name is valid for a section of the policy. */
void agent_name_check(const char *name);
/*
 * outside.c: finds a program that pale runs outside the fence, by its real path: on PATH, but only where
 * root alone may write it or img (may be NULL) denies every write to it.  0, -ENOENT, -EPERM (found, but
 * elsewhere).
 */
int outside_find(const struct image *img, const char *name, char ret[PATH_MAX]);
/* No process of the session can have written the file at this real path. */
bool outside_is(const struct image *img, const char *path);
/* Follows the #! chain and inspects the program.  0, or -errno where a file cannot be read. */
int program_inspect(struct program *p);
/* Inspects p and returns how it is controlled, in a word of pale-explain(1): "hooked", "kernel only" or
 * "refused".  ret_kind: the kind of the program.  Both are static. */
const char *program_coverage(struct program *p, const char **ret_kind);

/* --- proc.c --------------------------------------------------------------------------------------------- */

/* The next process of DIR /proc, 0 after the last; 0 for NULL. */
pid_t proc_next(DIR *proc);

struct proc_stat {
	pid_t ppid;
	unsigned long long start; /* ticks since boot: differs where a pid is used again */
	char state;
};

/* False where the process does not exist. */
bool proc_stat(pid_t pid, struct proc_stat *ret);

/* --- sessions.c, ledgers.c ------------------------------------------------------------------------------ */

#define SESSION_ID_MAX 32

/* A running session by its runtime directory. */
struct session_ref {
	char id[SESSION_ID_MAX];
	char dir[PATH_MAX];
};

/* Every session below the runtime directories; the caller must free *ret.  0 or -ENOMEM. */
int sessions_list(struct session_ref **ret, size_t *ret_n);
/* The helper's answer to session/info (the caller drops it), NULL where no helper answers. */
json_t *session_ask(const struct session_ref *ref);
/* True where the session's helper answers. */
bool session_is_alive(const struct session_ref *ref);
/* As sessions_list(), without sessions whose helper is dead. */
int sessions_live(struct session_ref **ret, size_t *ret_n);
/* The session that this process runs in, or NULL. */
const char *session_around(void);
/* Makes a random id.  0 or -errno. */
int session_id_new(char *buf, size_t size);

/* A ledger by its file. */
struct ledger_ref {
	char session[SESSION_ID_MAX];
	char dir[PATH_MAX];
	char started[32]; /* time of its first record, "" where it has no record */
};

/* Ledgers by the time of their first record, oldest first; prefix selects by session (NULL: all). */
int ledgers_list(const char *prefix, struct ledger_ref **ret, size_t *ret_n);
/*
 * Calls fn with each record of the ledger in dir whose line contains the text `having` (NULL: with each),
 * in order, until fn returns other than 0.  Lines that are no records are skipped: `pale log verify`
 * reports those.  fn may take rec over by setting rec->owner to NULL.  0, -errno, or fn's negative result.
 */
typedef int ledger_fn(void *ctx, struct record_owned *rec);
int ledger_each(const char *dir, const char *having, ledger_fn *fn, void *ctx);
/* DIR/session.json as an object, empty where it cannot be read (new reference). */
json_t *session_facts(const char *dir);
/* The value of `key` in DIR/session.json as text (the caller must free it), or NULL. */
char *session_fact(const char *dir, const char *key);

/* session_show.c: prints one session; id is NULL for the newest.  Exit code. */
int session_show(const struct options *o, const char *id);
/* session_stop.c: ends a running session and waits for its end.  Exit code. */
int session_stop(const struct options *o, const char *id);

/* prune.c: removes old ledgers.  Exit code. */
int log_prune(const struct options *o, int argc);
/* A ledger that is past its retention and whose session is over. */
struct old_ledger {
	const struct ledger_ref *ref;
	int dirfd; /* its directory */
	long days;
};
/* Calls f for each such ledger of sessions whose id begins with session (NULL: of all).  0 or -errno. */
int ledgers_each_old(const char *session, void (*f)(void *ctx, const struct old_ledger *old), void *ctx);
/* Removes the ledger and its directory; a file that no helper made stays, and so does the directory then.
 * 0 or -errno. */
int ledger_remove(const struct old_ledger *old);
/* log_verify.c: verifies the ledger at argv[0], or those of all sessions (or o->session).  Exit code. */
int log_verify(const struct options *o, int argc, char **argv);

/* --- control.c: JSON-RPC with a session's helper ----------------------------------------------------- */

/* Connects to the helper in session_dir, which must run as this user or as the owner of that directory
 * (otherwise -EPERM).  The socket, or -errno. */
int control_open(const char *session_dir);
/*
 * Calls method (params are taken over, may be NULL).  0 with *ret_result (the caller drops it), or with the
 * helper's own words in why: -EALREADY (the card is closed), -ESTALE (the digest), -EACCES (the
 * passphrase), -EINVAL (the rule), -ENOSYS (no such method), -EREMOTE for any other; or -errno.
 * Notifications that come meanwhile are dropped: a client that subscribed must use another connection for
 * its calls.
 */
int control_call(int fd, const char *method, json_t *params, json_t **ret_result, char *why, size_t size);
/* The name of the operator for the record; it is not verified. */
const char *operator_name(void);
/* Calls log/subscribe.  Returns as control_call(). */
int control_listen(int fd, bool approvals, bool records, char *why, size_t size);
/* The next notification ({"method", "params"}, the caller drops it): 0, -EAGAIN after that time, -EPIPE,
 * -errno. */
int control_next(int fd, int timeout_ms, json_t **ret);

/* --- pending.c: the questions of all sessions --------------------------------------------------------- */

/* Fetches all cards of a session over fd, page by page, into one array (the caller drops it).  Returns as
 * control_call(). */
int cards_fetch(int fd, json_t **ret, char *why, size_t size);
/* Calls fn for each waiting question and each grant of all sessions, with enough of its id to answer it and
 * its description as one line of visible text.  Sessions that do not answer are skipped. */
typedef void named_fn(void *ctx, const char *id, const char *what);
void cards_each(named_fn *fn, void *ctx);
void grants_each(named_fn *fn, void *ctx);

/* --- explain_*.c --- */

struct question; /* question.h */

/* A simple command of a shell line. */
struct shell_part {
	enum op op; /* OP_EXEC, or OP_READ / OP_WRITE for a redirection */
	char **words;
	size_t n;
};
/* Splits a line at quotes, blanks and operators; expands nothing, runs nothing.  0, -EINVAL (unbalanced
 * quote), -ENOMEM; the caller must call shell_parts_done(). */
int shell_split(const char *line, struct shell_part **ret, size_t *ret_n);
void shell_parts_done(struct shell_part *parts, size_t n);

/* Finds the real path of path as the preload does: 0 or -errno.  *ret_through: as in struct request, valid
 * until the next call. */
int place_find(const char *cwd, const char *path, enum op op, char *real, char *given,
	       const char **ret_through);
/*
 * What to write to change a decision: tested lines that work, or why no line can (the caller must free it).
 */
char *advice(const struct loaded *l, const struct question *q, const struct decision *d);

/* --- denial.c --- */

/* A denial or a question in the ledgers; folded and repeated ones are counted. */
struct past_denial {
	struct record_owned rec; /* the first one */
	char *dir;		 /* the session's state directory */
	uint64_t times;
};
struct past_denials {
	struct past_denial *list; /* newest first */
	size_t n;
	size_t more; /* how many older ones are not in the list */
};
/* The id that people were shown of the denial or question in r; 0 where r is neither or has no id. */
uint32_t denial_id(const struct record *r);
/* Finds those with this id, in all sessions or in those whose id begins with session.  0, -ENOENT (no such
 * session), or -errno. */
int denials_find(uint32_t id, const char *session, struct past_denials *ret);
void denials_done(struct past_denials *d);

/* --- explain.c, explain_past.c --- */

/* Judges op on the words of argv, prints the verdict and returns the exit code. */
int explain_words(const struct options *o, enum op op, int argc, char **argv);
/* True where text has the form of a denial's id. */
bool explain_is_id(const char *text);
/* Prints the denial with this id, and what explain_words() says about the same request now.  Exit code. */
int explain_past(const struct options *o, const char *id);

#include "tools/environment/environment.h"
#include "tools/ledgers/lines.h"
#include "tools/run/run.h"

#endif
