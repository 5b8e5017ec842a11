/*
 * Private to the files exec*.c: one exec, from what was asked to what ran.
 */
#ifndef PALE_SUPERVISOR_EXEC_H
#define PALE_SUPERVISOR_EXEC_H

#include "policy/elfkind.h"

#include "tools/gitbranch.h"
#include "tools/supervisor/supervisor.h"

/* Interpreters of interpreters that the kernel follows (bprm recursion limit). */
#define CHAIN_MAX 5

/* BLAKE2b: of a program, or of a part of what makes it that one. */
struct exec_digest {
	uint8_t bytes[32];
};

/* Words of an exec, copied once from the caller. */
struct words {
	const char **v; /* n of them, then NULL */
	size_t n;
	size_t bytes; /* with their NULs; they lie one behind the other from v[0] */
};

/* What the environment says about the program that will run. */
struct exec_env {
	bool hooked; /* the preload comes first */
	struct git_env git;
	struct exec_digest digest; /* of all of it */
};

/* The words of the interpreter that is looked at, and the strictest verdict by a rule about one. */
struct script_words {
	const char *called; /* what the kernel calls the script by */
	const char *const *words;
	size_t n;
	struct decision d;   /* ALLOW: none */
	struct request held; /* about whom */
};

struct exec {
	struct place place;		  /* the program */
	struct place interp;		  /* of a script */
	int held;			  /* the program, O_PATH */
	struct stat file;		  /* what the kernel loads in the end */
	bool readable;			  /* by the floor: all of the chain */
	bool closed;			  /* some of it is for no reader at all */
	struct elf_info elf;		  /* the program itself */
	struct elf_info chain[CHAIN_MAX]; /* the scripts on the way; [0] is the program's own words */
	size_t n_chain;
	struct elf_info loaded; /* and its file */
	struct stat cwd_file;
	struct words argv;
	uint64_t envp; /* where the caller has it */
	struct exec_env env;
	struct request req;
	struct script_words script;
	char real[LIMIT_PATH];
	char cwd[LIMIT_PATH], branch[256];
};

/*
 * The NULL-terminated array of strings at addr, NULL being empty.  0, -EFAULT, -ESRCH, -ENOMEM; -E2BIG beyond
 * LIMIT_ARGC or LIMIT_ARGV, where *ret holds what came before.
 */
int words_read(struct caller *c, uint64_t addr, struct words *ret);
/* The words are the environment that exec_env_read() saw. */
bool exec_env_is(const struct exec_env *e, const struct words *w);
/* Looks through the environment at addr, of which a digest is kept.  0 or -errno. */
int exec_env_read(struct caller *c, uint64_t addr, struct exec_env *ret);

/* What the file at path is, by its content.  False of one that may be executed but not read. */
bool exec_inspect(const char *path, struct elf_info *ret);

/* exec_script.c: before the first interpreter of a chain; then one after the other, real being where it
 * lies.  0 or -ENOMEM. */
void script_begin(struct exec *x);
int script_judge(struct exec *x, struct caller *c, const struct elf_info *script,
		 const struct elf_info *interpreter, const char *real);

/* --- exec_ran.c: what runs, from outside --- */

/* What the program is to be that comes of x, and what the program of process pid is: the same where it is
 * that file with those words, that environment and that directory. */
struct exec_digest exec_meant(const struct exec *x);
enum exec_where { EXEC_ANYWHERE, EXEC_THERE }; /* the directory does not count, or does */
/* False where it cannot be looked at. */
bool exec_running(pid_t pid, enum exec_where where, struct exec_digest *ret);
bool exec_digest_is(const struct exec_digest *a, const struct exec_digest *b);

/* --- exec_unproven.c --- */

/* What is to come of an allowed exec is noted.  -EAGAIN: it may not go on. */
int exec_note(struct caller *c, const struct exec *x);
/* What runs in pid is what was judged, as somebody has seen. */
void exec_known(struct caller *c, pid_t pid);

/*
 * Begins to watch an allowed exec: what will have run is compared with x after the answer, and killed where
 * it is something else.  0 and CONTINUE in *ret; -EAGAIN; -EPERM where something of the session traces it.  x
 * outlives the call.  The thread that calls this must be the one that answers: ptrace(2) is a thread's.
 */
int exec_watch(struct caller *c, const struct exec *x, const char *target, struct answer *ret);
/* The same, or what the caller gets instead. */
struct answer exec_verify(struct caller *c, const struct exec *x, const char *target);

#endif
