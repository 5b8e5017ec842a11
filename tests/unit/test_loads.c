/* Which program a loader opens, and which script an interpreter is given. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "policy/base/path.h"
#include "policy/command/cmd.h"
#include "policy/command/script.h"
#include "policy/judge/eval.h"
#include "policy/programs/tool.h"

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
	if (ret) {
		*ret = (struct elf_info){ .kind = ELF_DYNAMIC,
					  .is_loader = found_loader,
					  .is_executable = true,
					  .build_id_len = 20 };
		memset(ret->build_id, 7, sizeof(ret->build_id));
	}
	return found;
}

static const char *path_list(void *ctx, const char *name)
{
	(void)ctx;
	return strcmp(name, "PATH") == 0 ? "/a::/b:/c" : "/awk";
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
	ck_assert(loads_fill(&req, &other, &img, find, path_list, NULL));
	ck_assert_ptr_null(req.loads);
	ck_assert(loads_fill(&req, &loader, &img, find, path_list, NULL));
	ck_assert_str_eq(req.loads, "/usr/bin/git");
	/* What is loaded is not there; or is a loader in its turn. */
	found = NULL;
	ck_assert(!loads_fill(&req, &loader, &img, find, path_list, NULL));
	found = "/x";
	found_loader = true;
	ck_assert(!loads_fill(&req, &loader, &img, find, path_list, NULL));
	/* Its options are not valgrind's. */
	found_loader = false;
	req = request_of(&l, "./valgrind --argv0 true /usr/bin/git push");
	ck_assert(!loads_fill(&req, &loader, &img, find, path_list, NULL));
	ck_assert(loads_fill(&req, &other, &img, find, path_list, NULL));
}
END_TEST

/* What stands in which place, and what valgrind opens: it looks in PATH for a name. */
static const struct {
	const char *name, *there, *want; /* there: blank-separated; NULL: nobody can tell */
} searched[] = {
	{ "git", "/b/git /c/git", "/b/git" },
	{ "git", "./git /b/git", "./git" },
	{ "git", "/b/data /b/git", "/b/git" },
	{ "data", "/b/data", NULL },
	{ "data", "/a/data /b/data", NULL },
	{ "git", "/d/git", NULL },
	{ "/d/git", "/d/git /b/git", "/d/git" },
	{ "/d/data", "/d/data", "/d/data" },
	{ "script", "/a/script", "/bin/interpreter" },
	{ "/d/qemu-x86_64", "/d/qemu-x86_64", NULL },
	{ "/d/valgrind", "/d/valgrind", "/d/valgrind" },
	{ "/d/none-amd64-linux", "/d/none-amd64-linux", NULL },
};

static const char *find_there(void *ctx, const char *word, struct elf_info *ret)
{
	static char room[64];
	const char *there = ctx, *name = path_basename(word);

	if (ret)
		*ret = (struct elf_info){ .kind = strcmp(name, "script") ? ELF_DYNAMIC : ELF_SCRIPT,
					  .is_executable = strcmp(name, "data") != 0,
					  .interp = "/bin/interpreter" };
	(void)snprintf(room, sizeof(room), "%s", word);
	return word_in_list(there, word, strlen(word)) || strcmp(word, "/bin/interpreter") == 0 ? room : NULL;
}

