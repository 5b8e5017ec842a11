/*
 * The policy as a value: settings and a list of rules, between the text (parse.h) and the image
 * (image.h).  It allocates; nothing here runs in the preload.
 */
#ifndef PALE_RULE_H
#define PALE_RULE_H

#include "environ.h"
#include "policy/base/op.h"
#include "resource.h"

/* The strictest first.  NONE is read-only, and in the workspace only what rules name can be read. */
enum mode { MODE_NONE, MODE_READ_ONLY, MODE_WORKSPACE_WRITE, MODE_DANGER };
enum approvals { APPROVALS_NEVER, APPROVALS_ASK };
enum network { NETWORK_OFF, NETWORK_STRICT, NETWORK_MERGE, NETWORK_REPLACE, NETWORK_OPEN, NETWORK_MODELS };
/* "off", "strict", ... */
const char *network_name(enum network network);
/* [files] home: which entries of the home exist for a session. */
enum home { HOME_OPEN, HOME_KNOWN, HOME_CLOSED };
enum reads { READS_NOTIFY, READS_FLOOR };
/* What confirms the approval of something that cannot be undone (RISK_CRITICAL). */
enum stepup {
	STEPUP_PASSPHRASE, /* the helper checks it; without a passphrase no such approval is possible */
	STEPUP_PAM,	   /* `pale approve` asks PAM and reports that it agreed */
	STEPUP_AUTO,	   /* as STEPUP_PASSPHRASE where a passphrase is set, else as STEPUP_NONE */
	STEPUP_NONE
};

/* How the command after `pale run --` is judged. */
enum launching {
	LAUNCH_JUDGED, /* as any other command */
	LAUNCH_TRUSTED /* the operator typed it: only a rule that denies it refuses it */
};

/* What the start of a session removes once it is older than `expiry`. */
enum gc {
	GC_OFF,
	GC_OWN, /* what pale itself made: the remains of killed sessions, its own logs */
	GC_ALL	/* also the launcher's: logs, session directories, entries of sessions.json */
};

/*
 * Which rule decides.  Across layers, the strictest; within a layer, the most specific; at the same
 * specificity, the one of higher rank (the user's file is above what it extends, and that above the preset);
 * at the same rank, the strictest.  An untrusted project's file is a layer of its own, so it can only make
 * the policy stricter; a trusted one joins LAYER_USER with the rank RANK_PROJECT.
 */
enum layer { LAYER_FLOOR, LAYER_USER, LAYER_PROJECT, LAYER_COUNT };
enum rank { RANK_PRESET, RANK_BASE, RANK_USER, RANK_PROJECT, RANK_BUILTIN };

enum rule_kind {
	RULE_FILE_WRITE,     /* write =      read, write and delete */
	RULE_FILE_READ,	     /* read =       read */
	RULE_FILE_DENY,	     /* deny =       neither read nor write */
	RULE_FILE_READONLY,  /* readonly =   no write, no delete */
	RULE_FILE_KEEP,	     /* keep =       may be changed but not removed */
	RULE_FILE_ASK,	     /* ask =        every access is asked */
	RULE_FILE_ASK_WRITE, /* ask_write =  each change is asked */
	RULE_FILE_SENSITIVE, /* sensitive =  hard deny; only --allow-sensitive-roots lifts it */
	RULE_FILE_SYSTEM,    /* system =     read, also by an absolute path under paths = relative */
	RULE_FILE_SELF,	     /* pale's own files: hard, no write; built in, no key */
	RULE_FILE_HIDDEN,    /* pale's own state: hard, no access; built in, no key */
	RULE_CMD_ALLOW,
	RULE_CMD_ASK,
	RULE_CMD_DENY,
	RULE_CMD_DENYLIST, /* denylist =   hard deny; only --allow-denylisted-commands lifts it */
	RULE_NET_ALLOW,
	RULE_NET_ASK,
	RULE_NET_DENY,
	RULE_NET_CORE,	 /* core =       allowed in network modes strict, merge and open */
	RULE_NET_MODEL,	 /* model =      a core host that serves a model: all that mode models allows */
	RULE_NET_EXTRA,	 /* extra =      allowed in merge and open: what a preset adds to its core */
	RULE_NET_UDP,	 /* udp =        may be reached by datagrams, which no other rule allows */
	RULE_NET_UNIX,	 /* unix =       this socket may be connected to */
	RULE_NET_BIND,	 /* bind =       ports that may be listened on */
	RULE_BRANCH,	 /* protect =    pattern of a protected branch ([git]) */
	RULE_FILE_GIT,	 /* a name that git obeys: what would be written is checked; built in, no key */
	RULE_FILE_PLACE, /* a directory of pale's own: may be filled, not changed or replaced; built in, no
			    key */
	RULE_FILE_HOME,	 /* home =       what no file rule names below it does not exist for the session */
	RULE_TOOL_ALLOW, /* allow =      an agent's own tool, by its name ([tools]) */
	RULE_TOOL_ASK,
	RULE_TOOL_DENY,
	RULE_KIND_COUNT
};

