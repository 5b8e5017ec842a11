/* Which variables a question shows. */
#include <check.h>
#include <string.h>

#include "policy/question/environ_target.h"
#include "policy/rules/environ.h"

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

/* OLDPWD is shown where the command may go there. */
static const struct {
	const char *text;
	bool shown;
} goings[] = {
	{ "cd - && rm -v keep", true },
	{ "cd  -", true },
	{ "cd '-'", true },
	{ "cd ''-", true },
	{ "a=-; cd $a", true },
	{ "cp x ~-/y", true },
	{ "rm $OLDPWD/x", true },
	{ "cd sub && npm test -- --foo", false },
	{ "ls -l", false },
	{ "-", false },
};

START_TEST(the_directory_before)
{
	const char *argv[] = { "sh", "-c", goings[_i].text, NULL };
	struct request req = { .op = OP_EXEC, .path = "/bin/sh", .argv = argv, .argc = 3, .cwd = "/w" };

	ck_assert_int_eq(environ_is_shown(&req, "OLDPWD=/x", WAS_OTHER), goings[_i].shown);
}
END_TEST

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

/* An allow covers the command (its words) in the session's environment with `change` in it: `|` between
 * entries, one without `=` is taken out. */
static const struct {
	const char *words, *change, *by; /* by: what changes it, NULL: nothing */
} changes[] = {
	{ "npm publish", "npm_config_registry=http://x/", "npm_config_registry=http://x/" },
	{ "npm publish", "NPM_CONFIG_REGISTRY=http://x/", "NPM_CONFIG_REGISTRY=http://x/" },
	{ "npm publish", "nPm_Config_registry=http://x/", "nPm_Config_registry=http://x/" },
	{ "npm publish", "npm_config_script-shell=/w/sh", "npm_config_script-shell=/w/sh" },
	{ "npm publish", "npm_config_@me:registry=http://x/", "npm_config_@me:registry=http://x/" },
	{ "npm publish", "NPM_CONFIG_USERCONFIG=/w/rc", "NPM_CONFIG_USERCONFIG=/w/rc" },
	{ "npm publish", "npm_config_userconfig=/home/u/../../w/.npmrc",
	  "npm_config_userconfig=/home/u/../../w/.npmrc" },
	{ "npm publish", "npm_config_globalconfig=/home/u/.nvm/versions/node/../../../../../w/etc/npmrc",
	  "npm_config_globalconfig=/home/u/.nvm/versions/node/../../../../../w/etc/npmrc" },
	{ "npm publish", "HOME=/w", "HOME=/w" },
	{ "npm publish", "HOME", "HOME=/home/u" },
	{ "npm publish", "XDG_CONFIG_HOME=/w", "XDG_CONFIG_HOME=/w" },
	{ "npm publish", "https_proxy=http://x/", "https_proxy=http://x/" },
	/* What npm and others give their children, and what decides nothing. */
	{ "npm publish", "npm_config_userconfig=/home/u/.npmrc|npm_config_globalconfig=/usr/etc/npmrc",
	  NULL },
	{ "npm publish", "npm_config_globalconfig=/home/u/.nvm/versions/node/v20.1.0/etc/npmrc", NULL },
	{ "npm publish", "npm_config_cache=/c|npm_config_user_agent=npm/10|npm_config_local_prefix=/w",
	  NULL },
	{ "npm publish", "npm_config_registryx=1|npm_config_regis=1", NULL },
	{ "npm publish", "KUBECONFIG=/c|CARGO_ALIAS_P=publish", NULL },
	{ "npm publish", "A=1|PATH=/x|NODE_ENV=production", NULL },
	{ "cargo publish", "CARGO_HOME=/home/u/.cargo|CARGO=/usr/bin/cargo", NULL },
	{ "cargo publish", "CARGO_HOME=/w", "CARGO_HOME=/w" },
	{ "cargo p", "CARGO_ALIAS_P=publish", "CARGO_ALIAS_P=publish" },
	{ "cargo publish", "CARGO_REGISTRIES_X_INDEX=http://x/", "CARGO_REGISTRIES_X_INDEX=http://x/" },
	{ "cargo build", "CARGO_TARGET_DIR=/t|MAKEFLAGS=-j2|CARGO_MAKEFLAGS=-j2", NULL },
	{ "make install", "MAKEFLAGS= -j2 --jobserver-auth=3,4|MAKELEVEL=1|MFLAGS=-j2", NULL },
	{ "git push o topic",
	  "GIT_DIR=.git|GIT_INDEX_FILE=.git/index|GIT_EDITOR=:|GIT_EXEC_PATH=/x|GIT_PREFIX=", NULL },
	{ "git push o topic", "GIT_SSH_COMMAND=ssh -p 2", "GIT_SSH_COMMAND=ssh -p 2" },
	{ "git status", "GIT_SSH_COMMAND=ssh -p 2|https_proxy=http://x/", NULL },
	{ "docker ps", "DOCKER_HOST=tcp://x", "DOCKER_HOST=tcp://x" },
	/* The operator's own is no change, another value or none is one. */
	{ "kubectl get pods", "A=1", NULL },
	{ "kubectl get pods", "KUBECONFIG=/home/u/staging", NULL },
	{ "kubectl get pods", "KUBECONFIG=/w/prod", "KUBECONFIG=/w/prod" },
	{ "kubectl get pods", "KUBECONFIG", "KUBECONFIG=/home/u/staging" },
	/* Of wrapped commands and modules, too; not of other words. */
	{ "nice -n 5 env A=1 kubectl get pods", "KUBECONFIG=/w/prod", "KUBECONFIG=/w/prod" },
	{ "python3 -m twine upload", "TWINE_REPOSITORY_URL=http://x/", "TWINE_REPOSITORY_URL=http://x/" },
	{ "python3 -mpip install a", "PIP_INDEX_URL=http://x/", "PIP_INDEX_URL=http://x/" },
	{ "pip3 install a", "PIP_INDEX_URL=http://x/", "PIP_INDEX_URL=http://x/" },
	{ "pip3 install a", "PIP_DISABLE_PIP_VERSION_CHECK=1|PIP_CACHE_DIR=/c", NULL },
	{ "python3 a.py", "PIP_INDEX_URL=http://x/", NULL },
	{ "mkdir kubectl", "KUBECONFIG=/w/prod", NULL },
	{ "curl https://x/", "CURL_HOME=/w", "CURL_HOME=/w" },
	{ "wget https://x/", "WGETRC=/w/rc", "WGETRC=/w/rc" },
	/* What does as an option does that no allow covers; what people and programs set in ordinary work. */
	{ "docker compose up", "COMPOSE_FILE=/x", "COMPOSE_FILE=/x" },
	{ "docker-compose up", "COMPOSE_PROJECT_NAME=x", "COMPOSE_PROJECT_NAME=x" },
	{ "mvn test", "MAVEN_ARGS=deploy", "MAVEN_ARGS=deploy" },
	{ "mvn test", "MAVEN_OPTS=-javaagent:x", "MAVEN_OPTS=-javaagent:x" },
	{ "mvn test", "MAVEN_OPTS=-Xmx2g", NULL },
	{ "mvn test", "MAVEN_OPTS=-Xmx2g -javaagent:x", "MAVEN_OPTS=-Xmx2g -javaagent:x" },
	{ "gradle test", "GRADLE_OPTS=-javaagent:x", "GRADLE_OPTS=-javaagent:x" },
	{ "gradle test", "GRADLE_OPTS=-Dorg.gradle.daemon=false", NULL },
	{ "gradle test", "GRADLE_USER_HOME=/w", "GRADLE_USER_HOME=/w" },
	{ "gradle test", "GRADLE_USER_HOME=/home/u/.gradle", NULL },
	{ "zip a f", "ZIPOPT=-T -TT x", "ZIPOPT=-T -TT x" },
	{ "tar -xf a", "TAR_OPTIONS=--to-command=x", "TAR_OPTIONS=--to-command=x" },
	{ "rg x", "RIPGREP_CONFIG_PATH=/w/rc", "RIPGREP_CONFIG_PATH=/w/rc" },
	{ "bash x.sh", "BASH_ENV=/w/p", "BASH_ENV=/w/p" },
	{ "sh x.sh", "ENV=production|BASH_ENV=/w/p", NULL },
	{ "npm publish", "NODE_OPTIONS=-r /w/x", "NODE_OPTIONS=-r /w/x" },
	{ "npm run build", "NODE_OPTIONS=--max-old-space-size=4096", NULL },
	{ "npm run build", "NODE_OPTIONS=--max-old-space-size=4096 -r x",
	  "NODE_OPTIONS=--max-old-space-size=4096 -r x" },
	{ "node x.js", "NODE_OPTIONS=--require /w/.pnp.cjs", NULL },
	{ "python3 -m twine upload", "PYTHONPATH=/w", "PYTHONPATH=/w" },
	{ "python3 x.py", "PYTHONPATH=src", NULL },
	{ "pytest", "PYTHONPATH=src", NULL },
	{ "pytest", "PYTEST_ADDOPTS=-p x", "PYTEST_ADDOPTS=-p x" },
	{ "perl x.pl", "PERL5OPT=-Mx", "PERL5OPT=-Mx" },
	{ "perl x.pl", "PERL5LIB=lib", NULL },
	{ "ruby x.rb", "RUBYOPT=-rbundler/setup", NULL },
	{ "gem push", "RUBYOPT=-rx", "RUBYOPT=-rx" },
	{ "go install x", "GOENV=/w/env", "GOENV=/w/env" },
	{ "go build", "GOCACHEPROG=x", "GOCACHEPROG=x" },
	{ "make all", "MAKEFILES=/w/x", "MAKEFILES=/w/x" },
	{ "hg log", "HGRCPATH=/w", "HGRCPATH=/w" },
	{ "svn update", "SVN_SSH=x", "SVN_SSH=x" },
	{ "psql", "PSQLRC=/w/rc", "PSQLRC=/w/rc" },
	{ "psql", "PSQL_PAGER=cat", NULL },
	{ "dotnet build", "DOTNET_STARTUP_HOOKS=/w/x.dll", "DOTNET_STARTUP_HOOKS=/w/x.dll" },
	{ "pip install x", "PIP_EDITABLE=/w", "PIP_EDITABLE=/w" },
	{ "bun install", "BUN_CONFIG_REGISTRY=http://x/", "BUN_CONFIG_REGISTRY=http://x/" },
	{ "deno install", "NPM_CONFIG_REGISTRY=http://x/", "NPM_CONFIG_REGISTRY=http://x/" },
	{ "deno run x", "DENO_DIR=/c", NULL },
	{ "composer install", "COMPOSER=/w/x.json", "COMPOSER=/w/x.json" },
	{ "gpg --verify x", "GNUPGHOME=/w", "GNUPGHOME=/w" },
	{ "openssl dgst x", "OPENSSL_CONF=/w/x", "OPENSSL_CONF=/w/x" },
	{ "man x", "MANPAGER=/w/x", "MANPAGER=/w/x" },
	{ "man x", "MANPAGER=cat", NULL },
	{ "less x", "LESSCLOSE=/usr/bin/lesspipe %s %s", NULL },
	{ "less x", "LESSCLOSE=/w/x %s %s", "LESSCLOSE=/w/x %s %s" },
	{ "podman ps", "DOCKER_HOST=tcp://x", "DOCKER_HOST=tcp://x" },
	{ "mysql", "MYSQL_HOME=/w", "MYSQL_HOME=/w" },
};

