/*
 * From words on the command line to the canonical request that the evaluator judges.
 */
#include "question.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "policy/base/addr.h"
#include "policy/base/path.h"
#include "policy/base/util.h"
#include "policy/command/argv.h"
#include "policy/file/procpath.h"
#include "policy/parse/parse.h"
#include "policy/system/cleanup.h"

#include "tools/git/gitbranch.h"
#include "tools/sessions/sessions.h"
#include "tools/supervisor/proc/ports.h"

/* Commands that a shell performs itself: no program is executed, so there is no exec to judge. */
static bool is_builtin(const char *name)
{
	static const char *const names[] = { ":",      ".",	  "alias",   "bg",     "break",	 "builtin",
					     "cd",     "declare", "eval",    "exit",   "export", "fg",
					     "jobs",   "let",	  "local",   "popd",   "pushd",	 "read",
					     "return", "set",	  "shift",   "source", "trap",	 "type",
					     "ulimit", "umask",	  "unalias", "unset",  "wait" };

	for (size_t i = 0; i < NELEM(names); i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

static int copy_words(struct question *q, char *const *args, size_t n)
{
	q->words = calloc(n + 1, sizeof(*q->words));
	if (!q->words)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		q->words[i] = strdup(args[i]);
		if (!q->words[i])
			return -ENOMEM;
	}
	q->req.argv = (const char *const *)q->words;
	q->req.argc = n;
	return 0;
}

static int join_target(struct question *q)
{
	size_t len = argv_join(q->req.argv, q->req.argc, NULL, 0);

	q->target = malloc(len + 1);
	if (!q->target)
		return -ENOMEM;
	argv_join(q->req.argv, q->req.argc, q->target, len + 1);
	return 0;
}

/* A program that is not found is judged by its name, as if it were in /usr/bin. */
static int set_program(struct question *q, const char *name)
{
	struct program p;
	int n = 0;

	if (program_find(name, &p) == 0) {
		strcpy(q->path, p.real);
		n = path_normalise(q->cwd, p.found, q->given, sizeof(q->given));
	} else {
		q->builtin = is_builtin(name);
		q->missing = !q->builtin;
		n = path_normalise("/usr/bin", name, q->path, sizeof(q->path));
	}
	if (n < 0)
		return n;
	q->req.path = q->path;
	if (q->given[0] && strcmp(q->given, q->path) != 0)
		q->req.given = q->given;
	return 0;
}

static int ask_exec(struct question *q, char *const *args, size_t n, const struct image *img,
		    const struct git_env *env)
{
	int r = copy_words(q, args, n);
	bool setid;

	if (r == 0)
		r = join_target(q);
	if (r == 0)
		r = set_program(q, args[0]);
	if (r < 0)
		return r;
	if (!q->builtin && !q->missing && program_look(q->path, &q->elf, &setid) == 0)
		q->unknown = !program_note(&q->req, img, &q->elf, &q->found);
	git_branch_note(&q->req, env, q->branch, sizeof(q->branch));
	return 0;
}

/* This process stands for the one that would act.  Inside a session, the fence lets a process read the
 * environment of the session's processes only; outside, no other process belongs to the session. */
static bool is_of_session(const struct pids *p, int32_t pid)
{
	_cleanup_close_ int fd = -1;
	char path[48];

	(void)p;
	if (pid == getpid() || !session_around())
		return pid == getpid();
	snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd >= 0;
}

static int ask_file(struct question *q, char *const *args, size_t n)
{
	static const struct pids pids = { is_of_session };
	int r;

	if (n != 1)
		return -EINVAL;
	r = place_find(q->cwd, args[0], q->req.op, q->path, q->given, &q->req.through);
	if (r < 0)
		return r;
	q->req.pids = &pids;
	q->req.path = q->path;
	if (strcmp(q->given, q->path) != 0)
		q->req.given = q->given;
	q->target = strdup(q->path);
	/* Borrowed from the command line, which outlives the question. */
	q->req.raw = args[0];
	return q->target ? 0 : -ENOMEM;
}

/* A name is judged without a look-up, which would already send it. */
static int set_name(struct question *q)
{
	_cleanup_free_ char *ascii = NULL;
	const char *why;
	int r = host_to_ascii(q->host, &ascii, &why);

	if (r < 0)
		return r;
	if (strlen(ascii) >= sizeof(q->host))
		return -ENAMETOOLONG;
	strcpy(q->host, ascii);
	q->req.host = q->host;
	return 0;
}

/* Accepts "[::1]" and "::1". */
static bool set_addr(struct question *q, const char *text)
{
	size_t n = strlen(text);

	if (n > 2 && text[0] == '[' && text[n - 1] == ']')
		q->req.has_addr = addr_parse(text + 1, n - 2, q->req.addr);
	else
		q->req.has_addr = addr_parse(text, n, q->req.addr);
	return q->req.has_addr;
}

/* Makes the target as records show it. */
static int name_target(struct question *q)
{
	const char *by = q->req.is_datagram ? "udp " : "";
	int n;

	if (q->req.op == OP_RESOLVE)
		n = asprintf(&q->target, "%s", q->host);
	else
		n = asprintf(&q->target, strchr(q->host, ':') ? "%s[%s]:%u" : "%s%s:%u", by, q->host,
			     q->req.port);
	if (n >= 0)
		return 0;
	q->target = NULL;
	return -ENOMEM;
}

/* Addresses of this machine are judged as loopback, whichever address is used. */
static void find_machine(struct question *q)
{
	static struct ports ports;

	ports_init(&ports);
	q->is_machine = q->req.has_addr ? ports_is_here(&ports, q->req.addr)
					: q->req.host && strcmp(q->req.host, "localhost") == 0;
	q->req.is_here = q->is_machine && q->req.has_addr && !ports_is_loopback(q->req.addr);
	ports_done(&ports);
}

/* HOST[:PORT], with "udp:" in front for a datagram, and optionally the address of the name. */
static int ask_host(struct question *q, char *const *args, size_t n)
{
	const char *text = args[0];
	char port[32];
	int r;

	/* As in `bind = PORT`: at every address. */
	if (q->req.op == OP_BIND && *text && !text[strspn(text, "0123456789")]) {
		snprintf(port, sizeof(port), "0.0.0.0:%s", text);
		text = port;
	}
	q->req.is_datagram = strncmp(text, "udp:", 4) == 0 || strncmp(text, "udp ", 4) == 0;
	if (n > 2 ||
	    host_port_split(text + (q->req.is_datagram ? 4 : 0), q->host, sizeof(q->host), &q->req.port) < 0)
		return -EINVAL;
	if (!set_addr(q, q->host)) {
		if (strchr(q->host, ':'))
			return -EINVAL;
		r = set_name(q);
		if (r < 0)
			return r;
	}
	if (n == 2 && (!q->req.host || !set_addr(q, args[1])))
		return -EINVAL;
	if (q->req.op == OP_CONNECT)
		find_machine(q);
	return name_target(q);
}

bool question_is_address(const char *text)
{
	struct question q = { .cwd = "" };

	return set_addr(&q, text);
}

static int ask_unix(struct question *q, char *const *args, size_t n)
{
	if (n != 1 || args[0][0] != '@')
		return ask_file(q, args, n);
	if (strlen(args[0]) >= sizeof(q->path))
		return -ENAMETOOLONG;
	strcpy(q->path, args[0]);
	q->req.path = q->path;
	q->target = strdup(q->path);
	return q->target ? 0 : -ENOMEM;
}

static int ask_tool(struct question *q, char *const *args, size_t n)
{
	if (n != 1)
		return -EINVAL;
	q->req.path = args[0];
	q->target = strdup(args[0]);
	return q->target ? 0 : -ENOMEM;
}

int question_init(struct question *q, enum op op, char *const *args, size_t n, const char *cwd,
		  const struct image *img, const struct git_env *env)
{
	memset(q, 0, sizeof(*q));
	if (n == 0 || strlen(cwd) >= sizeof(q->cwd))
		return -EINVAL;
	strcpy(q->cwd, cwd);
	q->req.op = op;
	q->req.access = op_access(op);
	q->req.cwd = q->cwd;
	if (op == OP_EXEC)
		return ask_exec(q, args, n, img, env);
	if (op == OP_CONNECT || op == OP_RESOLVE || op == OP_BIND)
		return ask_host(q, args, n);
	if (op == OP_TOOL)
		return ask_tool(q, args, n);
	return op == OP_UNIX ? ask_unix(q, args, n) : ask_file(q, args, n);
}

void question_done(struct question *q)
{
	if (!q)
		return;
	for (size_t i = 0; q->words && q->words[i]; i++)
		free(q->words[i]);
	free(q->words);
	free(q->target);
}
