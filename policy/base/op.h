/*
 * The shared vocabulary: operations, accesses, verdicts, reasons and limits.
 *
 * Every part of pale uses the canonical request (struct request): a question is parsed into it once, and
 * the same struct is matched, shown, hashed, recorded and performed (in CVE-2021-3156 two parsers disagreed
 * about one flag).
 */
#ifndef PALE_OP_H
#define PALE_OP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a program wants to do.  The ring and wire frames hold these numbers: append only. */
enum op {
	OP_NONE,
	OP_READ,    /* open for reading, list a directory */
	OP_WRITE,   /* open for writing, create */
	OP_DELETE,  /* unlink, rmdir */
	OP_RENAME,  /* either end of a rename or exchange */
	OP_LINK,    /* either end of a hard link: the source needs write, too */
	OP_SYMLINK, /* create a symbolic link */
	OP_MKDIR,
	OP_MKNOD, /* fifo, socket or device node */
	OP_TRUNCATE,
	OP_CHMOD,
	OP_CHOWN,
	OP_UTIME,
	OP_XATTR,
	OP_EXEC,
	OP_CONNECT, /* an inet address */
	OP_UNIX,    /* a unix socket, by path or abstract name ("@name") */
	OP_RESOLVE, /* a host name about to be looked up */
	OP_BIND,
	OP_ATTACH, /* a process announced itself; never judged */
	OP_TOOL,   /* the agent is about to use one of its own tools */
	OP_PUSH,   /* the gate holds what a push sent, and would push it to the remote */
	OP_COUNT
};

/* What an operation does to the file it names.  A rule may cover one access and not another. */
enum access {
	ACCESS_READ = 1,
	ACCESS_WRITE = 2,
	ACCESS_DELETE = 4, /* the name is removed */
	ACCESS_ALL = 7
};

/*
 * Verdicts are 28-bit patterns that differ in many bits, and zero means deny: a forgotten initialisation or
 * a flipped bit never allows (CVE-2023-42465).
 */
enum verdict { VERDICT_DENY = 0, VERDICT_ASK = 0x5ad6db1, VERDICT_ALLOW = 0x52a2925 ^ 0xfffffff };

/* Why a verdict was given; REASON_RULE where a rule of the policy decided. */
enum reason {
	REASON_NONE,
	REASON_RULE,
	REASON_OUTSIDE,	   /* a write outside the workspace and the writable roots */
	REASON_INSIDE,	   /* inside the workspace */
	REASON_READABLE,   /* nothing forbids reading it */
	REASON_READONLY,   /* mode read-only */
	REASON_ABSOLUTE,   /* paths = relative, and the path is absolute */
	REASON_TRAVERSAL,  /* paths = relative, and the path has a `..` segment */
	REASON_ANCESTOR,   /* a directory above a protected path may not be moved or removed */
	REASON_SELF,	   /* pale's own files and sockets */
	REASON_DEFAULT,	   /* no rule names it: [commands] default */
	REASON_CHILDREN,   /* mode read-only forbids every child command */
	REASON_OFFLINE,	   /* network = off */
	REASON_URL,	   /* network = off, and the argv holds an http(s):// address */
	REASON_REBIND,	   /* a public name that answers with a private address */
	REASON_TRUNK,	   /* a protected branch, or one that cannot be determined */
	REASON_DANGER,	   /* mode danger */
	REASON_OPERATOR,   /* the command the operator typed after `pale run --` */
	REASON_UNHOOKED,   /* the program would run without the preload */
	REASON_TOO_LONG,   /* path, argv or name over the limit: denied, never cut and matched */
	REASON_MALFORMED,  /* unreadable or nonsensical request, or a broken image */
	REASON_NEVER,	   /* approvals = never turned ask into deny */
	REASON_NOBODY,	   /* no human can be reached to answer */
	REASON_TIMEOUT,	   /* no human answered in time */
	REASON_HUMAN,	   /* the operator answered */
	REASON_REPEATED,   /* already denied in this turn, so it is not asked again */
	REASON_HOST,	   /* no rule names it: [network] default */
	REASON_PROCESS,	   /* it belongs to a process outside the session */
	REASON_CHANGED,	   /* what was executed is not what was judged */
	REASON_SOCKET,	   /* a kind of socket, or an address family, that nothing judges */
	REASON_DNS,	   /* a name server; the session's own answers instead of it */
	REASON_FLOOR,	   /* newer than the session, so Landlock lets no process execute it */
	REASON_UNPROVEN,   /* it is not certain that what is executed is what was judged */
	REASON_WAY,	   /* a directory on the way to what may be written */
	REASON_OWN,	   /* System V IPC that the session makes for itself */
	REASON_UDP,	   /* a datagram, which only `udp =` rules let out */
	REASON_EXFIL,	   /* a long name, or one of too many: it could carry data to its name server */
	REASON_FLOOD,	   /* more at a time than are served */
	REASON_ASTRAY,	   /* a v4 address that is not public, written as IPv6: it would take another route */
	REASON_UNIX,	   /* a socket that no `unix =` rule names */
	REASON_GIT,	   /* git would obey it, so what is written there is checked first */
	REASON_UNREADABLE, /* the file may be executed but not read, so what would run is unknown */
	REASON_LOADER,	   /* a loader, and it is unknown which program it would open */
	REASON_PROOF,	   /* a rule allows it, but it cannot be undone, so it must be confirmed */
	REASON_HOME,	   /* an entry of the home that no rule opens */
	REASON_VARIABLE,   /* an allow names it, and a variable changes what it does */
	REASON_ABSENT,	   /* an optional file that holds a secret */
	REASON_TOOL,	   /* no rule names it: an agent's tool, which is allowed then */
	REASON_GRANT,	   /* the operator allowed it, and what is like it, for longer than once */
	REASON_PUSH,	   /* [git] push */
	REASON_GATE,	   /* a remote that is reached through the gate, which asks about what it receives */
	REASON_COUNT
};

