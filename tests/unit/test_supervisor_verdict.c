/* What follows from a verdict: asked, recorded, said; and what the kernel says first. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit/served.h"
#include "tools/supervisor/answer.h"
#include "tools/supervisor/caller.h"
#include "tools/supervisor/supervisor.h"
#include "tools/supervisor/verdict/call_record.h"
#include "tools/supervisor/verdict/verdict.h"

Suite *suite_supervisor_verdict(void);

static struct carried t;

enum { JUDGE_OPEN, JUDGE_REFUSE, JUDGE_NOTE, JUDGE_ATTACH };
enum { PATH_FREE, PATH_DENIED };

static const char *const paths[] = { "/ws/free", "/ws/denied" };

static void rules(struct fixture *f)
{
	fixture_workspace(f);
	fixture_rule(f, RULE_FILE_DENY, paths[PATH_DENIED]);
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

	begin(be_judged);
	carried_go(&t);
	ck_assert_int_eq(carried_wait(&t), 0);
	expect_record(paths[PATH_FREE], VERDICT_ALLOW, REASON_INSIDE, NOTE_NONE);
	expect_record(paths[PATH_DENIED], VERDICT_DENY, REASON_RULE, NOTE_NONE);
	expect_record(paths[PATH_FREE], VERDICT_DENY, REASON_PROCESS, NOTE_NONE);
	expect_record(paths[PATH_FREE], VERDICT_ALLOW, REASON_INSIDE, NOTE_FLOOR);
	expect_record(paths[PATH_FREE], VERDICT_ALLOW, REASON_INSIDE, NOTE_NONE);
	expect_no_record();
	ck_assert_uint_eq(atomic_load(&t.sup->carried), 5);
	ck_assert_uint_eq(atomic_load(&t.sup->denied), 2);
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
	ck_assert_int_lt(b.tv_sec - a.tv_sec, 10);
	/* And the name of the program. */
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

START_TEST(a_file_is_talked_to_only_where_it_is_appended_to)
{
	char path[] = "/tmp/pale-err-XXXXXX";
	struct stat st;

	err_fd = mkostemp(path, O_CLOEXEC);
	unlink(path);
	for (int appends = 0; appends < 2; appends++) {
		ck_assert_int_eq(fcntl(err_fd, F_SETFL, appends ? O_APPEND : 0), 0);
		begin(be_denied_twice);
		carried_go(&t);
		end();
		ck_assert_int_eq(fstat(err_fd, &st), 0);
		ck_assert_int_eq(st.st_size > 0, appends);
	}
	close(err_fd);
}
END_TEST

START_TEST(no_connection_is_talked_to)
{
	int ends[2];

	/* Of a pair the hooks' rule holds: one of streams is a standard error, one of packets a protocol. */
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), 0);
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

/* --- existence first --- */

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
	ck_assert_int_eq(earlier(dir, OP_DELETE, "sub", REASON_OUTSIDE), -ENOTEMPTY);
	ck_assert_int_eq(earlier(dir, OP_DELETE, "sub", REASON_RULE), 0);
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
	tcase_add_test(tc, a_file_is_talked_to_only_where_it_is_appended_to);
	tcase_add_test(tc, no_connection_is_talked_to);
	tcase_add_test(tc, a_full_pipe_is_not_waited_for);
	tcase_add_test(tc, existence_comes_first);
	suite_add_tcase(s, tc);
	return s;
}
