/*
 * The words of an exec, out of the caller's memory: each byte is read once, and many at a time, since
 * the strings of an argv mostly lie side by side.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>

#include "policy/base/buf.h"
#include "policy/question/environ_target.h"

#include "tools/supervisor/listener.h"
#include "tools/supervisor/setup.h"
#include "tools/supervisor/threads/workers.h"

#include "exec.h"

#define PAGE	 4096u
#define PAGES	 4u	      /* read at once */
#define ENV_MAX	 (6u << 20)   /* bytes of an environment: the kernel takes no more (bprm_stack_limits()) */
#define ENV_WORD GIT_ENV_WORD /* of each entry: a longer entry is not one of those that are looked for */

/* A piece of the caller's memory as it was when it was read. */
struct window {
	struct caller *c;
	uint64_t addr;
	size_t len;
	char bytes[PAGES * PAGE];
};

static struct window *window_new(struct caller *c)
{
	struct window *w = caller_scratch(c, sizeof(*w));

	if (w) {
		w->c = c;
		w->len = 0;
	}
	return w;
}

/* Reads pieces that end at a page boundary, because the next pages may be missing: they are left out
 * then. */
static int window_load(struct window *w, uint64_t addr)
{
	struct iovec local = { w->bytes, sizeof(w->bytes) }, remote[PAGES];
	uint64_t at = addr;
	ssize_t n;

	for (size_t i = 0; i < PAGES; i++) {
		remote[i] = (struct iovec){ (void *)(uintptr_t)at, PAGE - at % PAGE };
		at += remote[i].iov_len;
	}
	n = process_vm_readv(w->c->tid, &local, 1, remote, PAGES, 0);
	w->addr = addr;
	w->len = n > 0 ? (size_t)n : 0;
	return n > 0 ? 0 : n < 0 ? -errno : -EFAULT;
}

/* The known bytes from addr on: at least one in *ret; returns their number, or -errno. */
static ssize_t window_at(struct window *w, uint64_t addr, const char **ret)
{
	int r = addr - w->addr < w->len ? 0 : window_load(w, addr);

	if (r < 0)
		return r;
	*ret = w->bytes + (addr - w->addr);
	return (ssize_t)(w->len - (size_t)(addr - w->addr));
}

static int window_pointer(struct window *w, uint64_t addr, uint64_t *ret)
{
	uint8_t bytes[sizeof(*ret)];
	size_t got = 0;

	while (got < sizeof(bytes)) {
		const char *p;
		ssize_t n = window_at(w, addr + got, &p);

		if (n < 0)
			return (int)n;
		if ((size_t)n > sizeof(bytes) - got)
			n = (ssize_t)(sizeof(bytes) - got);
		memcpy(bytes + got, p, (size_t)n);
		got += (size_t)n;
	}
	memcpy(ret, bytes, sizeof(bytes));
	return 0;
}

/* A string into buf: its length, -ENAMETOOLONG with its beginning in buf, -errno. */
static ssize_t window_string(struct window *w, uint64_t addr, char *buf, size_t size)
{
	size_t got = 0;

	while (got < size) {
		const char *p, *end;
		ssize_t n = window_at(w, addr + got, &p);
		size_t len;

		if (n < 0)
			return n;
		len = (size_t)n < size - got ? (size_t)n : size - got;
		end = memchr(p, '\0', len);
		if (end)
			len = (size_t)(end - p) + 1;
		memcpy(buf + got, p, len);
		got += len;
		if (end)
			return (ssize_t)got - 1;
	}
	if (size > 0)
		buf[size - 1] = '\0';
	return -ENAMETOOLONG;
}

/* --- argv -------------------------------------------------------------------------------------------- */

static int words_fill(struct window *list, struct window *strings, uint64_t addr, char *text, struct words *w)
{
	for (;; addr += sizeof(uint64_t)) {
		uint64_t at;
		ssize_t n = window_pointer(list, addr, &at);

		if (n < 0 || at == 0)
			return (int)n;
		if (w->n == LIMIT_ARGC)
			return -E2BIG;
		n = window_string(strings, at, text + w->bytes, LIMIT_ARGV - w->bytes);
		if (n < 0)
			return n == -ENAMETOOLONG ? -E2BIG : (int)n;
		w->v[w->n++] = text + w->bytes;
		w->bytes += (size_t)n + 1;
	}
}

