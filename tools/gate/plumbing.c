/* The real git, run to look at what came in: see plumbing.h. */
#include "plumbing.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>

#include "policy/record/replacefile.h"
#include "policy/system/cleanup.h"

#include "tools/base/readfile.h"

#define ATTRIBUTES                                                                                           \
	"# Written by pale: each file is shown as it is, whatever the tree's .gitattributes say.\n"          \
	"* !diff -text !eol -ident -filter -working-tree-encoding !merge !whitespace !export-subst\n"

/* In the hook, git says where the quarantine is; nothing else is taken over. */
static void of_quarantine(const char **env)
{
	static const char *const names[] = { "GIT_QUARANTINE_PATH=", "GIT_OBJECT_DIRECTORY=",
					     "GIT_ALTERNATE_OBJECT_DIRECTORIES=" };
	size_t n = 0;

	for (char **e = environ; getenv("GIT_QUARANTINE_PATH") && *e; e++)
		for (size_t i = 0; i < NELEM(names); i++)
			if (strncmp(*e, names[i], strlen(names[i])) == 0 && n < NELEM(names))
				env[n++] = *e;
}

static int spawn_git(pid_t *pid, const struct depot *d, const char *const words[], const int fds[3])
{
	const char *argv[PLUMBING_WORDS + 12] = { "git", "--no-pager", "-c", "core.quotePath=true", "-c",
						  "core.attributesFile=/dev/null",
						  /* What a fallen intake could have put there. */
						  "-c", "core.commitGraph=false", "-c",
						  "core.multiPackIndex=false" };
	const char *env[16] = {
		"PATH=/usr/bin:/bin",	    "HOME=/nonexistent",	   "LC_ALL=C",
		"GIT_CONFIG_NOSYSTEM=1",    "GIT_CONFIG_GLOBAL=/dev/null", "GIT_ATTR_NOSYSTEM=1",
		"GIT_NO_REPLACE_OBJECTS=1", "GIT_GRAFT_FILE=/nonexistent", "GIT_NO_LAZY_FETCH=1",
		"GIT_TERMINAL_PROMPT=0"
	};
	_cleanup_free_ char *dir = NULL;
	posix_spawn_file_actions_t acts;
	posix_spawnattr_t attr;
	sigset_t set;
	size_t n = 10;
	int e = asprintf(&dir, "GIT_DIR=%s", d->repository) < 0 ? -ENOMEM : 0;

	for (; *words && n < PLUMBING_WORDS + 11; words++)
		argv[n++] = *words;
	e = *words ? -E2BIG : e;
	env[10] = dir;
	of_quarantine(env + 11);
	sigemptyset(&set);
	sigaddset(&set, SIGPIPE);
	posix_spawn_file_actions_init(&acts);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigdefault(&attr, &set);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF);
	/* What git says of a name or of a damaged object has the agent's bytes in it. */
	posix_spawn_file_actions_addopen(&acts, 2, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_adddup2(&acts, fds[0], 0);
	posix_spawn_file_actions_adddup2(&acts, fds[1], 1);
	if (fds[2] >= 0)
		posix_spawn_file_actions_adddup2(&acts, fds[2], 3);
	if (e == 0)
		e = -posix_spawn(pid, d->git, &acts, &attr, (char *const *)argv, (char *const *)env);
	posix_spawn_file_actions_destroy(&acts);
	posix_spawnattr_destroy(&attr);
	return e;
}

/* A pipe whose ends do not lie where spawn_git() puts what the child gets. */
static int high_pipe(int ret[2])
{
	int low[2];

	if (pipe2(low, O_CLOEXEC) < 0)
		return -errno;
	ret[0] = fcntl(low[0], F_DUPFD_CLOEXEC, 10);
	ret[1] = fcntl(low[1], F_DUPFD_CLOEXEC, 10);
	close(low[0]);
	close(low[1]);
	return ret[0] < 0 || ret[1] < 0 ? -EMFILE : 0;
}

int plumbing_start(struct plumbing *p, const struct depot *d, const char *const words[], bool input,
		   int order)
{
	int in[2] = { -1, -1 }, out[2] = { -1, -1 }, e = high_pipe(out);

	*p = (struct plumbing){ .pid = -1 };
	if (e == 0 && input)
		e = high_pipe(in);
	if (e == 0 && !input) {
		_cleanup_close_ int none = open("/dev/null", O_RDONLY | O_CLOEXEC);

		in[0] = fcntl(none, F_DUPFD_CLOEXEC, 10);
		e = in[0] < 0 ? -errno : 0;
	}
	if (e == 0)
		e = spawn_git(&p->pid, d, words, (int[]){ in[0], out[1], order });
	cleanup_close(&in[0]);
	cleanup_close(&out[1]);
	if (e == 0 && (p->from = fdopen(out[0], "r")))
		out[0] = -1;
	if (e == 0 && input && (p->to = fdopen(in[1], "w")))
		in[1] = -1;
	cleanup_close(&out[0]);
	cleanup_close(&in[1]);
	return e < 0 ? e : !p->from || (input && !p->to) ? -ENOMEM : 0;
}