/* A rule owns its strings. */
static inline bool rule_is_tool(enum rule_kind kind)
{
	return kind >= RULE_TOOL_ALLOW && kind <= RULE_TOOL_DENY;
}

struct rule {
	enum rule_kind kind;
	enum layer layer;
	enum rank rank;
	char *text;    /* as written, for people */
	char *pattern; /* files and unix: absolute, `~`, `.` and `..` expanded, normalised; others: as text */
	char *file;    /* the file that contains it, as named by the caller; "preset agent"; "built in" */
	char *message; /* the text of the `message =` after it, or NULL */
	bool absent;   /* `absent =`: what it closes does not exist for a reader */
	bool unproven; /* `passphrase = no` follows it */
	unsigned line;
	unsigned col;
};

struct settings {
	enum mode mode;
	enum approvals approvals;
	unsigned timeout_s;
	enum reads reads;
	enum stepup stepup;
	enum launching launch;
	enum level demands; /* [session] level: the lowest level allowed; LEVEL_HOOKS where none is named */
	enum gc gc;
	unsigned expiry_s;
	unsigned ledger_mib; /* [ledger] size: of all ended sessions together */
	unsigned log_mib;    /* [session] log_size: of each log */
	enum verdict cmd_default;
	enum verdict net_default;
	enum verdict push;     /* [git] push: of what the gate holds */
	unsigned change_files; /* [changes] max_files: of one push */
	unsigned change_bytes; /* [changes] max_size: of one push */
	enum network network;
	enum home home;
	bool relative_only;    /* [files] paths = relative */
	bool children_in_ro;   /* [commands] read_only = rules: in mode read-only allow rules still hold */
	bool allow_sensitive;  /* launch flag --allow-sensitive-roots */
	bool allow_denylisted; /* launch flag --allow-denylisted-commands */
	bool allow_danger;     /* launch flag --danger */
	bool allow_unhooked;   /* launch flag --allow-unhooked */
	bool observe;	       /* launch flag --observe: parse.h */
	bool proves; /* an act that cannot be undone needs a second proof: stepup, and a passphrase is set */
	enum level level; /* what enforces the policy; inside an outer image, the outer one's */
	uint64_t pass;	  /* see struct image_header; inside an outer image, the outer one's */
	uint64_t began;	  /* the same */
};

struct policy_ident {
	char *name;
	uint8_t build_id[20];
};

/* Words of one key; of the highest layer that has any, or of all. */
struct word_list {
	char **list;
	size_t n;
	int from; /* what the parser knows of that layer */
};

#define VERSION_MAX 64 /* bytes of `version =`, with the NUL */

struct policy {
	struct settings s;
	char *workspace; /* real path */
	char *home;
	char *git_head;	 /* from the bundle: the branch of the workspace, or NULL */
	bool git_unborn; /* from the bundle */
	char *preset;
	char *version;	  /* `version =`: of the presets that it was written for, or NULL */
	char *level_file; /* where the [session] level in force was set, or NULL */
	unsigned level_line;
	char *network_file; /* where [network] mode was set, "preset" for the preset */
	unsigned network_line;
	struct limits limits;
	char *logs;		      /* [session] logs =, absolute, or NULL */
	int logs_from;		      /* the layer that set it */
	struct environ_rule *environ; /* [environment] */
	size_t n_environ;
	char *state;	/* [session] state =, below the workspace, or a word, or NULL */
	int state_from; /* the layer that set it */
	char **shares;	/* [session] share =: the operator's own files that are seen there, as "config/git" */
	size_t n_shares;
	bool shares_none;	  /* share = none */
	struct word_list ghosts;  /* [git] remote =: patterns of remotes that the gate stands in for */
	struct word_list fetched; /* [git] fetch =: refs that the gate shows; empty: branches and tags */
	char *branch;		  /* [git] branch =: what a pushed branch is called at the remote */
	int branch_from;
	struct word_list change_deny; /* [changes] deny =: paths that no push may bring */
	struct policy_ident *idents;
	size_t n_idents;
	struct rule *rules;
	size_t n_rules;
};

/* The key of the kind ("write", "deny", ...), and the section of that key ("files").  Static; "?" for an
 * unknown kind. */
const char *rule_key(enum rule_kind kind);
const char *rule_section(enum rule_kind kind);
/* The verdict a rule of this kind gives, for explain and tests. */
enum verdict rule_verdict(enum rule_kind kind);

/* Adds a copy: 0 or -ENOMEM. */
int word_list_add(struct word_list *l, const char *word);
/* Frees the words, and leaves an empty list. */
void word_list_done(struct word_list *l);

void policy_init(struct policy *p);
void policy_done(struct policy *p);
/* Appends an empty rule and returns it (borrowed until the next call), or NULL on ENOMEM. */
struct rule *policy_add(struct policy *p);

#endif
