/*
 * Judges the start of a program.
 *
 * The kernel finds the file (an O_PATH open follows every link as execve does), and the file that is then
 * held is named, inspected and judged.  The exec itself uses the path again, because a script would
 * otherwise see /dev/fd/N as its own name.  Each exec goes through the supervisor, which checks the file
 * that is then executed.
 *
 * All large data is in scratch memory that is freed before the exec: this code runs in vfork children and
 * on small signal stacks.
 */
#include "exec_program.h"

#include <linux/prctl.h>
#include <linux/xattr.h>

#include "policy/base/path.h"
#include "policy/command/argv.h"
#include "policy/command/git.h"
#include "policy/command/script.h"
#include "policy/file/elfkind.h"

#include "preload/process/memory.h"
#include "preload/process/real.h"
#include "preload/process/sys.h"
#include "preload/tell/log.h"

#include "check.h"
#include "near.h"

/* The depth to which the kernel follows interpreters of interpreters (bprm recursion limit). */
#define SCRIPT_DEPTH 4

#ifndef AT_EXECVE_CHECK
#define AT_EXECVE_CHECK 0x10000 /* Linux 6.14 */
#endif
#ifndef SYS_faccessat2
#define SYS_faccessat2 439
#endif

struct work {
	struct request req;
	struct elf_info elf, inner;
	bool gone; /* libpale.so cannot be loaded */
	char target[2048];
	size_t used;
	char text[3 * LIMIT_PATH]; /* cwd, real and given path, one after another: few pages are used */
};

/* --- the file ----------------------------------------------------------------------------------- */

/* An open program file: held gives its name, fd is open for reading if that is allowed (mostly one
 * descriptor). */
struct program {
	int held;
	int fd; /* -EACCES: may be executed but not read */
	unsigned mode;
	const char *real; /* in near, if the open has proven it; NULL: ask the kernel for it */
	char near[NEAR_PATH];
};

static void program_close(struct program *p)
{
	if (p->fd >= 0)
		sys_close(p->fd);
	if (p->held >= 0 && p->held != p->fd)
		sys_close(p->held);
}

/* 0, or the error that execve would return before it reads the file. */
static int program_usable(struct program *p, int flags)
{
	struct stat st;
	long r = raw2(SYS_fstat, p->held, &st);
	char name[40];

	if (r < 0)
		return (int)r;
	if (S_ISLNK(st.st_mode) && flags & AT_SYMLINK_NOFOLLOW)
		return -ELOOP;
	if (!S_ISREG(st.st_mode))
		return -EACCES;
	p->mode = st.st_mode;
	r = raw4(SYS_faccessat2, p->held, "", X_OK, AT_EMPTY_PATH | AT_EACCESS);
	if (r == -ENOSYS || r == -EPERM) {
		sys_fd_link(p->held, name, sizeof name);
		r = raw3(SYS_faccessat, AT_FDCWD, name, X_OK);
	}
	return (int)r;
}

static int program_open(struct program *p, int dirfd, const char *path, int flags)
{
	char name[40];
	int r;

	p->real = NULL;
	p->held = p->fd = flags ? -EBADF : sys_open_real(dirfd, path, O_RDONLY, p->near);
	if (p->fd >= 0) {
		p->real = p->near;
		r = program_usable(p, flags);
		if (r < 0)
			program_close(p);
		return r;
	}
	if (p->fd == -ENOENT || p->fd == -ENOTDIR)
		return p->fd;
	p->held = p->fd = -EBADF;
	if (!*path && flags & AT_EMPTY_PATH) {
		p->held = (int)raw3(SYS_fcntl, dirfd, F_DUPFD_CLOEXEC, 3);
	} else {
		int nofollow = flags & AT_SYMLINK_NOFOLLOW ? O_NOFOLLOW : 0;

		p->held = (int)raw4(SYS_openat, dirfd, path, O_PATH | O_CLOEXEC | nofollow, 0);
	}
	if (p->held < 0)
		return p->held;
	r = program_usable(p, flags);
	if (r < 0) {
		program_close(p);
		return r;
	}
	sys_fd_link(p->held, name, sizeof name);
	p->fd = (int)gate4(SYS_openat, AT_FDCWD, name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0);
	return 0;
}

