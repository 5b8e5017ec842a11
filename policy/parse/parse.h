/*
 * Policy text to rules.  A bundle is a value with everything that a compilation depends on: the contents of
 * files, their layers, directories, launch flags.  The caller gathers it (tools/ from the file system, the
 * helper from the start message, tests from memory), so parsing needs no I/O and the same bundle always
 * gives the same image.
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

/* Removes the findings about that file, errors too, for a text of it that no longer counts. */
void diags_forget(struct diags *d, const char *file);

/* SOURCE_ENV and SOURCE_ENV_PROJECT are .env files (envfile.h): the operator's own, which ranks between the
 * preset and the user's file, and the project's, which may only tighten. */
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

/* A file that another one takes in (`include`, `extends`) stands before that one in the list. */
struct source {
	enum source_layer layer;
	char *path;
	char *text;
	size_t len;
	char *as;  /* the value of the line that takes it in; NULL: no file does */
	bool base; /* `extends`, here or above: its rules yield to those of the file that it was written for
		    */
};

/* `PATH sha256:HEX`, the value of `include` and `extends`. */
struct taking {
	size_t path_len;
	const char *hex; /* NULL: there is no hash */
};

/* 0, or -EINVAL if the hash is not 64 hexadecimal digits in lower case, or no path stands before it. */
int taking_parse(const char *value, struct taking *ret);

/* A literal prefix and its real path, if they differ (a symlinked ~/.ssh); see policy_parse_finding(). */
struct real {
	char *prefix, *real;
};

/* A program that rules name, also known by its content: a copy of git under another name is git. */
struct ident {
	char *name;
	char *build_id; /* 40 hex digits: the GNU build-id note, SHA-1 */
};

struct bundle {
	char *home, *workspace, *cwd, *agent, *session;
	/* The directory that `state = outside` means; NULL: none can be had, and it is .pale. */
	char *state_dir;
	char *login;	   /* the home of passwd(5) if it differs from home; or NULL */
	char *preset;	   /* --preset, or NULL: the user file's `preset =`, else "agent" */
	char *mode;	   /* --mode, or NULL */
	char **self_write; /* pale's own files, never written by the session (policy files, libpale.so) */
	size_t n_self_write;
	char **self_hide; /* pale's own state, never read or written by the session */
	size_t n_self_hide;
	/* The workspace's git directory, and the one with its branches; NULL means workspace/.git. */
	char *git_own, *git_common;
	char **git_write; /* patterns of what git writes in the main repository of a worktree */
	size_t n_git_write;
	char **git_keep; /* paths of that repository that the session never writes */
	size_t n_git_keep;
	/* At the session's start: HEAD's branch in git_own, or NULL; the branches that `protect` names. */
	char *git_head;
	char **git_trunk;
	size_t n_git_trunk;
	bool git_unborn; /* the repository had no branch and no remote then; set only where it is
			    workspace/.git */
	char **unproven; /* prefixes in reals whose links a session may have made; they open nothing */
	size_t n_unproven;
	bool danger, allow_sensitive, allow_denylisted, allow_unhooked, no_prompt;
	bool judge; /* --judge */
	/* Flags that only `[session] forbid` uses. */
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
void source_done(struct source *s);
/* Each appends a copy of one entry to its list: 0 or -ENOMEM. */
int bundle_add_source(struct bundle *b, enum source_layer layer, const char *path, const char *text,
		      size_t len);
int bundle_add_self_write(struct bundle *b, const char *path);
int bundle_add_real(struct bundle *b, const char *prefix, const char *real);
int bundle_add_git_write(struct bundle *b, const char *pattern);
int bundle_add_git_keep(struct bundle *b, const char *path);
int bundle_add_git_trunk(struct bundle *b, const char *branch);
/* True if [git] protect of p names the branch. */
bool policy_protects(const struct policy *p, const char *branch);
int bundle_add_unproven(struct bundle *b, const char *prefix);
int bundle_add_ident(struct bundle *b, const char *name, const char *build_id);
/* The bundle as bytes (the caller must free them) and back: 0, -ENOMEM, or -EINVAL for bytes that are no
 * bundle. */
int bundle_encode(const struct bundle *b, char **ret, size_t *ret_len);
int bundle_decode(const char *bytes, size_t len, struct bundle *b);

/*
 * Parses presets and sources in order into p.  All findings of all files are reported; a file
 * with an error contributes nothing and makes the result -EBADMSG.  If bundle.reals maps the literal prefix
 * of a path to another path, the rule is added for both spellings.  If bundle.unproven lists the prefix
 * too, a rule that opens something is added for its own spelling alone.
 * With bundle.observe, operations that are only asked about or that no rule names are allowed; observe.c
 * says which rules stay.
 * 0, -EBADMSG (see diags), -ENOMEM, -EINVAL if an ident is no build-id.
 */
int policy_parse(const struct bundle *b, struct policy *p, struct diags *d);

/* Adds to b the real path of a prefix, if it differs: 0 or -ENOMEM. */
typedef int (*real_finder)(void *ctx, struct bundle *b, const char *prefix);

/* Like policy_parse(), but fills bundle.reals during the parse: find is called for each prefix that is not
 * listed there, each time that the prefix occurs.  b must not list unproven prefixes yet. */
int policy_parse_finding(struct bundle *b, struct policy *p, struct diags *d, real_finder find, void *ctx);

/*
 * The workspace that [session] workspace = of the machine, the user or the preset names, below the
 * directory where pale is started.  Must be called before policy_parse(), because its rules depend on the
 * workspace.  The caller must free *ret_name; it is NULL if no source names a workspace.  0 or -ENOMEM.
 */
int policy_workspace(const struct bundle *b, char **ret_name);
/* The directory of the agent's state, below the workspace or absolute; NULL if it stays in the home. */
const char *policy_state(const struct bundle *b, const struct policy *p);
/* True if the agent's state is in .pale, beside the project's policy. */
bool policy_state_is_beside_project(const struct bundle *b, const struct policy *p);

/* The text of the embedded preset of that name, or NULL.  preset_name(i) is the i-th name, or NULL. */
const char *preset_text(const char *name, size_t *ret_len);
const char *preset_name(size_t i);
/* True if the profiles of agents (agents.h) are read with that preset. */
bool preset_has_agents(const char *name);
/* True if the table of the home (policy/presets/home.ini) is read with that preset; the text of the table;
 * the tool that the rule in that line is about, "NAME: SOURCE", without a NUL at its end, or NULL. */
bool preset_has_home(const char *name);
const char *home_text(size_t *ret_len);
const char *home_tool(unsigned line, size_t *ret_len);
#define HOME_TABLE "preset home" /* the file of its rules */

/* Converts a host as people write it, perhaps with `*.` and ports, to the A-labels that rules match (RFC
 * 5891, UTS 46).  The caller must free *ret.  0, -EINVAL with a static sentence in *ret_why, -ENOMEM. */
int host_to_ascii(const char *text, char **ret, const char **ret_why);

/*
 * Splits "host", "host:port", "v6" or "[v6]:port"; the port defaults to 443 (https).  0, or -EINVAL if text
 * has none of these forms or the host does not fit into size bytes.
 */
int host_port_split(const char *text, char *host, size_t size, uint16_t *ret_port);

/* The nearest of the NULL-terminated candidates by edit distance, or NULL if no word is near. */
const char *nearest_word(const char *word, const char *const *candidates);

#endif
