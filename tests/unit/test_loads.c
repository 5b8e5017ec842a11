/* Which program a loader opens. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "policy/eval.h"
#include "policy/path.h"
#include "policy/loads.h"

#include "tests/unit/image_fixture.h"
#include "tests/unit/test_cmd.h"

Suite *suite_loads(void);

static struct request request_of(struct line *l, const char *command)
{
	line_split(l, command);
	return (struct request){ .op = OP_EXEC,
				 .access = ACCESS_READ,
				 .cwd = "/ws",
				 .path = l->path,
				 .argv = l->argv,
				 .argc = l->n };
}

/* With the word that is loaded, and what it is called; NULL: nothing runs; "?": nobody can tell. */
static const struct {
	const char *command, *loads, *called;
} words[] = {
	{ "ld.so /bin/ls -l", "/bin/ls", "/bin/ls" },
	{ "/lib64/ld-linux-x86-64.so.2 ./g push", "./g", "./g" },
	{ "/lib/ld-2.36.so ./g", "./g", "./g" },
	{ "ld.so --argv0 git-push ./g", "./g", "git-push" },
	{ "ld.so --preload a --library-path b --audit c --inhibit-rpath d --inhibit-cache ./g", "./g",
	  "./g" },
	{ "ld.so --glibc-hwcaps-prepend a --glibc-hwcaps-mask b --argv0 c --argv0 d ./g", "./g", "d" },
	{ "/lib/ld-musl-x86_64.so.1 --argv0=x --library-path=y --preload=z -- ./g", "./g", "x" },
	{ "ld.so -- ./g", "./g", "./g" },
	{ "ld.so -/g", "-/g", "-/g" },
	{ "ld.so -x/g --list", "-x/g", "-x/g" },
	{ "ld.so --list ./g", NULL, NULL },
	{ "ld.so --preload x --verify ./g", NULL, NULL },
	{ "ld.so --help ./g", NULL, NULL },
	{ "ld.so", NULL, NULL },
	{ "ld.so --preload", NULL, NULL },
	{ "ld.so --argv0 ./g", NULL, NULL },
	{ "ld.so --unheard-of ./g", "?", NULL },
	{ "ld.so --lis ./g", "?", NULL },
	{ "ld.so git push", "?", NULL },
	{ "ld.so '' ./g", "?", NULL },
	{ "ld.lld -o x y", NULL, NULL },
	{ "ls ./g", NULL, NULL },
	{ "qemu-x86_64-static -L /x -E A=b -strace g push", "g", "g" },
	{ "qemu-aarch64 -0 git --cpu max ./g", "./g", "git" },
	{ "qemu-x86_64 -h", NULL, NULL },
	{ "qemu-x86_64 -what ./g", "?", NULL },
	{ "qemu-system-x86_64 -hda x", NULL, NULL },
	{ "valgrind -q --tool=none ./g push", "./g", "./g" },
	{ "/usr/libexec/valgrind/memcheck-amd64-linux git push", "git", "git" },
	{ "valgrind --version", NULL, NULL },
};

START_TEST(the_loaded_word)
{
	struct line l;
	struct request req = request_of(&l, words[_i].command);
	const char *extra, *want = words[_i].loads;
	struct command c = command_of(&req, &extra);
	struct loads got;
	enum loads_what what = command_loads(&c, false, &got);

	ck_assert_msg((what == LOADS_NOTHING) == !want, "%s", words[_i].command);
	ck_assert_msg((what == LOADS_UNKNOWN) == (want && strcmp(want, "?") == 0), "%s", words[_i].command);
	if (what == LOADS_NOTHING || what == LOADS_UNKNOWN)
		return;
	ck_assert_str_eq(command_arg(&c, got.at), want);
	ck_assert_str_eq(got.called, words[_i].called);
}
END_TEST

/* --- by content ------------------------------------------------------------------------------------- */

static const char *found;
static bool found_loader;

static const char *find(void *ctx, const char *word, struct elf_info *ret)
{
	(void)ctx;
	(void)word;
	*ret = (struct elf_info){ .kind = ELF_DYNAMIC, .is_loader = found_loader, .build_id_len = 20 };
	memset(ret->build_id, 7, sizeof(ret->build_id));
	return found;
}

START_TEST(a_loader_by_any_name)
{
	const struct elf_info loader = { .kind = ELF_STATIC, .is_loader = true },
			      other = { .kind = ELF_STATIC };
	struct image img = { 0 };
	struct line l;
	struct request req = request_of(&l, "./m ./g push");

	found = "/usr/bin/git";
	found_loader = false;
	ck_assert(loads_fill(&req, &other, &img, find, NULL));
	ck_assert_ptr_null(req.loads);
	ck_assert(loads_fill(&req, &loader, &img, find, NULL));
	ck_assert_str_eq(req.loads, "/usr/bin/git");
	/* What is loaded is not there; or is a loader in its turn. */
	found = NULL;
	ck_assert(!loads_fill(&req, &loader, &img, find, NULL));
	found = "/x";
	found_loader = true;
	ck_assert(!loads_fill(&req, &loader, &img, find, NULL));
	/* Its options are not valgrind's. */
	found_loader = false;
	req = request_of(&l, "./valgrind --argv0 true /usr/bin/git push");
	ck_assert(!loads_fill(&req, &loader, &img, find, NULL));
	ck_assert(loads_fill(&req, &other, &img, find, NULL));
}
END_TEST

/* With `deny = git push`: file, name by content, words; ld.so may be called anything. */
static const struct {
	const char *command, *loads, *ident;
	bool denied;
} resolved[] = {
	{ "./m ./g push", "/usr/bin/git", NULL, true },
	{ "./m ./g push", "/ws/g", "git", true },
	{ "./m ./g push", "/ws/g", NULL, false },
	{ "./m ./g status", "/usr/bin/git", NULL, false },
	{ "./m --argv0 ls ./g push", "/usr/bin/git", NULL, true },
	{ "./m --argv0 git-push ./g origin", "/usr/bin/git", NULL, true },
	{ "./m --argv0 git-push ./g origin", "/ws/g", "git", true },
	{ "./m ./git push", "/bin/true", NULL, true }, /* called so */
	{ "./m ./e git push", "/usr/bin/env", NULL, true },
	{ "./m --list ./g push", "/usr/bin/git", NULL, false },
	{ "valgrind -q ./g push", "/usr/bin/git", NULL, true },
	{ "qemu-x86_64 -0 x ./g push", "/ws/g", "git", true },
};

START_TEST(what_is_loaded_is_judged)
{
	struct fixture f;
	struct decision d;
	struct line l;
	struct request req = request_of(&l, resolved[_i].command);

	req.loads = resolved[_i].loads;
	req.loads_ident = resolved[_i].ident;
	fixture_init(&f);
	fixture_rule(&f, RULE_CMD_DENY, "git push");
	fixture_compile(&f);
	eval_command(&f.img, &req, &d, NULL);
	ck_assert_msg((d.verdict == VERDICT_DENY) == resolved[_i].denied, "%s", resolved[_i].command);
	fixture_done(&f);
}
END_TEST

#define LEN(a) ((int)(sizeof(a) / sizeof((a)[0])))

Suite *suite_loads(void)
{
	Suite *s = suite_create("loads");
	TCase *t = tcase_create("loads");

	tcase_add_loop_test(t, the_loaded_word, 0, LEN(words));
	tcase_add_test(t, a_loader_by_any_name);
	tcase_add_loop_test(t, what_is_loaded_is_judged, 0, LEN(resolved));
	suite_add_tcase(s, t);
	return s;
}