START_TEST(what_valgrind_finds)
{
	const struct elf_info valgrind = { .kind = ELF_DYNAMIC };
	struct image img = { 0 };
	struct line l;
	char command[64];
	struct request req;

	(void)snprintf(command, sizeof(command), "valgrind -q %s push", searched[_i].name);
	req = request_of(&l, command);
	ck_assert_msg(loads_fill(&req, &valgrind, &img, find_there, path_list, (void *)searched[_i].there) ==
			      (searched[_i].want != NULL),
		      "%s of %s", searched[_i].name, searched[_i].there);
	if (searched[_i].want)
		ck_assert_str_eq(req.loads, searched[_i].want);
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
	{ "valgrind -q g push", "/usr/bin/git", NULL, true },
	{ "valgrind -q git push", NULL, NULL, true },
	{ "nice valgrind -q git push", NULL, NULL, true },
	{ "valgrind -q git status", "/usr/bin/git", NULL, false },
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
	loads_place(&req);
	fixture_init(&f);
	fixture_rule(&f, RULE_CMD_DENY, "git push");
	fixture_compile(&f);
	eval_command(&f.img, &req, &d, NULL);
	ck_assert_msg((d.verdict == VERDICT_DENY) == resolved[_i].denied, "%s", resolved[_i].command);
	fixture_done(&f);
}
END_TEST

/* --- scripts ---------------------------------------------------------------------------------------- */

