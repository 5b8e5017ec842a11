/*
 * The intake: the real git, which reads what the agent's git sends, in a floor of its own.
 *
 * Landlock lets it read git, libraries and the gate's repository, and write the repository's objects and a
 * directory of its own, so that what it is tricked into cannot reach configuration, hooks or refs, which the
 * courier's git obeys.  It can make no socket, and no group or session of processes by which it would outlive
 * its end.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "policy/record/replacefile.h"
#include "policy/system/cleanup.h"
#include "policy/system/system.h"

#include "tools/base/output.h"
#include "tools/wall/bpf.h"
#include "tools/wall/confine.h"
#include "tools/wall/numbers.h"

#include "service.h"

#define WORDS_MAX 96
#define CPU_S	  1800
#define DATA_MAX  (4ull << 30)
#define FILE_MAX  (8ull << 30)
#define INPUT_MAX (1ull << 30) /* bytes of a pack, where the policy sets no size */
#define INPUT_MIN (64ull << 20)

/* --- the filter --- */

/* The kernel's own doors, other processes, and what would keep a process beyond its end. */
static const int refused[] = {
#define REFUSED(name) __NR_##name,
#include "refused.def"
};

#define NEW_SPACES                                                                                           \
	(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS |           \
	 CLONE_NEWCGROUP)

#if defined(__x86_64__)
#define ARCH   AUDIT_ARCH_X86_64
#define BEYOND 0x40000000u /* x32 */
#else
#define ARCH   AUDIT_ARCH_AARCH64
#define BEYOND 0x7fffffffu
#endif

static int make_filter(struct sock_fprog *ret)
{
	struct bpf p;
	unsigned allow, deny, none, at;
	int r = bpf_init(&p);

	*ret = (struct sock_fprog){ 0 };
	if (r < 0)
		return r;
	allow = bpf_return(&p, SECCOMP_RET_ALLOW);
	deny = bpf_return(&p, SECCOMP_RET_ERRNO | EPERM);
	none = bpf_return(&p, SECCOMP_RET_ERRNO | ENOSYS);
	at = allow;
	for (size_t i = 0; i < NELEM(refused); i++)
		at = bpf_test(&p, BPF_JEQ, (uint32_t)refused[i], deny, at);
	/* The flags of clone3 lie in memory; libc falls back to clone. */
	at = bpf_test(&p, BPF_JEQ, __NR_clone3, none, at);
	at = bpf_test(&p, BPF_JEQ, __NR_clone,
		      bpf_load(&p, offsetof(struct seccomp_data, args[0]),
			       bpf_test(&p, BPF_JSET, NEW_SPACES, deny, allow)),
		      at);
	/* Limits of its own alone. */
	at = bpf_test(
		&p, BPF_JEQ, __NR_prlimit64,
		bpf_load(&p, offsetof(struct seccomp_data, args[0]), bpf_test(&p, BPF_JEQ, 0, allow, deny)),
		at);
	at = bpf_test(&p, BPF_JGE, BEYOND, none, at);
	at = bpf_load(&p, offsetof(struct seccomp_data, nr), at);
	at = bpf_test(&p, BPF_JEQ, ARCH, at, bpf_return(&p, SECCOMP_RET_KILL_PROCESS));
	at = bpf_load(&p, offsetof(struct seccomp_data, arch), at);
	r = bpf_finish(&p, at, ret);
	bpf_done(&p);
	return r;
}

/* --- the floor --- */

