/*
 * The checks of a push: each row makes commits with git, as an agent would, or builds trees that git itself
 * would not write, and says what the checks must print.
 */
#include "tools/gate/checks.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

Suite *suite_gate_checks(void);

#define GIT    "/usr/bin/git"
#define VALUE  "S3cret-of/the+session"
#define VALUES VALUE "\0short\0another, of\ntwo lines\0"

/* Runs with $G the gate and the current directory a clone of it; what is committed at the end is pushed. */
#define PRELUDE                                                                                              \
	"set -e; export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 HOME=/nonexistent; cd $D; "        \
	"G=$D/g.git\n"                                                                                       \
	"git init -q -b main w; cd w; git config user.name Tess; git config user.email tess@example.org\n"   \
	"git config core.protectNTFS false; git config core.protectHFS false\n"                              \
	"mkdir d; echo one >d/one; echo 'known " VALUE "' >known; echo two >two\n"                           \
	"git add .; git commit -qm start; git clone -q --bare . $G\n"                                        \
	"tree() { local t; t=$(git mktree); git commit-tree -p HEAD -m tree $t >$D/made; git reset -q "      \
	"--soft $(cat $D/made); }\n"                                                                         \
	"blob() { git hash-object -w --stdin; }\n"
#define FINISH                                                                                               \
	"\n[ -e $D/made ] || { git add -A; git commit -qm ${M-change} --allow-empty "                        \
	"--allow-empty-message; }\n"                                                                         \
	"NEW=${NEW-$(git rev-parse HEAD)}; git push -q $G $NEW:refs/test/new; echo $NEW >$D/new\n"

