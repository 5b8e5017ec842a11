/*
 * The classes of variables: tables, read in order; the first that contains the name decides.
 *
 * Before a standard name is added, check that its value cannot lead outside the fence, run code, or be a
 * secret.
 */
#include "environ.h"

#include "policy/base/path.h"
#include "policy/base/util.h"

#include <string.h>
#include <strings.h>

/* Before all others: the names that pale itself sets, and those that load code before its hooks. */
static const char never[] = "LD_PRELOAD LD_AUDIT GLIBC_TUNABLES PALE_* ";

static const char plain[] =
	"PATH HOME USER LOGNAME SHELL PWD OLDPWD SHLVL HOSTNAME TERM COLORTERM TERM_PROGRAM "
	"TERM_PROGRAM_VERSION COLORFGBG COLUMNS LINES TERMINFO TERMINFO_DIRS NO_COLOR FORCE_COLOR "
	"CLICOLOR CLICOLOR_FORCE LS_COLORS LANG LANGUAGE TZ TZDIR TMPDIR TEMP TMP CI "
	/* The categories that exist, but not LC_*: a variable such as LC_SECRET may be a secret. */
	"LC_ALL LC_ADDRESS LC_COLLATE LC_CTYPE LC_IDENTIFICATION LC_MEASUREMENT LC_MESSAGES LC_MONETARY "
	"LC_NAME LC_NUMERIC LC_PAPER LC_TELEPHONE LC_TIME ";

static const char standard[] =
	"XDG_CONFIG_HOME XDG_DATA_HOME XDG_CACHE_HOME XDG_STATE_HOME XDG_RUNTIME_DIR XDG_CONFIG_DIRS "
	"XDG_DATA_DIRS EDITOR VISUAL PAGER MANPATH INFOPATH MANWIDTH LESS LESSCHARSET DEBIAN_FRONTEND "
	"SOURCE_DATE_EPOCH RES_OPTIONS MAN_DISABLE_SECCOMP GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL "
	"GIT_AUTHOR_DATE GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL GIT_COMMITTER_DATE "
	"GIT_CEILING_DIRECTORIES GIT_TERMINAL_PROMPT EMAIL DEBFULLNAME DEBEMAIL ";

static const char toolchain[] =
	/* C */
	"CC CXX CPP AR LD NM RANLIB CFLAGS CXXFLAGS CPPFLAGS LDFLAGS PKG_CONFIG PKG_CONFIG_PATH "
	"CMAKE_PREFIX_PATH CMAKE_GENERATOR CMAKE_BUILD_PARALLEL_LEVEL CCACHE_DIR "
	/* Rust, Go */
	"CARGO_HOME CARGO_TARGET_DIR RUSTUP_HOME RUSTUP_TOOLCHAIN RUSTFLAGS RUST_BACKTRACE RUST_LOG "
	"GOPATH GOROOT GOBIN GOCACHE GOMODCACHE GOFLAGS GOPROXY GOPRIVATE GONOSUMDB GONOPROXY GOSUMDB "
	"GOTOOLCHAIN GOOS GOARCH CGO_ENABLED "
	/* JavaScript */
	"NVM_DIR NVM_BIN NVM_INC FNM_DIR FNM_MULTISHELL_PATH VOLTA_HOME PNPM_HOME BUN_INSTALL DENO_DIR "
	"NODE_ENV NODE_EXTRA_CA_CERTS NODE_NO_WARNINGS npm_config_cache npm_config_prefix "
	"npm_config_registry "
	/* Python */
	"VIRTUAL_ENV VIRTUAL_ENV_PROMPT CONDA_PREFIX CONDA_DEFAULT_ENV CONDA_EXE PYENV_ROOT PYENV_VERSION "
	"PIPX_HOME POETRY_HOME UV_CACHE_DIR PIP_CACHE_DIR PIP_INDEX_URL PYTHONUNBUFFERED "
	"PYTHONDONTWRITEBYTECODE PYTHONIOENCODING PYTHONUTF8 PYTHONHASHSEED "
	/* Java, Ruby, .NET, others */
	"JAVA_HOME JDK_HOME M2_HOME MAVEN_HOME GRADLE_HOME GRADLE_USER_HOME ANDROID_HOME ANDROID_SDK_ROOT "
	"SDKMAN_DIR GEM_HOME GEM_PATH RBENV_ROOT BUNDLE_PATH DOTNET_ROOT DOTNET_CLI_TELEMETRY_OPTOUT "
	"ASDF_DIR ASDF_DATA_DIR MISE_DATA_DIR HOMEBREW_PREFIX HOMEBREW_CELLAR HOMEBREW_REPOSITORY "
	"GUIX_PROFILE NIX_PROFILES "
	/* Trusted certificates for TLS. */
	"SSL_CERT_FILE SSL_CERT_DIR CURL_CA_BUNDLE REQUESTS_CA_BUNDLE NIX_SSL_CERT_FILE ";

