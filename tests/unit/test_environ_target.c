/* Which variables a question shows. */
#include <check.h>
#include <string.h>

#include "policy/environ.h"
#include "policy/environ_target.h"

Suite *suite_environ_target(void);

static const struct {
	const char *program, *entry;
	enum environ_was was;
	bool shown;
} cases[] = {
	/* What differs is shown, whatever it is called. */
	{ "deploytool", "DEPLOY_TARGET=production", WAS_OTHER, true },
	{ "deploytool", "X=", WAS_OTHER, true },
	{ "deploytool", "=x", WAS_OTHER, true },
	{ "deploytool", "", WAS_OTHER, true },
	{ "deploytool", "KUBECONFIG", WAS_OTHER, true },
	{ "deploytool", "LD_PRELOAD=/x.so", WAS_OTHER, true },
	{ "deploytool", "LD_LIBRARY_PATH=/x", WAS_OTHER, true },
	{ "deploytool", "PATH=/x", WAS_OTHER, true },
	{ "deploytool", "TERMINFO=/x", WAS_OTHER, true },
	{ "deploytool", "DEPLOY_TARGET=production", WAS_SAME, false },
	{ "deploytool", "PATH=/bin", WAS_SAME, false },
	/* But for what shells and terminals change. */
	{ "deploytool", "SHLVL=2", WAS_OTHER, false },
	{ "deploytool", "_=/bin/x", WAS_OTHER, false },
	{ "deploytool", "__=/bin/x", WAS_OTHER, true },
	{ "deploytool", "PALE_SESSION_DIR=/x", WAS_OTHER, false },
	{ "deploytool", "PALE=/x", WAS_OTHER, true },
	{ "deploytool", "PWD=/w", WAS_OTHER, false },
	{ "deploytool", "PWD=/w/", WAS_OTHER, true },
	{ "deploytool", "PWDX=/w", WAS_OTHER, true },
	{ "deploytool", "LD_PRELOAD", WAS_OTHER, false },
	/* A program's own are shown wherever they are set. */
	{ "kubectl", "KUBECONFIG=/c", WAS_SAME, true },
	{ "/opt/bin/helm", "KUBECONFIG=/c", WAS_SAME, true },
	{ "kubectl2", "KUBECONFIG=/c", WAS_SAME, false },
	{ "terraform", "TF_CLI_ARGS_apply=-x", WAS_SAME, true },
	{ "npm", "npm_config_registry=x", WAS_SAME, true },
	{ "make", "MAKEFLAGS=-x", WAS_SAME, true },
	{ "git", "GIT_DIR=/x", WAS_SAME, true },
	{ "git", "KUBECONFIG=/c", WAS_SAME, false },
};

START_TEST(what_is_shown)
{
	const char *argv[] = { cases[_i].program, "up", NULL },
		   *wrapped[] = { "nice", cases[_i].program, NULL };
	struct request req = { .op = OP_EXEC, .path = "/bin/x", .argv = argv, .argc = 2, .cwd = "/w" };

	ck_assert_int_eq(environ_is_shown(&req, cases[_i].entry, cases[_i].was), cases[_i].shown);
	req.argv = wrapped;
	ck_assert_int_eq(environ_is_shown(&req, cases[_i].entry, cases[_i].was), cases[_i].shown);
}
END_TEST

/* Blank-separated. */
static const char directing[] = "GIT_CONFIG_KEY_0 GIT_CONFIG_VALUE_0 GIT_SSL_KEY GIT_SSH_COMMAND "
				"GOOGLE_APPLICATION_CREDENTIALS KUBECONFIG "
				"ANSIBLE_HOST_KEY_CHECKING CARGO_REGISTRY_CREDENTIAL_PROVIDER "
				"TF_VAR_private_subnet AWS_PROFILE PWD OLDPWD "
				"PATH HOME NODE_OPTIONS LD_PRELOAD https_proxy npm_config_registry";
static const char secret[] =
	"GEM_HOST_API_KEY TWINE_PASSWORD npm_config__authToken npm_config__auth "
	"npm_config_//h.example/:_authToken "
	"CARGO_REGISTRIES_X_TOKEN POETRY_PYPI_TOKEN_X YARN_NPM_AUTH_IDENT ARM_ACCESS_KEY TF_VAR_db_password "
	"GITHUB_TOKEN "
	"REDISCLI_AUTH PULUMI_CONFIG_PASSPHRASE AZURE_CLIENT_SECRET GIT_TOKEN GIT_PASSWORD OPENAI_API_KEY";

START_TEST(what_directs_is_no_secret)
{
	char list[2][sizeof(directing) + sizeof(secret)];

	strcpy(list[0], directing);
	strcpy(list[1], secret);
	for (const char *n = strtok(list[0], " "); n; n = strtok(NULL, " "))
		ck_assert_msg(environ_is_target(n), "%s", n);
	for (const char *n = strtok(list[1], " "); n; n = strtok(NULL, " "))
		ck_assert_msg(!environ_is_target(n) && environ_name_is_secret(n), "%s", n);
	ck_assert(!environ_is_target("DEPLOY_TARGET"));
}
END_TEST

START_TEST(prints_tell_values_apart)
{
	char a[ENVIRON_PRINT], b[ENVIRON_PRINT];

	ck_assert_int_eq(environ_print("A=1", a), 0);
	ck_assert_int_eq(environ_print("A=1", b), 0);
	ck_assert_str_eq(a, b);
	ck_assert_int_eq(environ_print("A=2", b), 0);
	ck_assert_str_ne(a, b);
	ck_assert_int_lt(environ_print("A", a), 0);
}
END_TEST

Suite *suite_environ_target(void)
{
	Suite *s = suite_create("environ_target");
	TCase *tc = tcase_create("environ_target");

	tcase_add_loop_test(tc, what_is_shown, 0, (int)(sizeof(cases) / sizeof(cases[0])));
	tcase_add_test(tc, what_directs_is_no_secret);
	tcase_add_test(tc, prints_tell_values_apart);
	suite_add_tcase(s, tc);
	return s;
}
