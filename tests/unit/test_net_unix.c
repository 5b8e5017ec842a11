/* Carried calls of unix sockets, and of sockets before they lead anywhere. */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/stat.h>

#include "tests/unit/net_fixture.h"

Suite *suite_net_unix(void);

static struct carried t;
static char ws[64], outside[80], inside[80];

static void rules(struct fixture *f)
{
	fixture_rule(f, RULE_FILE_WRITE, ws);
	fixture_rule(f, RULE_FILE_DENY, outside);
	fixture_rule(f, RULE_FILE_WRITE, "/proc/self");
	fixture_rule(f, RULE_NET_UNIX, "@known");
	/* These tests listen there, from outside the session. */
	fixture_rule(f, RULE_NET_UNIX, inside);
}

static struct sockaddr_un un_at(const char *path)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };

	ck_assert_uint_lt(strlen(path), sizeof(un.sun_path));
	strcpy(un.sun_path, path);
	return un;
}

static int server_at(const char *path, int type)
{
	struct sockaddr_un un = un_at(path);
	int fd = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	ck_assert_int_eq(bind(fd, (struct sockaddr *)&un, sizeof(un)), 0);
	ck_assert_int_eq(listen(fd, 8), 0);
	return fd;
}

static void setup(void)
{
	strcpy(ws, "/var/tmp/pale-net-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(ws));
	snprintf(outside, sizeof(outside), "%s/out", ws);
	snprintf(inside, sizeof(inside), "%s/in", ws);
	ck_assert_int_eq(mkdir(outside, 0755), 0);
	ck_assert_int_eq(mkdir(inside, 0755), 0);
	ck_assert_int_eq(chdir(inside), 0);
	net_setup(&t, rules);
}

static void teardown(void)
{
	char command[200];

	net_done(&t);
	snprintf(command, sizeof(command), "rm -rf %s %s", ws, t.dir);
	ck_assert_int_eq(system(command), 0);
}

static int local(void)
{
	return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

static long reach(const char *path)
{
	struct sockaddr_un un = un_at(path);
	int fd = local();
	long r = carried_connect(fd, &un, sizeof(un));

	close(fd);
	return r;
}

/* --- connect ------------------------------------------------------------------------------------- */

static int find_files(void)
{
	char path[160];
	int fd;

	if (reach("s") != 0 || reach("./s") != 0 || reach("../in/s") != 0 || reach("link") != 0)
		return 1;
	snprintf(path, sizeof(path), "/proc/self/cwd/s");
	if (reach(path) != 0)
		return 2;
	fd = open("s", O_PATH);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (reach(path) != 0)
		return 3;
	if (reach("../out/s") != -EACCES || reach("away") != -EACCES || reach("dir/s") != -EACCES)
		return 4;
	fd = open("../out/s", O_PATH);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (fd < 0 || reach(path) != -EACCES)
		return 5;
	return 0;
}

START_TEST(socket_files)
{
	int in = server_at("s", SOCK_STREAM), out = server_at("../out/s", SOCK_STREAM);
	char target[100];

	ck_assert_int_eq(symlink("s", "link"), 0);
	ck_assert_int_eq(symlink("../out/s", "away"), 0);
	ck_assert_int_eq(symlink("../out", "dir"), 0);
	net_run(&t, find_files);
	ck_assert_uint_eq(arrived(in), 6);
	ck_assert_uint_eq(arrived(out), 0);
	snprintf(target, sizeof(target), "%s/s", outside);
	ck_assert_uint_eq(count_records(&t, VERDICT_DENY, target), 4);
}
END_TEST

static int miss_files(void)
{
	/* What is not there is not denied. */
	if (reach("nothing") != -ENOENT || reach("../out/nothing") != -ENOENT || reach("s/x") != -ENOTDIR)
		return 1;
	if (reach("file") != -ECONNREFUSED || reach("../out/file") != -ECONNREFUSED ||
	    reach(".") != -ECONNREFUSED)
		return 2;
	if (reach("dead") != -ECONNREFUSED || reach("loop") != -ELOOP)
		return 3;
	if (reach("/var/run/nscd/socket") != -ENOENT || reach("/run/nscd/socket") != -ENOENT)
		return 4;
	return 0;
}

START_TEST(no_such_socket)
{
	struct ring_record r;

	close(server_at("s", SOCK_STREAM));
	close(server_at("dead", SOCK_STREAM));
	close(open("file", O_CREAT | O_WRONLY, 0600));
	close(open("../out/file", O_CREAT | O_WRONLY, 0600));
	ck_assert_int_eq(symlink("loop", "loop"), 0);
	net_run(&t, miss_files);
	ck_assert(carried_record(&t, &r)); /* dead: it was allowed */
	ck_assert_int_eq(r.verdict, VERDICT_ALLOW);
	ck_assert(!carried_record(&t, &r));
}
END_TEST

static int reach_abstract(void)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX, .sun_path = "\0known" };
	long len = offsetof(struct sockaddr_un, sun_path) + 6;

	if (carried_connect(local(), &un, len) != -ECONNREFUSED) /* nobody listens */
		return 1;
	un.sun_path[5] = 'm';
	return carried_connect(local(), &un, len) == -EACCES ? 0 : 2;
}

