/*
 * Policy text to rules.  A bundle is everything a compilation depends on, as a value: file
 * contents, who owns them, directories, launch flags.  The caller gathers it (tools/ from the
 * file system, the helper from the start message, tests from memory), so parsing needs no I/O
 * and the same bundle always gives the same image.
 */
#ifndef PALE_PARSE_H
#define PALE_PARSE_H

#include "policy/rules/rule.h"

enum severity { SEVERITY_ERROR, SEVERITY_WARNING, SEVERITY_NOTE };

/* One finding: file:line:column: severity: text [code]. */
struct diag {
	enum severity severity;
	const char *code; /* static, e.g. "unknown-key" */
	char *file;
	unsigned line, col;
	char *text;
	char *hint; /* what to write instead, or NULL */
};

struct diags {
	struct diag *list;
	size_t n, n_errors;
};

void diags_init(struct diags *d);
void diags_done(struct diags *d);
/* Adds a finding (strings are copied; printf format).  -ENOMEM or 0. */
int diag_add(struct diags *d, enum severity sev, const char *code, const char *file, unsigned line,
	     unsigned col, const char *hint, const char *fmt, ...) __attribute__((format(printf, 8, 9)));

/* The last two are in the form of a .env file (envfile.h): the operator's own, which lies between preset and
 * user, and the project's, which may only tighten. */
enum source_layer {
	SOURCE_FLOOR,
	SOURCE_PRESET,
	SOURCE_USER,
	SOURCE_PROJECT,
	SOURCE_PROJECT_TRUSTED,
	SOURCE_ENV,
	SOURCE_ENV_PROJECT,
	SOURCE_AGENT, /* an agent's profile (agents.h): built in, in no bundle */
	SOURCE_LAYER_COUNT
};

struct source {
	enum source_layer layer;
	char *path;
	char *text;
	size_t len;
};

/* literal prefix -> real path, where they differ (a symlinked ~/.ssh); see policy_parse_finding(). */
struct real {
	char *prefix, *real;
};

/* A program that rules name, known by its content too: a copy of git under another name is git. */
struct ident {
	char *name;
	char *build_id; /* 40 hex digits: the GNU build-id note, SHA-1 */
};

struct bundle {
	char *home, *workspace, *cwd, *agent, *session;
	char *login;	   /* the home that passwd(5) has, where it is another; or NULL */
	char *preset;	   /* --preset, or NULL: the user file's `preset =`, else "agent" */
	char *mode;	   /* --mode, or NULL */
	char **self_write; /* pale's own files: nobody inside writes them (policy files, libpale.so) */
	size_t n_self_write;
	char **self_hide; /* pale's own state: nobody inside reads or writes it */
	size_t n_self_hide;
	/* The workspace's git directory, and the one that has its branches; NULL: `.git` in the workspace. */
	char *git_own, *git_common;
	char **git_write; /* patterns: what git writes of a repository that the workspace is a worktree of */
	size_t n_git_write;
	char **git_keep; /* and what of it nobody inside writes */
	size_t n_git_keep;
	/* As the session begins: HEAD's branch in git_own, NULL: none; and the branches that `protect` names.
	 */
	char *git_head;
	char **git_trunk;
	size_t n_git_trunk;
	char **unproven; /* prefixes in reals whose links a session may have made: they open nothing */
	size_t n_unproven;
	bool danger, allow_sensitive, allow_denylisted, allow_unhooked, no_prompt;
	bool judge; /* --judge */
	/* Flags that only `[session] forbid` looks at. */
	bool keep_home, level_hooks, abi_max, observes;
	bool observe;	/* see policy_parse() */
	bool relocated; /* the agent's state lies where [session] state says: no --keep-home */
	struct source *sources;
	size_t n_sources;
	struct real *reals;
	size_t n_reals;
	struct ident *idents;
	size_t n_idents;
};