static const struct {
	const char *command, *file, *want; /* the words, NULL: no script */
	bool keeps_name;
} scripts[] = {
	{ "node /lib/npm/bin/npm-cli.js publish", "/lib/npm/bin/npm-cli.js",
	  "/lib/npm/bin/npm-cli.js publish", true },
	{ "node --no-warnings /usr/bin/npm publish", "/lib/npm-cli.js", "/usr/bin/npm publish", true },
	{ "node ./x publish", "/lib/npm-cli.js", "./x publish", false },
	{ "python3.11 -X dev -I /usr/bin/twine upload", NULL, "/usr/bin/twine upload", true },
	{ "python3 -m twine upload", NULL, "twine upload", true },
	{ "env -u X nice python x.py", NULL, "x.py", true },
	{ "bash -eu ./deploy now", "/opt/deploy", "./deploy now", true },
	{ "busybox sh ./deploy now", NULL, "./deploy now", true },
	{ "ld.so /usr/bin/node npm", NULL, "npm", true },
	{ "python3 -mtwine upload", NULL, "twine upload", true },
	{ "python3 /lib/twine/ upload", "/lib/twine/__main__.py", "/lib/twine/__main__.py upload", false },
	{ "python3 -X dev ../x upload", "/lib/twine/__main__.py", "../x upload", false },
	{ "node /lib/corepack/dist/corepack.js npm publish", "/lib/corepack/dist/corepack.js",
	  "/lib/corepack/dist/corepack.js npm publish", true },
	{ "python3 -Imtwine upload", NULL, "twine upload", true },
	{ "python3 -- x y", NULL, "x y", true },
	{ "node --max-http-header-size 16384 --dns_result_order verbatim x publish", NULL, "x publish",
	  true },
	{ "node --test-name-pattern p --report-dir d x publish", NULL, "x publish", true },
	{ "node --title=x --inspect x publish", NULL, "x publish", true },
	{ "node -r ./a /dev/null publish", "/lib/npm-cli.js", "/lib/npm-cli.js publish", true },
	{ "node --require=./a - publish", "/lib/npm-cli.js", "/lib/npm-cli.js publish", true },
	{ "node -r./a ./b publish", "/lib/npm-cli.js", "/lib/npm-cli.js publish", true },
	{ "node -r ./a ./b publish", "/lib/x.js", "./b publish", false },
	{ "python3 - npm publish", NULL, "- npm publish", true },
	{ "sh - ./tool a", NULL, "./tool a", true },
	{ "node /lib/npm/ publish", "/lib/npm/index.js", "/lib/npm/index.js publish", false },
	{ "node /lib/npm publish", "/lib/npm/index.js", "/lib/npm publish", true },
	{ "sh +e ./tool a", NULL, "./tool a", true },
	{ "bash +O extglob -e ./tool", NULL, "./tool", true },
	{ "bash -oe pipefail ./tool", NULL, "./tool", true },
	{ "bash -oO pipefail extglob ./tool", NULL, "./tool", true },
	{ "bash -rcfile x ./tool", NULL, "./tool", true },
	{ "bash --rcfile x ./tool", NULL, "./tool", true },
	{ "php -d a=b -f ./tool x", NULL, "./tool x", true },
	{ "php -n./tool", NULL, NULL, false },
	{ "php -r 'x' ./tool", NULL, NULL, false },
	{ "lua5.4 -l x ./tool", NULL, "./tool", true },
	{ "tclsh -encoding utf-8 ./tool", NULL, "./tool", true },
	{ "gawk -F : -f ./tool x", NULL, "./tool x", true },
	{ "awk -f./tool x", NULL, "./tool x", true },
	{ "gawk -E ./tool x", NULL, "./tool x", true },
	{ "gawk -v a=b --exec=./tool x", NULL, "./tool x", true },
	{ "gawk --file ./tool x", NULL, "./tool x", true },
	{ "gawk -e 1 --include ./tool x", NULL, "./tool x", true },
	{ "awk /git/ x", NULL, NULL, false },
	{ "sed -f ./tool x", NULL, "./tool x", true },
	{ "sed -nf ./tool x", NULL, "./tool x", true },
	{ "sed -n -e p --file=./tool x", NULL, "./tool x", true },
	{ "sed -n x -f./tool", NULL, "./tool", true },
	{ "sed s/a/b/ git push", NULL, NULL, false },
	{ "sed -n -- git push", NULL, NULL, false },
	{ "expect ./tool x", NULL, "./tool x", true },
	{ "expect -d -c x -f ./tool x", NULL, "./tool x", true },
	{ "expect -- ./tool x", NULL, "./tool x", true },
	{ "gdb -x ./tool", NULL, "./tool", true },
	{ "gdb -batch -nx -ex run -x./tool ./p", NULL, "./tool ./p", true },
	{ "gdb -q --command=./tool ./p", NULL, "./tool ./p", true },
	{ "gdb -ix ./tool ./p", NULL, "./tool ./p", true },
	{ "gdb --comm ./tool ./p", NULL, "./tool ./p", true },
	{ "gdb -q ./git push", NULL, NULL, false },
	{ "mawk -W exec ./tool x", NULL, "./tool x", true },
	{ "mawk -We ./tool x", NULL, "./tool x", true },
	{ "mawk -W interactive -f ./tool", NULL, "./tool", true },
	{ "gawk --fil=./tool", NULL, "./tool", true },
	{ "bash -norc ./tool x", NULL, "./tool x", true },
	{ "bash -noprofile -posix ./tool", NULL, "./tool", true },
	{ "bash -rcfile x -noediting ./tool", NULL, "./tool", true },
	{ "ruby --disable gems --encoding utf-8 ./tool", NULL, "./tool", true },
	{ "make -f ./tool x", NULL, "./tool x", true },
	{ "make -k --makefile=./tool x", NULL, "./tool x", true },
	{ "make -C d x", NULL, NULL, false },
	{ "env -S sh ./tool", NULL, "./tool", true },
	{ "env -i '-S sh -x' ./tool a", NULL, "./tool a", true },
	{ "nice env '--split-string=A=b bash' ./tool", NULL, "./tool", true },
	{ "env -vS 'node ./tool a' b", NULL, "./tool a b", true },
	{ "perl -Mfeature=say ./tool x", NULL, "./tool x", true },
	{ "perl -w -CE -i.orige -d:Ee ./tool", NULL, "./tool", true },
	{ "perl -we 1 ./tool", NULL, NULL, false },
	{ "ruby -W:no-deprecated -E euc-jp ./tool", NULL, "./tool", true },
	{ "zsh --emulate sh ./tool", NULL, "./tool", true },
	{ "fish -N -C x ./tool", NULL, "./tool", true },
	{ "fish -c x ./tool", NULL, NULL, false },
	{ "bun run ./tool", NULL, "./tool", true },
	{ "bun run run", NULL, "run", true },
	{ "deno run -A --config c ./tool", NULL, "./tool", true },
	{ "bash -c 'npm publish' npm publish", NULL, NULL, false },
	{ "sh -s npm publish", NULL, NULL, false },
	{ "python3 -c x npm publish", NULL, NULL, false },
	{ "node -e x npm publish", NULL, NULL, false },
	{ "python3", NULL, NULL, false },
	{ "git push", NULL, NULL, false },
};