START_TEST(abstract_names)
{
	net_run(&t, reach_abstract);
	ck_assert_uint_eq(count_records(&t, VERDICT_DENY, "@knowm"), 1);
}
END_TEST

/* --- pale's own ---------------------------------------------------------------------------------- */

static int knock(void)
{
	struct sockaddr_un un = un_at("agent");
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	char byte;

	if (carried_connect(fd, &un, sizeof(un)) != 0 || send(fd, "me", 2, 0) != 2 ||
	    recv(fd, &byte, 1, 0) != 0)
		return 1;
	/* By another name as well. */
	return reach("control") == -EACCES && reach("hard") == -EACCES ? 0 : 2;
}

START_TEST(own_sockets)
{
	char agent[100], control[100], frame[64];
	struct wire_behalf b;
	int a, c, fd;

	snprintf(agent, sizeof(agent), "%s/" WIRE_AGENT_SOCKET, t.dir);
	snprintf(control, sizeof(control), "%s/" WIRE_CONTROL_SOCKET, t.dir);
	a = server_at(agent, SOCK_SEQPACKET);
	c = server_at(control, SOCK_STREAM);
	ck_assert_int_eq(symlink(agent, "agent"), 0);
	ck_assert_int_eq(symlink(control, "control"), 0);
	if (link(control, "hard") < 0) /* another file system */
		ck_assert_int_eq(symlink(control, "hard"), 0);
	memset(t.setup.nonce, 7, sizeof(t.setup.nonce));
	carried_start(&t, knock);
	carried_go(&t);
	fd = -1;
	for (int i = 0; i < 2000 && (fd = accept4(a, NULL, NULL, SOCK_CLOEXEC)) < 0; i++)
		usleep(1000);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(wire_get_behalf(frame, (size_t)recv(fd, frame, sizeof(frame), 0), &b), 0);
	ck_assert_int_eq(b.pid, t.child);
	ck_assert_mem_eq(b.nonce, t.setup.nonce, sizeof(b.nonce));
	ck_assert_int_eq(recv(fd, frame, sizeof(frame), 0), 2);
	close(fd);
	ck_assert_int_eq(carried_wait(&t), 0);
	ck_assert_uint_eq(arrived(c), 0);
	close(a);
	close(c);
}
END_TEST

/* --- bind ------------------------------------------------------------------------------------------ */

static long name_it(const char *path)
{
	struct sockaddr_un un = un_at(path), got = { 0 };
	socklen_t len = sizeof(got);
	int fd = local();
	long r = carried_do(DO_BIND, fd, &un, (long)(offsetof(struct sockaddr_un, sun_path) + strlen(path)));

	/* Programs ask for the words that they gave. */
	if (r == 0 && (getsockname(fd, (struct sockaddr *)&got, &len) < 0 || strcmp(got.sun_path, path) != 0))
		r = -EUCLEAN;
	close(fd);
	return r;
}

static int name_files(void)
{
	char path[100];
	struct stat st;

	umask(027);
	if (name_it("a") != 0 || lstat("a", &st) < 0 || !S_ISSOCK(st.st_mode) || (st.st_mode & 0777) != 0750)
		return 1;
	snprintf(path, sizeof(path), "%s/b", inside);
	if (name_it(path) != 0 || name_it("link/c") != 0 || lstat("sub/c", &st) < 0)
		return 2;
	if (name_it("a") != -EADDRINUSE || name_it("no/such") != -ENOENT || name_it("a/x") != -ENOTDIR)
		return 3;
	if (name_it("../out/s") != -EACCES || name_it("dir/s") != -EACCES ||
	    name_it("../out/file") != -EADDRINUSE)
		return 4;
	/* It means the caller: made where it says, though the words are lost. */
	if (chdir("sub") < 0 || name_it("/proc/self/cwd/d") != -EUCLEAN || lstat("d", &st) < 0)
		return 5;
	return 0;
}