static const struct row {
	const char *script, *want; /* NULL: clean */
} rows[] = {
	/* What is ordinary passes. */
	{ "echo three >three; git rm -q two; chmod +x d/one", NULL },
	{ "ln -s ../two d/link; ln -s d/one l2", NULL },
	{ "git mv d/one d/uno", NULL },
	{ "printf 'password=$PASS token=get_token() api_key=your-key-here\\n' >x", NULL },
	{ "printf 'url = \"https://user:password@example.org/\"\\n' >x", NULL },
	{ "printf 'data:application/json;base64,eyJ2ZXJzaW9uIjozLCJzb3VyY2VzIjpbImEuanMiXX0=\\n' >x", NULL },
	{ "printf 'if (!strncmp(s, \"-----BEGIN RSA PRIVATE KEY-----\", 31))\\n' >x.c", NULL },
	/* The session's values. */
	{ "printf 'a\\nb\\nx=%s\\n' '" VALUE "' >x", "x:3: a secret value of this session, as it is\n" },
	{ "printf %s '" VALUE "' | base64 >x", "x:1: a secret value of this session, in base64\n" },
	{ "printf 'a%s' '" VALUE "' | base64 >x", "x:1: a secret value of this session, in base64\n" },
	{ "printf 'ab%s' '" VALUE "' | base64 >x", "x:1: a secret value of this session, in base64\n" },
	{ "printf 'ab%s and more' '" VALUE "' | base64 -w 5 >x",
	  "a secret value of this session, in base64\n" },
	{ "printf '\\377\\376%s' '" VALUE "' | base64 | tr '+/' '-_' >x",
	  "x:1: a secret value of this session, in base64" },
	{ "printf %s '" VALUE "' | od -An -tx1 | tr -d ' \\n' >x",
	  "x:1: a secret value of this session, in hexadecimal" },
	{ "printf %s '" VALUE "' | od -An -tx1 | tr a-f A-F >x",
	  "x:1: a secret value of this session, in hexadecimal" },
	{ "printf %s '" VALUE "' | iconv -t UTF-16 >x", "x:1: a secret value of this session, as it is\n" },
	{ "printf 'S3cret-of/\\nthe+session' >x", "x:1: a secret value of this session, as it is\n" },
	{ "printf 'q\\nanother, of\\ntwo lines' >x", "x:2: a secret value of this session, as it is\n" },
	{ "printf '\\0\\1%s\\0' '" VALUE "' >x", "x:1: a secret value of this session" },
	{ "M='" VALUE "'", "commit " },
	{ "git config user.name '" VALUE "'", "a secret value of this session" },
	{ "mkdir -p 'S3cret-of'; echo >'S3cret-of/the+session'",
	  "S3cret-of/the+session:1: a secret value of this session" },
	{ "ln -s 'S3cret-of/the+session' l", "l:1: a secret value of this session" },
	{ "echo '" VALUE "' >x; git add .; git commit -qm 1; git rm -qf x",
	  "x:1: a secret value of this session" },
	{ "echo '" VALUE "' >x; git add .; git commit -qm 1; echo none >x",
	  "x:1: a secret value of this session" },
	{ "git checkout -q -b b; echo b >b; git add .; git commit -qm b; git checkout -q main; echo m >m; "
	  "git add .;"
	  "git commit -qm m; git merge -q --no-commit b; echo '" VALUE "' >evil",
	  "evil:1: a secret value of this session" },
	{ "git checkout -q -b b; echo '" VALUE "' >b; git add .; git commit -qm b; git checkout -q main;"
	  "git merge -q -s ours --no-edit b",
	  "b:1: a secret value of this session" },
	/* What stood there before is not this push's. */
	{ "echo more >>known", NULL },
	{ "git mv known renamed", NULL },
	/* Shapes. */
	{ "echo ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8 >x", "x:1: looks like a secret" },
	{ "echo 'k = \"AKIAIOSFODNN7EXAMPLE\"' >x", "x:1: looks like a secret" },
	{ "printf '\\n\\nDB_PASSWORD=hunter2Xq91zzT\\n' >x", "x:3: looks like a secret" },
	{ "echo 'git clone https://joe:kd83hfKJ2lsd@example.org/x' >x", "x:1: looks like a secret" },
	{ "{ echo -----BEGIN OPENSSH PRIVATE KEY-----; head -c 200 /dev/zero | base64; echo -----END OPENSSH "
	  "PRIVATE KEY-----; } >k",
	  "k:1: looks like a secret" },
	{ "M=token=a1B2c3D4e5F6g7H8", "looks like a secret" },
	{ "git cat-file commit HEAD | sed '/^committer/a x-data more' >../c; "
	  "git update-ref HEAD $(git hash-object -t commit -w --literally ../c); rm ../c; echo >x",
	  "a header of the commit that git does not write" },
	/* Files that must not leave. */
	{ "echo A=b >.env", ".env: [changes] deny = .env*\n" },
	{ "mkdir -p a/b; echo A=b >a/b/.env.local", "a/b/.env.local: [changes] deny = .env*\n" },
	{ "echo A=b >.ENV", ".ENV: [changes] deny = .env*\n" },
	{ "mkdir .env; echo >.env/x", ".env/x: [changes] deny = .env*\n" },
	{ "ln -s two .env", ".env: [changes] deny = .env*\n" },
	{ "echo k >server.pem", "server.pem: [changes] deny = **/*.pem\n" },
	{ "echo A=b >.env; git add .; git commit -qm 1; git rm -qf .env", ".env: [changes] deny = .env*\n" },
	/* Limits. */
	{ "for i in 1 2 3 4 5 6 7 8 9; do echo $i >f$i; done", "the push changes more than 8 files" },
	{ "head -c 70000 /dev/urandom >big", "big: the push adds more than 65536 bytes" },
	{ "for i in 1 2 3; do head -c 30000 /dev/urandom >f; git add .; git commit -qm $i; done; rm f",
	  "f: the push adds more than 65536 bytes" },
	{ "t=$(blob </dev/null); for k in 1 2 3 4 5 6 7 8 9 10; do m=100644; y=blob; [ $k = 1 ] || { "
	  "m=040000; y=tree; };"
	  "t=$(for i in 0 1 2 3 4 5 6 7 8 9; do printf '%s %s %s\\tf%s\\n' $m $y $t $i; done | git mktree); "
	  "done;"
	  "printf '040000 tree %s\\tbomb\\n' $t | tree",
	  "the push changes more than 8 files" },
	{ "t=$(git mktree </dev/null); for k in 1 2 3 4 5 6 7 8 9 10; do"
	  " t=$(for i in 0 1 2 3 4 5 6 7 8 9; do printf '040000 tree %s\\tf%s\\n' $t $i; done | git mktree); "
	  "done;"
	  "printf '040000 tree %s\\tbomb\\n' $t | tree",
	  "a directory without files\n" },
	/* Names. */
	{ "echo >\"$(printf 'a\\033[2Jb')\"", "a\\x1b[2Jb: the name has a control character\n" },
	{ "echo >\"$(printf 'a\\nb')\"", "a\\x0ab: the name has a control character\n" },
	{ "echo >\"$(printf 'a\\342\\200\\256b')\"",
	  "a\\xe2\\x80\\xaeb: the name has a character that a screen does not show\n" },
	{ "echo >\"$(printf 'a\\342\\200\\213b')\"",
	  "the name has a character that a screen does not show\n" },
	{ "echo >\"$(printf 'a\\363\\240\\201\\201b')\"",
	  "the name has a character that a screen does not show\n" },
	{ "echo >\"$(printf '\\303\\244\\321\\217')\"", NULL },
	{ "printf '100644 blob %s\\t.GIT\\n' $(blob </dev/null) | tree",
	  ".GIT: the name has a part that a file system may take for .git\n" },
	{ "printf '100644 blob %s\\tgit~1\\n' $(blob </dev/null) | tree", "git~1: the name has a part" },
	{ "printf '100644 blob %s\\t.git. .\\n' $(blob </dev/null) | tree", ".git. .: the name has a part" },
	{ "printf '100644 blob %s\\t.git::$INDEX_ALLOCATION\\n' $(blob </dev/null) | tree",
	  "the name has a part" },
	{ "printf '100644 blob %s\\ta\\\\\\\\..\\\\\\\\b\\n' $(blob </dev/null) | tree",
	  "the name has a part that is no name\n" },
	{ "echo >TWO", "TWO: differs only in case from `two` beside it\n" },
	{ "echo >d/One", "d/One: differs only in case from `one` beside it\n" },
	/* Links. */
	{ "ln -s /etc/passwd l", "l:1: the link leaves the tree: /etc/passwd\n" },
	{ "ln -s ../x d/l; ln -s ../x l", "l:1: the link leaves the tree: ../x\n" },
	{ "ln -s ../../x d/l", "d/l:1: the link leaves the tree: ../../x\n" },
	{ "ln -s d/../x l", "l:1: the link leaves the tree: d/../x\n" },
	{ "ln -s .git/hooks l", "l:1: the link leads into .git: .git/hooks\n" },
	{ "ln -s .GIT/hooks l", "l:1: the link leads into .git: .GIT/hooks\n" },
	{ "ln -s ../x l; git add .; git commit -qm 1; rm l", "l:1: the link leaves the tree: ../x\n" },
/* Submodules. */
#define MODULE(url) "printf '[submodule \"x\"]\\n\\tpath = x\\n\\turl = %s\\n' '" url "' >.gitmodules"
	{ MODULE("https://example.org/x"), NULL },
	{ MODULE("git@example.org:x/y"), NULL },
	{ MODULE("../x"), NULL },
	{ MODULE("ext::sh -c id"),
	  ".gitmodules:3: the URL is not of https, http, ssh or git: ext::sh -c id\n" },
	{ MODULE("file:///etc"), ".gitmodules:3: the URL is not of" },
	{ MODULE("/etc/x"), ".gitmodules:3: the URL is not of" },
	{ MODULE("-ux"), ".gitmodules:3: the URL is not of" },
	{ MODULE("ssh://-oProxyCommand=id/x"), ".gitmodules:3: the URL is not of" },
	{ MODULE("ssh://a@-oProxyCommand=id/x"), ".gitmodules:3: the URL is not of" },
	{ MODULE("x") "; printf '\\tupdate = !id\\n' >>.gitmodules", "a command runs at an update: !id\n" },
	{ "echo '[[[' >.gitmodules", ".gitmodules: git cannot read it\n" },
	{ "printf '160000 commit %s\\tsub\\n' $(git rev-parse HEAD) | tree", NULL },
	/* What is pushed is a commit. */
	{ "git tag -a t -m x; NEW=$(git rev-parse t)", "refs/heads/topic: is no commit\n" },
	{ "NEW=$(blob <two)", "refs/heads/topic: is no commit\n" },
	/* Replaced objects and grafts do not count. */
	{ "echo '" VALUE "' >x; git add x; git commit -qm 1; git -C $G fetch -q $PWD main:refs/heads/tmp;"
	  "git -C $G replace $(git rev-parse :x) $(git -C $G rev-parse main:two); git -C $G update-ref -d "
	  "refs/heads/tmp",
	  "x:1: a secret value of this session" },
	{ "echo '" VALUE
	  "' >x; git add x; git commit -qm 1; mkdir -p $G/info; echo $(git rev-parse HEAD) >$G/info/grafts",
	  "x:1: a secret value of this session" },
	/* Configuration of the repository itself can only be pale's; the attributes that came are not obeyed.
	 */
	{ "echo '* -diff binary filter=x' >.gitattributes; echo '" VALUE "' >x",
	  "x:1: a secret value of this session" },
};

