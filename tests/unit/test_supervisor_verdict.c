/* What follows from a verdict: asked, recorded, said; and what the kernel says first. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit/carried.h"

Suite *suite_supervisor_verdict(void);

static struct carried t;

enum { JUDGE_OPEN, JUDGE_REFUSE, JUDGE_NOTE, JUDGE_ATTACH };
enum { PATH_FREE, PATH_DENIED, PATH_ASKED };

static const char *const paths[] = { "/ws/free", "/ws/denied", "/ws/asked" };

static void rules(struct fixture *f)
{
	fixture_workspace(f);
	fixture_rule(f, RULE_FILE_DENY, paths[PATH_DENIED]);
	fixture_rule(f, RULE_FILE_ASK, paths[PATH_ASKED]);
	f->p.s.timeout_s = 1;
}

static struct answer judge(struct caller *c)
{
	struct request req = { .op = OP_WRITE, .access = ACCESS_WRITE, .path = paths[c->arg[1]] };
	bool ok = false;

	switch (c->arg[0]) {
	case JUDGE_NOTE:
		verdict_note(c, NOTE_FLOOR);
		/* fall through */
	case JUDGE_OPEN:
		ok = verdict_judge(c, &req, req.path);
		break;
	case JUDGE_REFUSE:
		verdict_refuse(c, &req, req.path, REASON_PROCESS);
		break;
	case JUDGE_ATTACH:
		verdict_attach(c, "/bin/static", NOTE_STATIC);
		ok = true;
		break;
	default:
		break;
	}
	return answer_result(ok ? 1 : -EACCES);
}

static void prepare(void)
{
	carried_handler = judge;
	carried_init(&t, rules);
	for (size_t i = 0; i < sizeof(t.setup.nonce); i++)
		t.setup.nonce[i] = (uint8_t)(i * 7 + 1);
}

static void begin(deed_fn deed)
{
	prepare();
	carried_start(&t, deed);
}

static void end(void)
{
	ck_assert_int_eq(carried_wait(&t), 0);
	carried_done(&t);
}

/* The next record is this. */
static void expect_record(const char *target, enum verdict v, enum reason why, enum ring_note note)
{
	struct ring_record r;

	ck_assert(carried_record(&t, &r));
	ck_assert_int_eq(r.kind, RING_DECISION);
	ck_assert_str_eq(r.target, target);
	ck_assert_int_eq(r.verdict, v);
	ck_assert_int_eq(r.reason, why);
	ck_assert_int_eq(r.note, note);
	ck_assert_int_eq(r.op, OP_WRITE);
	ck_assert_int_gt(r.pid, 0);
	ck_assert_uint_eq(r.image, 0);
}

static void expect_no_record(void)
{
	struct ring_record r;

	ck_assert(!carried_record(&t, &r));
}

/* --- recorded --------------------------------------------------------------------------------------- */

static int be_judged(void)
{
	close(2);
	return carried_call(JUDGE_OPEN, PATH_FREE, 0) == 1 &&
			       carried_call(JUDGE_OPEN, PATH_DENIED, 0) == -EACCES &&
			       carried_call(JUDGE_REFUSE, PATH_FREE, 0) == -EACCES &&
			       carried_call(JUDGE_NOTE, PATH_FREE, 0) == 1 &&
			       carried_call(JUDGE_OPEN, PATH_FREE, 0) == 1
		       ? 0
		       : 1;
}

START_TEST(every_judged_call_is_recorded)
{
	struct supervisor_counts n;

	begin(be_judged);
	carried_go(&t);
	ck_assert_int_eq(carried_wait(&t), 0);
	expect_record(paths[PATH_FREE], VERDICT_ALLOW, REASON_INSIDE, NOTE_NONE);
	expect_record(paths[PATH_DENIED], VERDICT_DENY, REASON_RULE, NOTE_NONE);
	expect_record(paths[PATH_FREE], VERDICT_DENY, REASON_PROCESS, NOTE_NONE);
	expect_record(paths[PATH_FREE], VERDICT_ALLOW, REASON_INSIDE, NOTE_FLOOR);
	expect_record(paths[PATH_FREE], VERDICT_ALLOW, REASON_INSIDE, NOTE_NONE);
	expect_no_record();
	supervisor_count(t.sup, &n);
	ck_assert_uint_eq(n.carried, 5);
	ck_assert_uint_eq(n.denied, 2);
	carried_done(&t);
}
END_TEST

