/* What a hook that was taken over can say to the gate, and where a pushed branch goes. */
#include <check.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "policy/base/util.h"
#include "tools/gate/serve/service.h"

Suite *suite_gate_push(void);

#define OID  "1111111111111111111111111111111111111111"
#define NONE "0000000000000000000000000000000000000000"

/* A pipe from which these bytes come, and then the end. */
static int pipe_of(const char *bytes, size_t len)
{
	int ends[2];

	ck_assert_int_eq(pipe(ends), 0);
	ck_assert_int_eq((int)write(ends[1], bytes, len), (int)len);
	close(ends[1]);
	return ends[0];
}

static ssize_t read_line(const char *bytes, char buf[PKT_MAX + 1])
{
	int fd = pipe_of(bytes, strlen(bytes));
	ssize_t n = pkt_read(fd, buf);

	close(fd);
	return n;
}

START_TEST(test_lines)
{
	static const char *const bad[] = { "",	    "0",    "000",   "zzzz", "0001", "0003", "0004",
					   "+005a", "0x05", "0006a", "fff1", "ffff", "00 5a" };
	static char buf[PKT_MAX + 1];

	ck_assert_int_eq((int)read_line("0000", buf), 0);
	ck_assert_int_eq((int)read_line("0007abcd", buf), 3);
	ck_assert_str_eq(buf, "abc");
	ck_assert_int_eq((int)read_line("000Aabcdef", buf), 6);
	for (size_t i = 0; i < NELEM(bad); i++)
		ck_assert_msg(read_line(bad[i], buf) < 0, "%s", bad[i]);
}
END_TEST

/* What is answered to these bytes; "" where they are refused. */
static const char *answer_to(const char *bytes, size_t len)
{
	static char said[4096];
	struct service s = { .secrets = -1 };
	int in = pipe_of(bytes, len), out[2], r;
	ssize_t n;

	s.order = json_pack("{ss, ss}", "branch", "session/{id}/{branch}", "session", "s1");
	s.gate.git = "/usr/bin/git";
	strcpy(s.gate.repository, "/nonexistent");
	ck_assert_int_eq(pipe(out), 0);
	r = receive_commands(&s, in, out[1], out[1]);
	close(out[1]);
	n = read(out[0], said, sizeof(said) - 1);
	said[r == 0 && n > 0 ? n : 0] = '\0';
	close(out[0]);
	close(in);
	json_decref(s.order);
	return said;
}

#define TO(bytes) answer_to(bytes, sizeof(bytes) - 1)
#define BEGIN	  "000eversion=1\n0000"
#define TAG	  "0061" NONE " " OID " refs/tags/v"

START_TEST(test_commands)
{
	ck_assert_ptr_nonnull(strstr(TO(BEGIN TAG "0000"), "ng refs/tags/v tags are not pushed"));
	ck_assert_ptr_nonnull(strstr(TO("0019version=1\0atomic push0000" TAG "0000"), "ng refs/tags/v"));
	ck_assert_str_eq(TO(""), "");
	ck_assert_str_eq(TO("0000"), "");
	ck_assert_str_eq(TO("000eversion=2\n0000" TAG "0000"), "");
	ck_assert_str_eq(TO("000eversion=1\n" TAG "0000"), "");
	ck_assert_str_eq(TO(BEGIN TAG), "");
	ck_assert_str_eq(TO(BEGIN "0009" OID), "");
	ck_assert_str_eq(TO(BEGIN "0055" NONE " " OID "0000"), "");
	ck_assert_str_eq(TO(BEGIN "0056" NONE " " OID " 0000"), "");
	ck_assert_str_eq(TO(BEGIN "0061" NONE "-" OID " refs/tags/v0000"), "");
	ck_assert_str_eq(TO(BEGIN "000d"
				  "a b refs/0000"),
			 "");
	ck_assert_str_eq(TO(BEGIN "0061" NONE " -111111111111111111111111111111111111111 refs/tags/v0000"),
			 "");
}
END_TEST

START_TEST(test_too_many)
{
	static char bytes[40 * 96 + 64];
	size_t n = (size_t)sprintf(bytes, BEGIN);

	for (size_t i = 0; i < 40; i++)
		n += (size_t)sprintf(bytes + n, TAG);
	n += (size_t)sprintf(bytes + n, "0000");
	ck_assert_str_eq(answer_to(bytes, n), "");
}
END_TEST

