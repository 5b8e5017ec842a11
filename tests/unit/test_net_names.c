/* By which name an address was meant: what is true of it, what is only claimed, what a human said. */
#include <fcntl.h>

#include "tests/unit/net_fixture.h"
#include "tools/supervisor/supervisor.h"
#include "tools/supervisor/proc/procstat.h"
#include "tools/supervisor/hosts/resolver.h"

Suite *suite_net_names(void);

static struct carried t;
static uint16_t port;
static int listener;
static char here_name[32];

static const uint8_t here[16] = { [10] = 0xff, 0xff, 127, 0, 0, 1 };
static const uint8_t any[16] = { [10] = 0xff, 0xff, 0, 0, 0, 0 };
static const uint8_t away[16] = { [10] = 0xff, 0xff, 93, 184, 216, 34 };

static void rules(struct fixture *f)
{
	fixture_rule(f, RULE_NET_ALLOW, here_name);
	fixture_rule(f, RULE_NET_ALLOW, "good.example:1-65535");
	fixture_rule(f, RULE_NET_ALLOW, "other.example:443");
	fixture_rule(f, RULE_NET_ASK, "ask.example");
	fixture_rule(f, RULE_NET_DENY, "bad.example:8000-8999");
	fixture_rule(f, RULE_NET_ALLOW, "93.184.216.34:8080-8099");
}

static void setup(void)
{
	listener = listener_at(&port, 16);
	set_nonblock(listener);
	snprintf(here_name, sizeof(here_name), "localhost:%u", port);
	net_setup(&t, rules);
}

static void teardown(void)
{
	net_done(&t);
	close(listener);
}

/* From a socket that leaves this machine by no other way than lo: whether it was let go is all that counts.
 */
static long reach_away(uint16_t at_port)
{
	struct sockaddr_in at = in_at(0x5db8d822, at_port);
	int fd = tcp();
	long r;

	fcntl(fd, F_SETFL, O_NONBLOCK);
	if (setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "lo", 3) < 0)
		return -ENOSYS;
	r = carried_connect(fd, &at, sizeof(at));
	close(fd);
	return r == -EACCES ? -EACCES : 0;
}

static long reach_here(void)
{
	struct sockaddr_in at = in_at(INADDR_LOOPBACK, port);
	int fd = tcp();
	long r = carried_connect(fd, &at, sizeof(at));

	close(fd);
	return r;
}

/* The answer to `name`, given to process `asker`, where it is not 0; approved for a process that started so
 * many ticks later. */
static void learn_later(const char *name, const uint8_t addr[16], pid_t asker, const char *approval,
			unsigned later)
{
	struct host_name n = { .askers = { asker }, .n_askers = asker ? 1 : 0 };

	snprintf(n.name, sizeof(n.name), "%s", name);
	if (approval[0])
		n.yes = (struct host_yes){ .pid = asker,
					   .start = start_of(asker) + later,
					   .until_s = UINT64_MAX,
					   .policy = session_image(t.sup) };
	snprintf(n.yes.approval, sizeof(n.yes.approval), "%s", approval);
	hosts_learn(session_hosts(t.sup), &n, addr, 300);
}

static void learn(const char *name, const uint8_t addr[16], pid_t asker, const char *approval)
{
	learn_later(name, addr, asker, approval, 0);
}

static void run(void)
{
	carried_go(&t);
	ck_assert_int_eq(carried_wait(&t), 0);
}

/* The next record's verdict and target. */
static void expect(enum verdict verdict, const char *host, unsigned at_port)
{
	struct ring_record r;
	char target[LIMIT_HOST + 8];

	snprintf(target, sizeof(target), "%s:%u", host, at_port);
	ck_assert(carried_record(&t, &r));
	ck_assert_str_eq(r.target, target);
	ck_assert_int_eq(r.verdict, verdict);
}

/* --- public addresses ---------------------------------------------------------------------------------- */

static int away_denied(void)
{
	return reach_away(443) == -EACCES ? 0 : 1;
}

START_TEST(a_claim_is_no_name)
{
	carried_start(&t, away_denied);
	ring_name_put(t.setup.ring, away, "good.example");
	run();
	expect(VERDICT_DENY, "93.184.216.34", 443);
}
END_TEST

static int away_allowed(void)
{
	return reach_away(443) == 0 ? 0 : 1;
}

START_TEST(an_answer_is)
{
	carried_start(&t, away_allowed);
	learn("good.example", away, 1, "");
	run();
	expect(VERDICT_ALLOW, "good.example", 443);
}
END_TEST

START_TEST(the_best_of_several)
{
	carried_start(&t, away_allowed);
	learn("good.example", away, 1, "");
	learn("unnamed.example", away, 1, "");
	run();
	expect(VERDICT_ALLOW, "good.example", 443);
}
END_TEST

START_TEST(the_newest_of_equals)
{
	carried_start(&t, away_allowed);
	learn("other.example", away, 1, "");
	learn("good.example", away, 1, "");
	run();
	expect(VERDICT_ALLOW, "good.example", 443);
}
END_TEST