START_TEST(who_went_around_his_hooks_is_noted)
{
	static char self[PATH_MAX];

	ck_assert_int_gt(readlink("/proc/self/exe", self, sizeof(self) - 1), 0);
	for (int strict = 0; strict < 2; strict++) {
		prepare();
		t.setup.preload = self;
		t.setup.level = strict ? LEVEL_STRICT : LEVEL_FULL;
		carried_start(&t, be_judged);
		carried_go(&t);
		ck_assert_int_eq(carried_wait(&t), 0);
		expect_record(paths[PATH_FREE], VERDICT_ALLOW, REASON_INSIDE, NOTE_NONE);
		expect_record(paths[PATH_DENIED], VERDICT_DENY, REASON_RULE,
			      strict ? NOTE_NONE : NOTE_AROUND);
		/* No rule that a hook could have known. */
		expect_record(paths[PATH_FREE], VERDICT_DENY, REASON_PROCESS, NOTE_NONE);
		carried_done(&t);
	}
}
END_TEST

static int attach_twice(void)
{
	return carried_call(JUDGE_ATTACH, 0, 0) == 1 && carried_call(JUDGE_ATTACH, 0, 0) == 1 ? 0 : 1;
}

START_TEST(a_program_attaches_once)
{
	struct ring_record r;

	begin(attach_twice);
	carried_go(&t);
	ck_assert_int_eq(carried_wait(&t), 0);
	ck_assert(carried_record(&t, &r));
	ck_assert_int_eq(r.kind, RING_ATTACH);
	ck_assert_int_eq(r.note, NOTE_STATIC);
	ck_assert_str_eq(r.exe, "/bin/static");
	ck_assert_int_eq(r.pid, t.child);
	expect_no_record();
	carried_done(&t);
}
END_TEST

static bool give_up(unsigned round)
{
	(void)round;
	return false;
}

static int many_in_a_full_ring(void)
{
	close(2);
	for (int i = 0; i < 2000; i++)
		if (carried_call(JUDGE_OPEN, PATH_FREE, 0) != 1)
			return 1;
	return 0;
}

START_TEST(a_dead_reader_costs_one_wait)
{
	const struct ring_record filler = { .kind = RING_DECISION, .target = "", .approval = "", .exe = "" };
	struct timespec a, b;

	begin(many_in_a_full_ring);
	while (ring_write(t.setup.kernel_ring, &filler, give_up))
		;
	clock_gettime(CLOCK_MONOTONIC, &a);
	carried_go(&t);
	ck_assert_int_eq(carried_wait(&t), 0);
	clock_gettime(CLOCK_MONOTONIC, &b);
	ck_assert_int_lt(b.tv_sec - a.tv_sec, 5);
	ck_assert_uint_eq(atomic_load(&t.setup.kernel_ring->lost), 2001);
	carried_done(&t);
}
END_TEST

/* --- said --------------------------------------------------------------------------------------------- */

/* The child's standard error. */
static int err_fd = -1;

static int be_denied_twice(void)
{
	dup2(err_fd, 2);
	for (int i = 0; i < 2; i++)
		if (carried_call(JUDGE_OPEN, PATH_DENIED, 0) != -EACCES)
			return 1;
	return 0;
}

static const char *read_all(int fd)
{
	static char text[65536 + 1];
	ssize_t n = read(fd, text, sizeof(text) - 1);

	text[n > 0 ? n : 0] = '\0';
	return text;
}

START_TEST(a_denial_is_said_once_on_a_pipe)
{
	int ends[2];
	const char *line;

	ck_assert_int_eq(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
	err_fd = ends[1];
	begin(be_denied_twice);
	carried_go(&t);
	end();
	line = read_all(ends[0]);
	ck_assert_ptr_eq(strstr(line, "pale: denied write /ws/denied (policy.ini:1 [files] deny = /ws/denied)"
				      " id="),
			 line);
	ck_assert_ptr_eq(strchr(line, '\n'), line + strlen(line) - 1);
	close(ends[0]);
	close(ends[1]);
}
END_TEST

START_TEST(a_file_is_talked_to_only_where_it_is_ours)
{
	char path[] = "/tmp/pale-err-XXXXXX";
	int own = fcntl(2, F_DUPFD_CLOEXEC, 3);
	struct stat st;

	err_fd = mkostemp(path, O_CLOEXEC);
	unlink(path);
	for (int ours = 0; ours < 2; ours++) {
		dup2(ours ? err_fd : own, 2);
		begin(be_denied_twice);
		dup2(own, 2);
		carried_go(&t);
		end();
		ck_assert_int_eq(fstat(err_fd, &st), 0);
		ck_assert_int_eq(st.st_size > 0, ours);
	}
	close(err_fd);
	close(own);
}
END_TEST

START_TEST(no_connection_is_talked_to)
{
	int ends[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), 0);
	err_fd = ends[1];
	begin(be_denied_twice);
	carried_go(&t);
	end();
	ck_assert_str_eq(read_all(ends[0]), "");
	close(ends[0]);
	close(ends[1]);
}
END_TEST

