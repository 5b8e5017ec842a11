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
 * Errors come as in preload/judge/exec.c: those of the program, the verdict, then those of the interpreter.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "policy/base/path.h"
#include "policy/command/argv.h"
#include "policy/command/git.h"
#include "policy/command/script.h"

#include "exec.h"
#include "tools/base/tools.h"
#include "tools/supervisor/notify.h"
#include "tools/supervisor/procfs.h"

#ifndef AT_EXECVE_CHECK
#define AT_EXECVE_CHECK 0x10000 /* Linux 6.14 */
#endif
#ifndef SYS_faccessat2
#define SYS_faccessat2 439
#endif

#define FLAGS_KNOWN (AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW | AT_EXECVE_CHECK)
/* How much of a command line is shown where memory for the whole is lacking. */
#define SHOWN_BYTES 4096

/* The arguments of execve or execveat. */
struct exec_call {
	int dirfd;
	unsigned flags;
	uint64_t path, argv, envp;
};

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
	x->n_chain = 0;
	x->readable = true;
	x->closed = x->is_unknown = x->env_changed = false;
	x->tool = NULL;
	x->req = (struct request){ .op = OP_EXEC, .access = op_access(OP_EXEC) };
	return x;
}

/* --- the file ----------------------------------------------------------------------------------------- */

/*
 * The fast way: most paths have no symbolic link, so the path as written is the real path, and openat2(2)
 * confirms it.  A descriptor, or -errno: use hold_far().
 */
static int hold_near(struct place *p, struct caller *c, char *real)
{
	char unmerged[LIMIT_PATH] UNINITIALIZED;
	struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_SYMLINKS };
	size_t len = strlen(p->raw);
	int n, fd;

	/* Whether the component before a trailing slash is a directory cannot be seen in the text. */
	if (len == 0 || p->raw[len - 1] == '/')
		return -ELOOP;
	n = place_lexical(p, c, real, LIMIT_PATH);
	if (n < 0)
		return n;
	p->r.same = place_unmerged(real, unmerged, sizeof(unmerged)) == real;
	if (!p->r.same) {
		strcpy(p->r.given, real);
		strcpy(real, unmerged);
	}
	fd = (int)syscall(SYS_openat2, AT_FDCWD, real, &how, sizeof(how));
	if (fd < 0)
		return -errno;
	if (procfs_holds(fd) || !place_stands(p, c, real)) {
		(void)close(fd);
		return -ELOOP;
	}
	return fd;
}

static int hold_far(struct place *p, struct caller *c, enum resolve_follow follow, char *real)
{
	int e = place_resolve(p, c, follow), fd;

	if (e < 0)
		return e;
	if (place_is_foreign(p, c))
		return -EACCES;
	if (p->r.magic && p->r.magic_fd >= 0)
		fd = caller_fd(c, p->r.magic_fd);
	else
		fd = openat(p->r.parent, p->r.name, O_PATH | O_CLOEXEC | (p->r.magic ? 0 : O_NOFOLLOW));
	if (fd < 0)
		return p->r.magic_fd >= 0 ? fd : -errno;
	if (p->r.magic)
		e = procfs_fd_path(fd, real, LIMIT_PATH);
	else
		strcpy(real, p->r.path);
	if (e < 0) {
		(void)close(fd);
		return e;
	}
	return fd;
}

/* Opens the program: x->real is its real path, x->req has the path as the caller wrote it, too. */
static int hold(struct exec *x, struct caller *c, const struct exec_call *call)
{
	enum resolve_follow follow =
		call->flags & AT_SYMLINK_NOFOLLOW ? RESOLVE_NOFOLLOW_LAST : RESOLVE_FOLLOW_LAST;
	int e = place_read(&x->place, c, call->dirfd, call->path), fd;

	if (e < 0)
		return e;
	x->req.path = x->real;
	if (!x->place.raw[0] && call->flags & AT_EMPTY_PATH) {
		fd = call->dirfd == AT_FDCWD ? caller_dir(c, AT_FDCWD) : caller_fd(c, call->dirfd);
		e = fd < 0 ? fd : procfs_fd_path(fd, x->real, sizeof(x->real));
		if (e < 0 && fd >= 0)
			(void)close(fd);
		return e < 0 ? e : fd;
	}
	x->req.raw = x->place.raw;
	fd = hold_near(&x->place, c, x->real);
	if (fd < 0 && fd != -EMFILE && fd != -ENFILE)
		fd = hold_far(&x->place, c, follow, x->real);
	if (fd >= 0 && !x->place.r.same && strcmp(x->place.r.given, x->real) != 0)
		x->req.given = x->place.r.given;
	return fd;
}