void bundle_init(struct bundle *b);
void bundle_done(struct bundle *b);
/* Each appends one, copied, to its list: 0 or -ENOMEM. */
int bundle_add_source(struct bundle *b, enum source_layer layer, const char *path, const char *text,
		      size_t len);
int bundle_add_real(struct bundle *b, const char *prefix, const char *real);
int bundle_add_git_write(struct bundle *b, const char *pattern);
int bundle_add_git_keep(struct bundle *b, const char *path);
int bundle_add_git_trunk(struct bundle *b, const char *branch);
/* [git] protect of p names the branch. */
bool policy_protects(const struct policy *p, const char *branch);
int bundle_add_unproven(struct bundle *b, const char *prefix);
int bundle_add_ident(struct bundle *b, const char *name, const char *build_id);
/* The bundle as bytes (caller frees) and back; -EINVAL for what is no bundle. */
int bundle_encode(const struct bundle *b, char **ret, size_t *ret_len);
int bundle_decode(const char *bytes, size_t len, struct bundle *b);

/*
 * Parses presets and sources in order into p.  All findings of all files are reported; a file
 * with an error contributes nothing and makes the result -EBADMSG.  For each literal path prefix
 * that bundle.reals maps elsewhere the rule is added for both spellings; but where bundle.unproven has it,
 * only a rule that keeps something closed is.
 * With bundle.observe what is only asked, and what no rule names, is let happen instead: observe.c says what
 * stays.
 * 0, -EBADMSG (see diags), -ENOMEM, -EINVAL where an ident is no build-id.
 */
int policy_parse(const struct bundle *b, struct policy *p, struct diags *d);

/* Adds to b what a prefix leads to, where it leads elsewhere: 0 or -ENOMEM. */
typedef int (*real_finder)(void *ctx, struct bundle *b, const char *prefix);

/* The same, and bundle.reals is filled on the way: find is asked for each prefix that is not there yet, be it
 * asked before.  Nothing is unproven. */
int policy_parse_finding(struct bundle *b, struct policy *p, struct diags *d, real_finder find, void *ctx);

/*
 * Which directory is worked in, as [session] workspace = of the machine, the user or the preset names it:
 * below where pale is started.  To be asked before policy_parse(), whose rules hang on the workspace.  The
 * caller frees *ret_name, NULL where nobody says; 0 or -ENOMEM.
 */
int policy_workspace(const struct bundle *b, char **ret_name);
/* The directory below the workspace in which the agent's state lies, or NULL where it stays in the home. */
const char *policy_state(const struct bundle *b, const struct policy *p);
/* It lies beside the project's policy, in .pale. */
bool policy_state_is_beside_project(const struct bundle *b, const struct policy *p);

/* Embedded preset by name: its text, or NULL. preset_name(i) enumerates. */
const char *preset_text(const char *name, size_t *ret_len);
const char *preset_name(size_t i);
/* Whether the profiles of agents (agents.h) lie on that preset. */
bool preset_has_agents(const char *name);
/* Whether the table of the home (policy/presets/home.ini) lies beneath it; its text; and the tool that the
 * rule in that line is about, "NAME: SOURCE", not terminated, or NULL. */
bool preset_has_home(const char *name);
const char *home_text(size_t *ret_len);
const char *home_tool(unsigned line, size_t *ret_len);
#define HOME_TABLE "preset home" /* the file of its rules */

/* A host as people write it, perhaps with `*.` and ports, to what rules match: A-labels (RFC 5891, UTS 46).
 * Caller frees; 0, -EINVAL with why, -ENOMEM. */
int host_to_ascii(const char *text, char **ret, const char **ret_why);

/*
 * Splits "host", "host:port", "v6" or "[v6]:port"; the port is https's where none is named.  0, or -EINVAL
 * for what is neither, or longer than size.
 */
int host_port_split(const char *text, char *host, size_t size, uint16_t *ret_port);

/* Nearest of the NULL-terminated candidates by edit distance (did you mean), or NULL if none is near. */
const char *nearest_word(const char *word, const char *const *candidates);

#endif