START_TEST(a_full_pipe_is_not_waited_for)
{
	int ends[2];

	ck_assert_int_eq(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
	while (write(ends[1], "x", 1) == 1)
		;
	fcntl(ends[1], F_SETFL, 0);
	err_fd = ends[1];
	begin(be_denied_twice);
	carried_go(&t);
	end();
	ck_assert_ptr_null(strstr(read_all(ends[0]), "pale"));
	close(ends[0]);
	close(ends[1]);
}
END_TEST

/* --- asked ---------------------------------------------------------------------------------------------- */

struct helper {
	int listener;
	pthread_t thread;
	enum verdict verdict; /* what it answers */
	enum reason reason;
	const char *text;
	bool silent; /* it waits for the hang-up instead */
	int32_t pid; /* who asked */
	bool genuine;
	_Atomic bool hung_up;
	char target[LIMIT_PATH];
};
static struct helper h;
static uint8_t frame[LIMIT_FRAME];
static struct wire_ask asked;

static ssize_t receive(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 10000) == 1 ? recv(fd, frame, sizeof(frame), 0) : -1;
}

static void serve_question(int fd)
{
	struct wire_answer a = { .verdict = h.verdict, .reason = h.reason, .text = h.text, .approval = "a1" };
	struct wire_behalf who;
	int n;

	if (wire_get_behalf(frame, (size_t)receive(fd), &who) < 0 ||
	    wire_get_ask(frame, (size_t)receive(fd), &asked) < 0)
		return;
	h.genuine = memcmp(who.nonce, t.setup.nonce, sizeof(who.nonce)) == 0 && asked.pid == who.pid;
	h.pid = who.pid;
	snprintf(h.target, sizeof(h.target), "%s", asked.req.path);
	if (h.silent) {
		h.hung_up = receive(fd) == 0;
		return;
	}
	n = wire_put_answer(frame, sizeof(frame), &a);
	if (n > 0)
		(void)!send(fd, frame, (size_t)n, MSG_NOSIGNAL);
}

static void *helper_main(void *arg)
{
	int fd = accept4(h.listener, NULL, NULL, SOCK_CLOEXEC);

	(void)arg;
	if (fd >= 0) {
		serve_question(fd);
		close(fd);
	}
	return NULL;
}

static void helper_start(void)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };

	snprintf(sun.sun_path, sizeof(sun.sun_path), "%s/%s", t.dir, WIRE_AGENT_SOCKET);
	h.listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(bind(h.listener, (struct sockaddr *)&sun, sizeof(sun)), 0);
	ck_assert_int_eq(listen(h.listener, 8), 0);
	ck_assert_int_eq(pthread_create(&h.thread, NULL, helper_main, NULL), 0);
}

static void helper_end(void)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", t.dir, WIRE_AGENT_SOCKET);
	unlink(path);
	shutdown(h.listener, SHUT_RDWR);
	pthread_join(h.thread, NULL);
	close(h.listener);
}

static int ask_once(void)
{
	long r;

	dup2(err_fd, 2);
	r = carried_call(JUDGE_OPEN, PATH_ASKED, 0);
	return r == 1 ? 0 : r == -EACCES ? 13 : 99;
}

