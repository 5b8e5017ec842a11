/* What --observe lets happen, and what it never does: by the policy's image, as it is compiled for a session.
 */
#include "host_expect.h"

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

Suite *suite_observe(void);

static const char user_text[] =
	"preset = agent\n[files]\nask = ~/asked\ndeny = ~/private\nreadonly = vendor\n"
	"[commands]\ndeny = id\nask = make\n"
	"[network]\ndeny = bad.example\ndeny = 8.8.4.4\n";
static const char floor_text[] = "[files]\ndeny = /srv/closed\nask = /srv/asked\n[commands]\ndeny = whoami\n"
				 "[network]\ndeny = floor.example\n";

static void add(struct bundle *b, enum source_layer layer, const char *path, const char *text)
{
	ck_assert_int_eq(bundle_add_source(b, layer, path, text, strlen(text)), 0);
}

static void take(const char *floor)
{
	struct bundle b;

	bundle_init(&b);
	b.home = strdup("/home/u");
	b.workspace = strdup("/ws");
	b.observe = true;
	b.self_write = malloc(sizeof(*b.self_write));
	b.self_write[0] = strdup("/home/u/.config/pale");
	b.n_self_write = 1;
	add(&b, SOURCE_FLOOR, "/etc/pale/policy.ini", floor);
	add(&b, SOURCE_USER, "policy.ini", user_text);
	add(&b, SOURCE_PROJECT, "/ws/.pale/policy.ini",
	    "[session]\nmode = read-only\n[commands]\ndeny = ls\n");
	policy_done(&fx.p);
	policy_init(&fx.p);
	ck_assert_int_eq(policy_parse(&b, &fx.p, &fx.d), 0);
	bundle_done(&b);
	fixture_compile(&fx);
}

static const struct touch {
	enum op op;
	const char *path;
	enum verdict verdict;
} touches[] = {
	{ OP_WRITE, "/ws/file", A },
	{ OP_WRITE, "/home/u/anywhere", A },
	{ OP_MKDIR, "/opt/new", A },
	{ OP_DELETE, "/home/u/old", A },
	{ OP_READ, "/home/u/asked/x", A },
	{ OP_WRITE, "/home/u/asked/x", A },
	/* secrets, what is closed, what runs later */
	{ OP_READ, "/home/u/.ssh/id_rsa", D },
	{ OP_WRITE, "/home/u/.ssh/authorized_keys", D },
	{ OP_RENAME, "/home/u/.ssh", D },
	{ OP_READ, "/home/u/private/x", D },
	{ OP_READ, "/home/u/.bash_history", D },
	{ OP_WRITE, "/home/u/.bashrc", D },
	{ OP_WRITE, "/ws/.git/hooks/pre-commit", D },
	{ OP_WRITE, "/ws/vendor/x", D },
	{ OP_READ, "/ws/vendor/x", A },
	{ OP_WRITE, "/home/u/.config/pale/policy.ini", D },
	/* the machine's own floor */
	{ OP_READ, "/srv/closed/x", D },
	{ OP_READ, "/srv/asked/x", VERDICT_ASK },
	/* other programs */
	{ OP_UNIX, "/run/docker.sock", D },
	{ OP_UNIX, "/home/u/.config/app/socket", D },
	{ OP_UNIX, "/ws/own.sock", A },
	{ OP_UNIX, "@abstract", D },
};

START_TEST(test_files)
{
	const struct touch *t = &touches[_i];
	const struct request req = { .op = t->op, .access = op_access(t->op), .path = t->path };

	take(floor_text);
	ck_assert_msg(eval(&fx.img, &req).verdict == t->verdict, "%s %s", op_name(t->op), t->path);
}
END_TEST

static const struct command_case {
	const char *words[6];
	enum verdict verdict;
} commands[] = {
	{ { "id" }, A },
	{ { "make", "deploy" }, A },
	{ { "ls" }, A },
	{ { "npm", "publish" }, A },
	{ { "git", "push", "origin", "feature" }, A },
	{ { "git", "push", "origin", "main" }, D },
	{ { "env", "git", "push", "origin", "+HEAD:main" }, D },
	{ { "sudo", "id" }, D },
	{ { "nice", "shutdown" }, D },
	{ { "whoami" }, D },
};

START_TEST(test_commands)
{
	const struct command_case *c = &commands[_i];
	struct request req = { .op = OP_EXEC, .argv = c->words, .cwd = "/ws" };

	while (req.argc < 5 && c->words[req.argc])
		req.argc++;
	take(floor_text);
	ck_assert_msg(eval(&fx.img, &req).verdict == c->verdict, "%s %s", c->words[0], c->words[1] ?: "");
}
END_TEST

static const struct host_case {
	const char *host, *addr;
	uint16_t port;
	enum verdict verdict;
} hosts[] = {
	{ "other.example", NULL, 443, A },
	{ "bad.example", NULL, 443, A },
	{ NULL, "93.184.216.34", 80, A },
	{ "floor.example", NULL, 443, D },
	{ NULL, "8.8.4.4", 443, D },
	{ NULL, "169.254.169.254", 80, D },
	{ "metadata.google.internal", "169.254.169.254", 80, D },
	{ "other.example", "10.0.0.1", 443, D },
	{ NULL, "10.0.0.1", 443, D },
	{ "localhost", "127.0.0.1", 3000, D },
	{ "localhost", "127.0.0.1", 2375, D },
	{ NULL, "127.0.0.1", 80, D },
};

START_TEST(test_hosts)
{
	const struct host_case *c = &hosts[_i];
	struct request req = { .op = OP_CONNECT, .host = c->host, .port = c->port };

	take(floor_text);
	if (c->addr)
		req.has_addr = addr_parse(c->addr, strlen(c->addr), req.addr);
	ck_assert_msg(eval(&fx.img, &req).verdict == c->verdict, "%s", c->host ? c->host : c->addr);
}
END_TEST

/* The machine's floor is nobody's to observe away. */
START_TEST(test_floor_settings)
{
	const struct request out = { .op = OP_WRITE, .access = ACCESS_WRITE, .path = "/home/u/anywhere" };
	const struct request net = { .op = OP_CONNECT, .host = "other.example", .port = 443 };

	take("[session]\nmode = workspace-write\n[network]\nmode = off\n");
	ck_assert_int_eq(eval(&fx.img, &out).verdict, VERDICT_DENY);
	ck_assert_int_eq(eval(&fx.img, &net).verdict, VERDICT_DENY);
}
END_TEST

Suite *suite_observe(void)
{
	Suite *s = suite_create("observe");
	TCase *t = tcase_create("observe");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, test_files, 0, COUNT(touches));
	tcase_add_loop_test(t, test_commands, 0, COUNT(commands));
	tcase_add_loop_test(t, test_hosts, 0, COUNT(hosts));
	tcase_add_test(t, test_floor_settings);
	suite_add_tcase(s, t);
	return s;
}