START_TEST(unless_another_was_meant)
{
	carried_start(&t, away_allowed);
	learn("other.example", away, 1, "");
	learn("good.example", away, 1, "");
	ring_name_put(t.setup.ring, away, "other.example");
	run();
	expect(VERDICT_ALLOW, "other.example", 443);
}
END_TEST

/* Rules about the address: they open it by itself, but not against a rule that speaks of the name. */
static int by_address(void)
{
	EXPECT(reach_away(8080) == 0);
	EXPECT(reach_away(9000) == -EACCES);
	return 0;
}

START_TEST(an_address_by_itself)
{
	carried_start(&t, by_address);
	learn("other.example", away, 1, "");
	run();
	expect(VERDICT_ALLOW, "93.184.216.34", 8080);
	expect(VERDICT_DENY, "other.example", 9000);
}
END_TEST

static int denied_by_name(void)
{
	return reach_away(8080) == -EACCES ? 0 : 1;
}

START_TEST(not_over_a_denied_name)
{
	carried_start(&t, denied_by_name);
	learn("bad.example", away, 1, "");
	run();
	expect(VERDICT_DENY, "bad.example", 8080);
}
END_TEST

/* --- this machine -------------------------------------------------------------------------------------- */

static int here_allowed(void)
{
	return reach_here() == 0 ? 0 : 1;
}

static int here_denied(void)
{
	return reach_here() == -EACCES ? 0 : 1;
}

static void expect_rebinding(void)
{
	struct ring_record r;

	ck_assert(carried_record(&t, &r));
	ck_assert_int_eq(r.reason, REASON_REBIND);
	ck_assert_int_eq(r.verdict, VERDICT_DENY);
	ck_assert_uint_eq(arrived(listener), 0);
}

START_TEST(rebinding)
{
	carried_start(&t, here_denied);
	learn("good.example", here, t.child, "");
	run();
	expect_rebinding();
}
END_TEST

START_TEST(rebinding_by_any)
{
	carried_start(&t, here_denied);
	learn("good.example", any, 0, "");
	run();
	expect_rebinding();
}
END_TEST

START_TEST(rebinding_by_claim)
{
	carried_start(&t, here_denied);
	learn("good.example", here, 1, "");
	ring_name_put(t.setup.ring, here, "good.example");
	run();
	expect_rebinding();
}
END_TEST

/* What a stranger was answered does not take this machine from everybody else. */
START_TEST(a_strangers_answer)
{
	carried_start(&t, here_allowed);
	learn("good.example", here, 1, "");
	run();
	expect(VERDICT_ALLOW, "127.0.0.1", port);
	ck_assert_uint_eq(arrived(listener), 1);
}
END_TEST

START_TEST(more_strangers_than_are_remembered)
{
	carried_start(&t, here_denied);
	for (pid_t p = 1; p <= HOSTS_ASKERS + 1; p++)
		learn("good.example", here, p, "");
	run();
	expect_rebinding();
}
END_TEST

/* --- approved ------------------------------------------------------------------------------------------ */

START_TEST(a_look_up_that_was_approved)
{
	struct ring_record r;

	carried_start(&t, away_allowed);
	learn("ask.example", away, t.child, "7f3a");
	run();
	ck_assert(carried_record(&t, &r));
	ck_assert_int_eq(r.reason, REASON_HUMAN);
	ck_assert_str_eq(r.approval, "7f3a");
}
END_TEST

/* Nobody can be asked here. */
START_TEST(for_another_process)
{
	carried_start(&t, away_denied);
	learn("ask.example", away, 1, "7f3a");
	run();
	expect(VERDICT_DENY, "ask.example", 443);
}
END_TEST

/* The number is used again. */
START_TEST(for_an_earlier_process_of_this_number)
{
	carried_start(&t, away_denied);
	learn_later("ask.example", away, t.child, "7f3a", 1);
	run();
	expect(VERDICT_DENY, "ask.example", 443);
}
END_TEST

Suite *suite_net_names(void)
{
	Suite *s = suite_create("net_names");
	TCase *tc = tcase_create("names");

	suite_add_tcase(s, tc);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_claim_is_no_name);
	tcase_add_test(tc, an_answer_is);
	tcase_add_test(tc, the_best_of_several);
	tcase_add_test(tc, the_newest_of_equals);
	tcase_add_test(tc, unless_another_was_meant);
	tcase_add_test(tc, an_address_by_itself);
	tcase_add_test(tc, not_over_a_denied_name);
	tcase_add_test(tc, rebinding);
	tcase_add_test(tc, rebinding_by_any);
	tcase_add_test(tc, rebinding_by_claim);
	tcase_add_test(tc, a_strangers_answer);
	tcase_add_test(tc, more_strangers_than_are_remembered);
	tcase_add_test(tc, a_look_up_that_was_approved);
	tcase_add_test(tc, for_another_process);
	tcase_add_test(tc, for_an_earlier_process_of_this_number);
	return s;
}
