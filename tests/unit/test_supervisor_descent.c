/* Whose child is it: the session's, a nested run's, nobody's; and has it hooks? */
#include <check.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/served.h"
#include "tools/supervisor/answer.h"
#include "tools/supervisor/caller.h"
#include "tools/supervisor/descent.h"
#include "tools/supervisor/handlers.h"
#include "tools/supervisor/proc/procstat.h"

Suite *suite_supervisor_descent(void);

static struct carried t;

enum look { LOOK_IMAGE, LOOK_SESSION, LOOK_NARROW, LOOK_HOOKED, LOOK_ADOPTER };

#define ORPHAN 1000

static long look(struct caller *c)
{
	switch ((enum look)c->arg[0]) {
	case LOOK_IMAGE:
		return c->is_orphan ? ORPHAN : (long)c->image_number;
	case LOOK_SESSION:
		return session_has_pid((pid_t)c->arg[1]);
	case LOOK_NARROW:
		return supervisor_narrowed(c->sup, caller_tgid(c), (uint32_t)c->arg[1]);
	case LOOK_HOOKED:
		return caller_is_hooked(c);
	case LOOK_ADOPTER:
		return carry_prctl(c).kind == ANSWER_CONTINUE ? 0 : -EPERM;
	}
	return -EINVAL;
}

static struct answer answer_look(struct caller *c)
{
	return answer_result(look(c));
}

static void run(deed_fn deed)
{
	carried_handler = answer_look;
	ck_assert_int_eq(carried_run(&t, deed), 0);
	carried_done(&t);
}

static int in_child(deed_fn deed)
{
	int status;
	pid_t child = fork();

	if (child == 0)
		_exit(deed());
	waitpid(child, &status, 0);
	return status;
}

/* Runs deed in a child whose parent is gone; its exit status. */
static int as_orphan(deed_fn deed)
{
	int ends[2], r = 99;
	pid_t middle;

	EXPECT(pipe(ends) == 0);
	middle = fork();
	if (middle == 0) {
		middle = getpid();
		if (fork() != 0)
			_exit(0);
		while (getppid() == middle)
			usleep(1000);
		r = deed();
		_exit(write(ends[1], &r, sizeof(r)) != sizeof(r));
	}
	waitpid(middle, NULL, 0);
	close(ends[1]);
	EXPECT(read(ends[0], &r, sizeof(r)) == sizeof(r));
	close(ends[0]);
	return r;
}

static pid_t stranger;

static int orphan_is_of_the_session(void)
{
	EXPECT(carried_call(LOOK_SESSION, getpid(), 0) == 1);
	EXPECT(carried_call(LOOK_IMAGE, 0, 0) == 0);
	return 0;
}

static int look_at_descent(void)
{
	pid_t gone = fork();

	if (gone == 0)
		_exit(carried_call(LOOK_SESSION, getpid(), 0) == 1 ? 0 : 1);
	EXPECT(waitpid(gone, &(int){ 0 }, 0) == gone);
	EXPECT(carried_call(LOOK_SESSION, gone, 0) == 0);
	EXPECT(carried_call(LOOK_SESSION, getpid(), 0) == 1);
	EXPECT(carried_call(LOOK_SESSION, getppid(), 0) == 0);
	EXPECT(carried_call(LOOK_SESSION, stranger, 0) == 0);
	EXPECT(carried_call(LOOK_SESSION, 1, 0) == 0);
	EXPECT(carried_call(LOOK_SESSION, 0, 0) == 0);
	EXPECT(carried_call(LOOK_SESSION, -1, 0) == 0);
	EXPECT(as_orphan(orphan_is_of_the_session) == 0);
	return 0;
}

START_TEST(who_belongs_to_the_session)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	stranger = fork();
	if (stranger == 0) {
		pause();
		_exit(0);
	}
	run(look_at_descent);
	kill(stranger, SIGKILL);
	waitpid(stranger, NULL, 0);
}
END_TEST

static int is_narrowed(void)
{
	EXPECT(carried_call(LOOK_IMAGE, 0, 0) == 1);
	return 0;
}

static int is_of_nobody(void)
{
	EXPECT(carried_call(LOOK_IMAGE, 0, 0) == ORPHAN);
	return 0;
}