START_TEST(bound_files)
{
	struct stat st;

	ck_assert_int_eq(mkdir("sub", 0755), 0);
	ck_assert_int_eq(symlink("sub", "link"), 0);
	ck_assert_int_eq(symlink("../out", "dir"), 0);
	close(open("../out/file", O_CREAT | O_WRONLY, 0600));
	net_run(&t, name_files);
	ck_assert_int_lt(stat("../out/s", &st), 0);
}
END_TEST

static int meet_strangers(void)
{
	struct sockaddr_un own = un_at("../shared/own");
	int fd = local();

	if (carried_do(DO_BIND, fd, &own, sizeof(own)) != 0 || carried_do(DO_LISTEN, fd, (void *)4, 0) != 0)
		return 1;
	if (reach("../shared/own") != 0 || reach("../shared/daemon") != -EACCES)
		return 2;
	/* Under the name of the session's own, or the session's own under another. */
	if (link("../shared/own", "../shared/mine") < 0 || rename("../shared/daemon", "../shared/own") < 0)
		return 3;
	return reach("../shared/own") == -EACCES && reach("../shared/mine") == 0 ? 0 : 4;
}

/* What may be written may still be somebody else's to listen at. */
START_TEST(sockets_of_strangers)
{
	char path[100], target[120];
	int out;

	snprintf(path, sizeof(path), "%s/shared", ws);
	snprintf(target, sizeof(target), "%s/own", path);
	ck_assert_int_eq(mkdir(path, 0755), 0);
	out = server_at("../shared/daemon", SOCK_STREAM);
	net_run(&t, meet_strangers);
	ck_assert_uint_eq(arrived(out), 0);
	ck_assert_uint_eq(count_records(&t, VERDICT_DENY, target), 1);
}
END_TEST

/* A directory of the path changes into a link to one that is denied, and back. */
static volatile bool swapping;

static void *swap(void *arg)
{
	while (swapping) {
		renameat2(AT_FDCWD, "sub", AT_FDCWD, "dir", RENAME_EXCHANGE);
		(void)arg;
	}
	return NULL;
}

static int race(void)
{
	pthread_t thread;

	swapping = true;
	pthread_create(&thread, NULL, swap, NULL);
	for (int i = 0; i < 2000; i++) {
		(void)name_it("sub/s");
		unlink("sub/s");
		unlink("dir/s");
	}
	swapping = false;
	pthread_join(thread, NULL);
	return 0;
}

START_TEST(a_swapped_directory_wins_nothing)
{
	/* Denied, but nobody but the supervisor keeps the child from removing what it won there. */
	int mark = open("../out", O_RDONLY | O_DIRECTORY);
	struct stat before, after;

	ck_assert_int_eq(mkdir("sub", 0755), 0);
	ck_assert_int_eq(symlink("../out", "dir"), 0);
	ck_assert_int_eq(fstat(mark, &before), 0);
	net_run(&t, race);
	ck_assert_int_eq(fstat(mark, &after), 0);
	ck_assert_int_eq(before.st_mtim.tv_sec, after.st_mtim.tv_sec);
	ck_assert_int_eq(before.st_mtim.tv_nsec, after.st_mtim.tv_nsec);
	close(mark);
}
END_TEST

static long bind_port(uint32_t addr, uint16_t port)
{
	struct sockaddr_in at = in_at(addr, port);
	int fd = tcp();
	long r = carried_do(DO_BIND, fd, &at, sizeof(at));

	if (r == 0)
		r = carried_do(DO_LISTEN, fd, (void *)4, 0);
	close(fd);
	return r;
}

/* Who could take a socket off its device is refused what others get for this machine alone. */
static long not_for_all(void)
{
	return geteuid() == 0 ? -EACCES : 0;
}

static int take_ports(void)
{
	struct sockaddr_in6 any6 = { .sin6_family = AF_INET6 };
	int fd = tcp(), fd6 = socket(AF_INET6, SOCK_STREAM, 0);

	if (bind_port(INADDR_LOOPBACK, 0) != 0)
		return 1;
	if (bind_port(INADDR_ANY, 0) != not_for_all() || bind_port(INADDR_LOOPBACK, 80) != -EACCES)
		return 2;
	/* A port is had, and nobody let in by it. */
	if (carried_do(DO_BIND, fd6, &any6, sizeof(any6)) != 0 ||
	    carried_do(DO_LISTEN, fd6, (void *)4, 0) != not_for_all())
		return 3;
	any6.sin6_port = htons(4444);
	if (carried_do(DO_BIND, socket(AF_INET6, SOCK_STREAM, 0), &any6, sizeof(any6)) != not_for_all())
		return 6;
	/* Never bound, it would listen on every address. */
	if (carried_do(DO_LISTEN, fd, (void *)4, 0) != not_for_all())
		return 4;
	return carried_do(DO_LISTEN, local(), (void *)4, 0) == -EINVAL ? 0 : 5; /* the kernel's word */
}

