/* Where agents worked is noted by any number of sessions at once, and no note is lost. */
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "policy/base/path.h"

#include "tools/base/paths.h"
#include "tools/sessions/worked.h"

#define WRITERS 8
#define NOTES	40
#define GONE	400 /* of eight writers they make the list shrink, and not too long to be read */

Suite *suite_worked(void);

static struct dirs dirs;

/* Also in children, which have no part in check's talk with itself: they end with a status. */
static bool path_for(char path[PATH_MAX], int writer, int i)
{
	char name[32];

	snprintf(name, sizeof(name), "%d-%d", writer, i);
	return path_join(path, PATH_MAX, dirs.state, name) == 0;
}

/* The list is longer by what is gone.  Locked, as whoever writes holds it: who shrinks it meanwhile would
 * find a path cut short, and `/` holds all. */
static bool make_grown(void)
{
	char path[PATH_MAX], gone[GONE * 96];
	size_t n = 0;
	int fd;

	for (int i = 0; i < GONE; i++)
		n += (size_t)snprintf(gone + n, sizeof(gone) - n, "%c/gone/%080d", 0, i) + 1;
	if (path_join(path, sizeof(path), dirs.state, "worked") != 0)
		return false;
	fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	if (fd < 0 || flock(fd, LOCK_EX) < 0 || write(fd, gone, n) != (ssize_t)n)
		return false;
	return close(fd) == 0;
}

static int write_some(int writer)
{
	char path[PATH_MAX];

	for (int i = 0; i < NOTES; i++)
		if (!path_for(path, writer, i) || mkdir(path, 0700) < 0 || worked_note(&dirs, path) < 0 ||
		    !make_grown())
			return 1;
	return 0;
}

START_TEST(no_note_is_lost)
{
	char path[PATH_MAX] = "/tmp/pale-worked.XXXXXX", line[PATH_MAX + 16];
	int status;

	ck_assert_ptr_nonnull(mkdtemp(path));
	snprintf(dirs.state, sizeof(dirs.state), "%s", path);
	for (int w = 0; w < WRITERS; w++) {
		pid_t pid = fork();

		ck_assert_int_ge(pid, 0);
		if (pid == 0)
			_exit(write_some(w));
	}
	for (int w = 0; w < WRITERS; w++) {
		ck_assert_int_gt(wait(&status), 0);
		ck_assert_int_eq(status, 0);
	}
	for (int w = 0; w < WRITERS; w++)
		for (int i = 0; i < NOTES; i++) {
			ck_assert(path_for(path, w, i));
			ck_assert_msg(worked_in(&dirs, path), "lost: %s", path);
		}
	ck_assert(path_for(path, WRITERS, 0));
	ck_assert(!worked_in(&dirs, path));
	snprintf(line, sizeof(line), "rm -r %s", dirs.state);
	ck_assert_int_eq(system(line), 0);
}
END_TEST

Suite *suite_worked(void)
{
	Suite *s = suite_create("worked");
	TCase *c = tcase_create("worked");

	tcase_set_timeout(c, 30);
	tcase_add_test(c, no_note_is_lost);
	suite_add_tcase(s, c);
	return s;
}