START_TEST(the_script_of_an_interpreter)
{
	const char *room[16];
	char line[256];
	struct split split;
	struct tool_script t = { .words = room, .split = &split };
	struct line l;
	struct request req = request_of(&l, scripts[_i].command);

	found = scripts[_i].file;
	ck_assert_msg(tool_find(&req, find, path_list, NULL, &t) == (scripts[_i].want != NULL), "%s",
		      scripts[_i].command);
	if (!scripts[_i].want)
		return;
	argv_join(t.req.argv, t.req.argc, line, sizeof(line));
	ck_assert_str_eq(line, scripts[_i].want);
	ck_assert_ptr_eq(t.req.path, scripts[_i].file);
	ck_assert_ptr_null(t.req.argv[t.req.argc]);
	ck_assert_int_eq(t.keeps_name, scripts[_i].keeps_name);
}
END_TEST

/* Where an interpreter looks for a script: blank-separated, "-" where only the word is known. */
static const struct {
	const char *command, *there, *want;
} places[] = {
	{ "bash tool x", "tool /b/tool", "tool" },
	{ "bash tool x", "/b/tool", "- /b/tool" },
	{ "bash -eu tool x", "/a/tool ./tool /c/tool", "- /a/tool ./tool /c/tool" },
	{ "ksh tool", "/c/tool", "- /c/tool" },
	{ "zsh -o pathscript tool", "/c/tool", "- /c/tool" },
	{ "env -u A nice dash tool", "/c/tool", "- /c/tool" },
	{ "bash -c tool tool", "/b/tool", "" },
	{ "perl -S tool", "tool /b/tool", "tool /b/tool" },
	{ "python3 tool", "/b/tool", "-" },
	{ "sed -f tool -n --file=tool -e p", "tool", "tool tool" },
	{ "gawk -f tool", "tool /awk/tool", "tool /awk/tool" },
	{ "gdb -nx -x tool -ex tool tool", "tool", "tool" },
};

START_TEST(an_interpreter_looks_in_path)
{
	const char *room[16];
	char got[128] = "";
	struct split split;
	struct tool_script t = { .words = room, .split = &split };
	struct line l;
	struct request req = request_of(&l, places[_i].command);

	while (tool_find(&req, find_there, path_list, (void *)places[_i].there, &t)) {
		(void)snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%s", *got ? " " : "",
			       t.req.path ? t.req.path : "-");
		ck_assert_str_eq(t.req.argv[0], "tool");
	}
	ck_assert_str_eq(got, places[_i].want);
}
END_TEST

static const char *no_path(void *ctx, const char *name)
{
	(void)ctx;
	(void)name;
	return NULL;
}

START_TEST(a_shell_without_path)
{
	const char *room[16];
	struct split split;
	struct tool_script t = { .words = room, .split = &split };
	struct line l;
	char there[] = "/usr/bin/tool";
	struct request req = request_of(&l, "bash tool");

	ck_assert(tool_find(&req, find_there, no_path, there, &t));
	ck_assert_ptr_null(t.req.path);
	ck_assert(tool_find(&req, find_there, no_path, there, &t));
	ck_assert_str_eq(t.req.path, "/usr/bin/tool");
	ck_assert(!tool_find(&req, find_there, no_path, there, &t));
}
END_TEST

static const char *find_npm(void *ctx, const char *word, struct elf_info *ret)
{
	(void)ctx;
	(void)ret;
	return strcmp(word, "/lib/npm-cli.js") == 0 ? "/lib/npm-cli.js" : NULL;
}