static int values_file(void)
{
	int fd = memfd_create("values", MFD_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, VALUES, sizeof(VALUES) - 1), sizeof(VALUES) - 1);
	return fd;
}

/* Runs a script; ret_new: what it pushed.  The directory is the caller's to remove. */
static void make(const char *script, char dir[64], char ret_new[128])
{
	char file[96], *all = NULL;
	FILE *f;

	strcpy(dir, "/tmp/pale-checks-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(setenv("D", dir, 1), 0);
	ck_assert_int_gt(asprintf(&all, PRELUDE "%s" FINISH, script), 0);
	ck_assert_int_eq(setenv("SCRIPT", all, 1), 0);
	ck_assert_msg(system("bash -c \"$SCRIPT\" >$D/log 2>&1 || { cat $D/log >&2; exit 1; }") == 0, "%s",
		      script);
	free(all);
	snprintf(file, sizeof(file), "%s/new", dir);
	f = fopen(file, "r");
	ck_assert_ptr_nonnull(f);
	ck_assert_ptr_nonnull(fgets(ret_new, 128, f));
	ret_new[strcspn(ret_new, "\n")] = '\0';
	fclose(f);
}

static int judge(const char *git, const char *dir, const char *new, int secrets, char **ret_out)
{
	static const char *const deny[] = { ".env*", "**/*.pem" };
	const struct check_rules rules = {
		.deny = deny, .n_deny = 2, .max_files = 8, .max_size = 65536, .secrets_fd = secrets
	};
	const struct check_ref ref = { "0000000000000000000000000000000000000000", new, "refs/heads/topic" };
	char gate[96];
	size_t size;
	FILE *out = open_memstream(ret_out, &size);
	int r;

	snprintf(gate, sizeof(gate), "%s/g.git", dir);
	r = checks_run(&rules, git, gate, &ref, 1, out);
	fclose(out);
	return r;
}

static void sweep(void)
{
	ck_assert_int_eq(system("rm -rf \"$D\""), 0);
}

START_TEST(test_row)
{
	const struct row *row = &rows[_i];
	char dir[64], new[128], *out = NULL;
	int fd = values_file(), r;

	make(row->script, dir, new);
	r = judge(GIT, dir, new, fd, &out);
	if (row->want)
		ck_assert_msg(r == 1 && strstr(out, row->want), "%s\n%d: %s", row->script, r, out);
	else
		ck_assert_msg(r == 0 && !*out, "%s\n%d: %s", row->script, r, out);
	free(out);
	close(fd);
	sweep();
}
END_TEST

/* A check that cannot run refuses. */
START_TEST(test_cannot)
{
	char dir[64], new[128], *out = NULL;
	int fd = memfd_create("values", MFD_CLOEXEC);

	make("echo x >x", dir, new);
	ck_assert_int_lt(judge("/nonexistent/git", dir, new, -1, &out), 0);
	ck_assert_ptr_nonnull(strstr(out, "a check could not run"));
	free(out);
	ck_assert_int_lt(judge("/bin/true", dir, new, -1, &out), 0);
	free(out);
	ck_assert_int_lt(judge("/bin/false", dir, new, -1, &out), 0);
	free(out);
	ck_assert_int_lt(judge(GIT, dir, "1111111111111111111111111111111111111111", -1, &out), 0);
	free(out);
	/* The last value is cut. */
	ck_assert_int_eq(write(fd, "value", 5), 5);
	ck_assert_int_lt(judge(GIT, dir, new, fd, &out), 0);
	free(out);
	close(fd);
	ck_assert_int_lt(judge(GIT, dir, new, fd, &out), 0);
	free(out);
	/* An object of the new commit is gone. */
	ck_assert_int_eq(
		system("cd $D/g.git && rm -f objects/$(git -C ../w rev-parse HEAD:x | sed 's,..,&/,')"), 0);
	ck_assert_int_lt(judge(GIT, dir, new, -1, &out), 0);
	free(out);
	sweep();
}
END_TEST

Suite *suite_gate_checks(void)
{
	Suite *s = suite_create("gate_checks");
	TCase *tc = tcase_create("gate_checks");

	tcase_set_timeout(tc, 20);
	tcase_add_loop_test(tc, test_row, 0, (int)(sizeof(rows) / sizeof(rows[0])));
	tcase_add_test(tc, test_cannot);
	suite_add_tcase(s, tc);
	return s;
}
