/*
 * By what means limits are held, on machines that are made of files here; what the service manager is told,
 * and what of cgroups is swept away.
 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "tools/run/limits/limits.h"

Suite *suite_limits_means(void);

#define ROWS(a) (int)(sizeof(a) / sizeof((a)[0]))

#define V2_MOUNT "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"
#define USER2	 "user.slice/user-1000.slice/user@1000.service"

/* What a file can be instead of holding a text. */
#define LISTENED_ON "(a socket)"
#define LEFT_BEHIND "(a socket of somebody who ended)"

/* Files of a machine: names that end in a slash are directories, the rest holds what stands behind the name;
 * a name with a minus in front may not be written. */
struct machine {
	const char *name, *mounts, *cgroups;
	const char *files[14]; /* path, text, ... */
	uid_t uid;
	enum means memory, cpu, processes;
	const char *v2;
};

static const struct machine machines[] = {
	{ .name = "nothing",
	  .mounts = "",
	  .cgroups = "",
	  .uid = 1000,
	  .memory = MEANS_RLIMIT,
	  .cpu = MEANS_NONE,
	  .processes = MEANS_RLIMIT },
	{ .name = "nothing, and root",
	  .mounts = "",
	  .cgroups = "",
	  .memory = MEANS_RLIMIT,
	  .cpu = MEANS_NONE,
	  .processes = MEANS_NONE },
	{ .name = "systemd on version 2",
	  .mounts = V2_MOUNT,
	  .cgroups = "0::/user.slice/user-1000.slice/session-3.scope\n",
	  .files = { "sys/fs/cgroup/cgroup.controllers", "cpu memory pids", "run/systemd/system/", "",
		     "usr/bin/busctl", "", "run/user/1000/bus", LISTENED_ON },
	  .uid = 1000,
	  .memory = MEANS_SCOPE,
	  .cpu = MEANS_SCOPE,
	  .processes = MEANS_SCOPE },
	{ .name = "systemd for root",
	  .mounts = V2_MOUNT,
	  .cgroups = "0::/user.slice/user-0.slice/session-3.scope\n",
	  .files = { "sys/fs/cgroup/cgroup.controllers", "cpuset cpu io memory pids", "run/systemd/system/",
		     "", "usr/bin/busctl", "", "run/dbus/system_bus_socket", LISTENED_ON },
	  .memory = MEANS_SCOPE,
	  .cpu = MEANS_SCOPE,
	  .processes = MEANS_SCOPE },
	{ .name = "a user's manager that has no cpu",
	  .mounts = V2_MOUNT,
	  .cgroups = "0::/user.slice/user-1000.slice/session-3.scope\n",
	  .files = { "sys/fs/cgroup/cgroup.controllers", "cpu memory pids", "run/systemd/system/", "",
		     "usr/bin/busctl", "", "run/user/1000/bus", LISTENED_ON,
		     "sys/fs/cgroup/" USER2 "/cgroup.controllers", "memory pids\n" },
	  .uid = 1000,
	  .memory = MEANS_SCOPE,
	  .cpu = MEANS_NONE,
	  .processes = MEANS_SCOPE },
	{ .name = "a user's manager that ended",
	  .mounts = V2_MOUNT,
	  .cgroups = "0::/user.slice/user-1000.slice/session-3.scope\n",
	  .files = { "sys/fs/cgroup/cgroup.controllers", "cpu memory pids", "run/systemd/system/", "",
		     "usr/bin/busctl", "", "run/user/1000/bus", LEFT_BEHIND },
	  .uid = 1000,
	  .memory = MEANS_RLIMIT,
	  .cpu = MEANS_NONE,
	  .processes = MEANS_RLIMIT },
	{ .name = "another user's bus",
	  .mounts = V2_MOUNT,
	  .cgroups = "0::/x\n",
	  .files = { "sys/fs/cgroup/cgroup.controllers", "cpu memory pids", "run/systemd/system/", "",
		     "usr/bin/busctl", "", "run/user/1001/bus", LISTENED_ON },
	  .uid = 1000,
	  .memory = MEANS_RLIMIT,
	  .cpu = MEANS_NONE,
	  .processes = MEANS_RLIMIT },
	{ .name = "delegated version 2",
	  .mounts = V2_MOUNT,
	  .cgroups = "0::/" USER2 "/app.slice/term.scope\n",
	  .files = { "sys/fs/cgroup/" USER2 "/cgroup.subtree_control", "cpu memory pids\n",
		     "sys/fs/cgroup/" USER2 "/cgroup.procs", "",
		     "sys/fs/cgroup/" USER2 "/app.slice/cgroup.subtree_control", "\n",
		     "sys/fs/cgroup/" USER2 "/app.slice/term.scope/cgroup.subtree_control", "" },
	  .uid = 1000,
	  .memory = MEANS_CGROUP,
	  .cpu = MEANS_CGROUP,
	  .processes = MEANS_CGROUP,
	  .v2 = "/sys/fs/cgroup/" USER2 },
	{ .name = "delegated version 2 without cpu",
	  .mounts = V2_MOUNT,
	  .cgroups = "0::/" USER2 "/a.scope\n",
	  .files = { "sys/fs/cgroup/" USER2 "/cgroup.subtree_control", "memory pids\n",
		     "sys/fs/cgroup/" USER2 "/cgroup.procs", "",
		     "sys/fs/cgroup/" USER2 "/a.scope/cgroup.subtree_control", "" },
	  .uid = 1000,
	  .memory = MEANS_CGROUP,
	  .cpu = MEANS_NONE,
	  .processes = MEANS_CGROUP,
	  .v2 = "/sys/fs/cgroup/" USER2 },
	{ .name = "version 2 that is not ours",
	  .mounts = V2_MOUNT,
	  .cgroups = "0::/a\n",
	  .files = { "sys/fs/cgroup/a/cgroup.subtree_control", "cpu memory pids\n" },
	  .uid = 1000,
	  .memory = MEANS_RLIMIT,
	  .cpu = MEANS_NONE,
	  .processes = MEANS_RLIMIT },
	{ .name = "version 2, mounted below another root, beside version 1",
	  .mounts = "31 30 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
		    "33 30 0:29 /docker/x /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
	  .cgroups = "4:memory:/m\n0::/docker/x/y\n",
	  .files = { "sys/fs/cgroup/unified/cgroup.subtree_control", "cpu memory pids\n",
		     "sys/fs/cgroup/unified/cgroup.procs", "",
		     "sys/fs/cgroup/unified/y/cgroup.subtree_control", "" },
	  .uid = 1000,
	  .memory = MEANS_CGROUP,
	  .cpu = MEANS_CGROUP,
	  .processes = MEANS_CGROUP,
	  .v2 = "/sys/fs/cgroup/unified" },
	{ .name = "version 1 alone",
	  .mounts = "31 30 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n",
	  .cgroups = "4:memory:/m\n",
	  .files = { "sys/fs/cgroup/memory/m/cgroup.procs", "" },
	  .uid = 1000,
	  .memory = MEANS_RLIMIT,
	  .cpu = MEANS_NONE,
	  .processes = MEANS_RLIMIT },
};

