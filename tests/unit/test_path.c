/* Paths as text. */
#include <check.h>
#include <errno.h>
#include <string.h>

#include "policy/base/path.h"
#include "policy/file/procpath.h"

Suite *suite_path(void);

START_TEST(test_normalise)
{
	static const struct {
		const char *base, *path, *want;
	} cases[] = {
		{ "/a/b", "c", "/a/b/c" }, { "/a/b", "../c", "/a/c" }, { "/a/b", "../../../c", "/c" },
		{ "/a/b", ".", "/a/b" },   { "/", "x", "/x" },	       { "/a", "/b//c/./d/", "/b/c/d" },
		{ NULL, "/", "/" },	   { NULL, "//../..", "/" },   { "/a//b/../c/", "d/..", "/a/c" },
		{ "/a", "...", "/a/..." }, { "/a", "..b", "/a/..b" },  { "/a", "b\xff", "/a/b\xff" },
	};
	char buf[64];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int r = path_normalise(cases[i].base, cases[i].path, buf, sizeof(buf));

		ck_assert_str_eq(buf, cases[i].want);
		ck_assert_int_eq(r, (int)strlen(cases[i].want));
	}
}
END_TEST

START_TEST(test_normalise_refuses)
{
	char buf[8];

	ck_assert_int_eq(path_normalise("/a", "", buf, sizeof(buf)), -EINVAL);
	ck_assert_int_eq(path_normalise("/a", NULL, buf, sizeof(buf)), -EINVAL);
	ck_assert_int_eq(path_normalise("a", "b", buf, sizeof(buf)), -EINVAL);
	ck_assert_int_eq(path_normalise(NULL, "b", buf, sizeof(buf)), -EINVAL);
	ck_assert_int_eq(path_normalise("/", "/", buf, 1), -ENAMETOOLONG);
	ck_assert_int_eq(path_normalise("/abcdefgh", "x", buf, sizeof(buf)), -ENAMETOOLONG);
	/* exactly full, and one more */
	ck_assert_int_eq(path_normalise("/", "ab/cde", buf, sizeof(buf)), 7);
	ck_assert_str_eq(buf, "/ab/cde");
	ck_assert_int_eq(path_normalise("/", "ab/cdef", buf, sizeof(buf)), -ENAMETOOLONG);
}
END_TEST

START_TEST(test_under)
{
	ck_assert(path_is_under("/home/al", "/home/al"));
	ck_assert(path_is_under("/home/al/x", "/home/al"));
	ck_assert(path_is_under("/home/al/x", "/home/al/"));
	ck_assert(!path_is_under("/home/alice", "/home/al"));
	ck_assert(!path_is_under("/home", "/home/al"));
	ck_assert(path_is_under("/x", "/"));
	ck_assert(path_is_under("/", "/"));
	ck_assert(!path_is_under("", "/"));
}
END_TEST

START_TEST(test_glob)
{
	static const struct {
		const char *pat, *name;
		bool want;
	} cases[] = {
		{ "*", "", true },
		{ "*", ".hidden", true },
		{ "", "", true },
		{ "", "a", false },
		{ "?", "a", true },
		{ "?", "", false },
		{ "a*c", "abbbc", true },
		{ "a*c", "abbbcd", false },
		{ "*.c", "x.c", true },
		{ "*.c", ".c", true },
		{ "*a*b*", "xxaxxbxx", true },
		{ "*a*b*", "xxbxxaxx", false },
		{ "**x**", "x", true },
		{ "[a-c]x", "bx", true },
		{ "[a-c]x", "dx", false },
		{ "[!a-c]x", "dx", true },
		{ "[^a-c]x", "ax", false },
		{ "[]]", "]", true },
		{ "[!]]", "]", false },
		{ "[a-]", "-", true },
		{ "[\\]]", "]", true },
		{ "[\\a-\\c]", "b", true },
		{ "[", "[", true },
		{ "[ab", "[ab", true },
		{ "[a\\", "[a\\", true },
		{ "\\*", "*", true },
		{ "\\*", "x", false },
		{ "a\\", "a\\", true },
		{ "a?c", "a/c", true },
		{ "[\x80-\xff]", "\xc3", true },
		{ "id_*", "id_rsa", true },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		ck_assert_msg(glob_match(cases[i].pat, strlen(cases[i].pat), cases[i].name,
					 strlen(cases[i].name)) == cases[i].want,
			      "%s against %s", cases[i].pat, cases[i].name);
}
END_TEST

/* The pattern that takes a backtracking matcher years. */
START_TEST(test_glob_is_not_exponential)
{
	char pat[401], name[2001];

	for (size_t i = 0; i < 400; i += 2) {
		pat[i] = 'a';
		pat[i + 1] = '*';
	}
	memset(name, 'a', 2000);
	name[2000] = 'b';
	ck_assert(!glob_match("b", 1, name, 2000));
	ck_assert(glob_match(pat, 400, name, 2001));
	pat[400] = 'c';
	ck_assert(!glob_match(pat, 401, name, 2001));
}
END_TEST

/* What need not be copied is exactly what normalising would not change. */
START_TEST(test_plain)
{
	static const char *const plain[] = { "/", "/a", "/a/b.c", "/a/.b/c.", "/a/b\xff", "/.hidden" };
	static const char *const other[] = { "",     "a",    "a/b",    "//",	"/a//b", "/a/",
					     "/./a", "/a/.", "/a/./b", "/../a", "/a/..", "/a/../b" };
	char buf[64];

	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
		ck_assert_uint_eq(path_plain_length(plain[i]), strlen(plain[i]));
		ck_assert_int_eq(path_normalise("/", plain[i], buf, sizeof(buf)), (int)strlen(plain[i]));
		ck_assert_str_eq(buf, plain[i]);
	}
	for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++)
		ck_assert_uint_eq(path_plain_length(other[i]), 0);
}
END_TEST