int words_read(struct caller *c, uint64_t addr, struct words *ret)
{
	struct window *list = window_new(c), *strings = window_new(c);
	char *text = caller_scratch(c, LIMIT_ARGV);
	int r = 0;

	*ret = (struct words){ .v = caller_scratch(c, (LIMIT_ARGC + 1) * sizeof(*ret->v)) };
	if (!list || !strings || !text || !ret->v)
		return -ENOMEM;
	if (addr)
		r = words_fill(list, strings, addr, text, ret);
	if (!caller_alive(c))
		return -ESRCH;
	/* No words at all is legal; the program then sees one that is empty (Linux 5.18). */
	if (ret->n == 0 && r == 0) {
		text[0] = '\0';
		ret->v[ret->n++] = text;
		ret->bytes = 1;
	}
	ret->v[ret->n] = NULL;
	return r;
}

/* --- the environment ----------------------------------------------------------------------------------- */

static bool starts_with(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

static void env_note(struct caller *c, struct exec_env *e, const char *entry)
{
	static const char key[] = ENV_PRELOAD "=";
	const char *preload = session_setup(c->sup)->preload;

	if (starts_with(entry, key) && preload && *preload)
		e->hooked = starts_with(entry + sizeof(key) - 1, preload);
	git_env_note(&e->git, entry);
}

/* One entry, long or not: bytes with its NUL, or -errno. */
static ssize_t env_entry(struct caller *c, struct window *strings, uint64_t addr, struct environ_sum *sum,
			 struct exec_env *e)
{
	char piece[ENV_WORD];
	size_t bytes = 0;
	ssize_t n;

	do {
		n = window_string(strings, addr + bytes, piece, sizeof(piece));
		if (n < 0 && n != -ENAMETOOLONG)
			return n;
		if (bytes == 0)
			env_note(c, e, piece);
		/* A piece that was cut ends with a NUL that is not part of the entry, so the last byte is
		 * not counted. */
		environ_sum_add(sum, piece, n < 0 ? sizeof(piece) - 1 : (size_t)n + 1);
		bytes += n < 0 ? sizeof(piece) - 1 : (size_t)n + 1;
	} while (n < 0 && bytes <= ENV_MAX);
	return (ssize_t)bytes;
}

int exec_env_read(struct caller *c, uint64_t addr, struct exec_env *ret)
{
	struct window *list = window_new(c), *strings = window_new(c);
	const char *first = session_setup(c->sup)->git.config_home;
	struct environ_sum sum;
	size_t bytes = 0;
	ssize_t n = 0;
	uint64_t at;

	*ret = (struct exec_env){ .git = git_env_of(&c->image) };
	ret->git.first_config_home = first ? first : "";
	ret->git.first = session_setup(c->sup)->git.first;
	if (!list || !strings)
		return -ENOMEM;
	environ_sum_begin(&sum);
	for (; addr && n >= 0; addr += sizeof(uint64_t)) {
		n = window_pointer(list, addr, &at);
		if (n < 0 || at == 0)
			break;
		n = env_entry(c, strings, at, &sum, ret);
		bytes += (size_t)n;
		if (n > 0 && bytes > ENV_MAX)
			n = -E2BIG;
	}
	ret->sum = environ_sum_end(&sum);
	return n < 0 ? (int)n : 0;
}

const char *exec_variable(struct exec *x, struct caller *c, const struct request *req)
{
	static const char *const none[] = { NULL };
	const char *const *first = session_setup(c->sup)->environment;
	uint64_t rows = environ_rows(req);
	const char *entry;
	struct words env;
	char *name;
	size_t len;

	if (!rows)
		return NULL;
	if (words_read(c, x->envp, &env) < 0)
		return "?";
	if (!exec_env_is(&x->env, &env)) {
		x->env_changed = true;
		return "?";
	}
	entry = environ_change(rows, env.v, first ? first : none);
	len = entry ? strcspn(entry, "=") : 0;
	name = entry && len < LIMIT_HOST ? caller_scratch(c, len + 1) : NULL;
	if (!name)
		return entry ? "?" : NULL;
	memcpy(name, entry, len);
	name[len] = '\0';
	return name;
}

bool exec_env_is(const struct exec_env *e, const struct words *w)
{
	struct environ_sum of;
	struct exec_sum sum;

	environ_sum_begin(&of);
	environ_sum_add(&of, w->v[0], w->bytes);
	sum = environ_sum_end(&of);
	return memcmp(&sum, &e->sum, sizeof(sum)) == 0;
}