static const char proxy[] =
	"http_proxy https_proxy ftp_proxy all_proxy no_proxy HTTP_PROXY HTTPS_PROXY FTP_PROXY ALL_PROXY "
	"NO_PROXY ";

static const char code[] =
	"LD_* NODE_OPTIONS NODE_PATH BUN_OPTIONS DENO_* BASH_ENV BASH_FUNC_* ENV ZDOTDIR PROMPT_COMMAND "
	"PS0 PS4 SHELLOPTS BASHOPTS IFS PYTHONSTARTUP PYTHONPATH PYTHONHOME PYTHONUSERBASE PYTHONWARNINGS "
	"PYTHONBREAKPOINT PERL5OPT PERL5LIB PERLLIB PERL5DB RUBYOPT RUBYLIB JAVA_TOOL_OPTIONS "
	"_JAVA_OPTIONS JDK_JAVA_OPTIONS MAVEN_OPTS GRADLE_OPTS DOTNET_STARTUP_HOOKS LUA_INIT* PHPRC "
	"PHP_INI_SCAN_DIR R_PROFILE* GCONV_PATH LOCPATH NLSPATH GETCONF_DIR RESOLV_HOST_CONF HOSTALIASES "
	"LOCALDOMAIN TERMCAP LESSOPEN LESSCLOSE LESSKEYIN MANPAGER BROWSER MAKEFLAGS MAKEFILES "
	"GCC_EXEC_PREFIX COMPILER_PATH RUSTC_WRAPPER RUSTC CARGO_BUILD_RUSTC* GIT_* CVS_RSH RSYNC_RSH "
	"HGRC EDITOR_CMD FPATH INPUTRC QT_PLUGIN_PATH GTK_MODULES GTK_PATH GIO_* OPENSSL_* CORECLR_* "
	"COR_* ELECTRON_* ";

static const char door[] =
	"SSH_* GPG_* GNUPGHOME DBUS_* DISPLAY WAYLAND_* XAUTHORITY ICEAUTHORITY SESSION_MANAGER TMUX "
	"TMUX_* STY WINDOW WINDOWID KITTY_* WEZTERM_* ZELLIJ* ITERM_* VSCODE_* NVIM NVIM_* VIM_* EMACS* "
	"INSIDE_EMACS ALTERNATE_EDITOR DOCKER_* CONTAINER_* PODMAN_* BUILDKIT_* KUBECONFIG KUBE* "
	"LIBVIRT_* GNOME_KEYRING_* KRB5* SUDO_* DOAS_* LISTEN_* NOTIFY_SOCKET WATCHDOG_* INVOCATION_ID "
	"JOURNAL_STREAM SYSTEMD_* MAIL PINENTRY_* XDG_SESSION_* XDG_VTNR XDG_SEAT* CREDENTIALS_DIRECTORY "
	"ATUIN_* DIRENV_* HISTFILE ";