/* Asks, and gives what was said on standard error. */
static const char *ask(struct helper how, int status)
{
	const char *said;
	int ends[2];

	ck_assert_int_eq(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
	err_fd = ends[1];
	begin(ask_once);
	h = how;
	helper_start();
	carried_go(&t);
	ck_assert_int_eq(carried_wait(&t), status);
	helper_end();
	said = read_all(ends[0]);
	ck_assert(h.genuine);
	ck_assert_int_eq(h.pid, t.child);
	ck_assert_str_eq(h.target, paths[PATH_ASKED]);
	ck_assert_ptr_nonnull(strstr(said, "pale: waiting for approval: write /ws/asked; answer"));
	close(ends[0]);
	close(ends[1]);
	return said;
}

START_TEST(what_is_approved_is_allowed)
{
	const char *said =
		ask((struct helper){ .verdict = VERDICT_ALLOW, .reason = REASON_HUMAN, .text = "go on" }, 0);

	ck_assert_ptr_null(strstr(said, "denied"));
	expect_record(paths[PATH_ASKED], VERDICT_ALLOW, REASON_HUMAN, NOTE_NONE);
	expect_no_record();
	carried_done(&t);
}
END_TEST

START_TEST(what_is_refused_is_denied_with_the_words)
{
	const char *said = ask(
		(struct helper){ .verdict = VERDICT_DENY, .reason = REASON_HUMAN, .text = "not\ntoday" }, 13);

	ck_assert_ptr_nonnull(strstr(said, "pale: denied write /ws/asked"));
	ck_assert_ptr_nonnull(strstr(said, "; said: not\\ntoday\n"));
	expect_record(paths[PATH_ASKED], VERDICT_DENY, REASON_HUMAN, NOTE_NONE);
	carried_done(&t);
}
END_TEST

START_TEST(nobody_there_is_denied)
{
	err_fd = 2;
	begin(ask_once);
	carried_go(&t);
	ck_assert_int_eq(carried_wait(&t), 13);
	expect_record(paths[PATH_ASKED], VERDICT_DENY, REASON_NOBODY, NOTE_NONE);
	carried_done(&t);
}
END_TEST

static int ask_and_die(void)
{
	pid_t child = fork();

	if (child == 0)
		_exit(carried_call(JUDGE_OPEN, PATH_ASKED, 0) == 1);
	usleep(200000);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return 0;
}

static bool has_hung_up(struct carried *s)
{
	(void)s;
	return h.hung_up;
}

START_TEST(a_dead_asker_takes_his_question_back)
{
	begin(ask_and_die);
	h = (struct helper){ .silent = true };
	helper_start();
	carried_go(&t);
	ck_assert_int_eq(carried_wait(&t), 0);
	carried_until(&t, has_hung_up);
	helper_end();
	ck_assert(h.genuine);
	expect_no_record();
	carried_done(&t);
}
END_TEST

/* --- existence first -------------------------------------------------------------------------------------
 */

static int earlier(const char *dir, enum op op, const char *name, enum reason why)
{
	struct resolved r = { .parent = open(dir, O_PATH | O_CLOEXEC) };
	struct request req = { .op = op, .access = op_access(op) };
	struct decision d = { .verdict = VERDICT_DENY, .reason = why, .rule = RULE_NONE };
	int e;

	snprintf(r.name, sizeof(r.name), "%s", name);
	e = verdict_earlier(&d, &req, &r);
	close(r.parent);
	return e;
}

START_TEST(existence_comes_first)
{
	char dir[] = "/tmp/pale-earlier-XXXXXX", sub[64], deep[80];

	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(sub, sizeof(sub), "%s/sub", dir);
	snprintf(deep, sizeof(deep), "%s/sub/deep", dir);
	ck_assert_int_eq(mkdir(sub, 0700), 0);
	ck_assert_int_eq(earlier(dir, OP_MKDIR, "sub", REASON_OUTSIDE), -EEXIST);
	ck_assert_int_eq(earlier(dir, OP_MKDIR, "new", REASON_OUTSIDE), 0);
	ck_assert_int_eq(earlier(dir, OP_DELETE, "new", REASON_OUTSIDE), -ENOENT);
	ck_assert_int_eq(earlier(dir, OP_DELETE, "sub", REASON_ANCESTOR), 0);
	ck_assert_int_eq(mkdir(deep, 0700), 0);
	ck_assert_int_eq(earlier(dir, OP_DELETE, "sub", REASON_ANCESTOR), -ENOTEMPTY);
	ck_assert_int_eq(earlier(dir, OP_DELETE, "sub", REASON_OUTSIDE), 0);
	rmdir(deep);
	rmdir(sub);
	rmdir(dir);
}
END_TEST

Suite *suite_supervisor_verdict(void)
{
	Suite *s = suite_create("supervisor_verdict");
	TCase *tc = tcase_create("supervisor_verdict");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, every_judged_call_is_recorded);
	tcase_add_test(tc, who_went_around_his_hooks_is_noted);
	tcase_add_test(tc, a_program_attaches_once);
	tcase_add_test(tc, a_dead_reader_costs_one_wait);
	tcase_add_test(tc, a_denial_is_said_once_on_a_pipe);
	tcase_add_test(tc, a_file_is_talked_to_only_where_it_is_ours);
	tcase_add_test(tc, no_connection_is_talked_to);
	tcase_add_test(tc, a_full_pipe_is_not_waited_for);
	tcase_add_test(tc, what_is_approved_is_allowed);
	tcase_add_test(tc, what_is_refused_is_denied_with_the_words);
	tcase_add_test(tc, nobody_there_is_denied);
	tcase_add_test(tc, a_dead_asker_takes_his_question_back);
	tcase_add_test(tc, existence_comes_first);
	suite_add_tcase(s, tc);
	return s;
}