static void make_socket(const char *path, const char *kind)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_int_ge(fd, 0);
	ck_assert_uint_lt(strlen(path), sizeof(a.sun_path));
	strcpy(a.sun_path, path);
	ck_assert_int_eq(bind(fd, (const struct sockaddr *)&a, sizeof(a)), 0);
	/* It is listened on until this process has ended. */
	if (strcmp(kind, LISTENED_ON) == 0)
		ck_assert_int_eq(listen(fd, 1), 0);
	else
		ck_assert_int_eq(close(fd), 0);
}

static void make_file(const char *root, const char *name, const char *text)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", root, name);
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		(void)mkdir(path, 0755);
		*slash = '/';
	}
	if (path[strlen(path) - 1] == '/')
		return;
	if (strcmp(text, LISTENED_ON) == 0 || strcmp(text, LEFT_BEHIND) == 0) {
		make_socket(path, text);
		return;
	}
	f = fopen(path, "we");
	ck_assert_ptr_nonnull(f);
	(void)fputs(text, f);
	(void)fclose(f);
}

START_TEST(means_of_machines)
{
	const struct machine *m = &machines[_i];
	char root[] = "/tmp/pale-limits-XXXXXX", command[64];
	struct limits_host *h = calloc(1, sizeof(*h));

	ck_assert_ptr_nonnull(mkdtemp(root));
	make_file(root, "proc/self/mountinfo", m->mounts);
	make_file(root, "proc/self/cgroup", m->cgroups);
	for (size_t i = 0; i + 1 < sizeof(m->files) / sizeof(m->files[0]) && m->files[i]; i += 2)
		make_file(root, m->files[i], m->files[i + 1]);
	limits_look(h, root, m->uid);
	ck_assert_msg(limits_means(h, RESOURCE_MEMORY) == m->memory &&
			      limits_means(h, RESOURCE_CPU) == m->cpu &&
			      limits_means(h, RESOURCE_PROCESSES) == m->processes,
		      "%s: %d %d %d", m->name, limits_means(h, RESOURCE_MEMORY),
		      limits_means(h, RESOURCE_CPU), limits_means(h, RESOURCE_PROCESSES));
	ck_assert_int_eq(limits_means(h, RESOURCE_FILES), MEANS_RLIMIT);
	ck_assert_int_eq(limits_means(h, RESOURCE_TIME), MEANS_CLOCK);
	if (m->v2)
		ck_assert_str_eq(h->v2 + strlen(root), m->v2);
	free(h);
	snprintf(command, sizeof(command), "rm -rf %s", root);
	ck_assert_int_eq(system(command), 0);
}
END_TEST

