/*
 * exec: the supervisor judges the file that it holds open, the words and the kind of file; then the kernel
 * performs the call.
 *
 * This is the only CONTINUE whose verdict depends on the caller's memory, since no process can execute a
 * program on behalf of another.  So the program that runs afterwards is compared from outside with what was
 * judged.  exec_verify.c compares before the program's first instruction: at level strict, for an exec that
 * was approved, and for a static program.  exec_unproven.c compares all others before their first call is
 * answered.
 *
 * Errors come as in preload/judge/exec_program.c: those of the program, the verdict, then those of the
 * interpreter.
 */
#include "exec.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "policy/command/argv.h"
#include "policy/command/git.h"
#include "policy/command/script.h"
#include "policy/system/cleanup.h"

#include "tools/base/outside.h"
#include "tools/supervisor/caller.h"
#include "tools/supervisor/gate/ghost_push.h"
#include "tools/supervisor/verdict/pushes.h"
#include "tools/supervisor/handlers.h"
#include "tools/supervisor/listener.h"
#include "tools/supervisor/procfs.h"
#include "tools/supervisor/setup.h"
#include "tools/supervisor/threads/workers.h"
#include "tools/supervisor/verdict/call_record.h"
#include "tools/supervisor/verdict/tell.h"
#include "tools/supervisor/verdict/verdict.h"

#ifndef AT_EXECVE_CHECK
#define AT_EXECVE_CHECK 0x10000 /* Linux 6.14 */
#endif

#define FLAGS_KNOWN (AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW | AT_EXECVE_CHECK)
/* How much of a command line is shown where memory for the whole is lacking. */
#define SHOWN_BYTES 4096

static struct exec_call call_of(const struct caller *c)
{
	if (c->nr == SYS_execve)
		return (struct exec_call){
			.dirfd = AT_FDCWD, .path = c->arg[0], .argv = c->arg[1], .envp = c->arg[2]
		};
	return (struct exec_call){ .dirfd = (int)c->arg[0],
				   .path = c->arg[1],
				   .argv = c->arg[2],
				   .envp = c->arg[3],
				   .flags = (unsigned)c->arg[4] };
}

static void exec_done(struct exec *x)
{
	if (x->held >= 0)
		(void)close(x->held);
	place_done(&x->place);
	place_done(&x->interp);
}

static struct exec *exec_new(struct caller *c)
{
	struct exec *x = caller_scratch(c, sizeof(*x));

	if (!x)
		return NULL;
	(void)place_from(&x->place, AT_FDCWD, "");
	(void)place_from(&x->interp, AT_FDCWD, "");
	x->held = -1;
	x->n_chain = x->n_stamped = 0;
	x->readable = true;
	x->closed = x->is_unknown = x->env_changed = false;
	x->tool = NULL;
	x->req = (struct request){ .op = OP_EXEC, .access = op_access(OP_EXEC) };
	return x;
}

/* --- the interpreters --------------------------------------------------------------------------------- */

/* One interpreter of the chain.  Its path is relative to the caller's working directory. */
static int follow_interp(struct exec *x, struct caller *c, const struct elf_info *script,
			 struct elf_info *ret)
{
	char real[LIMIT_PATH] UNINITIALIZED;
	_cleanup_close_ int fd = exec_hold(x, c, script->interp, real);
	struct stat st;
	int e;

	if (fd < 0)
		return fd;
	e = exec_usable(fd, 0, &st);
	if (e < 0)
		return e;
	exec_note_file(x, c, &st, real);
	exec_look(x, fd, ret);
	return script_judge(x, c, script, ret, real);
}

/* Follows the interpreters to the file that the kernel loads.  0, or the kernel's error for the chain. */
static int follow_chain(struct exec *x, struct caller *c)
{
	struct elf_info *loaded = &x->loaded;
	int r;

	*loaded = x->elf;
	script_begin(x);
	/* An interpreter that is a script executes another: script_judge() looks at that one's words. */
	r = loaded->kind == ELF_SCRIPT ? 0 : exec_tool(x, c, &x->req);
	if (r < 0)
		return r;
	while (loaded->kind == ELF_SCRIPT) {
		struct elf_info *script = &x->chain[x->n_chain];
		int e;

		if (x->n_chain == CHAIN_MAX)
			return -ELOOP;
		*script = *loaded;
		x->n_chain++;
		e = follow_interp(x, c, script, loaded);
		if (e < 0)
			return e;
	}
	return loaded->kind == ELF_UNKNOWN ? -ENOEXEC : 0;
}

/* --- the request ---------------------------------------------------------------------------------------- */

