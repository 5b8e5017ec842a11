/*
 * The policy as a value: settings and a list of rules, between the text (parse.h) and the image
 * (image.h).  lint.h looks at it too.  Allocates; nothing here runs in the preload.
 */
#ifndef PALE_RULE_H
#define PALE_RULE_H

#include "environ.h"
#include "policy/base/op.h"
#include "resource.h"

/* From the strictest on.  NONE is read-only, and the workspace is not read either, but for what rules name.
 */
enum mode { MODE_NONE, MODE_READ_ONLY, MODE_WORKSPACE_WRITE, MODE_DANGER };
enum approvals { APPROVALS_NEVER, APPROVALS_ASK };
enum network { NETWORK_OFF, NETWORK_STRICT, NETWORK_MERGE, NETWORK_REPLACE, NETWORK_OPEN };
/* [files] home: which of the home's entries are there for a session. */
enum home { HOME_OPEN, HOME_KNOWN, HOME_CLOSED };
enum reads { READS_NOTIFY, READS_FLOOR };
/* What confirms the approval of something that cannot be taken back (RISK_CRITICAL). */
enum stepup {
	STEPUP_PASSPHRASE, /* the helper checks it; where none is set, nothing can be approved */
	STEPUP_PAM,	   /* `pale approve` asks PAM and says so */
	STEPUP_AUTO,	   /* the passphrase where one is set, else nothing */
	STEPUP_NONE
};

/* How the command behind `pale run --` is judged. */
enum launching {
	LAUNCH_JUDGED, /* as any other command: asked, denied, unlisted as the policy says */
	LAUNCH_TRUSTED /* the operator typed it: only a rule that denies it refuses it */
};

/* What a start sweeps away once it is older than `expiry`. */
enum gc {
	GC_OFF,
	GC_OWN, /* what pale itself made: what killed sessions left, its own logs */
	GC_ALL	/* and the launcher's: logs, session directories, entries of sessions.json */
};

/*
 * Strictest across layers; within a layer the most specific rule; at the same specificity the
 * higher rank (the user's file lies on its preset); at the same rank the strictest.  An untrusted
 * project's file is a layer of its own and so can only tighten; a trusted one joins LAYER_USER
 * with the highest rank.
 */
enum layer { LAYER_FLOOR, LAYER_USER, LAYER_PROJECT, LAYER_COUNT };
enum rank { RANK_PRESET, RANK_USER, RANK_PROJECT, RANK_BUILTIN };

enum rule_kind {
	RULE_FILE_WRITE,     /* write =      read, write and delete */
	RULE_FILE_READ,	     /* read =       read */
	RULE_FILE_DENY,	     /* deny =       neither read nor write */
	RULE_FILE_READONLY,  /* readonly =   no write, no delete */
	RULE_FILE_KEEP,	     /* keep =       may change but not go */
	RULE_FILE_ASK,	     /* ask =        every access is asked */
	RULE_FILE_ASK_WRITE, /* ask_write =  each change is asked */
	RULE_FILE_SENSITIVE, /* sensitive =  hard deny; yields to --allow-sensitive-roots alone */
	RULE_FILE_SYSTEM,    /* system =     read, and may be named absolutely under paths = relative */
	RULE_FILE_SELF,	     /* pale's own files: hard, no write; built in, no key */
	RULE_FILE_HIDDEN,    /* pale's own state: hard, no access; built in, no key */
	RULE_CMD_ALLOW,
	RULE_CMD_ASK,
	RULE_CMD_DENY,
	RULE_CMD_DENYLIST, /* denylist =   hard deny; yields to --allow-denylisted-commands alone */
	RULE_NET_ALLOW,
	RULE_NET_ASK,
	RULE_NET_DENY,
	RULE_NET_CORE,	 /* core =       allowed in network modes strict, merge and open */
	RULE_NET_EXTRA,	 /* extra =      allowed in merge and open: what a preset adds to its core */
	RULE_NET_UDP,	 /* udp =        may be reached by datagrams, which no other rule opens */
	RULE_NET_UNIX,	 /* unix =       this socket may be connected to */
	RULE_NET_BIND,	 /* bind =       ports that may be listened on */
	RULE_BRANCH,	 /* protect =    pattern of a protected branch ([git]) */
	RULE_FILE_GIT,	 /* a name that git obeys: what would be written is looked at; built in, no key */
	RULE_FILE_PLACE, /* a directory of pale's own: may be filled, not changed or replaced; built in, no
			    key */
	RULE_FILE_HOME,	 /* home =       what no file rule names below it is not there for the session */
	RULE_KIND_COUNT
};