static long read_at(void *ctx, void *buf, size_t len, uint64_t off)
{
	int fd = *(const int *)ctx;
	long r;

	do
		r = raw4(SYS_pread64, fd, buf, len, off);
	while (r == -EINTR);
	return r;
}

/* True if the program gets other privileges than this process has, since it then ignores LD_PRELOAD.  Under
 * no_new_privs no program does. */
static bool gains_privilege(const struct program *p)
{
	char cap[64];

	if (raw5(SYS_prctl, PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
		return false;
	if (p->mode & S_ISUID || (p->mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP))
		return true;
	return p->fd >= 0 && raw4(SYS_fgetxattr, p->fd, XATTR_NAME_CAPS, cap, sizeof cap) > 0;
}

/* --- is the preload loaded in it? --------------------------------------------------------------- */

/* Answers besides -errno, which is the kernel's error for a file that it cannot start. */
enum { HOOK_NO, HOOK_YES };

static int file_hookable(int cwd, const char *path, unsigned depth, struct elf_info *elf);

/* True if the preload is loaded in an open, inspected file, or in the interpreter that it starts in turn.
 * inner has room for the inspection of interpreters. */
static int program_hookable(const struct program *p, int cwd, unsigned depth, const struct elf_info *elf,
			    struct elf_info *inner)
{
	char interp[sizeof elf->interp];

	if (p->fd < 0)
		return HOOK_NO;
	if (elf->kind == ELF_UNKNOWN)
		return -ENOEXEC;
	if (elf->kind != ELF_SCRIPT)
		return elf_is_hookable(elf->kind) && !gains_privilege(p) ? HOOK_YES : HOOK_NO;
	if (depth > SCRIPT_DEPTH)
		return -ELOOP;
	memcpy(interp, elf->interp, sizeof interp);
	return file_hookable(cwd, interp, depth + 1, inner);
}

static void program_inspect(const struct program *p, struct elf_info *ret)
{
	if (p->fd >= 0)
		elf_inspect(read_at, (void *)&p->fd, ret);
}

static int file_hookable(int cwd, const char *path, unsigned depth, struct elf_info *elf)
{
	struct program p UNINITIALIZED;
	int r = program_open(&p, cwd, path, 0);

	if (r < 0)
		return r;
	program_inspect(&p, elf);
	r = program_hookable(&p, cwd, depth, elf, elf);
	program_close(&p);
	return r;
}

static int query_hookable(const struct exec_query *q, const struct program *p, struct work *w)
{
	const char *extra;
	struct command c = command_of(&w->req, &extra), inner;

	if (!command_is_loader(&c))
		return program_hookable(p, q->cwd, 0, &w->elf, &w->inner);
	if (gains_privilege(p))
		return HOOK_NO;
	/* inner.args[-1] is the program's name.  A name that ld.so would look for in its library path is
	 * not found here and is refused: no honest program is started in that way. */
	return !command_unwrap(&c, &inner) || file_hookable(q->cwd, inner.args[-1], 0, &w->inner) == HOOK_YES
		       ? HOOK_YES
		       : HOOK_NO;
}

/* True if the program's loader can load libpale.so.  A loader ignores what it cannot load, and the program
 * would run without the preload. */
static bool self_is_loadable(struct work *w)
{
	int fd = (int)gate4(SYS_openat, AT_FDCWD, session.self, O_RDONLY | O_CLOEXEC, 0);

	elf_inspect(read_at, &fd, &w->inner);
	if (fd >= 0)
		sys_close(fd);
	return w->inner.kind == ELF_STATIC || w->inner.kind == ELF_DYNAMIC;
}

/* --- the request -------------------------------------------------------------------------------- */

/* Keeps the string of len bytes that was just written at the end of w->text, and returns it; NULL if len is
 * an error. */
static const char *text_add(struct work *w, long len)
{
	const char *s = w->text + w->used;

	if (len < 0)
		return NULL;
	w->used += (size_t)len + 1;
	return s;
}

static const char *dir_path(struct work *w, int dirfd)
{
	char *room = w->text + w->used;

	return text_add(w, dirfd == AT_FDCWD ? sys_self.cwd_path(room, LIMIT_PATH)
					     : sys_self.fd_path(dirfd, room, LIMIT_PATH));
}

/* Fills in the real path, the other spelling, and the directory.  0 or -errno. */
static int fill_paths(struct work *w, const struct exec_query *q, const struct program *p)
{
	struct request *req = &w->req;
	const char *base;
	int n;

	req->cwd = dir_path(w, q->cwd);
	n = 0;
	req->path = p->real;
	if (!req->path)
		req->path = text_add(w, n = sys_self.fd_path(p->held, w->text + w->used, LIMIT_PATH));
	if (!req->path)
		return n;
	req->raw = q->raw;
	if (!*q->path)
		return 0;
	base = q->path[0] == '/' ? "/" : q->dirfd == q->cwd ? req->cwd : NULL;
	if (base)
		n = path_normalise(base, q->path, w->text + w->used, LIMIT_PATH);
	else
		n = sys_lexical(q->dirfd, q->path, w->text + w->used, LIMIT_PATH);
	req->given = text_add(w, n);
	if (req->given && strcmp(req->given, req->path) == 0)
		req->given = NULL;
	return 0;
}

/* False if it is over a limit. */
static bool fill_argv(struct request *req, char *const *argv)
{
	/* An empty argv is legal; the program then gets one empty word (Linux 5.18). */
	static const char *const none[] = { "", NULL };
	size_t n = 0, bytes = 0;

	req->argv = argv && argv[0] ? exec_words(argv) : none;
	for (; req->argv[n]; n++) {
		bytes += strnlen(req->argv[n], LIMIT_ARGV) + 1;
		if (n >= LIMIT_ARGC || bytes > LIMIT_ARGV)
			return false;
	}
	req->argc = n;
	return true;
}

static const char *known_ident(const struct elf_info *elf)
{
	if (state_now() != STATE_LIVE || elf->build_id_len != sizeof elf->build_id)
		return NULL;
	return image_ident(session.now, elf->build_id);
}

/* True if a program may run without the preload: the policy allows it, or a supervisor judges its calls. */
static bool unhooked_is_allowed(void)
{
	return state_now() == STATE_LIVE && (session.img.h->allow_unhooked || gate_stands());
}

/* --- the verdict -------------------------------------------------------------------------------- */

typedef int (*verdict_fn)(const struct work *w, const char *target);

static int refuse_unhooked(const struct work *w, const char *target)
{
	/* A hookable file is refused for its setuid bit or its interpreter: its kind does not
	 * explain that. */
	const char *why = elf_is_hookable(w->elf.kind) ? "" : elf_kind_text(w->elf.kind);

	if (w->gone)
		why = "libpale.so is gone: pale was removed, or is being replaced";
	refuse(&w->req, target, (struct decision){ .reason = REASON_UNHOOKED, .rule = RULE_NONE }, why);
	return EXEC_DENIED;
}

static int judge_work(const struct work *w, const char *target)
{
	struct decision d = verdict_of(&w->req);
	int r = conclude(&w->req, target, &d);

	if (r < 0)
		return EXEC_DENIED;
	/* The supervisor judges it too, records it, and checks what is executed. */
	if (r == CHECK_PLAIN || gate_stands())
		return EXEC_PLAIN;
	if (r == CHECK_ACT)
		log_decision(&w->req, target, &d, "");
	return EXEC_ALLOWED;
}

/* Calls fn with the command line as text for people, the whole of it if there is memory for it. */
static int with_target(struct work *w, verdict_fn fn)
{
	const struct request *req = &w->req;
	size_t n = argv_join(req->argv, req->argc, w->target, sizeof w->target);
	char *whole;
	int r;

	if (!req->argv[0][0])
		return fn(w, req->path);
	whole = n >= sizeof w->target ? scratch_get(n + 1) : NULL;
	if (!whole)
		return fn(w, w->target);
	argv_join(req->argv, req->argc, whole, n + 1);
	r = fn(w, whole);
	scratch_put(whole, n + 1);
	return r;
}

/*
 * At level hooks no supervisor judges what a script starts.  So the request becomes that of the interpreter
 * if a rule names the interpreter and is stricter than the verdict on the script.  Returns the scratch
 * memory with the request's words, of *ret_size bytes, which the caller must free; NULL if there is none.
 */
static void *judge_interpreter(struct work *w, size_t *ret_size)
{
	const char *called = w->req.raw ? w->req.raw : w->req.path, **words;
	struct decision script, interp;
	struct request req;

	*ret_size = (w->req.argc + 4) * sizeof *words;
	words = scratch_get(*ret_size);
	if (!words)
		return NULL;
	req = script_request(&w->elf, called, &w->req, words);
	script = verdict_of(&w->req);
	interp = verdict_of(&req);
	if (script_is_held(&script, &interp))
		w->req = req;
	return words;
}

static int judge_program(struct work *w, const struct exec_query *q, const struct program *p)
{
	struct request *req = &w->req;
	void *words = NULL;
	size_t size = 0;
	unsigned wants;
	int r, h = HOOK_YES;

	*req = (struct request){ .op = OP_EXEC, .access = op_access(OP_EXEC) };
	req->env = exec_words(q->envp);
	r = fill_paths(w, q, p);
	if (r < 0)
		return r;
	if (!fill_argv(req, q->argv))
		return -E2BIG;
	program_inspect(p, &w->elf);
	req->ident = known_ident(&w->elf);
	/* Where a push goes depends on HEAD and the configuration, which the supervisor reads.  At level
	 * hooks neither is read: a push that names no ref counts as one to a protected branch. */
	wants = command_wants_branch(req);
	if (wants && gate_stands())
		return EXEC_PLAIN;
	if (wants & GIT_WANTS_CALLER && exec_is_by_git(req, w->text + w->used, sizeof w->text - w->used))
		req->git_branch = GIT_ITSELF;
	if (!unhooked_is_allowed())
		h = query_hookable(q, p, w);
	w->gone = h == HOOK_YES && !unhooked_is_allowed() && !self_is_loadable(w);
	if (h == HOOK_NO || w->gone)
		return with_target(w, refuse_unhooked);
	if (w->elf.kind == ELF_SCRIPT && !gate_stands())
		words = judge_interpreter(w, &size);
	r = with_target(w, judge_work);
	scratch_put(words, size);
	/*
	 * The error is returned here and not by the kernel: binfmt_misc might know the format and start
	 * another interpreter, which was not judged.
	 */
	return r == EXEC_ALLOWED && h < 0 ? h : r;
}

static struct work *work_get(const struct exec_query *q)
{
	_Static_assert(sizeof(struct work) <= EXEC_ROOM, "EXEC_ROOM has room for it");
	struct work *w = q->room ? q->room : scratch_get(sizeof *w);

	/* The room may hold the data of an earlier judgement. */
	if (q->room)
		memset(w, 0, offsetof(struct work, text));
	return w;
}

static int check_program(const struct exec_query *q)
{
	struct program p UNINITIALIZED;
	struct work *w;
	int r;

	if (q->flags & ~(AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW | AT_EXECVE_CHECK))
		return -EINVAL;
	if (!q->path || !memory_has_path(q->path))
		return -EFAULT;
	r = program_open(&p, q->dirfd, q->path, q->flags);
	if (r < 0)
		return r;
	r = -EFAULT;
	if (memory_has_words(q->argv) && memory_has_words(q->envp)) {
		w = work_get(q);
		r = w ? judge_program(w, q, &p) : -ENOMEM;
		if (!q->room)
			scratch_put(w, sizeof *w);
	}
	program_close(&p);
	return r;
}

/* At level strict the hook judges nothing, but a file that does not exist needs no judgement: the error is
 * returned at once, since a search through PATH meets many. */
static long check_presence(const struct exec_query *q)
{
	struct stat st;

	long r = q->path ? raw4(SYS_newfstatat, q->dirfd, q->path, &st, q->flags & AT_EMPTY_PATH) : -EFAULT;

	/* The environment is read, to be repaired. */
	return r < 0 || memory_has_words(q->envp) ? r : -EFAULT;
}

int exec_check(const struct exec_query *q)
{
	long r;

	if (judging()) {
		r = check_program(q);
		/* Without a free descriptor the program cannot be judged here; the supervisor can
		 * judge it. */
		return r == -EMFILE && gate_stands() ? EXEC_PLAIN : (int)r;
	}
	r = in_session() ? check_presence(q) : 0;
	return r < 0 ? (int)r : EXEC_PLAIN;
}

int exec_check_only(const struct exec_query *q)
{
	int r = judging() ? check_program(q) : EXEC_PLAIN;

	return r == EXEC_DENIED ? -EACCES : r < 0 ? r : 0;
}
