/* Where another process's path leads: its directories, its procfs, and nobody else's. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/served.h"
#include "tools/supervisor/answer.h"
#include "tools/supervisor/caller.h"
#include "tools/supervisor/place.h"
#include "tools/supervisor/threads/workers.h"

Suite *suite_place(void);

static struct carried t;
static pid_t parent;

/* What the handler is asked: carried_call(WHAT | AT_CWD, path, expectation). */
enum what { RESOLVE, RESOLVE_LAST, LEXICAL, FOREIGN, MAGIC_FD };

/* RESOLVE: 1 where the place is called as the third argument says; others: what they ask, or -errno. */
static long look(struct caller *c, struct place *p)
{
	char want[LIMIT_PATH], text[LIMIT_PATH];
	enum resolve_follow follow = c->arg[0] == RESOLVE_LAST ? RESOLVE_NOFOLLOW_LAST : RESOLVE_FOLLOW_LAST;
	int e = place_read(p, c, AT_FDCWD, c->arg[1]);

	if (e < 0)
		return e;
	if (c->arg[2] && (e = caller_string(c, c->arg[2], want, sizeof(want))) < 0)
		return e;
	if (c->arg[0] == LEXICAL) {
		e = place_lexical(p, c, text, sizeof(text));
		return e < 0 ? e : strcmp(text, want) == 0 && place_stands(p, c, text);
	}
	e = place_resolve(p, c, follow);
	if (c->arg[0] == FOREIGN)
		return e < 0 && !p->foreign ? e : place_is_foreign(p, c);
	if (e < 0)
		return e;
	if (c->arg[0] == MAGIC_FD)
		return p->r.magic ? p->r.magic_fd : -EINVAL;
	return strcmp(p->r.path, want) == 0;
}

static struct answer handler(struct caller *c)
{
	struct place *p = caller_scratch(c, sizeof(*p));
	long r = look(c, p);

	place_done(p);
	return answer_result(r);
}

static long ask(enum what what, const char *path, const char *want)
{
	return carried_call((long)what, (long)path, (long)want);
}

static void run(deed_fn deed)
{
	carried_handler = handler;
	parent = getpid();
	ck_assert_int_eq(carried_run(&t, deed), 0);
	carried_done(&t);
}

static int see_own_directory(void)
{
	if (chdir("/usr") < 0)
		return 1;
	if (ask(RESOLVE, "bin", "/usr/bin") != 1 || ask(RESOLVE, "./bin/../lib", "/usr/lib") != 1)
		return 2;
	if (ask(LEXICAL, "bin//x", "/usr/bin/x") != 1 || ask(LEXICAL, "../x", "") != -ELOOP)
		return 3;
	if (ask(RESOLVE, "bin/none/x", "") != -ENOENT || ask(RESOLVE, "", "") != -ENOENT)
		return 4;
	return ask(RESOLVE, (char *)8, "") == -EFAULT ? 0 : 5;
}

START_TEST(a_relative_path_starts_at_the_callers)
{
	run(see_own_directory);
}
END_TEST

static void *see_own_thread(void *arg)
{
	char want[64];

	(void)arg;
	snprintf(want, sizeof(want), "/proc/%d/task/%d/comm", getpid(), gettid());
	return ask(RESOLVE, "/proc/thread-self/comm", want) == 1 ? NULL : (void *)1;
}

static int see_own_procfs(void)
{
	pthread_t thread;
	char want[64];
	void *wrong;

	snprintf(want, sizeof(want), "/proc/%d/comm", getpid());
	if (ask(RESOLVE, "/proc/self/comm", want) != 1 || ask(RESOLVE, "/proc/net/../comm", want) != 1)
		return 1;
	snprintf(want, sizeof(want), "/proc/%d", getpid());
	if (ask(RESOLVE, "/proc/self", want) != 1 || ask(RESOLVE_LAST, "/proc/self", "/proc/self") != 1)
		return 2;
	if (chdir("/proc") < 0 || ask(RESOLVE, "self", want) != 1)
		return 3;
	if (pthread_create(&thread, NULL, see_own_thread, NULL) != 0)
		return 4;
	pthread_join(thread, &wrong);
	return wrong ? 5 : 0;
}

START_TEST(self_is_the_caller)
{
	run(see_own_procfs);
}
END_TEST

static int see_own_descriptors(void)
{
	char path[64];

	if (dup2(open("/usr", O_RDONLY | O_DIRECTORY), 60) != 60)
		return 1;
	if (ask(MAGIC_FD, "/proc/self/fd/60", NULL) != 60 || ask(MAGIC_FD, "/dev/fd/60", NULL) != 60)
		return 2;
	if (ask(RESOLVE, "/proc/self/fd/60/bin", "/usr/bin") != 1)
		return 3;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/fd/60", getpid(), gettid());
	if (ask(MAGIC_FD, path, NULL) != 60 || ask(MAGIC_FD, "/proc/self/exe", NULL) != -1)
		return 4;
	if (ask(RESOLVE, "/proc/self/fd/61/x", "") != -ENOENT || chdir("/usr/lib") < 0)
		return 5;
	return ask(RESOLVE, "/proc/self/cwd/../bin", "/usr/bin") == 1 ? 0 : 6;
}

START_TEST(magic_links_are_the_callers)
{
	run(see_own_descriptors);
}
END_TEST

/* parent is the supervisor of this suite: it and pid 1 are none of the session's. */
static int see_others(void)
{
	static const struct {
		const char *name;
		long foreign;
	} cases[] = {
		{ "environ", 1 },  { "mem", 1 },	  { "maps", 1 },
		{ "fd", 1 },	   { "fd/0", 1 },	  { "cwd", 1 },
		{ "root", 1 },	   { "exe", 1 },	  { "cwd/x", 1 },
		{ "root/etc", 1 }, { "fdinfo/0", 1 },	  { "task/1/environ", 1 },
		{ "net/tcp", 1 },  { "ns", 1 },		  { "stat", 1 },
		{ "status", 1 },   { "cmdline", 1 },	  { "comm", 1 },
		{ "", 1 },	   { "task", 1 },	  { "../uptime", 0 },
		{ "smaps", 1 },	   { "attr/current", 1 }, { "auxv", 1 },
	};
	char path[128];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		long r;

		snprintf(path, sizeof(path), "/proc/%d/%s", parent, cases[i].name);
		r = ask(FOREIGN, path, NULL);
		if (strncmp(cases[i].name, "task/1", 6) == 0 ? r >= 0 && r != 1 : r != cases[i].foreign)
			return (int)i + 1;
		snprintf(path, sizeof(path), "/proc/self/%s", cases[i].name);
		if (ask(FOREIGN, path, NULL) == 1)
			return (int)i + 101;
	}
	return 0;
}

START_TEST(foreign_processes_show_nothing)
{
	run(see_others);
}
END_TEST

Suite *suite_place(void)
{
	Suite *s = suite_create("place");
	TCase *tc = tcase_create("place");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, a_relative_path_starts_at_the_callers);
	tcase_add_test(tc, self_is_the_caller);
	tcase_add_test(tc, magic_links_are_the_callers);
	tcase_add_test(tc, foreign_processes_show_nothing);
	suite_add_tcase(s, tc);
	return s;
}