int plumbing_end(struct plumbing *p, bool early)
{
	int status = 0;

	cleanup_file(&p->to);
	cleanup_file(&p->from);
	if (p->pid > 0 && early)
		(void)kill(p->pid, SIGKILL);
	if (p->pid > 0 && waitpid(p->pid, &status, 0) != p->pid)
		status = -1;
	*p = (struct plumbing){ .pid = -1 };
	return early || status == 0 ? 0 : -EIO;
}

/* What is left in f, with a NUL after it. */
static int read_all(FILE *f, size_t limit, char **ret, size_t *ret_len)
{
	size_t cap = 4096, n = 0;
	char *buf = malloc(cap), *more;

	while (buf && n <= limit) {
		n += fread(buf + n, 1, cap - n - 1, f);
		if (n + 1 < cap)
			break;
		more = realloc(buf, cap *= 2);
		if (!more)
			free(buf);
		buf = more;
	}
	if (!buf || n > limit || ferror(f)) {
		free(buf);
		return !buf ? -ENOMEM : n > limit ? -EFBIG : -EIO;
	}
	buf[n] = '\0';
	*ret = buf;
	*ret_len = n;
	return 0;
}

int plumbing_read(const struct depot *d, const char *const words[], const char *input, size_t limit,
		  char **ret, size_t *ret_len)
{
	struct plumbing p;
	int e = plumbing_start(&p, d, words, input != NULL, -1), end;

	*ret = NULL;
	if (e == 0 && input && fputs(input, p.to) < 0)
		e = -EIO;
	cleanup_file(&p.to);
	p.to = NULL;
	if (e == 0)
		e = read_all(p.from, limit, ret, ret_len);
	end = plumbing_end(&p, e < 0);
	if (e == 0 && end < 0) {
		free(*ret);
		*ret = NULL;
	}
	return e < 0 ? e : end;
}

int plumbing_attributes(const char *repository)
{
	_cleanup_free_ char *info = NULL, *file = NULL, *text = NULL;
	_cleanup_close_ int dir = -1;
	size_t len;

	if (asprintf(&info, "%s/info", repository) < 0 || asprintf(&file, "%s/attributes", info) < 0)
		return -ENOMEM;
	if (file_read(file, sizeof(ATTRIBUTES), &text, &len) == 0 && strcmp(text, ATTRIBUTES) == 0)
		return 0;
	if (mkdir(info, 0700) < 0 && errno != EEXIST)
		return -errno;
	dir = open(info, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return dir < 0 ? -errno
		       : replace_file(dir, "attributes", NULL, 0600, ATTRIBUTES, sizeof(ATTRIBUTES) - 1);
}

int batch_start(struct plumbing *p, const struct depot *d)
{
	return plumbing_start(p, d, (const char *const[]){ "cat-file", "--batch", NULL }, true, -1);
}

int batch_get(struct plumbing *p, const char *oid, size_t limit, struct object *ret)
{
	char head[GIT_HEX + 64], name[GIT_HEX], type[16];
	unsigned long long size = 0;

	*ret = (struct object){ .data = NULL };
	if (strlen(oid) > GIT_HEX + 16 || fprintf(p->to, "%s\n", oid) < 0 || fflush(p->to) != 0 ||
	    !fgets(head, sizeof(head), p->from))
		return -EIO;
	if (sscanf(head, "%64s %15s %llu", name, type, &size) != 3)
		return -ENOENT;
	if (size > limit || size > OBJECT_MAX)
		return -EFBIG;
	snprintf(ret->type, sizeof(ret->type), "%.7s", type);
	ret->len = (size_t)size;
	ret->data = malloc(ret->len + 1);
	if (!ret->data)
		return -ENOMEM;
	if (fread(ret->data, 1, ret->len, p->from) != ret->len || fgetc(p->from) != '\n') {
		object_done(ret);
		return -EIO;
	}
	ret->data[ret->len] = '\0';
	return 0;
}

void object_done(struct object *o)
{
	free(o->data);
	o->data = NULL;
}

const char *empty_tree(const char *oid)
{
	return strlen(oid) == 40 ? "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
				 : "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321";
}

bool oid_is_none(const char *oid)
{
	return oid[strspn(oid, "0")] == '\0';
}