/* One descriptor gives both path and inode: between two looks another thread may change the directory. */
static const char *working_directory(struct exec *x, struct caller *c)
{
	_cleanup_close_ int fd = caller_dir(c, AT_FDCWD);

	x->cwd_file = (struct stat){ 0 };
	if (fd < 0 || fstat(fd, &x->cwd_file) < 0 || procfs_fd_path(fd, x->cwd, sizeof(x->cwd)) < 0)
		return NULL;
	return x->cwd;
}

/* True where the caller is git, in a file that no process of the session can have written, and starts this
 * remote helper for its own transport. */
static bool is_by_git(struct exec *x, struct caller *c)
{
	char exe[LIMIT_PATH], words[LIMIT_PATH];
	int n = caller_program(c, exe, words, sizeof(words));

	return n > 0 && x->req.argc > 0 && git_starts_helper(exe, words, (size_t)n, x->req.argv[0]) &&
	       outside_is(&c->image, exe);
}

static void fill_request(struct exec *x, struct caller *c)
{
	struct request *req = &x->req;

	req->argv = x->argv.v;
	req->argc = x->argv.n;
	req->cwd = working_directory(x, c);
	if (x->elf.build_id_len == sizeof(x->elf.build_id))
		req->ident = image_ident(&c->image, x->elf.build_id);
	exec_loads(x, c, req, &x->elf);
	git_branch_note(req, &x->env.git, x->branch, sizeof(x->branch));
	x->wants = command_wants_branch(req);
	if (x->wants & GIT_WANTS_CALLER && is_by_git(x, c))
		req->git_branch = GIT_ITSELF;
}

/* The command line as one text for people, cut only where memory does not suffice. */
static const char *target_of(const struct request *req, struct caller *c)
{
	size_t size = argv_join(req->argv, req->argc, NULL, 0) + 1;
	char *buf;

	if (!req->argc || !req->argv[0][0])
		return req->path;
	buf = caller_scratch(c, size);
	if (!buf)
		buf = caller_scratch(c, size = SHOWN_BYTES);
	if (!buf)
		return req->argv[0];
	argv_join(req->argv, req->argc, buf, size);
	return buf;
}

/* --- the verdict ---------------------------------------------------------------------------------------- */

/* The first exec of the session's first process is the command that the operator launched. */
static bool is_operators(struct caller *c)
{
	static _Atomic pid_t started;
	pid_t root = session_setup(c->sup)->root;

	/* The atomic exchange must be evaluated before the policy's setting, so that no later exec of that
	 * process counts as the first one. */
	return root > 0 && caller_tgid(c) == root && atomic_exchange(&started, root) != root &&
	       c->image.h->launch == LAUNCH_TRUSTED;
}

/* Records a program that will run without hooks; a program with hooks announces itself. */
static void announce(const struct exec *x, struct caller *c)
{
	if (!elf_is_hookable(x->loaded.kind))
		verdict_attach(c, x->real, NOTE_STATIC);
	else if (!x->env.hooked)
		verdict_attach(c, x->real, NOTE_DYNAMIC);
}

/*
 * A question shows the environment.  It is read again for that, and must equal the one that was judged.  0,
 * or -errno: -E2BIG where it is larger than a question may be, -ESTALE where it has changed, -EFBIG where the
 * program's file cannot be read whole, and so could not be compared later.
 */
static int note_environment(struct exec *x, struct caller *c)
{
	struct words env;
	int r = words_read(c, x->envp, &env);

	if (r < 0)
		return r;
	/* words_read() returns an empty array as one empty word. */
	if (env.n == 1 && !*env.v[0]) {
		env.v[0] = NULL;
		env.bytes = 0;
	}
	if (!exec_env_is(&x->env, &env))
		return -ESTALE;
	x->req.env = x->script.held.env = env.v;
	x->script.held.file = x->req.file;
	if (!exec_stamp_whole(x, 0, x->stamp))
		return -EFBIG;
	exec_aim_note(x, c);
	return 0;
}