START_TEST(test_plain_relative)
{
	static const char *const plain[] = { "a", "a/b.c", ".a/b", "a/.b" };
	static const char *const other[] = { "",    "/a",  "a/",   "a//b", ".",	   "..",
					     "./a", "a/.", "a/..", "../a", "a/./b" };
	char buf[64], want[64];

	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
		ck_assert_uint_eq(path_plain_relative(plain[i]), strlen(plain[i]));
		strcpy(want, "/d/");
		strcat(want, plain[i]);
		ck_assert_int_gt(path_normalise("/d", plain[i], buf, sizeof(buf)), 0);
		ck_assert_str_eq(buf, want);
	}
	for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++)
		ck_assert_uint_eq(path_plain_relative(other[i]), 0);
}
END_TEST

START_TEST(test_small_ones)
{
	ck_assert(glob_is_literal("abc", 3));
	ck_assert(glob_is_literal("a\\*c", 4));
	ck_assert(glob_is_literal("a\\", 2));
	ck_assert(!glob_is_literal("a*c", 3));
	ck_assert(!glob_is_literal("\\\\?", 3));
	ck_assert(!glob_is_literal("[x]", 3));
	ck_assert(path_has_open_class("[a-"));
	ck_assert(path_has_open_class("/a/[b/c]"));
	ck_assert(path_has_open_class("[]/x"));
	ck_assert(!path_has_open_class("/a/[]]/\\[b/[!c]\\/d]"));
	ck_assert(path_has_dotdot(".."));
	ck_assert(path_has_dotdot("a/../b"));
	ck_assert(path_has_dotdot("/a//.."));
	ck_assert(!path_has_dotdot("a/..b/...//"));
	ck_assert(!path_has_dotdot(""));
	ck_assert_str_eq(path_basename("/a/b"), "b");
	ck_assert_str_eq(path_basename("b"), "b");
	ck_assert_str_eq(path_basename("/"), "");
}
END_TEST

static bool has_12(const struct pids *p, int32_t pid)
{
	(void)p;
	return pid == 12;
}

/* The rule on other processes; 12 is one's own. */
START_TEST(test_other_processes)
{
	static const struct {
		const char *path;
		bool closed;
	} cases[] = {
		{ "/proc/13/environ", true },
		{ "/proc/13/mem", true },
		{ "/proc/13/fd/3", true },
		{ "/proc/13/cwd", true },
		{ "/proc/13/task/14/environ", true },
		{ "/proc/13/task/x/stat", true },
		{ "/proc/13/ns/stat", true },
		{ "/proc/13 (deleted)", true },
		{ "/proc/99999999999/stat", true },
		{ "/proc/13", true },
		{ "/proc/13/stat", true },
		{ "/proc/13/task", true },
		{ "/proc/13/task/14/comm", true },
		{ "/proc/12/environ", false },
		{ "/proc/12/task/13/mem", false },
		{ "/proc/self/environ", false },
		{ "/proc/meminfo", false },
		{ "/proc", false },
		{ "/procx/13/environ", false },
		{ "/srv/proc/13/environ", false },
	};
	const struct pids mine = { has_12 };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ck_assert_msg(proc_is_closed(cases[i].path, &mine) == cases[i].closed, "%s", cases[i].path);
	}
}
END_TEST

Suite *suite_path(void)
{
	Suite *s = suite_create("path");
	TCase *t = tcase_create("path");

	tcase_add_test(t, test_normalise);
	tcase_add_test(t, test_normalise_refuses);
	tcase_add_test(t, test_under);
	tcase_add_test(t, test_glob);
	tcase_add_test(t, test_glob_is_not_exponential);
	tcase_add_test(t, test_plain);
	tcase_add_test(t, test_plain_relative);
	tcase_add_test(t, test_small_ones);
	tcase_add_test(t, test_other_processes);
	suite_add_tcase(s, t);
	return s;
}