/* Accounts in clouds, stores and data bases.  environ_name_is_secret() judges names by their words. */
static const char account[] =
	"AWS_* AZURE_* ARM_* GOOGLE_* GCP_* GCLOUD_* CLOUDSDK_* DIGITALOCEAN_* LINODE_* HCLOUD_* "
	"CLOUDFLARE_* CF_* ALIBABA_* ALICLOUD_* OCI_* IBMCLOUD_* HEROKU_* FLY_* VAULT_* CONSUL_* NOMAD_* "
	"TF_VAR_* TF_TOKEN_* OP_* BW_* RESTIC_* BORG_* RCLONE_* PG* MYSQL_* REDIS_* MONGO* DATABASE_URL "
	"*_DATABASE_URL *_DSN *_URI *_CONNECTION_STRING SENTRY_* TWINE_* npm_config_* NPM_* "
	"CARGO_REGISTRY_* CARGO_REGISTRIES_* CI_JOB_* ACTIONS_* GITHUB_* GITLAB_* GH_* SLACK_* STRIPE_* ";

static const struct {
	const char *names;
	enum environ_class class;
} tables[] = {
	{ never, CLASS_NEVER },		{ plain, CLASS_PLAIN },	   { standard, CLASS_STANDARD },
	{ toolchain, CLASS_TOOLCHAIN }, { proxy, CLASS_PROXY },	   { code, CLASS_CODE },
	{ door, CLASS_DOOR },		{ account, CLASS_SECRET },
};

/* True where a word of the list matches name: as a glob, or (any_case) the same text in any case. */
static bool list_has(const char *list, const char *name, size_t len, bool any_case)
{
	for (size_t n; *list; list += n + (list[n] != '\0')) {
		n = (size_t)(strchrnul(list, ' ') - list);
		if (any_case ? n == len && strncasecmp(list, name, n) == 0
			     : (*list == *name || *list == '*') && glob_match(list, n, name, len))
			return true;
	}
	return false;
}

bool environ_is_never(const char *name)
{
	return list_has(never, name, strlen(name), false);
}

enum environ_class environ_class_of(const char *name)
{
	for (size_t i = 0; i < NELEM(tables); i++)
		if (list_has(tables[i].names, name, strlen(name), false))
			return tables[i].class;
	return environ_name_is_secret(name) ? CLASS_SECRET : CLASS_OTHER;
}

/* Words of a name, between underscores, that say that the value is a secret. */
static const char telling[] =
	"TOKEN TOKENS SECRET SECRETS PASSWORD PASSWD PASSPHRASE PASS PW PWD APIKEY KEY KEYS CREDENTIAL "
	"CREDENTIALS CREDS AUTH AUTHTOKEN PAT BEARER COOKIE JWT PRIVATE ";

/* Such an address is enough to post there, so it is a secret, whatever the name ends with. */
static const char open_doors[] = "WEBHOOK WEBHOOKS WEBHOOKURL ";

/* A name that ends with one of these words is that of a place, not of a secret. */
static const char places[] = "FILE PATH DIR SOCK URL URI HOST USER NAME ID MODE TYPE ";

/* True for names such as MYTOKEN and dbpassword, which have no underscore before the word. */
static bool ends_telling(const char *name, size_t len)
{
	static const char *const ends[] = {
		"TOKEN", "SECRET", "PASSWORD", "PASSWD", "APIKEY", "CREDENTIALS"
	};

	for (size_t i = 0; i < NELEM(ends); i++) {
		size_t n = strlen(ends[i]);

		if (len > n && strcasecmp(name + len - n, ends[i]) == 0)
			return true;
	}
	return false;
}

bool environ_name_is_secret(const char *name)
{
	size_t len = strlen(name), at = 0, n = 0;
	bool tells = ends_telling(name, len);

	/* PWD and OLDPWD are the shell's working directories, not passwords. */
	if (strcmp(name, "PWD") == 0 || strcmp(name, "OLDPWD") == 0)
		return false;
	for (; at < len; at += n + 1) {
		n = strcspn(name + at, "_");
		if (list_has(open_doors, name + at, n, true))
			return true;
		tells = tells || list_has(telling, name + at, n, true);
		if (at + n >= len && list_has(places, name + at, n, true))
			return false;
	}
	return tells;
}