static const struct {
	const char *word;
	bool is_npm;
} urls[] = {
	{ "file:///lib/npm-cli.js", true },
	{ "FILE:/lib/npm-cli.js", true },
	{ "file://localhost/lib/npm-cli.js", true },
	{ "file:///lib/npm%2Dcli.js?x#y", true },
	{ "file:///lib/npm%2", false },
	{ "file:///lib/other.js", false },
	{ "files:///lib/npm-cli.js", false },
};

START_TEST(node_takes_a_url)
{
	const char *room[16];
	char line[256];
	struct split split;
	struct tool_script t = { .words = room, .split = &split };
	struct line l;
	struct request req;

	(void)snprintf(line, sizeof(line), "node --import %s /dev/null publish", urls[_i].word);
	req = request_of(&l, line);
	ck_assert(tool_find(&req, find_npm, path_list, NULL, &t));
	argv_join(t.req.argv, t.req.argc, line, sizeof(line));
	ck_assert_str_eq(line, urls[_i].is_npm ? "/lib/npm-cli.js publish" : "/dev/null publish");
}
END_TEST

START_TEST(a_tool_is_known_by_its_script)
{
	static const char *const tools[][2] = {
		{ "/lib/npm-cli.js", "npm" },
		{ "/lib/corepack/dist/npm.js", "npm" },
		{ "/lib/dist/corepack.js", "corepack" },
		{ "/lib/python3/twine/__main__.py", "twine" },
		{ "/lib/poetry/__main__.py", "poetry" },
		{ "/x/__main__.py", NULL },
		{ "/lib/npm.js", NULL },
	};

	for (size_t i = 0; i < sizeof(tools) / sizeof(tools[0]); i++)
		ck_assert_pstr_eq(tool_of(tools[i][0]), tools[i][1]);
}
END_TEST

/* A rule on npm holds by whichever name; what no rule names is no command of its own. */
START_TEST(a_script_counts_where_a_rule_names_it)
{
	const char *room[16];
	struct split split;
	struct tool_script t = { .words = room, .split = &split };
	struct fixture f;
	struct line l;
	struct request req = request_of(&l, "node ./x publish");
	struct decision node = { .verdict = VERDICT_ALLOW, .rule = RULE_NONE }, d;

	fixture_init(&f);
	fixture_rule(&f, RULE_CMD_ASK, "npm publish");
	fixture_rule(&f, RULE_CMD_ALLOW, "node");
	f.p.s.cmd_default = VERDICT_DENY;
	fixture_compile(&f);
	found = "/lib/npm-cli.js";
	ck_assert(tool_find(&req, find, path_list, NULL, &t));
	eval_command(&f.img, &t.req, &d, NULL);
	ck_assert(script_is_held(&node, &d));
	found = "/ws/x.js";
	t = (struct tool_script){ .words = room, .split = &split };
	ck_assert(tool_find(&req, find, path_list, NULL, &t));
	eval_command(&f.img, &t.req, &d, NULL);
	ck_assert_int_eq(d.verdict, VERDICT_DENY);
	ck_assert(!script_is_held(&node, &d));
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
	tcase_add_loop_test(t, what_valgrind_finds, 0, LEN(searched));
	tcase_add_loop_test(t, what_is_loaded_is_judged, 0, LEN(resolved));
	tcase_add_loop_test(t, node_takes_a_url, 0, sizeof(urls) / sizeof(urls[0]));
	tcase_add_loop_test(t, the_script_of_an_interpreter, 0, LEN(scripts));
	tcase_add_loop_test(t, an_interpreter_looks_in_path, 0, LEN(places));
	tcase_add_test(t, a_shell_without_path);
	tcase_add_test(t, a_tool_is_known_by_its_script);
	tcase_add_test(t, a_script_counts_where_a_rule_names_it);
	suite_add_tcase(s, t);
	return s;
}