START_TEST(test_targets)
{
	static const struct {
		const char *ref, *branch, *target;
		bool own;
	} rows[] = {
		{ "refs/heads/topic", "session/{id}/{branch}", "refs/heads/session/s1/topic", true },
		{ "refs/heads/session/s1/topic", "session/{id}/{branch}", "refs/heads/session/s1/topic",
		  true },
		{ "refs/heads/session/s2/x", "session/{id}/{branch}", "refs/heads/session/s1/session/s2/x",
		  true },
		{ "refs/heads/session/s1/", "session/{id}/{branch}", "refs/heads/session/s1/session/s1/",
		  true },
		{ "refs/heads/session/s1", "session/{id}/{branch}", "refs/heads/session/s1/session/s1",
		  true },
		{ "refs/heads/main", "{branch}", "refs/heads/main", false },
		{ "refs/heads/main", "agent/{branch}", "refs/heads/agent/main", false },
		{ "refs/heads/main", "agent/{id}", "refs/heads/agent/s1", true },
		{ "refs/heads/agent/s1", "agent/{id}", "refs/heads/agent/s1", true },
		{ "refs/heads/main", "one", "refs/heads/one", false },
		{ "refs/heads/{id}", "{branch}", "refs/heads/{id}", false },
		{ "refs/tags/v1", "{branch}", NULL, false },
		{ "refs/heads/", "{branch}", NULL, false },
		{ "refs/heads/x", "{branch}/y", NULL, false },
		{ "HEAD", "{branch}", NULL, false },
		{ "", "{branch}", NULL, false },
	};
	char target[GIT_REF_MAX];
	bool own;

	for (size_t i = 0; i < NELEM(rows); i++) {
		const char *why = target_of(rows[i].ref, rows[i].branch, "s1", target, &own);

		ck_assert_msg(!why == !!rows[i].target, "%s: %s", rows[i].ref, why);
		if (why)
			continue;
		ck_assert_str_eq(target, rows[i].target);
		ck_assert_msg(own == rows[i].own, "%s", rows[i].ref);
	}
}
END_TEST

START_TEST(test_urls)
{
	static const char *const good[] = { "https://h/x", "http://u:p@h:8080/x",    "ssh://git@h/x",
					    "git://h/x",   "git@github.com:o/r.git", "h:x" };
	static const char *const bad[] = { "",		 "x",		"/x",		"./h:x",
					   "file:///x",	 "ext::sh",	"-h:x",		"--x=y",
					   "ssh://-o/x", "HTTPS://h/x", "https://h/ x", "https://h/\n",
					   "ftp://h/x",	 "https:///x",	"a@-h:x" };
	char host[256], *shown;

	for (size_t i = 0; i < NELEM(good); i++)
		ck_assert_msg(courier_takes(good[i], host, sizeof(host)), "%s", good[i]);
	for (size_t i = 0; i < NELEM(bad); i++)
		ck_assert_msg(!courier_takes(bad[i], host, sizeof(host)), "%s", bad[i]);
	shown = courier_shown("https://me:pa@ss@h/x@y");
	ck_assert_str_eq(shown, "https://h/x@y");
	free(shown);
}
END_TEST

/* No password, and nothing that a terminal obeys. */
START_TEST(test_sentences)
{
	char why[WHY_MAX];

	courier_sentence("https://me:hunter2@h/x",
			 "remote: x\nfatal: Authentication failed for 'https://me:hunter2@h/x'\n", why);
	ck_assert_ptr_null(strstr(why, "hunter2"));
	ck_assert_ptr_nonnull(strstr(why, "h refused your credentials (401)"));
	courier_sentence("https://h/x", "fatal: \033[31mred\n", why);
	ck_assert_str_eq(why, "h failed: \\x1b[31mred");
	courier_sentence("https://h/x", "", why);
	ck_assert_str_eq(why, "h failed");
}
END_TEST

Suite *suite_gate_push(void)
{
	Suite *s = suite_create("gate_push");
	TCase *t = tcase_create("gate_push");

	tcase_add_test(t, test_lines);
	tcase_add_test(t, test_commands);
	tcase_add_test(t, test_too_many);
	tcase_add_test(t, test_targets);
	tcase_add_test(t, test_urls);
	tcase_add_test(t, test_sentences);
	suite_add_tcase(s, t);
	return s;
}
