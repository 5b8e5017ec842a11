/* Look-ups in a process's name: who judges, who is asked, what is recorded and told.  Nothing goes upstream.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>

#include "tests/unit/served.h"
#include "tests/unit/dns_fixture.h"
#include "tools/supervisor/supervisor.h"
#include "tools/supervisor/proc/procstat.h"
#include "tools/supervisor/caller.h"
#include "tools/supervisor/hosts/inquiry.h"
#include "tools/supervisor/hosts/resolver.h"
#include "tools/supervisor/listener.h"

Suite *suite_resolver(void);

#define LONG "d3b07384d113edec49eaa6238ad5ff00d3b07384d113edec4900"

static struct carried t;
static int err[2];
static char said[4096];

static void rules(struct fixture *f)
{
	fixture_rule(f, RULE_NET_DENY, "evil.example");
	fixture_rule(f, RULE_NET_ASK, "ask.example");
	fixture_rule(f, RULE_NET_ASK, LONG ".full.example");
	fixture_rule(f, RULE_NET_ALLOW, "*.wild.example");
	f->p.s.timeout_s = 30;
}

/* Lives until it is killed; what is told it comes by its descriptor 2. */
static int live(void)
{
	dup2(err[1], 2);
	for (;;)
		pause();
	return 0;
}

static void setup(void)
{
	ck_assert_int_eq(pipe2(err, O_CLOEXEC | O_NONBLOCK), 0);
	carried_init(&t, rules);
	carried_start(&t, live);
	carried_go(&t);
	usleep(20000);
}

static void teardown(void)
{
	kill(t.child, SIGKILL);
	(void)carried_wait(&t);
	carried_done(&t);
	close(err[0]);
	close(err[1]);
}

/* --- a look-up ------------------------------------------------------------------------------------- */

struct lookup {
	struct loop_job job;
	struct packet ask, got;
	sem_t done;
};

static void on_reply(void *cookie, const uint8_t *msg, size_t len)
{
	struct lookup *l = cookie;

	pk_bytes(&l->got, msg, len);
	sem_post(&l->done);
}

static void on_begin(struct loop_job *j)
{
	struct lookup *l = (struct lookup *)(void *)j;
	const struct asker who = { .tgid = t.child };

	if (!resolver_query(t.sup, &who, l->ask.p, l->ask.n, on_reply, l))
		sem_post(&l->done);
}

static void begin(struct lookup *l, const char *name, unsigned type)
{
	memset(l, 0, sizeof(*l));
	l->ask = query(0x4242, name, type);
	l->job.run = on_begin;
	sem_init(&l->done, 0, 0);
	loop_post(session_loop(t.sup), &l->job);
}

static bool comes(struct lookup *l)
{
	struct timespec end;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += 10;
	while (sem_timedwait(&l->done, &end) < 0)
		if (errno == ETIMEDOUT)
			return false;
	return l->got.n > 0;
}

static unsigned code_of(const char *name)
{
	struct lookup l;

	begin(&l, name, DNS_TYPE_A);
	ck_assert(comes(&l));
	return l.got.p[3] & 0xfu;
}

static void expect(enum verdict v, enum reason why, const char *target)
{
	struct ring_record r;

	ck_assert(carried_record(&t, &r));
	ck_assert_int_eq(r.op, OP_RESOLVE);
	ck_assert_int_eq(r.verdict, v);
	ck_assert_int_eq(r.reason, why);
	ck_assert_str_eq(r.target, target);
	ck_assert_int_eq(r.pid, t.child);
	ck_assert_int_eq(r.note, NOTE_NONE);
}

static const char *told(void)
{
	ssize_t n = read(err[0], said, sizeof(said) - 1);

	said[n > 0 ? n : 0] = '\0';
	return said;
}