START_TEST(what_the_service_manager_is_told)
{
	static const char *const want[] = { "/usr/bin/busctl",
					    "--address=unix:path=/run/user/1000/bus",
					    "--quiet",
					    "call",
					    "org.freedesktop.systemd1",
					    "/org/freedesktop/systemd1",
					    "org.freedesktop.systemd1.Manager",
					    "StartTransientUnit",
					    "ssa(sv)a(sa(sv))",
					    "pale-abc.scope",
					    "fail",
					    "5",
					    "CollectMode",
					    "s",
					    "inactive-or-failed",
					    "PIDs",
					    "au",
					    "1",
					    "42",
					    "MemoryMax",
					    "t",
					    "1048576",
					    "CPUQuotaPerSecUSec",
					    "t",
					    "1500000",
					    "MemorySwapMax",
					    "t",
					    "0",
					    "0" };
	struct session_limits s = { .session = "abc", .bus = "/run/user/1000/bus" };
	char buf[1024], small[64], *words[48];

	s.by[RESOURCE_MEMORY] = s.by[RESOURCE_CPU] = MEANS_SCOPE;
	s.want.of[RESOURCE_MEMORY].value = 1 << 20;
	s.want.of[RESOURCE_CPU].value = 150;
	ck_assert_int_eq(scope_words(&s, 42, buf, sizeof(buf), words, 48), ROWS(want));
	for (int i = 0; i < ROWS(want); i++)
		ck_assert_str_eq(words[i], want[i]);
	ck_assert_ptr_null(words[ROWS(want)]);
	ck_assert_int_eq(scope_words(&s, 42, small, sizeof(small), words, 48), -E2BIG);
	ck_assert_int_eq(scope_words(&s, 42, buf, sizeof(buf), words, 10), -E2BIG);
}
END_TEST

/* What a killed pale left: empty ones of a launcher that is dead, and nobody else's. */
START_TEST(left_behind_is_swept)
{
	static const struct {
		const char *name;
		bool stays;
	} rows[] = { { "pale-abcdef.4194303/", false }, { "pale-abcdef.1/", true },
		     { "pale-ABC.4194303/", true },	{ "pale-abcdef/", true },
		     { "other-abcdef.4194303/", true }, { "pale-full.4194303/inner/", true },
		     { "pale-abcdef.4194303x/", true } };
	char root[] = "/tmp/pale-limits-XXXXXX", path[4096], command[64];

	ck_assert_ptr_nonnull(mkdtemp(root));
	for (int i = 0; i < ROWS(rows); i++)
		make_file(root, rows[i].name, "");
	cgroups_sweep(root);
	for (int i = 0; i < ROWS(rows); i++) {
		snprintf(path, sizeof(path), "%s/%s", root, rows[i].name);
		ck_assert_msg((access(path, F_OK) == 0) == rows[i].stays, "%s", rows[i].name);
	}
	snprintf(command, sizeof(command), "rm -rf %s", root);
	ck_assert_int_eq(system(command), 0);
}
END_TEST

Suite *suite_limits_means(void)
{
	Suite *s = suite_create("limits_means");
	TCase *m = tcase_create("machines");

	tcase_set_timeout(m, 30);
	tcase_add_loop_test(m, means_of_machines, 0, ROWS(machines));
	tcase_add_test(m, what_the_service_manager_is_told);
	tcase_add_test(m, left_behind_is_swept);
	suite_add_tcase(s, m);
	return s;
}
