/*
 * Every row of tests/t/lib/options/rules.tsv by the evaluator, as rules of a policy and as grants.  The
 * scenario commands/options has the same rows answered by explain, hooks and supervisor.  Run from the top of
 * the tree.
 */
#include <stdlib.h>

#include "grant_fixture.h"
#include "test_cmd.h"

Suite *suite_options(void);

#define ROWS "tests/t/lib/options/rules.tsv"
/* As rows.py has it. */
#define POLICY                                                                                               \
	"[session]\napprovals = ask\n"                                                                       \
	"[commands]\nallow = execs-static\n"

struct row {
	char *rules, *command, *verdict;
	const char *grant;
};

static unsigned n_rows, n_wrong;

/* Lines of text between ` ; `: those that begin with key, or where rest is true the others. */
static void put_lines(char *out, size_t size, const char *rules, const char *key, bool rest)
{
	size_t used = strlen(out), n;

	for (const char *p = rules; *p; p += n + (p[n] ? 3 : 0)) {
		const char *end = strstr(p, " ; ");

		n = end ? (size_t)(end - p) : strlen(p);
		if ((strncmp(p, key, strlen(key)) == 0) != rest)
			used += (size_t)snprintf(out + used, size - used, "%.*s\n", (int)n, p);
		ck_assert_uint_lt(used, size);
	}
}

static const struct request *request_of(struct line *l, struct request *req, const char *command)
{
	line_split(l, command);
	*req = (struct request){ .op = OP_EXEC,
				 .path = l->path,
				 .argv = l->argv,
				 .argc = l->n,
				 .cwd = "/ws",
				 .git_branch = "topic" };
	return req;
}

static void complain(const struct row *r, const char *as, const char *got)
{
	n_wrong++;
	printf("rules.tsv: %s: %s, not %s: %s / %s\n", as, got, *r->grant ? r->grant : r->verdict, r->rules,
	       r->command);
	(void)fflush(stdout);
}

static void as_policy(const struct row *r)
{
	char text[2048] = POLICY;
	struct request req;
	struct line l;
	const char *got;

	if (!strstr(r->rules, "default = "))
		strcat(text, "default = deny\n");
	put_lines(text, sizeof(text), r->rules, "", false);
	take("bridge", text);
	got = verdict_name(eval(&fx.img, request_of(&l, &req, r->command)).verdict);
	if (strcmp(got, r->verdict) != 0)
		complain(r, "policy", got);
}

/* Where everything is asked the allow lines are what was granted, the others stay the policy's. */
static void as_grants(const struct row *r)
{
	char text[2048] = POLICY "default = ask\n", lines[2048] = "";
	struct grant_line list[8];
	struct request req;
	struct image img;
	struct line l;
	struct diags d;
	uint8_t *bytes = NULL;
	size_t size, index, n = 0;
	bool want = *r->grant ? strcmp(r->grant, "granted") == 0 : strcmp(r->verdict, "allow") == 0;

	put_lines(text, sizeof(text), r->rules, "allow = ", true);
	put_lines(lines, sizeof(lines), r->rules, "allow = ", false);
	for (char *p = strtok(lines, "\n"); p && n < 8; p = strtok(NULL, "\n"))
		list[n++] = (struct grant_line){ "commands", p };
	take("bridge", text);
	diags_init(&d);
	ck_assert_msg(grants_compile(&fx.img, list, n, &d, &bytes, &size) == 0, "%s", r->rules);
	ck_assert_int_eq(image_open_checked(&img, bytes, size), 0);
	if (grants_allow(&img, &fx.img, request_of(&l, &req, r->command), &index) != want)
		complain(r, "grant", want ? "not granted" : "granted");
	free(bytes);
	diags_done(&d);
}

START_TEST(test_rows)
{
	FILE *f = fopen(ROWS, "re");
	char *line = NULL;
	size_t cap = 0;

	ck_assert_msg(f != NULL, "%s: run from the top of the tree", ROWS);
	while (getline(&line, &cap, f) > 0) {
		struct row r = { .rules = line, .grant = "" };

		line[strcspn(line, "\n")] = '\0';
		if (!line[0] || line[0] == '#')
			continue;
		ck_assert((r.command = strchr(line, '\t')) && (r.verdict = strchr(r.command + 1, '\t')));
		*r.command++ = *r.verdict++ = '\0';
		if (strchr(r.verdict, '\t')) {
			r.grant = strchr(r.verdict, '\t') + 1;
			*strchr(r.verdict, '\t') = '\0';
		}
		as_policy(&r);
		if (strstr(r.rules, "allow = ") == r.rules)
			as_grants(&r);
		n_rows++;
	}
	free(line);
	(void)fclose(f);
	printf("options: %u rows, %u otherwise\n", n_rows, n_wrong);
	ck_assert_uint_ge(n_rows, 400);
	ck_assert_uint_eq(n_wrong, 0);
}
END_TEST

Suite *suite_options(void)
{
	Suite *s = suite_create("options");
	TCase *t = tcase_create("rows");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, test_rows);
	suite_add_tcase(s, t);
	return s;
}