static int make_floor(const struct service *s, const char *self, const char *dir)
{
	char objects[PATH_MAX + 16], repository[PATH_MAX], own[PATH_MAX];
	struct floor_rule rules[] = {
		{ .path = (char *)"/usr", .grants = FLOOR_READ },
		{ .path = (char *)"/lib", .grants = FLOOR_READ },
		{ .path = (char *)"/lib64", .grants = FLOOR_READ },
		{ .path = (char *)"/bin", .grants = FLOOR_READ },
		{ .path = (char *)"/etc/ld.so.cache", .grants = FLOOR_READ },
		{ .path = (char *)"/dev/urandom", .grants = FLOOR_READ },
		{ .path = (char *)"/dev/null", .grants = FLOOR_READ | FLOOR_WRITE },
		{ .path = (char *)self, .grants = FLOOR_READ },
		{ .path = repository, .grants = FLOOR_READ },
		{ .path = objects, .grants = FLOOR_READ | FLOOR_WRITE | FLOOR_RMDIR },
		{ .path = own, .grants = FLOOR_READ | FLOOR_WRITE | FLOOR_RMDIR },
	};
	/* A fetch writes nothing. */
	struct floor f = { .list = rules, .n = NELEM(rules) - (dir[0] ? 0 : 2) };
	int abi = landlock_abi(), fd;

	if (abi < 2)
		return abi < 1 ? -EOPNOTSUPP : -ENOSYS;
	if (!realpath(s->gate.repository, repository) || (dir[0] && !realpath(dir, own)))
		return -errno;
	snprintf(objects, sizeof(objects), "%s/objects", repository);
	fd = landlock_ruleset(&f, abi);
	for (size_t i = 7; fd >= 0 && i < f.n; i++)
		if (!rules[i].holds) {
			(void)close(fd);
			return -ENOENT;
		}
	return fd;
}

static void set_limit(__rlimit_resource_t which, rlim_t most)
{
	struct rlimit r;

	if (getrlimit(which, &r) == 0 && r.rlim_max > most)
		r.rlim_max = most;
	r.rlim_cur = r.rlim_max;
	(void)setrlimit(which, &r);
}

/* --- the words --- */

struct words {
	const char *v[WORDS_MAX];
	char *made[WORDS_MAX];
	size_t n, n_made;
	bool full;
};

static void word(struct words *w, const char *s)
{
	if (w->n + 2 < WORDS_MAX)
		w->v[w->n++] = s;
	else
		w->full = true;
}

static void set(struct words *w, const char *key, const char *value)
{
	char *made = NULL;

	if (w->n_made >= WORDS_MAX || asprintf(&made, "%s=%s", key, value) < 0) {
		w->full = true;
		return;
	}
	w->made[w->n_made++] = made;
	word(w, "-c");
	word(w, made);
}

/* What `fetch` of the policy names is shown: refs, or all refs below one (refs/heads and a star). */
static bool hide_refs(const struct service *s, struct words *w)
{
	const json_t *list = json_object_get(s->order, "fetch"), *item;
	bool shows_head = false, all = false, tags = false;
	size_t i;

	set(w, "transfer.hideRefs", "refs");
	json_array_foreach(list, i, item)
	{
		const char *ref = json_string_value(item) ?: "";
		size_t n = strlen(ref);
		char show[GIT_REF_MAX];

		n -= n > 2 && strcmp(ref + n - 2, "/*") == 0 ? 2 : 0;
		if (strncmp(ref, "refs/", 5) != 0 || n + 2 > sizeof(show) || memchr(ref, '*', n))
			return false;
		snprintf(show, sizeof(show), "!%.*s", (int)n, ref);
		set(w, "transfer.hideRefs", show);
		shows_head |= strncmp(s->gate.head, ref, n) == 0 &&
			      (s->gate.head[n] == '\0' || (ref[n] && s->gate.head[n] == '/'));
		all |= strcmp(ref, "refs/heads/*") == 0;
		tags |= strcmp(ref, "refs/tags/*") == 0;
	}
	if (!shows_head)
		set(w, "transfer.hideRefs", "HEAD");
	set(w, "transfer.hideRefs", "refs/changes");
	set(w, "uploadpack.allowFilter", "true");
	/* A partial clone asks later for objects by their names. */
	set(w, "uploadpack.allowAnySHA1InWant", all && tags ? "true" : "false");
	return true;
}

static void receive_settings(const struct service *s, struct words *w, const char *hooks)
{
	uint64_t size = (uint64_t)json_integer_value(json_object_get(s->order, "max_size"));
	uint64_t most = size == 0 ? INPUT_MAX : 4 * size;
	char number[24];

	snprintf(number, sizeof(number), "%llu", (unsigned long long)(most < INPUT_MIN ? INPUT_MIN : most));
	set(w, "transfer.hideRefs", "refs/changes");
	set(w, "core.hooksPath", hooks);
	set(w, "receive.procReceiveRefs", "refs/");
	set(w, "receive.fsckObjects", "true");
	set(w, "receive.maxInputSize", number);
	set(w, "receive.autogc", "false");
	set(w, "receive.advertisePushOptions", "false");
	set(w, "receive.denyCurrentBranch", "ignore");
	set(w, "receive.denyDeleteCurrent", "ignore");
	set(w, "receive.shallowUpdate", "false");
}

