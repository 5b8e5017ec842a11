/*
 * exec: judged before the program runs, and compared with the program that runs then.
 *
 * Private to the files exec*.c: one exec, from the request to the program that runs afterwards.
 */
#ifndef PALE_SUPERVISOR_EXEC_H
#define PALE_SUPERVISOR_EXEC_H

#include <sys/stat.h>
#include <sys/types.h>

#include "policy/file/elfkind.h"

#include "tools/git/gitbranch.h"
#include "tools/supervisor/answer.h"
#include "tools/supervisor/place.h"

#include "exec_environ.h"

/* Length of the chain of interpreters that the kernel follows (its recursion limit in exec). */
#define CHAIN_MAX 5

/* The arguments of execve or execveat. */
struct exec_call {
	int dirfd;
	unsigned flags;
	uint64_t path, argv, envp;
};

/* What identifies a running program (exec_meant()); directory is zero where it does not count. */
struct exec_digest {
	struct exec_sum file, words, env, directory;
};

/* Words of an exec, copied once from the caller. */
struct words {
	const char **v; /* n of them, then NULL */
	size_t n;
	size_t bytes; /* with their NULs; the words are adjacent and start at v[0] */
};

/* What the environment says about the program that will run. */
struct exec_env {
	bool hooked; /* libpale is the first entry of LD_PRELOAD */
	struct git_env git;
	struct exec_sum sum; /* of the whole environment */
};

/* The words of the interpreter that is judged now, and the strictest verdict on an interpreter so far. */
struct script_words {
	const char *called;  /* the script's name, as the kernel passes it to the interpreter */
	struct request last; /* the script's exec */
	struct decision d;   /* that verdict; ALLOW: no rule is stricter */
	struct request held; /* the interpreter's exec that d is about */
};

#define EXEC_STAMP 160
/* The program, its interpreters, and what loaders and interpreters are given. */
#define STAMPED_MAX (2 * CHAIN_MAX)

/* A file of the stamp. */
struct stamped {
	struct stat st;
	const char *path; /* NULL: the program itself */
};

struct exec {
	struct place place;		  /* the program */
	struct place interp;		  /* of a script */
	int held;			  /* the program, O_PATH */
	struct stat file;		  /* what the kernel loads: the program or the last interpreter */
	bool readable;			  /* the floor lets the session read each file of the chain */
	bool is_unknown;		  /* it is not known what a loader would load */
	bool env_changed;		  /* while it was judged: refused, not asked */
	bool closed;			  /* a file of the chain cannot be opened for reading */
	struct elf_info elf;		  /* the program itself */
	struct elf_info chain[CHAIN_MAX]; /* the scripts before `file`; [0] is the program */
	size_t n_chain;
	struct elf_info loaded; /* the content of `file` */
	struct stat cwd_file;
	struct words argv;
	uint64_t envp; /* address in the caller's memory */
	struct exec_env env;
	struct request req;
	unsigned wants; /* command_wants_branch() of req */
	struct script_words script;
	char real[LIMIT_PATH];
	char cwd[LIMIT_PATH], branch[256], aim[GIT_AIM];
	size_t aim_len; /* of the part of aim that must not change; how many commits follows it */
	struct stamped stamped[STAMPED_MAX];
	size_t n_stamped;	/* STAMPED_MAX + 1: there are more */
	char stamp[EXEC_STAMP]; /* req.file */
	/* Where the question is about the script that an interpreter runs: the word that names the script,
	 * and its file.  tool NULL: there is no such script. */
	const char *tool;
	struct stat tool_file;
};

/*
 * Copies the NULL-terminated array of strings at addr in the caller's memory; addr 0 is an empty array.  The
 * copy lives as long as the call.  0, -EFAULT, -ESRCH, -ENOMEM; -E2BIG beyond LIMIT_ARGC or LIMIT_ARGV, and
 * then *ret holds the words before the limit.
 */
int words_read(struct caller *c, uint64_t addr, struct words *ret);
/* True where w is the environment that exec_env_read() read. */
bool exec_env_is(const struct exec_env *e, const struct words *w);
/*
 * The name of the variable of the judged environment that makes a command of req act differently than at
 * the start of the session; "?" where the environment is too long to tell, NULL: not found.  Sets
 * x->env_changed.
 */
const char *exec_variable(struct exec *x, struct caller *c, const struct request *req);
/* Reads the environment at addr in the caller's memory, and keeps a digest of it.  0 or -errno. */
int exec_env_read(struct caller *c, uint64_t addr, struct exec_env *ret);

/* True where no process of the session can write to the file. */
bool exec_is_settled(const struct stat *st);

/* What kind of file is at path, by its content.  False where it cannot be opened for reading. */
bool exec_inspect(const char *path, struct elf_info *ret);

/* --- exec_stands.c: what outlives an exec, and what changes meanwhile --- */

/* Notes, at the first exec, how many filters of system calls are pale's own and those of what started it. */
void exec_filters_note(pid_t tid);
/* Why a program that process pid executes could act on other files or hosts than its words say, as a
 * static string; NULL: it could not. */