/* A rule owns its strings. */
struct rule {
	enum rule_kind kind;
	enum layer layer;
	enum rank rank;
	char *text;    /* as written, for people */
	char *pattern; /* files and unix: absolute, `~`, `.` and `..` expanded, normalised; others: as text */
	char *file;    /* file it stands in, as given by the caller; "preset agent"; "built in" */
	char *message; /* what `message =` said after it, or NULL */
	bool unproven; /* `passphrase = no` stands after it */
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
	enum level demands; /* [session] level: the lowest that may hold; LEVEL_HOOKS where none is named */
	enum gc gc;
	unsigned expiry_s;
	unsigned ledger_mib; /* [ledger] size: of all ended sessions together */
	unsigned log_mib;    /* [session] log_size: of each log */
	enum verdict cmd_default;
	enum verdict net_default;
	enum network network;
	enum home home;
	bool relative_only;    /* [files] paths = relative */
	bool children_in_ro;   /* [commands] read_only = rules: in mode read-only allow rules still hold */
	bool allow_sensitive;  /* launch flag --allow-sensitive-roots */
	bool allow_denylisted; /* launch flag --allow-denylisted-commands */
	bool allow_danger;     /* launch flag --danger */
	bool allow_unhooked;   /* launch flag --allow-unhooked */
	bool observe;	       /* launch flag --observe: parse.h */
	bool proves; /* what cannot be taken back is confirmed by a second proof: stepup, and a passphrase is
			set */
	enum level level; /* what enforces it; inside another image, that one's */
	uint64_t pass;	  /* the gate's word, 0 where the gate is closed; inside another image, that one's */
};

struct policy_ident {
	char *name;
	uint8_t build_id[20];
};

struct policy {
	struct settings s;
	char *workspace; /* real path */
	char *home;
	char *git_head; /* as the bundle has it, or NULL */
	char *preset;
	char *level_file; /* where the [session] level that holds was said, or NULL */
	unsigned level_line;
	char *network_file; /* where [network] mode was said, "preset" for the preset */
	unsigned network_line;
	struct limits limits;
	char *logs;		      /* [session] logs =, absolute, or NULL */
	int logs_from;		      /* which layer's word that is */
	struct environ_rule *environ; /* [environment] */
	size_t n_environ;
	char *state;	/* [session] state =, below the workspace, or NULL */
	int state_from; /* which layer's word that is */
	char **shares;	/* [session] share =: what of the operator's own is seen there, as "config/git" */
	size_t n_shares;
	bool shares_none; /* nothing of it */
	struct policy_ident *idents;
	size_t n_idents;
	struct rule *rules;
	size_t n_rules;
};

/* "write", "deny", ... : the key of the kind, and the section it stands in ("files"). */
const char *rule_key(enum rule_kind kind);
const char *rule_section(enum rule_kind kind);
/* The verdict a rule of this kind gives, for explain and tests. */
enum verdict rule_verdict(enum rule_kind kind);

void policy_init(struct policy *p);
void policy_done(struct policy *p);
/* Appends an empty rule and returns it (borrowed until the next call), or NULL on ENOMEM. */
struct rule *policy_add(struct policy *p);

#endif