/* Applies the verdict on the program, or that on an interpreter where it is stricter.  True: allowed. */
static bool judge_words(struct exec *x, struct caller *c, const char *target)
{
	const struct request *held = &x->script.held;
	struct decision d = verdict_of(c, &x->req);
	bool asks = (d.verdict == VERDICT_ASK && !pushes_go_on(c, &x->req, &d) &&
		     !ghost_push(c, &x->req, &x->env.git, &d)) ||
		    x->script.d.verdict == VERDICT_ASK;
	const char *led = asks || x->wants ? exec_led_by(c, c->tid) : NULL;
	int e = asks ? note_environment(x, c) : 0;

	if (led) {
		verdict_refuse_with(c, &x->req, target, REASON_UNPROVEN, led);
		return false;
	}
	if (e == -EFBIG) {
		verdict_refuse_with(
			c, &x->req, target, REASON_UNPROVEN,
			"its file cannot be read, or is larger than 1 GiB, so a change of it while the "
			"question waits could not be seen");
		return false;
	}
	if (e < 0) {
		verdict_refuse(c, &x->req, target, e == -ESTALE ? REASON_CHANGED : REASON_TOO_LONG);
		return false;
	}
	if (!script_is_held(&d, &x->script.d))
		return verdict_conclude(c, &x->req, target, d);
	return verdict_judge(c, held, target_of(held, c));
}

static bool is_allowed(struct exec *x, struct caller *c, const struct exec_call *call, const char *target)
{
	if (is_operators(c))
		return true;
	if (x->is_unknown || x->env_changed) {
		verdict_refuse(c, &x->req, target, x->is_unknown ? REASON_LOADER : REASON_CHANGED);
		return false;
	}
	if (!x->readable)
		verdict_note(c, NOTE_FLOOR);
	if (!judge_words(x, c, target))
		return false;
	if ((x->req.env && (!exec_stamp_stands(x, 0) || !exec_names_stand(x, c, call))) ||
	    !exec_aim_stands(x, c, c->tid)) {
		verdict_refuse_with(c, &x->req, target, REASON_CHANGED,
				    "the destination or the program changed while the question waited; try "
				    "again to be asked about what it is now");
		return false;
	}
	if (!x->readable)
		verdict_refuse(c, &x->req, target, REASON_FLOOR);
	return true;
}

static struct answer judge(struct exec *x, struct caller *c, const struct exec_call *call)
{
	struct answer a;
	const char *target;
	int e = words_read(c, call->argv, &x->argv), chain;

	if (e == 0)
		e = exec_env_read(c, call->envp, &x->env);
	if (e < 0)
		return answer_result(e);
	x->envp = call->envp;
	fill_request(x, c);
	chain = follow_chain(x, c);
	target = target_of(&x->req, c);
	if (!is_allowed(x, c, call, target))
		return answer_result(-EACCES);
	/* An unknown format is refused: binfmt_misc may start an interpreter for it that is not judged. */
	if (chain < 0 && (chain != -ENOEXEC || !c->image.h->allow_unhooked))
		return answer_result(chain);
	if (!caller_alive(c))
		return answer_result(-ESRCH);
	announce(x, c);
	/* With this flag the kernel only checks, and runs nothing. */
	if (call->flags & AT_EXECVE_CHECK)
		return answer_continue();
	pushes_open(c, x->req.aim);
	/* The process of an unreadable program cannot be inspected either, so it could not be compared. */
	if (x->closed) {
		verdict_refuse(c, &x->req, target, REASON_UNREADABLE);
		return answer_result(-EACCES);
	}
	if (session_setup(c->sup)->level == LEVEL_STRICT || c->approved)
		return exec_verify(c, x, target);
	/*
	 * A static program runs code of its own before its first mediated call, and may have rewritten its
	 * words by then; git works on a repository by what it finds before.  So these are compared before
	 * their first instruction, unless another process traces them or too many calls block already.
	 */
	if ((!elf_is_hookable(x->loaded.kind) || x->wants) && exec_watch(c, x, target, &a) == 0)
		return a;
	e = exec_note(c, x);
	return e < 0 ? answer_result(e) : answer_continue();
}

struct answer carry_exec(struct caller *c)
{
	const struct exec_call call = call_of(c);
	struct exec *x = exec_new(c);
	struct answer a;
	struct stat st;
	int e;

	exec_filters_note(c->tid);
	tell_begin(c);
	if (call.flags & ~(unsigned)FLAGS_KNOWN)
		return answer_result(-EINVAL);
	if (!x)
		return answer_result(-ENOMEM);
	x->held = exec_hold_program(x, c, &call);
	e = x->held < 0 ? x->held : exec_usable(x->held, call.flags, &st);
	if (e == 0) {
		exec_note_file(x, c, &st, x->real);
		exec_stamp(x, &st, NULL);
		exec_look(x, x->held, &x->elf);
		a = judge(x, c, &call);
	} else {
		if (x->place.foreign)
			verdict_refuse(c, &x->req, x->place.raw, REASON_PROCESS);
		a = answer_result(e);
	}
	exec_done(x);
	return a;
}