/* --- its directories --- */

/* The directory of our hooks, which are this program by other names. */
static int make_hooks(const struct service *s, const char *self, char ret[PATH_MAX])
{
	static const char *const names[] = { "pre-receive", "proc-receive" };
	char path[PATH_MAX + 32], made[PATH_MAX + 64], now[PATH_MAX];

	if (snprintf(ret, PATH_MAX, "%.4000s/hooks", s->gate.dir) >= PATH_MAX)
		return -ENAMETOOLONG;
	if (mkdir(ret, 0700) < 0 && errno != EEXIST)
		return -errno;
	for (size_t i = 0; i < NELEM(names); i++) {
		ssize_t n;

		snprintf(path, sizeof(path), "%s/%s", ret, names[i]);
		n = readlink(path, now, sizeof(now) - 1);
		now[n > 0 ? n : 0] = '\0';
		if (strcmp(now, self) == 0)
			continue;
		snprintf(made, sizeof(made), "%s.%d", path, (int)getpid());
		if (symlink(self, made) < 0 || rename(made, path) < 0)
			return -errno;
	}
	return 0;
}

/* The directory in which receive-pack keeps all that is not an object; it finds the rest in the repository.
 */
static int make_own(const struct service *s, char ret[PATH_MAX])
{
	_cleanup_free_ char *common = NULL;
	_cleanup_close_ int dir = -1;
	int r;

	snprintf(ret, PATH_MAX, "%.4000s/intake.XXXXXX", s->gate.dir);
	if (!mkdtemp(ret)) {
		ret[0] = '\0';
		return -errno;
	}
	dir = open(ret, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return -errno;
	if (asprintf(&common, "%s\n", s->gate.repository) < 0)
		return -ENOMEM;
	r = replace_file(dir, "commondir", NULL, 0600, common, strlen(common));
	return r < 0 ? r : replace_file(dir, "HEAD", NULL, 0600, "ref: refs/heads/main\n", 21);
}

/* --- start and end --- */

/* What the hooks need to know; it has no secret of the operator. */
static int make_rules(const struct service *s)
{
	json_t *deny = json_object_get(s->order, "deny");
	_cleanup_json_ json_t *j = json_pack(
		"{ss, ss, sO, sI, sI}", "git", s->gate.git, "repository", s->gate.repository, "deny",
		deny ?: json_null(), "max_files", json_integer_value(json_object_get(s->order, "max_files")),
		"max_size", json_integer_value(json_object_get(s->order, "max_size")));
	_cleanup_free_ char *text = j ? json_dumps(j, JSON_COMPACT) : NULL;
	int fd = text ? memfd_create("pale-gate", MFD_CLOEXEC | MFD_ALLOW_SEALING) : -1;

	if (fd < 0)
		return text ? -errno : -ENOMEM;
	if (write_all(fd, text, strlen(text)) < 0 ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) < 0) {
		(void)close(fd);
		return -ENOSPC;
	}
	return fd;
}

struct child {
	const char *const *argv;
	int ruleset, hook, rules, secrets;
	const struct sock_fprog *filter;
};

static _Noreturn void run_child(const struct child *c)
{
	static const char *const env[] = { "GIT_CONFIG_NOSYSTEM=1",
					   "GIT_CONFIG_GLOBAL=/dev/null",
					   "GIT_NO_REPLACE_OBJECTS=1",
					   "GIT_ATTR_NOSYSTEM=1",
					   "HOME=/nonexistent",
					   "PATH=/usr/bin:/bin",
					   "LC_ALL=C",
					   "GIT_COMMITTER_NAME=pale",
					   "GIT_COMMITTER_EMAIL=pale@localhost",
					   NULL };
	int from[] = { c->hook, c->rules, c->secrets, c->ruleset };
	sigset_t none;

	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)signal(SIGPIPE, SIG_DFL);
	(void)setsid();
	for (size_t i = 0; i < NELEM(from); i++)
		from[i] = from[i] < 0 ? -1 : fcntl(from[i], F_DUPFD_CLOEXEC, 20);
	(void)close_range(3, 19, 0);
	for (int i = 0; i < 3; i++)
		if (from[i] >= 0 && dup2(from[i], HOOK_FD + i) < 0)
			_exit(125);
	(void)close_range(20, ~0u, CLOSE_RANGE_CLOEXEC);
	set_limit(RLIMIT_CPU, CPU_S);
	set_limit(RLIMIT_DATA, DATA_MAX);
	set_limit(RLIMIT_FSIZE, FILE_MAX);
	set_limit(RLIMIT_CORE, 0);
	set_limit(RLIMIT_NOFILE, 1024);
	if (chdir("/") < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 || landlock_restrict(from[3]) < 0 ||
	    syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, 0, c->filter) < 0)
		_exit(125);
	(void)execve(c->argv[0], (char *const *)c->argv, (char *const *)env);
	_exit(126);
}