START_TEST(what_changes_a_command)
{
	const char *first[] = { "PATH=/bin", "HOME=/home/u", "KUBECONFIG=/home/u/staging", NULL },
		   *env[16] = { NULL }, *argv[16], *by;
	struct request req = { .op = OP_EXEC, .argv = argv };
	char words[256], change[256];
	size_t n = 0;

	strcpy(words, changes[_i].words);
	strcpy(change, changes[_i].change);
	for (char *w = strtok(words, " "); w; w = strtok(NULL, " "))
		argv[req.argc++] = w;
	argv[req.argc] = NULL;
	for (size_t i = 0; first[i]; i++) {
		const char *at = strstr(change, first[i]);
		size_t len = strcspn(first[i], "=") + 1;

		/* It stands there once: as it was, or as the change says. */
		if (!at && strncmp(change, first[i], len - 1) == 0 &&
		    (!change[len - 1] || change[len - 1] == '='))
			continue;
		env[n++] = first[i];
	}
	for (char *e = strtok(change, "|"); e; e = strtok(NULL, "|"))
		if (strchr(e, '='))
			env[n++] = e;
	by = environ_change(environ_rows(&req), env, first);
	if (changes[_i].by)
		ck_assert_msg(by && strcmp(by, changes[_i].by) == 0, "%s with %s: %s", changes[_i].words,
			      changes[_i].change, by ? by : "nothing");
	else
		ck_assert_msg(!by, "%s with %s: %s", changes[_i].words, changes[_i].change, by);
}
END_TEST

Suite *suite_environ_target(void)
{
	Suite *s = suite_create("environ_target");
	TCase *tc = tcase_create("environ_target");

	tcase_add_loop_test(tc, what_is_shown, 0, (int)(sizeof(cases) / sizeof(cases[0])));
	tcase_add_loop_test(tc, the_directory_before, 0, (int)(sizeof(goings) / sizeof(goings[0])));
	tcase_add_loop_test(tc, what_changes_a_command, 0, (int)(sizeof(changes) / sizeof(changes[0])));
	tcase_add_test(tc, what_directs_is_no_secret);
	tcase_add_test(tc, prints_tell_values_apart);
	suite_add_tcase(s, tc);
	return s;
}