/*
 * What enforces the policy.  HOOKS: the preload alone.  FULL: the supervisor also performs the calls that
 * do not come through the hooks, and Landlock and a filter bound the rest.  STRICT: every call goes to the
 * supervisor.  Ordered: a higher level enforces more.
 */
enum level { LEVEL_HOOKS, LEVEL_FULL, LEVEL_STRICT, LEVEL_COUNT };

#define RULE_NONE UINT32_MAX

#define AIM_UNKNOWN "\n"   /* begins an aim that is unknown, for which a yes holds once; begins no other */
#define AIM_SENDS   "\n\t" /* in a push's aim, before what it sends, which is text for people */

/* Limits.  Over the limit is denied (REASON_TOO_LONG); a program with too many arguments is E2BIG. */
#define LIMIT_PATH    4096	       /* bytes with the NUL, as the kernel's PATH_MAX */
#define LIMIT_ARGV    (2u << 20)       /* bytes of all arguments with their NULs: ARG_MAX of an 8 MiB stack */
#define LIMIT_ARGC    (LIMIT_ARGV / 9) /* arguments: the kernel counts a pointer and a NUL for each */
#define LIMIT_HOST    256
#define LIMIT_FRAME   (64 * 1024) /* one wire frame */
#define LIMIT_LINE    4096	  /* one policy line */
#define LIMIT_POLICY  (8u << 20)  /* one policy file */
#define LIMIT_DEPTH   8		  /* wrappers looked through, nested images, shebang chains */
#define LIMIT_PENDING 64	  /* questions waiting in one session */

/*
 * For a buffer in frequent code that is written before it is read: clearing it (the hardening flag
 * -ftrivial-auto-var-init) costs 5 % of an open and of a policy's compilation.
 */
#define UNINITIALIZED __attribute__((uninitialized))

struct eval_memo; /* eval.h */

/*
 * The canonical request.  All pointers are borrowed from the caller for the length of the call.
 *
 * For file operations `path` is the real path of what is held: absolute, normalised, without a symbolic
 * link, except perhaps the last component where the operation does not follow it.  `given` is the path
 * as the process gave it, made absolute and lexically normalised, NULL where it is the same; both are
 * judged and the stricter verdict counts.  `raw` is the argument unchanged (NULL where the request did not
 * come from one); only `paths = relative` looks at it.
 *
 * For OP_EXEC `path` is the resolved program file and argv its arguments (with argv[0], NULL terminated).
 * `ident` is the name of a well known program whose content the file has under another name (a copy of
 * git), or NULL.
 *
 * For OP_CONNECT the address is 16 canonical bytes (v4 mapped into ::ffff:0:0/96) and `host` the
 * name it was reached by, or NULL.  For OP_UNIX `path` is the socket's real path or "@abstract".
 *
 * For OP_TOOL `path` is the name of the tool, which does not begin with a slash.
 *
 * For OP_PUSH `path` is the ref at the remote, a space and the URL; `aim` is what the gate says of the
 * change.
 */