START_TEST(denied_names)
{
	ck_assert_uint_eq(code_of("Evil.Example"), DNS_NXDOMAIN);
	expect(VERDICT_DENY, REASON_RULE, "evil.example");
	ck_assert_ptr_nonnull(strstr(told(), "pale: denied resolve evil.example (policy.ini:1"));
	ck_assert_uint_eq(code_of("nobody.named.example"), DNS_NXDOMAIN);
	expect(VERDICT_DENY, REASON_HOST, "nobody.named.example");
	ck_assert_uint_eq(code_of("localhost"), DNS_NOERROR);
}
END_TEST

START_TEST(names_that_carry_more)
{
	ck_assert_uint_eq(code_of(LONG ".wild.example"), DNS_NXDOMAIN);
	expect(VERDICT_DENY, REASON_EXFIL, LONG ".wild.example");
	ck_assert_ptr_nonnull(
		strstr(told(), "names this long or this many could carry data to a name server"));
	/* A rule that has it in full is not limited: here nobody is there to be asked. */
	ck_assert_uint_eq(code_of(LONG ".full.example"), DNS_NXDOMAIN);
	expect(VERDICT_DENY, REASON_NOBODY, LONG ".full.example");
}
END_TEST

START_TEST(an_orphan_is_held_by_each_image)
{
	struct caller c;
	struct worker *desk = desk_new(t.sup);
	const struct asker orphan = { .tgid = t.child, .is_orphan = true }, unknown = { t.child, 9, false };
	uint64_t word;

	asker_stand_in(&c, t.sup, &orphan, desk);
	ck_assert(c.is_orphan);
	asker_stand_in(&c, t.sup, &unknown, desk);
	ck_assert(c.is_orphan);
	/* Nothing of the process is read but where it is told. */
	ck_assert_int_eq(caller_read(&c, (uint64_t)(uintptr_t)&word, &word, sizeof(word)), -ESRCH);
	ck_assert_int_eq(caller_dir(&c, AT_FDCWD), -ESRCH);
	ck_assert_int_eq(caller_fd(&c, 0), -ESRCH);
	ck_assert(caller_alive(&c));
	desk_free(desk);
}
END_TEST

/* --- a human ---------------------------------------------------------------------------------------- */

static uint8_t frame[LIMIT_FRAME];
static int helper_fd;
static pthread_t helper;
static _Atomic unsigned questions, hangups;
static bool silent;

static ssize_t receive(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 10000) == 1 ? recv(fd, frame, sizeof(frame), 0) : -1;
}

static void answer_one(int fd)
{
	struct wire_answer a = {
		.verdict = VERDICT_DENY, .reason = REASON_HUMAN, .text = "no", .approval = "a1"
	};
	struct wire_behalf who;
	struct wire_ask ask;
	int n;

	if (wire_get_behalf(frame, (size_t)receive(fd), &who) < 0 ||
	    wire_get_ask(frame, (size_t)receive(fd), &ask) < 0 || ask.req.op != OP_RESOLVE ||
	    ask.pid != t.child)
		return;
	atomic_fetch_add(&questions, 1);
	if (silent) {
		if (receive(fd) == 0)
			atomic_fetch_add(&hangups, 1);
		return;
	}
	usleep(3 * WIRE_SETTLE_MS * 1000);
	n = wire_put_answer(frame, sizeof(frame), &a);
	(void)!send(fd, frame, n > 0 ? (size_t)n : 0, MSG_NOSIGNAL);
}

static void *helper_main(void *arg)
{
	int fd;

	while ((fd = accept4(helper_fd, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
		answer_one(fd);
		close(fd);
	}
	return arg;
}

static void helper_start(bool is_silent)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };

	silent = is_silent;
	atomic_store(&questions, 0);
	atomic_store(&hangups, 0);
	snprintf(sun.sun_path, sizeof(sun.sun_path), "%s/%s", t.dir, WIRE_AGENT_SOCKET);
	helper_fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(bind(helper_fd, (struct sockaddr *)&sun, sizeof(sun)), 0);
	ck_assert_int_eq(listen(helper_fd, 8), 0);
	ck_assert_int_eq(pthread_create(&helper, NULL, helper_main, NULL), 0);
}