START_TEST(bound_ports)
{
	net_run(&t, take_ports);
	ck_assert_uint_eq(count_records(&t, VERDICT_DENY, "0.0.0.0:0"), not_for_all() == 0 ? 0 : 2);
}
END_TEST

/* --- under another name ------------------------------------------------------------------------------ */

static int reach_aliases(void)
{
	EXPECT(reach("linked") == -EACCES);
	EXPECT(reach("moved") == -EACCES);
	EXPECT(reach("known") == -EACCES);
	EXPECT(reach("unknown") == 0);
	EXPECT(reach("here") == 0);
	return 0;
}

/* Here sockets may be reached by a rule; those were made elsewhere. */
START_TEST(aliases)
{
	const char *const names[][2] = { { "../out/one", "linked" },
					 { "../out/two", "moved" },
					 { "../tmux-7/default", "known" },
					 { "../shared/daemon", "unknown" } };
	char path[120];
	int fds[4], here;

	ck_assert_int_eq(mkdir("../tmux-7", 0755), 0);
	ck_assert_int_eq(mkdir("../shared", 0755), 0);
	for (int i = 0; i < 4; i++) {
		snprintf(path, sizeof(path), "%s/%s", ws, names[i][0] + 3);
		fds[i] = server_at(path, SOCK_STREAM);
		ck_assert_int_eq(i == 0 ? link(path, names[i][1]) : rename(path, names[i][1]), 0);
	}
	here = server_at("here", SOCK_STREAM);
	net_run(&t, reach_aliases);
	ck_assert_uint_eq(arrived(fds[0]) + arrived(fds[1]) + arrived(fds[2]), 0);
	ck_assert_uint_eq(arrived(fds[3]), 1);
	ck_assert_uint_eq(arrived(here), 1);
	snprintf(path, sizeof(path), "%s/out/two", ws);
	ck_assert_uint_eq(count_records(&t, VERDICT_DENY, path), 1);
}
END_TEST

/* --- datagrams --------------------------------------------------------------------------------------- */

static long send_on(int fd)
{
	return carried_do(DO_SENDTO, fd, NULL, 0);
}

/* The kernel goes on with getpgid(2), for which the descriptor is a pid: one of somebody or of nobody. */
static bool goes_on(int fd)
{
	long r = send_on(fd);

	return r >= 0 || r == -ESRCH;
}

static int send_datagrams(void)
{
	/* What is made is none: it leads nowhere. */
	long line = carried_do(DO_SOCKET, AF_INET, (void *)(long)SOCK_DGRAM, 0);
	int domain = 0;
	socklen_t len = sizeof(domain);

	if (line < 0 || getsockopt((int)line, SOL_SOCKET, SO_DOMAIN, &domain, &len) < 0 || domain != AF_UNIX)
		return 1;
	if (send_on(socket(AF_INET, SOCK_DGRAM, 0)) != -EACCES ||
	    send_on(socket(AF_UNIX, SOCK_DGRAM, 0)) != -EACCES)
		return 2;
	if (!goes_on(tcp()) || !goes_on(local()) || !goes_on(socket(AF_NETLINK, SOCK_RAW, 0)))
		return 3;
	return send_on(-1) == -EBADF && send_on(open("/", O_RDONLY)) == -ENOTSOCK ? 0 : 4;
}

START_TEST(datagrams)
{
	net_run(&t, send_datagrams);
	ck_assert_uint_eq(count_records(&t, VERDICT_DENY, "datagram"), 1);
}
END_TEST

Suite *suite_net_unix(void)
{
	Suite *s = suite_create("net_unix");
	TCase *tc = tcase_create("unix");

	suite_add_tcase(s, tc);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, socket_files);
	tcase_add_test(tc, no_such_socket);
	tcase_add_test(tc, abstract_names);
	tcase_add_test(tc, own_sockets);
	tcase_add_test(tc, bound_files);
	tcase_add_test(tc, sockets_of_strangers);
	tcase_add_test(tc, aliases);
	tcase_add_test(tc, a_swapped_directory_wins_nothing);
	tcase_add_test(tc, bound_ports);
	tcase_add_test(tc, datagrams);
	return s;
}