/* 0, or the error with which execve(2) refuses the file before it reads its content. */
static int usable(int fd, unsigned flags, struct stat *ret)
{
	if (fstat(fd, ret) < 0)
		return -errno;
	if (S_ISLNK(ret->st_mode) && flags & AT_SYMLINK_NOFOLLOW)
		return -ELOOP;
	if (!S_ISREG(ret->st_mode))
		return -EACCES;
	return syscall(SYS_faccessat2, fd, "", X_OK, AT_EMPTY_PATH | AT_EACCESS) < 0 ? -errno : 0;
}

static void inspect(struct exec *x, int held, struct elf_info *ret)
{
	char link[PROCFS_LINK_MAX];

	procfs_own_link(held, link);
	if (!exec_inspect(link, ret))
		x->closed = true;
}

static void note_file(struct exec *x, struct caller *c, const struct stat *st, const char *real)
{
	const struct floor *f = session_setup(c->sup)->floor;

	x->file = *st;
	/* A file without a path (memfd, deleted) came to the caller as a descriptor: the floor has no rule
	 * for it. */
	/* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): hold() has filled real */
	if (f && real[0] == '/' && st->st_nlink > 0 && !(floor_grants(f, real) & FLOOR_READ))
		x->readable = false;
}

int exec_hold(struct exec *x, struct caller *c, const char *path, char *real)
{
	int fd;

	place_done(&x->interp);
	fd = place_from(&x->interp, AT_FDCWD, path);
	if (fd < 0)
		return fd;
	fd = hold_near(&x->interp, c, real);
	return fd < 0 ? hold_far(&x->interp, c, RESOLVE_FOLLOW_LAST, real) : fd;
}

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
	e = usable(fd, 0, &st);
	if (e < 0)
		return e;
	note_file(x, c, &st, real);
	inspect(x, fd, ret);
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

/* A git that no process of the session can have written starts this remote helper for its own transport. */
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

	/* The exchange comes before the policy's setting, so that no later exec of that process counts as
	 * first. */
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
 * or -errno: -E2BIG where it is larger than a question may be, -ESTALE where it has changed.
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
	exec_stamp_whole(x, c, x->stamp);
	exec_aim_note(x, c);
	return 0;
}

/* Applies the verdict on the program, or that on an interpreter where it is stricter.  True: allowed. */
static bool judge_words(struct exec *x, struct caller *c, const char *target)
{
	const struct decision unproven = { .reason = REASON_UNPROVEN, .rule = RULE_NONE };
	const struct request *held = &x->script.held;
	struct decision d = verdict_of(c, &x->req);
	bool asks = d.verdict == VERDICT_ASK || x->script.d.verdict == VERDICT_ASK;
	const char *led = asks || x->wants ? exec_led_by(c, c->tid) : NULL;
	int e = asks ? note_environment(x, c) : 0;

	if (led) {
		record_denied(c, &x->req, target, &unproven, "", led);
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

static bool is_file(int fd, const struct stat *was)
{
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 && st.st_dev == was->st_dev && st.st_ino == was->st_ino;
}

/* The words still name the files that were asked about, and the directory has its path.  A directory, a link
 * or a script may have been exchanged while the question waited. */
static bool names_stand(struct exec *x, struct caller *c, const struct exec_call *call)
{
	_cleanup_close_ int dir = caller_dir(c, AT_FDCWD);
	struct exec *again = exec_new(c);
	char path[LIMIT_PATH];
	struct stat st;
	bool stand;

	if (!again || fstat(x->held, &st) < 0)
		return false;
	again->held = hold(again, c, call);
	stand = is_file(again->held, &st);
	exec_done(again);
	if (stand && x->tool) {
		_cleanup_close_ int tool = exec_hold(x, c, x->tool, path);

		stand = is_file(tool, &x->tool_file);
	}
	return stand && dir >= 0 && x->req.cwd && procfs_fd_path(dir, path, sizeof(path)) >= 0 &&
	       strcmp(path, x->cwd) == 0;
}

static bool is_allowed(struct exec *x, struct caller *c, const struct exec_call *call, const char *target)
{
	const struct decision moved = { .reason = REASON_CHANGED, .rule = RULE_NONE };
	char now[EXEC_STAMP];

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
	if (x->req.env)
		exec_stamp_whole(x, c, now);
	if ((x->req.env && (strcmp(now, x->stamp) != 0 || !names_stand(x, c, call))) ||
	    !exec_aim_stands(x, c, c->tid)) {
		record_denied(c, &x->req, target, &moved, "",
			      "the destination or the program changed while the question waited; try again, "
			      "and what it is now is asked");
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
	x->held = hold(x, c, &call);
	e = x->held < 0 ? x->held : usable(x->held, call.flags, &st);
	if (e == 0) {
		note_file(x, c, &st, x->real);
		exec_stamp(x, &st, NULL);
		inspect(x, x->held, &x->elf);
		a = judge(x, c, &call);
	} else {
		if (x->place.foreign)
			verdict_refuse(c, &x->req, x->place.raw, REASON_PROCESS);
		a = answer_result(e);
	}
	exec_done(x);
	return a;
}