static void helper_end(void)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", t.dir, WIRE_AGENT_SOCKET);
	unlink(path);
	shutdown(helper_fd, SHUT_RDWR);
	pthread_join(helper, NULL);
	close(helper_fd);
}

/* Both families of one name are one question. */
START_TEST(asked_once)
{
	struct lookup four, six;

	helper_start(false);
	begin(&four, "ask.example", DNS_TYPE_A);
	begin(&six, "ask.example", DNS_TYPE_AAAA);
	ck_assert(comes(&four) && comes(&six));
	ck_assert_uint_eq(four.got.p[3] & 0xf, DNS_NXDOMAIN);
	ck_assert_uint_eq(six.got.p[3] & 0xf, DNS_NXDOMAIN);
	ck_assert_uint_eq(atomic_load(&questions), 1);
	expect(VERDICT_DENY, REASON_HUMAN, "ask.example");
	ck_assert_ptr_nonnull(strstr(told(), "pale: waiting for approval: resolve ask.example"));
	helper_end();
}
END_TEST

static bool is_asked(struct carried *c)
{
	(void)c;
	return atomic_load(&questions) > 0;
}

static bool is_hung_up(struct carried *c)
{
	(void)c;
	return atomic_load(&hangups) > 0;
}

START_TEST(a_dead_asker_takes_his_question_back)
{
	struct lookup l;

	helper_start(true);
	begin(&l, "ask.example", DNS_TYPE_A);
	carried_until(&t, is_asked);
	kill(t.child, SIGKILL);
	carried_until(&t, is_hung_up);
	helper_end();
}
END_TEST

START_TEST(a_yes_is_for_one_process)
{
	static struct inquiries q;
	const struct asker who = { .tgid = t.child };

	const struct host_yes yes = { "a1", t.child, start_of(t.child), UINT64_MAX, session_image(t.sup) };
	struct host_yes *now = &q.grants[0].yes;

	q.sup = t.sup;
	q.grants[0] = (struct grant){ who, "ask.example", yes };
	ck_assert_ptr_nonnull(inquiry_granted(&q, &who, "ask.example"));
	ck_assert_ptr_null(inquiry_granted(&q, &who, "other.example"));
	/* Another process had this number, or the process was gone. */
	now->start--;
	ck_assert_ptr_null(inquiry_granted(&q, &who, "ask.example"));
	now->start = 0;
	ck_assert_ptr_null(inquiry_granted(&q, &who, "ask.example"));
	/* The time is over; the policy is another one. */
	*now = yes;
	now->until_s = 1;
	ck_assert_ptr_null(inquiry_granted(&q, &who, "ask.example"));
	*now = yes;
	now->policy = NULL;
	ck_assert_ptr_null(inquiry_granted(&q, &who, "ask.example"));
}
END_TEST

/* teardown() would hang: the session ends while a human is asked. */
START_TEST(the_end_waits_for_nobody)
{
	static struct lookup l;
	struct timespec from, to;

	helper_start(true);
	begin(&l, "ask.example", DNS_TYPE_A);
	carried_until(&t, is_asked);
	clock_gettime(CLOCK_MONOTONIC, &from);
	ck_assert(resolver_end(t.sup));
	resolver_done(t.sup);
	clock_gettime(CLOCK_MONOTONIC, &to);
	ck_assert_int_le(to.tv_sec - from.tv_sec, 1);
	helper_end();
	ck_assert_uint_eq(atomic_load(&hangups), 1);
}
END_TEST

Suite *suite_resolver(void)
{
	Suite *s = suite_create("resolver");
	TCase *c = tcase_create("resolver");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_set_timeout(c, 30);
	tcase_add_test(c, denied_names);
	tcase_add_test(c, names_that_carry_more);
	tcase_add_test(c, an_orphan_is_held_by_each_image);
	tcase_add_test(c, asked_once);
	tcase_add_test(c, a_dead_asker_takes_his_question_back);
	tcase_add_test(c, a_yes_is_for_one_process);
	tcase_add_test(c, the_end_waits_for_nobody);
	suite_add_tcase(s, c);
	return s;
}