const char *exec_led_by(struct caller *c, pid_t pid);
/* Notes where a push goes and what it sends, for a question. */
void exec_aim_note(struct exec *x, struct caller *c);
/* True where an exec that was asked about still works on the same branch with the same destination.  For
 * such an exec, and for one that works on a branch, exec_led_by() must also return NULL.  True for all
 * other execs. */
bool exec_aim_stands(const struct exec *x, struct caller *c, pid_t pid);

/* exec_script.c.  script_begin() comes before the first interpreter of a chain; script_judge() judges each
 * one in order.  real is the interpreter's real path.  0 or -ENOMEM. */
void script_begin(struct exec *x);
int script_judge(struct exec *x, struct caller *c, const struct elf_info *script,
		 const struct elf_info *interpreter, const char *real);

/* --- exec_file.c: the file of the program, and of an interpreter --- */

/*
 * Holds the program of the call as the kernel would open it: O_PATH.  x->real is its real path, and x->req
 * has the path as the caller wrote it, too.  A descriptor that the caller must close, or -errno.
 */
int exec_hold_program(struct exec *x, struct caller *c, const struct exec_call *call);
/* The same for the file at path; real has LIMIT_PATH bytes. */
int exec_hold(struct exec *x, struct caller *c, const char *path, char *real);
/*
 * True where the words still name the files that were asked about, and the directory still has its path.  A
 * directory, a link or a script may have been exchanged while the question waited.
 */
bool exec_names_stand(struct exec *x, struct caller *c, const struct exec_call *call);
/* 0, or the error with which execve(2) refuses the held file before it reads its content. */
int exec_usable(int fd, unsigned flags, struct stat *ret);
/* What kind of file is held.  x->closed: it cannot be opened for reading. */
void exec_look(struct exec *x, int held, struct elf_info *ret);
/* Notes the file that the kernel loads, so far.  x->readable: the floor lets the session read it. */
void exec_note_file(struct exec *x, struct caller *c, const struct stat *st, const char *real);

/* --- exec_stamp.c: which file it is, and what it holds --- */

/* Adds a file that the session may write to the stamp of the request: where it is and its last change.  path
 * is that of an interpreter, or of a file that a loader runs; NULL for the program itself; it must outlive
 * x. */
void exec_stamp(struct exec *x, const struct stat *st, const char *path);
/* The stamp of the first file with a hash of what the files hold now, and of where the others are, for a
 * question; "" where nothing is stamped.  pid: the process that runs the program, or 0 before the exec. False
 * where a file is larger than 1 GiB, or cannot be read, or there are too many. */
bool exec_stamp_whole(const struct exec *x, pid_t pid, char buf[EXEC_STAMP]);
/* False where a question was asked and a file holds something else than at that time. */
bool exec_stamp_stands(const struct exec *x, pid_t pid);
/* exec_loads.c: fills in which files the words of req name, and req->variable; elf is its program.
 * x->is_unknown: it is not known which. */
void exec_loads(struct exec *x, struct caller *c, struct request *req, const struct elf_info *elf);
/* Judges the script that the program of `of` is given to interpret as a command of its own (tool.h), as
 * script_judge() does an interpreter.  0 or -ENOMEM. */
int exec_tool(struct exec *x, struct caller *c, const struct request *of);

/* --- exec_ran.c: a running program, seen from outside --- */

/* The digest that a process has after the exec x.  It covers file, words, environment and working
 * directory, and equals that of exec_running() with EXEC_THERE where these are the same. */
struct exec_digest exec_meant(const struct exec *x);
enum exec_where { EXEC_ANYWHERE, EXEC_THERE }; /* the digest leaves the working directory out, or has it */
/* The digest of the program that process pid runs now.  False where /proc/PID cannot be read. */
bool exec_running(pid_t pid, enum exec_where where, struct exec_digest *ret);
bool exec_digest_is(const struct exec_digest *a, const struct exec_digest *b);
/* The first part in which they differ, as the detail of REASON_CHANGED: a constant, "" if they are equal. */
const char *exec_digest_differs(const struct exec_digest *a, const struct exec_digest *b);

/* --- exec_unproven.c --- */

/* Notes what program the allowed exec x must become.  0; -EAGAIN: not noted, so the exec must not go on. */
int exec_note(struct caller *c, const struct exec *x);
/* Remembers the program that pid runs as compared with what was judged, and equal. */
void exec_known(struct caller *c, pid_t pid);

/*
 * Begins to watch an allowed exec: after the answer, the new program is compared with x before its first
 * instruction, and the process is killed if they differ.  0 with CONTINUE in *ret; -EAGAIN where too many
 * calls block already; -EPERM where another process traces the caller.  x must outlive the answer.  The
 * calling thread must be the one that answers, since a tracer is one thread (ptrace(2)).
 */
int exec_watch(struct caller *c, const struct exec *x, const char *target, struct answer *ret);
/* The answer of exec_watch(), or where it fails the answer that refuses the exec. */
struct answer exec_verify(struct caller *c, const struct exec *x, const char *target);

#endif