struct request {
	enum op op;
	unsigned access;
	bool is_root; /* the command the operator typed: only explicit denies refuse it */
	const char *path;
	const char *given;
	const char *raw;
	/* The processes of the session, for the rule on other processes (procpath.h); NULL: that rule is
	 * not applied.  through: the directory of procfs with the last link of a process that was
	 * followed on the way, or NULL. */
	const struct pids *pids;
	const char *through;
	const char *const *argv;
	size_t argc;
	const char *ident;
	/*
	 * OP_EXEC of a loader (loads.h): the real path of the program that it opens and runs, and the
	 * `ident` of that.  NULL: it opens none, or only the word that names it is known.
	 */
	const char *loads, *loads_ident;
	const char *loads_called; /* its argv[0] */
	size_t loads_at;	  /* the word after which its own arguments stand, without argv[0] */
	const char *cwd;
	/*
	 * OP_EXEC, in a question: the environment that the program would get, ended by NULL; on a card, the
	 * part of it that is shown (environ_target.h).  NULL: not known.
	 */
	const char *const *env;
	/*
	 * OP_EXEC: the name of a variable that changes what the command does, and that has changed since
	 * the session began (environ_change()): no allow covers it.  NULL: there is none, or this was not
	 * looked up.
	 */
	const char *variable;
	const char *git_branch; /* HEAD's branch in the repository that this git works on, or as git.h says */
	/*
	 * In a question, what a yes does beyond the fields above.  Of a push: the URLs, one a line,
	 * AIM_SENDS and what it sends; or AIM_UNKNOWN and why that is not known.  Of a branch: AIM_UNKNOWN
	 * and the commit.  Of another act on a file: what it does besides its path (mode, target, the other
	 * name).  Of a tool: its input, as JSON.  Of a push that the gate holds: what it brings, in lines.
	 * NULL: nothing.
	 */
	const char *aim;
	/* OP_EXEC, in a question: identifies the program's file where the session may have written it; or
	 * NULL. */
	const char *file;
	const char *host;
	uint8_t addr[16];
	bool has_addr;
	bool is_datagram; /* OP_CONNECT, OP_BIND: by UDP, which only `udp =` rules open */
	bool is_here;	  /* OP_CONNECT: addr belongs to this machine, so it is judged as loopback too */
	uint16_t port;
	struct eval_memo *memo; /* the caller's, see eval.h; NULL: none */
};

/* The answer.  `rule` is an index of the image's rules or RULE_NONE; `nested` says that the image of an
 * outer session decided, and `rule` is a rule of that image. */
struct decision {
	enum verdict verdict;
	enum reason reason;
	uint32_t rule;
	uint32_t nested;
};

/* Names for people and for the ledger; static, never NULL ("?" for an unknown value).
 * async-signal-safe. */
const char *op_name(enum op op);
/* The section of a policy with the rules about it: "commands", "tools", "network" or "files"; static. */
const char *op_section(enum op op);
const char *verdict_name(enum verdict v);
/* Sentence fragment, e.g. "outside the workspace".  async-signal-safe. */
const char *reason_text(enum reason r);
/* "hooks", "full", "strict"; "?" for an unknown level. */
const char *level_name(enum level level);
/* The inverse: LEVEL_COUNT for an unknown name. */
enum level level_by_name(const char *name);
/* The inverse of op_name; OP_NONE for an unknown name.  "connect", "exec", "read" ... */
enum op op_by_name(const char *name);
/* What the operation does to its (first) file. */
unsigned op_access(enum op op);
/* The accesses of this set as a word, as records have it: "", "r", "rw" ... */
const char *access_name(unsigned access);

/* The stricter of two: deny > ask > allow; any other value counts as deny. */
static inline enum verdict verdict_strictest(enum verdict a, enum verdict b)
{
	if (a == VERDICT_ALLOW && b == VERDICT_ALLOW)
		return VERDICT_ALLOW;
	if ((a == VERDICT_ASK || a == VERDICT_ALLOW) && (b == VERDICT_ASK || b == VERDICT_ALLOW))
		return VERDICT_ASK;
	return VERDICT_DENY;
}

#endif
