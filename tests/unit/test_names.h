/* A session whose carried calls are the handlers of names and attributes: for their one suite. */
#ifndef PALE_TEST_NAMES_H
#define PALE_TEST_NAMES_H

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/base/util.h"

#include "tests/unit/served.h"
#include "tools/supervisor/answer.h"
#include "tools/supervisor/caller.h"
#include "tools/supervisor/handlers.h"
#include "tools/supervisor/serve/dispatch.h"
#include "tools/wall/numbers.h"

static struct carried t;

/* dir/ws is writable, but for ro and kept in it; dir/out stands outside. */
static char dir[32];

/* --- a call, carried as an argument of getpgid(2) ----------------------------------------------- */

struct wanted {
	long nr;
	uint64_t arg[6];
};

static const struct {
	int nr;
	carry_fn carry;
} handlers[] = {
	{ __NR_unlink, carry_unlink },	   { __NR_unlinkat, carry_unlink },
	{ __NR_rmdir, carry_unlink },	   { __NR_rename, carry_rename },
	{ __NR_renameat2, carry_rename },  { __NR_link, carry_link },
	{ __NR_linkat, carry_link },	   { __NR_symlink, carry_make },
	{ __NR_mkdir, carry_make },	   { __NR_mknod, carry_make },
	{ __NR_truncate, carry_truncate }, { __NR_chmod, carry_chmod },
	{ __NR_fchmod, carry_chmod },	   { __NR_fchmodat2, carry_chmod },
	{ __NR_chown, carry_chown },	   { __NR_lchown, carry_chown },
	{ __NR_fchown, carry_chown },	   { __NR_utime, carry_utime },
	{ __NR_utimensat, carry_utime },   { __NR_setxattr, carry_xattr },
	{ __NR_fsetxattr, carry_xattr },   { __NR_removexattr, carry_xattr },
	{ __NR_setxattrat, carry_xattr },  { __NR_file_setattr, carry_fileattr },
	{ __NR_ioctl, carry_ioctl },
};

static struct answer carry_wanted(struct caller *c)
{
	struct wanted w;
	int r = caller_read(c, c->arg[0], &w, sizeof(w));

	if (r < 0)
		return answer_result(r);
	c->nr = (int)w.nr;
	memcpy(c->arg, w.arg, sizeof(w.arg));
	for (size_t i = 0; i < NELEM(handlers); i++)
		if (handlers[i].nr == c->nr)
			return handlers[i].carry(c);
	return answer_result(-ENOSYS);
}

#define U(x) (uint64_t)(x)
static long do_call(long nr, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e)
{
	struct wanted w = { nr, { a, b, c, d, e } };

	return carried_call((long)&w, 0, 0);
}

#define CALL1(nr, a)		 do_call(__NR_##nr, U(a), 0, 0, 0, 0)
#define CALL2(nr, a, b)		 do_call(__NR_##nr, U(a), U(b), 0, 0, 0)
#define CALL3(nr, a, b, c)	 do_call(__NR_##nr, U(a), U(b), U(c), 0, 0)
#define CALL4(nr, a, b, c, d)	 do_call(__NR_##nr, U(a), U(b), U(c), U(d), 0)
#define CALL5(nr, a, b, c, d, e) do_call(__NR_##nr, U(a), U(b), U(c), U(d), U(e))

/* In the child, where check has no say: what is not so is told, and ends it. */
static int complain(int line, long got, long want)
{
	fprintf(stderr, "test_names.c:%d: %ld, not %ld\n", line, got, want);
	return 1;
}

#define WANT(want, call)                                                                                     \
	do {                                                                                                 \
		long got_ = (call);                                                                          \
		if (got_ != (want))                                                                          \
			return complain(__LINE__, got_, (want));                                             \
	} while (0)

static bool is_mode(const char *path, mode_t mode)
{
	struct stat st;

	return lstat(path, &st) == 0 && st.st_mode == mode;
}

/* --- the session -------------------------------------------------------------------------------- */

static const char *in(const char *name)
{
	static char path[4][64];
	static unsigned turn;

	turn = (turn + 1) % 4;
	snprintf(path[turn], sizeof(path[turn]), "%s/%s", dir, name);
	return path[turn];
}

static void rules(struct fixture *f)
{
	fixture_rule(f, RULE_FILE_WRITE, in("ws"));
	fixture_rule(f, RULE_FILE_READONLY, in("ws/ro"));
	fixture_rule(f, RULE_FILE_KEEP, in("ws/kept"));
}

static void put(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, "text", 4), 4);
	close(fd);
}

static void prepare(void)
{
	static const char *const dirs[] = { "ws", "ws/ro", "ws/d", "out", "out/d" };
	static const char *const files[] = { "ws/f", "ws/ro/f", "ws/kept", "ws/d/f", "out/f", "out/d/f" };

	strcpy(dir, "/tmp/pale-names-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	umask(022);
	for (size_t i = 0; i < NELEM(dirs); i++)
		ck_assert_int_eq(mkdir(in(dirs[i]), 0755), 0);
	for (size_t i = 0; i < NELEM(files); i++)
		put(in(files[i]));
	ck_assert_int_eq(symlink("../out", in("ws/way")), 0);
	ck_assert_int_eq(symlink("f", in("ws/l")), 0);
	ck_assert_int_eq(chdir(in("ws")), 0);
	carried_handler = carry_wanted;
	carried_init(&t, rules);
	t.setup.ring = t.setup.kernel_ring;
}

static void finish(void)
{
	char command[64];

	carried_done(&t);
	ck_assert_int_eq(chdir("/"), 0);
	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	ck_assert_int_eq(system(command), 0);
}

static void serve(deed_fn deed)
{
	carried_start(&t, deed);
	carried_go(&t);
	ck_assert_int_eq(carried_wait(&t), 0);
}

#endif
