/* A question to a human: in whose name it is asked, and what comes of the answer. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/served.h"
#include "tools/supervisor/answer.h"
#include "tools/supervisor/verdict/verdict.h"

Suite *suite_supervisor_ask(void);

static struct carried t;

#define ASKED "/ws/asked"

/* The child's standard error. */
static int err_fd = -1;

static void rules(struct fixture *f)
{
	fixture_workspace(f);
	fixture_rule(f, RULE_FILE_ASK, ASKED);
	f->p.s.timeout_s = 1;
}

static struct answer judge(struct caller *c)
{
	struct request req = { .op = OP_WRITE, .access = ACCESS_WRITE, .path = ASKED };

	return answer_result(verdict_judge(c, &req, req.path) ? 1 : -EACCES);
}

static void begin(deed_fn deed)
{
	carried_handler = judge;
	carried_init(&t, rules);
	for (size_t i = 0; i < sizeof(t.setup.nonce); i++)
		t.setup.nonce[i] = (uint8_t)(i * 7 + 1);
	carried_start(&t, deed);
}

static void expect_record(enum verdict v, enum reason why)
{
	struct ring_record r;

	ck_assert(carried_record(&t, &r));
	ck_assert_str_eq(r.target, ASKED);
	ck_assert_int_eq(r.verdict, v);
	ck_assert_int_eq(r.reason, why);
}

/* What came of it, behind the decision. */
static void expect_outcome(uint32_t result)
{
	struct ring_record r;

	ck_assert(carried_record(&t, &r));
	ck_assert_int_eq(r.kind, RING_OUTCOME);
	ck_assert_uint_eq(r.rule, result);
	ck_assert_str_ne(r.approval, "");
}

static void expect_no_record(void)
{
	struct ring_record r;

	ck_assert(!carried_record(&t, &r));
}

static const char *read_all(int fd)
{
	static char text[65536 + 1];
	ssize_t n = read(fd, text, sizeof(text) - 1);

	text[n > 0 ? n : 0] = '\0';
	return text;
}

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
	/* A human takes his time; that nobody can be reached is known at once. */
	if (h.reason != REASON_NOBODY)
		usleep(3 * WIRE_SETTLE_MS * 1000);
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
	r = carried_call(0, 0, 0);
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
	ck_assert_str_eq(h.target, ASKED);
	ck_assert_int_eq(strstr(said, "pale: waiting for approval: write /ws/asked; answer") != NULL,
			 how.reason != REASON_NOBODY);
	close(ends[0]);
	close(ends[1]);
	return said;
}

START_TEST(what_is_approved_is_allowed)
{
	const char *said =
		ask((struct helper){ .verdict = VERDICT_ALLOW, .reason = REASON_HUMAN, .text = "go on" }, 0);

	ck_assert_ptr_null(strstr(said, "denied"));
	expect_record(VERDICT_ALLOW, REASON_HUMAN);
	expect_outcome(0);
	expect_no_record();
	carried_done(&t);
}
END_TEST

START_TEST(what_is_refused_is_denied_with_the_words)
{
	const char *said = ask(
		(struct helper){ .verdict = VERDICT_DENY, .reason = REASON_HUMAN, .text = "not\ntoday" }, 13);

	ck_assert_ptr_nonnull(strstr(said, "pale: denied write /ws/asked"));
	ck_assert_ptr_nonnull(strstr(said, "the operator answered: not\\x0atoday)"));
	expect_record(VERDICT_DENY, REASON_HUMAN);
	carried_done(&t);
}
END_TEST

START_TEST(nobody_there_is_denied)
{
	err_fd = 2;
	begin(ask_once);
	carried_go(&t);
	ck_assert_int_eq(carried_wait(&t), 13);
	expect_record(VERDICT_DENY, REASON_NOBODY);
	carried_done(&t);
}
END_TEST

static int ask_and_die(void)
{
	pid_t child = fork();

	if (child == 0)
		_exit(carried_call(0, 0, 0) == 1);
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

Suite *suite_supervisor_ask(void)
{
	Suite *s = suite_create("supervisor_ask");
	TCase *tc = tcase_create("supervisor_ask");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, what_is_approved_is_allowed);
	tcase_add_test(tc, what_is_refused_is_denied_with_the_words);
	tcase_add_test(tc, nobody_there_is_denied);
	tcase_add_test(tc, a_dead_asker_takes_his_question_back);
	suite_add_tcase(s, tc);
	return s;
}