static int start(const struct service *s, bool push, const char *self, struct words *w, struct intake *in)
{
	int pair[2] = { -1, -1 };
	_cleanup_close_ int rules = push ? make_rules(s) : -1, ruleset = make_floor(s, self, in->dir),
			    none = -1;
	struct sock_fprog filter = { 0 };
	int r = push && rules < 0 ? rules : ruleset < 0 ? ruleset : make_filter(&filter);

	if (r == 0 && push && socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		r = -errno;
	if (r == 0 && (none = open("/dev/null", O_RDWR | O_CLOEXEC)) < 0)
		r = -errno;
	if (r == 0 && (in->pid = fork()) < 0)
		r = -errno;
	if (r == 0 && in->pid == 0)
		run_child(&(struct child){ w->v, ruleset, pair[1], rules, s->secrets, &filter });
	free(filter.filter);
	cleanup_close(&pair[1]);
	in->hook = pair[0];
	/* The stream is the child's alone, so that its end is seen. */
	if (r == 0 && (dup2(none, 0) < 0 || dup2(none, 1) < 0))
		r = -errno;
	return r;
}

int intake_start(const struct service *s, bool push, struct intake *ret, char why[WHY_MAX])
{
	struct words w = { 0 };
	char self[PATH_MAX], hooks[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	int r = n < 0 ? -errno : 0;

	*ret = (struct intake){ .pid = -1, .hook = -1 };
	self[n > 0 ? n : 0] = '\0';
	/* Another place could be the session's. */
	if (r == 0 && (!realpath(s->gate.git, hooks) || strncmp(hooks, "/usr/", 5) != 0)) {
		snprintf(why, WHY_MAX, "the git that serves must be installed below /usr");
		return -EACCES;
	}
	word(&w, s->gate.git);
	if (r == 0 && push && (r = make_hooks(s, self, hooks)) == 0 && (r = make_own(s, ret->dir)) == 0)
		receive_settings(s, &w, hooks);
	if (r == 0 && !push && !hide_refs(s, &w))
		r = -EINVAL;
	word(&w, push ? "receive-pack" : "upload-pack");
	if (!push)
		word(&w, "--strict");
	if (!push)
		word(&w, "--timeout=600");
	word(&w, push ? ret->dir : s->gate.repository);
	if (r == 0)
		r = w.full ? -E2BIG : start(s, push, self, &w, ret);
	if (r < 0)
		snprintf(why, WHY_MAX, "the intake cannot be started: %s",
			 r == -EINVAL ? "`fetch` of the policy names no refs" : landlock_why(r));
	if (r < 0)
		intake_end(ret, 0);
	for (size_t i = 0; i < w.n_made; i++)
		free(w.made[i]);
	return r;
}

void intake_end(struct intake *in, int64_t ms)
{
	_cleanup_close_ int pidfd = in->pid > 0 ? (int)syscall(__NR_pidfd_open, in->pid, 0) : -1;
	struct pollfd p = { .fd = pidfd, .events = POLLIN };

	if (pidfd >= 0)
		(void)poll(&p, 1, (int)ms);
	if (in->pid > 0) {
		(void)kill(-in->pid, SIGKILL);
		(void)kill(in->pid, SIGKILL);
		(void)waitpid(in->pid, NULL, 0);
	}
	if (in->dir[0])
		gate_remove(in->dir);
	cleanup_close(&in->hook);
	*in = (struct intake){ .pid = -1, .hook = -1 };
}