static int asks_early_then_is_orphaned(void)
{
	int ends[2], r = 99;
	pid_t middle;

	EXPECT(pipe(ends) == 0);
	middle = fork();
	if (middle == 0) {
		middle = getpid();
		if (fork() != 0) {
			usleep(100000);
			_exit(0);
		}
		r = is_narrowed();
		while (getppid() == middle)
			usleep(1000);
		r = r ? r : is_narrowed();
		_exit(write(ends[1], &r, sizeof(r)) != sizeof(r));
	}
	waitpid(middle, NULL, 0);
	close(ends[1]);
	EXPECT(read(ends[0], &r, sizeof(r)) == sizeof(r));
	close(ends[0]);
	return r;
}

static int nested_run(void)
{
	EXPECT(carried_call(LOOK_IMAGE, 0, 0) == 0);
	EXPECT(carried_call(LOOK_NARROW, 2, 0) == -ENOENT);
	EXPECT(carried_call(LOOK_NARROW, WIRE_IMAGE_MAX + 1, 0) == -EINVAL);
	EXPECT(carried_call(LOOK_NARROW, 1, 0) == 0);
	EXPECT(is_narrowed() == 0);
	EXPECT(in_child(is_narrowed) == 0);
	EXPECT(as_orphan(is_of_nobody) == 0);
	EXPECT(asks_early_then_is_orphaned() == 0);
	return 0;
}

static int leaves_an_orphan(void)
{
	EXPECT(carried_call(LOOK_NARROW, 1, 0) == 0);
	return as_orphan(is_of_nobody);
}

/* A subreaper inside the session becomes the parent of what a nested run left behind. */
static int adopts_orphans(void)
{
	EXPECT(prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
	EXPECT(carried_call(LOOK_ADOPTER, 1, 0) == 0);
	EXPECT(in_child(leaves_an_orphan) == 0);
	EXPECT(carried_call(LOOK_IMAGE, 0, 0) == 0);
	return 0;
}

static int look_at_images(void)
{
	EXPECT(in_child(nested_run) == 0);
	EXPECT(carried_call(LOOK_IMAGE, 0, 0) == 0);
	EXPECT(as_orphan(is_of_nobody) == 0);
	EXPECT(in_child(adopts_orphans) == 0);
	return 0;
}

static void write_image(const char *name, const struct fixture *f)
{
	char path[128];
	FILE *out;

	snprintf(path, sizeof(path), "%s/%s", t.dir, name);
	out = fopen(path, "w");
	ck_assert_ptr_nonnull(out);
	ck_assert_uint_eq(fwrite(f->bytes, 1, f->size, out), f->size);
	fclose(out);
}

START_TEST(a_nested_run_is_known_by_descent)
{
	struct fixture inner;
	char path[128];

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	carried_handler = answer_look;
	carried_init(&t, NULL);
	fixture_init(&inner);
	ck_assert_int_eq(fixture_try(&inner, &t.policy.img), 0);
	write_image("image.1", &inner);
	carried_start(&t, look_at_images);
	carried_go(&t);
	ck_assert_int_eq(carried_wait(&t), 0);
	snprintf(path, sizeof(path), "%s/image.1", t.dir);
	unlink(path);
	fixture_done(&inner);
	carried_done(&t);
}
END_TEST

/* --- hooks --- */

static int is_not_hooked(void)
{
	return carried_call(LOOK_HOOKED, 0, 0) == 0 ? 0 : 1;
}

static int is_hooked(void)
{
	return carried_call(LOOK_HOOKED, 0, 0) == 1 ? 0 : 1;
}

START_TEST(hooks_are_seen_in_the_maps)
{
	char self[PATH_MAX] = "";

	run(is_not_hooked);
	carried_init(&t, NULL);
	/* Any object that is mapped there will do. */
	ck_assert_int_gt(readlink("/proc/self/exe", self, sizeof(self) - 1), 0);
	t.setup.preload = self;
	carried_start(&t, is_hooked);
	carried_go(&t);
	ck_assert_int_eq(carried_wait(&t), 0);
	carried_done(&t);
}
END_TEST

Suite *suite_supervisor_descent(void)
{
	Suite *s = suite_create("supervisor_descent");
	TCase *tc = tcase_create("supervisor_descent");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, who_belongs_to_the_session);
	tcase_add_test(tc, a_nested_run_is_known_by_descent);
	tcase_add_test(tc, hooks_are_seen_in_the_maps);
	suite_add_tcase(s, tc);
	return s;
}
