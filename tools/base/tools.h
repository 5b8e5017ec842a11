/*
 * What all of `pale` uses: options, output, paths, files, threads, and what is installed here.
 *
 * What several subcommands of `pale` need: options, output, directories, gathering the policy, finding
 * sessions and ledgers, and talking to a session's helper.  A subcommand is one file with one `struct
 * subcommand`, listed in pale.c.  Data goes to stdout, messages go to stderr; bytes that come from the agent
 * are always printed escaped.
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

/* The struct whose member p points to. */
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
	EXIT_FINDINGS = 1,  /* lint: findings; explain: denied; others: it did not work */
	EXIT_USAGE = 2,	    /* wrong usage, or it could not run at all */
	EXIT_ASK = 3,	    /* explain: would be asked */
	EXIT_TIMEOUT = 124, /* run: its time was over */
	EXIT_PALE = 125,    /* run: pale itself failed */
	EXIT_REFUSED = 126,
	EXIT_NOT_FOUND = 127
};

#include "options.h"

/* --- output.c -------------------------------------------------------------------------------------- */

enum paint { PAINT_RED, PAINT_GREEN, PAINT_YELLOW, PAINT_DIM, PAINT_BOLD };

/* One line on stderr with "pale: " before it; what is not printable ASCII is escaped, backslashes are not. */
void talk(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Escape sequences, or "" where f shall have no colour (NO_COLOR, CLICOLOR_FORCE, isatty). */
const char *paint_on(FILE *f, enum paint p);
const char *paint_off(FILE *f);
enum paint paint_of_verdict(const char *verdict);
/* Untrusted bytes, escaped visibly. */
void print_escaped(FILE *f, const char *s);
/* Text from a ledger or a helper, escaped there already: what is left for a terminal to trip over is escaped
 * too. */
void print_recorded(FILE *f, const char *s);
/* The same as a string (caller frees), or NULL. */
char *recorded_visible(const char *s);
/* The bytes that record_escape() was given (caller frees), or NULL. */
char *text_unescape(const char *s);
/* print_escaped() as a string (caller frees), or NULL. */
char *text_visible(const char *s);
/* Prints j with a newline on stdout, in ASCII, and drops the reference. */
void print_json(json_t *j);
/* The same of a line of JSON, as it stands where it is ASCII already. */
void print_json_line(const char *line, size_t len);
/* A JSON string of s; bytes that are not UTF-8 are escaped as in the ledger.  NULL gives null. */
json_t *json_text(const char *s);
/* A string member, "" where there is none.  Borrowed. */
const char *json_str(const json_t *j, const char *key);
/* file:line:column: severity: text [code], one a line, hints below. */
void print_diags(FILE *f, const struct diags *d);
json_t *diags_to_json(const struct diags *d);
const char *severity_name(enum severity s);

/* --- paths.c: where things are ---------------------------------------------------------------------- */

struct dirs {
	char home[PATH_MAX];   /* real path */
	char config[PATH_MAX]; /* $XDG_CONFIG_HOME/pale */
	char state[PATH_MAX];  /* $XDG_STATE_HOME/pale */
};

/* As whom the helper runs: as ourselves, or as a user of its own, by the setuid bit or as a service. */
enum helper_kind { HELPER_OWN, HELPER_SETUID, HELPER_SERVICE };

/* The program's own parts. */
struct installed {
	char self[PATH_MAX], preload[PATH_MAX], helper[PATH_MAX];
	enum helper_kind helper_kind;
	uid_t helper_uid;
};

/* Joins dir and name.  0 or -ENAMETOOLONG. */
int path_join(char *buf, size_t size, const char *dir, const char *name);
/* 0, -ENOENT (no home directory), -ENAMETOOLONG. */
int dirs_find(struct dirs *ret);
/* The home that passwd(5) has for the user, whatever HOME says, or NULL; until the next call of getpwuid().
 */
const char *home_of_login(void);
/* Creates dir and its parents, new ones with mode 0700.  0 or -errno. */
int dir_make(const char *dir);

/* worked.c: writes down that an agent works in this directory (a real path).  0 or -errno. */
int worked_note(const struct dirs *dirs, const char *workspace);
/* The same of a session that may write there; where that cannot be kept it is said. */
void worked_begin(const struct dirs *dirs, const struct image *img, const char *workspace);
/* An agent worked there once, or around it, or nobody can say. */
bool worked_in(const struct dirs *dirs, const char *path);

/* statedirs.c: makes what is missing of the agent's own writable directories, before the floor is built. */
void state_dirs_make(const struct image *img);
/* There is something to make. */
bool state_dirs_lack(const struct image *img);
/* 0 where dir is a directory (no link) of ours that nobody else may enter, or -errno. */
int dir_check_private(const char *dir);
/* 0 where dir, or what it leads to, is not there or a directory of ours that nobody else may write: who else
 * does takes ledgers away, or grants himself what was never answered.  Or -errno. */
int dir_check_own(const char *dir);
/*
 * The directory of ours called name in directory dir, which no link is.  A session may have closed it to its
 * owner: that is taken back, and said of `shown`.  A descriptor for reading, or -errno: -EPERM where it is
 * another's, or everybody may write it.
 */
int dir_open_own(int dir, const char *name, const char *shown);
/*
 * Directories that hold the sessions' runtime directories, best first; those that do not exist
 * are listed too, so that a session can be kept from making them.
 */
#define RUNTIME_CANDIDATES 5
size_t runtime_candidates(char list[RUNTIME_CANDIDATES][PATH_MAX]);
/* The first candidate that is, or can be made, private.  0 or -errno. */
int runtime_make(char *buf, size_t size);
/*
 * installed.c: finds libpale.so and pale-helper beside this program or in the places of an installation, and
 * which kind of helper that is.  0 or -errno with the reason as a sentence in why; a helper that should run
 * as another user and cannot is an error, never one of our own in its place.
 */
int installed_find(struct installed *ret, char *why, size_t size);
/* Real path of path, which need not exist: the longest existing ancestor is resolved.  0 or -errno. */
int path_real(const char *path, char *buf, size_t size);
/*
 * path_real() for many names below few directories, which it remembers: { 0 } to begin with,
 * reals_done() at the end.  What changes meanwhile may be missed.
 */
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

/* --- reach.c: what is there to ask at ------------------------------------------------------------------ */

/* An environment variable is set, and not to nothing. */
bool env_is_set(const char *name);
/* There is a controlling terminal. */
bool terminal_is_here(void);
/* There is an X or Wayland display. */
bool desktop_is_here(void);

/* --- gather.c, readfile.c, load.c: the policy of a session -------------------------------------------- */

/* Reads a regular file of at most limit bytes; *ret_text is NUL-terminated, the caller frees.  0 or -errno.
 */
int file_read(const char *path, size_t limit, char **ret_text, size_t *ret_len);
/* The same, with what is said of the very file that was read. */
int file_read_as(const char *path, size_t limit, char **ret_text, size_t *ret_len, struct stat *ret_st);
/* For elf_inspect(): ctx is an int, the descriptor. */
long file_read_at(void *ctx, void *buf, size_t len, uint64_t off);
/*
 * As file_read for a policy file: it must be regular, owned by root or the user and writable by
 * nobody else.  Otherwise -EPERM and a finding; -ENOENT is left to the caller.
 */
int policy_file_read(const char *path, char **ret_text, size_t *ret_len, struct diags *d);
/* These checks alone, of what was read by file_read_as(): 0, or -EPERM and a finding. */
int policy_file_check(const char *path, const struct stat *st, struct diags *d);
/*
 * Everything a compilation depends on, from the file system and the options.  0, -EBADMSG with
 * findings, -ENOMEM.  The caller frees with bundle_done() in each case.
 */
int bundle_gather(const struct options *o, const char *session, struct bundle *b, struct diags *d);
/*
 * Parses b into p and adds to b, on the way, the real path of each literal prefix that leads elsewhere, and
 * which of these are unproven; a rule that would have opened such a place is told as a warning.  first: what
 * the running session began with, NULL where there is none.  As policy_parse().
 */
int bundle_parse(struct bundle *b, const struct bundle *first, struct policy *p, struct diags *d);
/*
 * proven.c: marks as unproven, in b, those real paths that lead through a link which the policy of b lets a
 * session make.  p: its rules, for the warnings; first: what the running session began with, NULL where there
 * is none: then what a link leads to now, and did not then, is proven only where nobody of ours could make
 * it.  0 or -ENOMEM.
 */
int reals_prove(struct bundle *b, const struct policy *p, const struct bundle *first, struct diags *d);

/* policy.c: "off", "strict", ... */
const char *network_name(enum network network);

/* dotenv.c: adds to b what the launcher's environment and .env say of the network.  0 or -ENOMEM; findings.
 */
int dotenv_gather(struct bundle *b, const struct dirs *dirs, struct diags *d);
/* The file says something of that. */
bool dotenv_mentions(const char *path);
/* Calls fn for each .env that counts, be it there or not, until it returns other than 0; returns that. */
int dotenv_each(const struct bundle *b, int (*fn)(void *ctx, const char *path), void *ctx);
/* No agent could have written what this .env says, or its owner trusts this very text. */
bool dotenv_is_trusted(const struct bundle *b, const struct dirs *dirs, const char *path, const char *text,
		       size_t len);

/* worktree.c: adds to b what git writes of the repository that the workspace is a linked worktree or a
 * submodule of.  0 or -errno. */
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
/* As above from a bundle that is taken over. */
int loaded_from_bundle(struct loaded *l, struct bundle *b, struct diags *d);
void loaded_done(struct loaded *l);

/* policy_reload.c: has the sessions that run (or o->session) load their policy files anew.  Exit code. */
int policy_reload(const struct options *o);

/* --- program.c: the command before it runs ------------------------------------------------------------- */

struct program {
	char found[PATH_MAX];  /* what to execute */
	char real[PATH_MAX];   /* its real path */
	char loaded[PATH_MAX]; /* what the kernel loads in the end: the interpreter of a script */
	struct elf_info elf;   /* of `loaded` */
	bool setid;
};

/* As execvp() would find name.  0, -ENOENT, -EACCES. */
int program_find(const char *name, struct program *ret);
/* agentname.c: which agent that command starts (policy/presets/agents.h), or its program's name.  workspace
 * as given, or NULL.  Static, or borrowed from argv. */
const char *agent_name(char *const *argv, const char *workspace);
/* A note where the operator's word is nearly a profile's name; any will do for a section of the policy. */
void agent_name_check(const char *name);
/*
 * outside.c: a program that pale itself runs outside the fence, by its real path: found on PATH, but only
 * where it is root's alone or img (may be NULL) lets nobody write.  0, -ENOENT, -EPERM: it is elsewhere.
 */
int outside_find(const struct image *img, const char *name, char ret[PATH_MAX]);
/* Nobody inside can have written the file at this real path. */
bool outside_is(const struct image *img, const char *path);
/* Follows the #! chain and inspects.  0 or -errno where a file cannot be read. */
int program_inspect(struct program *p);
/* Inspects p and tells what holds it, in a word of pale-explain(1): "hooked", "kernel only" or "refused".
 * ret_kind: what kind of program it is.  Both are static. */
const char *program_coverage(struct program *p, const char **ret_kind);

/* --- proc.c --------------------------------------------------------------------------------------------- */

/* The next process of DIR /proc, 0 after the last; 0 for NULL. */
pid_t proc_next(DIR *proc);

struct proc_stat {
	pid_t ppid;
	unsigned long long start; /* ticks since boot: tells one bearer of a pid from the next */
	char state;
};

/* False where there is none. */
bool proc_stat(pid_t pid, struct proc_stat *ret);

/* --- sessions.c, ledgers.c ------------------------------------------------------------------------------ */

#define SESSION_ID_MAX 32

/* A running session by its runtime directory. */
struct session_ref {
	char id[SESSION_ID_MAX];
	char dir[PATH_MAX];
};

/* Every session below the runtime directories; the caller frees *ret.  0 or -ENOMEM. */
int sessions_list(struct session_ref **ret, size_t *ret_n);
/* What its helper says of it (session/info; the caller drops it), NULL where none answers. */
json_t *session_ask(const struct session_ref *ref);
/* Its helper answers. */
bool session_is_alive(const struct session_ref *ref);
/* As sessions_list() without what a killed helper left behind. */
int sessions_live(struct session_ref **ret, size_t *ret_n);
/* The session that runs around this process, or NULL. */
const char *session_around(void);
/* Fresh random id.  0 or -errno. */
int session_id_new(char *buf, size_t size);

/* A ledger by its file. */
struct ledger_ref {
	char session[SESSION_ID_MAX];
	char dir[PATH_MAX];
	char started[32]; /* time of its first record, "" where there is none */
};

/* Ledgers by the time of their first record, oldest first; prefix selects by session (NULL: all). */
int ledgers_list(const char *prefix, struct ledger_ref **ret, size_t *ret_n);
/*
 * Calls fn with each record of the ledger in dir that has the text `having` in its line (NULL: with each), in
 * order, until it returns something else than 0.  A line that is no record is passed over: `pale log verify`
 * tells those.  fn may take rec over by setting rec->owner to NULL.  0, -errno, or what is negative of fn.
 */
typedef int ledger_fn(void *ctx, struct record_owned *rec);
int ledger_each(const char *dir, const char *having, ledger_fn *fn, void *ctx);
/* DIR/session.json as an object, empty where there is none to read (new reference). */
json_t *session_facts(const char *dir);
/* The value of `key` in DIR/session.json as text (caller frees), or NULL. */
char *session_fact(const char *dir, const char *key);

/* session_show.c: one session on a page; id is NULL for the newest.  Exit code. */
int session_show(const struct options *o, const char *id);
/* session_stop.c: ends one that runs and waits for that.  Exit code. */
int session_stop(const struct options *o, const char *id);

/* prune.c: removes old ledgers.  Exit code. */
int log_prune(const struct options *o, int argc);
/* A ledger that is past its retention, and whose session is over. */
struct old_ledger {
	const struct ledger_ref *ref;
	int dirfd; /* its directory */
	long days;
};
/* Calls f for each of them, of a session whose id begins so or (NULL) of all.  0 or -errno. */
int ledgers_each_old(const char *session, void (*f)(void *ctx, const struct old_ledger *old), void *ctx);
/* With its directory; what no helper made stays, and keeps the directory.  0 or -errno. */
int ledger_remove(const struct old_ledger *old);
/* log_verify.c: verifies the ledger at argv[0], or those of all sessions (or o->session).  Exit code. */
int log_verify(const struct options *o, int argc, char **argv);

/* --- control.c: JSON-RPC with a session's helper ----------------------------------------------------- */

/* Connected socket, to a helper of ours or to one whose directory this is (-EPERM: a stranger's), or -errno.
 */
int control_open(const char *session_dir);
/*
 * Calls method (params are taken over, may be NULL).  0 with *ret_result (caller drops), or with the helper's
 * own words in why: -EALREADY (the card is closed), -ESTALE (the digest), -EACCES (the passphrase),
 * -EINVAL (the rule), -ENOSYS (no such method), -EREMOTE any other; or -errno.  Notifications that come
 * meanwhile are dropped: who subscribed listens on that connection and calls on another.
 */
int control_call(int fd, const char *method, json_t *params, json_t **ret_result, char *why, size_t size);
/* Who answers, as the record will say it: a claim. */
const char *operator_name(void);
/* log/subscribe.  0 or as control_call(). */
int control_listen(int fd, bool approvals, bool records, char *why, size_t size);
/* The next notification ({"method", "params"}, caller drops): 0, -EAGAIN in that time, -EPIPE, -errno. */
int control_next(int fd, int timeout_ms, json_t **ret);

/* --- pending.c: the questions of all sessions --------------------------------------------------------- */

/* All cards of a session over fd, page by page, into one array (caller drops).  0, or as control_call(). */
int cards_fetch(int fd, json_t **ret, char *why, size_t size);
/* Calls fn for each question that waits, and each grant, in all sessions: enough of its id to answer it, and
 * what it is as one line of visible text.  What does not answer is passed over. */
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
/*
 * Splits a line at quotes, blanks and operators; expands nothing, runs nothing.  0, -EINVAL
 * (unbalanced quote), -ENOMEM; the caller frees with shell_parts_done().
 */
int shell_split(const char *line, struct shell_part **ret, size_t *ret_n);
void shell_parts_done(struct shell_part *parts, size_t n);

/*
 * Where path leads in truth, as the preload would find it: 0 or -errno.  *ret_through: struct request's,
 * until the next call.
 */
int place_find(const char *cwd, const char *path, enum op op, char *real, char *given,
	       const char **ret_through);
/* What to write to change a decision: lines that were tried and work, or why none can (caller frees). */
char *advice(const struct loaded *l, const struct question *q, const struct decision *d);

/* --- denial.c --- */

/* A denial or a question as the ledgers have it; what was folded or came again is counted. */
struct past_denial {
	struct record_owned rec; /* of the first */
	char *dir;		 /* the session's state directory */
	uint64_t times;
};
struct past_denials {
	struct past_denial *list; /* newest first */
	size_t n;
	size_t more; /* older ones that are not in the list */
};
/* The id that people were shown of the denial or question in r; 0: it is none, or nobody gave it one. */
uint32_t denial_id(const struct record *r);
/* Those of this id, of all sessions or of those whose id begins with session.  0, -ENOENT: there is no such
 * session, or -errno. */
int denials_find(uint32_t id, const char *session, struct past_denials *ret);
void denials_done(struct past_denials *d);

/* --- explain.c, explain_past.c --- */

/* Judges op on the words of argv, tells the verdict and returns the exit code. */
int explain_words(const struct options *o, enum op op, int argc, char **argv);
/* text has the form of a denial's id. */
bool explain_is_id(const char *text);
/* The denial of this id, and explain_words() of the same now. */
int explain_past(const struct options *o, const char *id);

#include "tools/environment/environment.h"
#include "tools/ledgers/lines.h"
#include "tools/run/run.h"

#endif
