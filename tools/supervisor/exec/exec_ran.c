/*
 * The digest of a running program: its file, words, environment and working directory, read from /proc/PID
 * (exe, cmdline, environ, cwd); and the same digest computed in advance from an exec that was judged.
 *
 * The kernel sets all of this at exec.
 */
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "policy/system/cleanup.h"

#include "tools/base/readfile.h"

#include "exec.h"

typedef crypto_generichash_state sum;

static void sum_begin(sum *s)
{
	crypto_generichash_init(s, NULL, 0, sizeof(struct exec_sum));
}

static void sum_add(sum *s, const void *bytes, size_t len)
{
	crypto_generichash_update(s, bytes, len);
}

static void sum_word(sum *s, const char *word)
{
	sum_add(s, word, strlen(word) + 1);
}

static struct exec_sum sum_end(sum *s)
{
	struct exec_sum ret;

	crypto_generichash_final(s, ret.bytes, sizeof(ret.bytes));
	return ret;
}

static bool is_same(const struct exec_sum *a, const struct exec_sum *b)
{
	return memcmp(a->bytes, b->bytes, sizeof(a->bytes)) == 0;
}

const char *exec_digest_differs(const struct exec_digest *a, const struct exec_digest *b)
{
	return !is_same(&a->file, &b->file)		? "the program file differs"
	       : !is_same(&a->words, &b->words)		? "the arguments differ"
	       : !is_same(&a->env, &b->env)		? "the environment differs"
	       : !is_same(&a->directory, &b->directory) ? "the working directory differs"
							: "";
}

bool exec_digest_is(const struct exec_digest *a, const struct exec_digest *b)
{
	return exec_digest_differs(a, b)[0] == '\0';
}

bool exec_inspect(const char *path, struct elf_info *ret)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	*ret = (struct elf_info){ .kind = ELF_STATIC };
	if (fd < 0)
		return false;
	elf_inspect(file_read_at, &fd, ret);
	ret->is_loader = elf_is_loader(file_read_at, &fd, ret->kind);
	return true;
}

/* --- the parts ------------------------------------------------------------------------------------------ */

bool exec_is_settled(const struct stat *st)
{
	return st->st_uid == 0 && geteuid() != 0 && !(st->st_mode & (S_IWGRP | S_IWOTH));
}

/* The file's identity, and where the session may have written to it also what it was judged by. */
static struct exec_sum sum_file(const struct stat *file, const struct elf_info *inside)
{
	sum s;

	sum_begin(&s);
	sum_add(&s, &file->st_dev, sizeof(file->st_dev));
	sum_add(&s, &file->st_ino, sizeof(file->st_ino));
	if (!exec_is_settled(file)) {
		sum_add(&s, &inside->kind, sizeof(inside->kind));
		sum_add(&s, inside->build_id, inside->build_id_len);
	}
	return sum_end(&s);
}

static struct exec_sum sum_directory(const struct stat *cwd)
{
	sum s;

	sum_begin(&s);
	sum_add(&s, &cwd->st_dev, sizeof(cwd->st_dev));
	sum_add(&s, &cwd->st_ino, sizeof(cwd->st_ino));
	return sum_end(&s);
}

/* --- what was judged ------------------------------------------------------------------------------------ */

/* The name of the script that the kernel passes to the interpreter: alloc_bprm() in fs/exec.c. */
static void sum_script(sum *s, const struct exec *x)
{
	char name[32 + LIMIT_PATH] UNINITIALIZED;
	const char *raw = x->place.raw;

	if (raw[0] == '/' || x->place.dirfd == AT_FDCWD)
		snprintf(name, sizeof(name), "%s", raw);
	else
		snprintf(name, sizeof(name), "/dev/fd/%d%s%s", x->place.dirfd, raw[0] ? "/" : "", raw);
	sum_word(s, name);
}

/* The words of the new program: the last interpreter comes first, and argv[0] is dropped where there is a
 * script (fs/binfmt_script.c). */
static struct exec_sum words_meant(const struct exec *x)
{
	size_t skip = 0;
	sum s;

	sum_begin(&s);
	for (size_t i = x->n_chain; i > 0; i--) {
		sum_word(&s, x->chain[i - 1].interp);
		if (x->chain[i - 1].interp_arg[0])
			sum_word(&s, x->chain[i - 1].interp_arg);
	}
	if (x->n_chain > 0) {
		sum_script(&s, x);
		skip = strlen(x->argv.v[0]) + 1;
	}
	sum_add(&s, x->argv.v[0] + skip, x->argv.bytes - skip);
	return sum_end(&s);
}

struct exec_digest exec_meant(const struct exec *x)
{
	return (struct exec_digest){ .file = sum_file(&x->file, &x->loaded),
				     .words = words_meant(x),
				     .env = x->env.sum,
				     .directory = sum_directory(&x->cwd_file) };
}

/* --- what runs ------------------------------------------------------------------------------------------ */

static void proc_path(char path[48], pid_t pid, const char *name)
{
	snprintf(path, 48, "/proc/%d/%s", (int)pid, name);
}

static int open_proc(pid_t pid, const char *name)
{
	char path[48];

	proc_path(path, pid, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static bool words_now(pid_t pid, struct exec_sum *ret)
{
	_cleanup_close_ int fd = open_proc(pid, "cmdline");
	char buf[4096];
	ssize_t n;
	sum s;

	sum_begin(&s);
	while ((n = read(fd, buf, sizeof(buf))) > 0)
		sum_add(&s, buf, (size_t)n);
	*ret = sum_end(&s);
	return n == 0;
}

static bool environ_now(pid_t pid, struct exec_sum *ret)
{
	_cleanup_close_ int fd = open_proc(pid, "environ");
	struct environ_sum s;
	char buf[4096];
	ssize_t n;

	environ_sum_begin(&s);
	while ((n = read(fd, buf, sizeof(buf))) > 0)
		environ_sum_add(&s, buf, (size_t)n);
	*ret = environ_sum_end(&s);
	return n == 0;
}

bool exec_running(pid_t pid, enum exec_where where, struct exec_digest *ret)
{
	struct elf_info inside = { .kind = ELF_UNKNOWN };
	struct stat file, cwd;
	char path[48];

	proc_path(path, pid, "cwd");
	if (stat(path, &cwd) < 0)
		return false;
	proc_path(path, pid, "exe");
	if (stat(path, &file) < 0 || !words_now(pid, &ret->words) || !environ_now(pid, &ret->env))
		return false;
	if (!exec_is_settled(&file))
		(void)exec_inspect(path, &inside);
	ret->file = sum_file(&file, &inside);
	ret->directory = where == EXEC_THERE ? sum_directory(&cwd) : (struct exec_sum){ 0 };
	return true;
}
