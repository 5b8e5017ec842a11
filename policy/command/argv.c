/*
 * Unwraps wrappers, to find the command that really runs: see argv.h.
 *
 * A wrapper is a row of a table: which of its options take the next word, and how many words stand before
 * the command.  An unknown option counts as a flag, so that a misspelt option cannot hide the command after
 * it.  Nothing here allocates or changes its input; a wrapper that is not understood wraps no command.
 */
#include "argv.h"

#include <errno.h>
#include <string.h>

#include "cmd.h"
#include "policy/base/path.h"

enum wrapper_flag {
	WRAP_ASSIGNMENTS = 1, /* NAME=value words stand before the command */
	WRAP_APPLET = 2,      /* the first word is an applet, but only when called by its own name */
	WRAP_USER = 4,	      /* wraps a command only with -u */
	WRAP_STRING = 8,      /* what -S splits is no word of the vector: command_unwrap_split() */
	WRAP_ARCH = 16,	      /* the word before the command stands before the options, or not at all */
};

struct wrapper {
	const char *name;
	const char *shorts; /* letters that take a value */
	const char *longs;  /* blank-separated names that take the next word as value */
	unsigned skip;	    /* words between the options and the command */
	unsigned flags;
	const char *stop; /* letters with which it runs nothing (command -v) */
};

static const struct wrapper wrappers[] = {
	{ "env", "uCa", "unset chdir argv0", 0, WRAP_ASSIGNMENTS | WRAP_STRING, "" },
	{ "nice", "n", "adjustment", 0, 0, "" },
	{ "nohup", "", "", 0, 0, "" },
	{ "setsid", "", "", 0, 0, "" },
	{ "stdbuf", "ioe", "input output error", 0, 0, "" },
	{ "timeout", "ks", "kill-after signal", 1, 0, "" },
	{ "time", "fo", "format output", 0, 0, "" },
	{ "ionice", "cn", "class classdata", 0, 0, "pPu" },
	{ "chrt", "TPD", "sched-runtime sched-period sched-deadline", 1, 0, "mp" },
	{ "taskset", "", "", 1, 0, "p" },
	{ "xargs", "aEILnPsd", "arg-file delimiter max-args max-chars max-procs process-slot-var", 0, 0, "" },
	{ "sudo", "CDghpRrTtUu",
	  "close-from chdir group host prompt chroot role command-timeout type other-user user", 0,
	  WRAP_ASSIGNMENTS, "lveKk" },
	{ "doas", "aCu", "", 0, WRAP_ASSIGNMENTS, "L" },
	{ "pkexec", "u", "user", 0, 0, "" },
	{ "runuser", "ugGw", "user group supp-group whitelist-environment", 0, WRAP_USER, "c" },
	{ "gosu", "", "", 1, 0, "" },
	{ "su-exec", "", "", 1, 0, "" },
	{ "chroot", "", "", 1, 0, "" },
	{ "unshare", "SGRw", "setuid setgid root wd propagation setgroups map-user map-group", 0, 0, "" },
	{ "nsenter", "tSGR", "target setuid setgid", 0, 0, "" },
	{ "command", "", "", 0, 0, "vV" },
	{ "exec", "a", "", 0, 0, "" },
	{ "builtin", "", "", 0, 0, "" },
	{ "busybox", "", "", 0, WRAP_APPLET, "" },
	{ "toybox", "", "", 0, WRAP_APPLET, "" },
	{ "coreutils", "", "", 0, WRAP_APPLET, "" },
	{ "flock", "wE", "timeout wait conflict-exit-code", 1, 0, "c" },
	{ "fakeroot", "lsib", "lib faked", 0, 0, "" },
	{ "faketime", "", "exclude-monotonic", 1, 0, "" },
	{ "eatmydata", "", "", 0, 0, "" },
	{ "catchsegv", "", "", 0, 0, "" },
	{ "dbus-run-session", "", "config-file dbus-daemon", 0, 0, "" },
	{ "systemd-inhibit", "", "what who why mode", 0, 0, "" },
	{ "prlimit", "o", "output", 0, 0, "p" },
	{ "setpriv", "", "ruid euid reuid rgid egid regid groups securebits pdeathsig inh-caps bounding-set",
	  0, 0, "d" },
	/* links to setarch: the name that starts it says which */
	{ "linux32", "", "", 0, 0, "" },
	{ "linux64", "", "", 0, 0, "" },
	{ "i386", "", "", 0, 0, "" },
	{ "x86_64", "", "", 0, 0, "" },
	{ "setarch", "", "", 1, WRAP_ARCH, "" },
	{ "choom", "n", "adjust pid", 0, 0, "p" },
	{ "tini", "pe", "", 0, 0, "" },
	{ "dumb-init", "r", "rewrite", 0, 0, "" },
	{ "rlwrap", "", "", 0, 0, "" },
	{ "unbuffer", "", "", 0, 0, "" },
	{ "watch", "n", "interval", 0, 0, "" },
	{ "valgrind", "", "", 0, 0, "" },
	{ "xvfb-run", "enpsf", "error-file server-num xauth-protocol server-args auth-file", 0, 0, "" },
};

/* A dynamic loader that is known by its name only; loads.h knows more. */
static const struct wrapper loader = {
	"ld.so", "", "preload library-path audit inhibit-rpath argv0 glibc-hwcaps-prepend glibc-hwcaps-mask",
	0,	 0,  ""
};

/* Programs that act by the name they are called by. */
bool command_is_multicall(const char *name)
{
	return strncmp(name, "busybox", 7) == 0 || strncmp(name, "toybox", 6) == 0 ||
	       strcmp(name, "coreutils") == 0;
}

size_t command_count(const struct command *c)
{
	return (c->first ? 1 : 0) + c->n_pre + c->n;
}

const char *command_arg(const struct command *c, size_t i)
{
	const char *word = NULL;

	if (c->first && i-- == 0)
		word = c->first;
	else if (i < c->n_pre)
		word = c->pre[i];
	else if (i - c->n_pre < c->n)
		word = c->args[i - c->n_pre];
	return word ? word : "";
}

bool command_is(const struct command *c, const char *name)
{
	return (c->program && strcmp(c->program, name) == 0) || (c->alias && strcmp(c->alias, name) == 0);
}

struct command command_tail(const struct command *c, size_t at)
{
	struct command t = { .args = c->args, .n = c->n, .pre = c->pre, .n_pre = c->n_pre };

	if (c->first && at > 0)
		at--;
	else
		t.first = c->first;
	if (at >= t.n_pre) {
		at -= t.n_pre;
		t.pre = NULL;
		t.n_pre = 0;
		at = at < t.n ? at : t.n;
		t.args += at;
		t.n -= at;
	} else {
		t.pre += at;
		t.n_pre -= at;
	}
	return t;
}

/* The command whose program is word i of c. */
static struct command command_inner(const struct command *c, size_t i)
{
	const char *word = command_arg(c, i);
	struct command inner = command_tail(c, i + 1);

	inner.program = path_basename(word);
	inner.path = word[0] == '/' ? word : NULL;
	return inner;
}

/* ld-linux-x86-64.so.2, ld-musl-x86_64.so.1, ld.so, ld-2.36.so */
static bool is_loader(const char *name)
{
	return name && strncmp(name, "ld", 2) == 0 && (name[2] == '-' || name[2] == '.') &&
	       strstr(name, ".so") != NULL;
}

bool command_is_loader(const struct command *c)
{
	return is_loader(c->program) || is_loader(c->alias);
}

bool request_unwrap(const struct request *req, unsigned depth, const struct command *c,
		    struct command *ret_inner, const char **ret_extra)
{
	*ret_extra = NULL;
	if (depth > 0 || !req->loads || !req->loads_called)
		return command_unwrap(c, ret_inner);
	*ret_inner = command_tail(c, req->loads_at + 1);
	ret_inner->path = req->loads;
	command_name(ret_inner, path_basename(req->loads), path_basename(req->loads_called), req->loads_ident,
		     ret_extra);
	return true;
}

void command_name(struct command *c, const char *program, const char *called, const char *ident,
		  const char **ret_extra)
{
	*ret_extra = NULL;
	c->program = program;
	/* A login shell's argv[0] begins with a dash; busybox skips it too. */
	called += *called == '-';
	c->called = strcmp(called, program) != 0 ? called : NULL;
	c->alias = c->called;
	/* Where argv[0] is git-SUBCOMMAND or an applet, it says more than ident. */
	if (!ident || strcmp(ident, program) == 0 ||
	    (c->alias && (strncmp(called, "git-", 4) == 0 || command_is_multicall(ident))))
		return;
	*ret_extra = c->alias;
	c->alias = ident;
}

struct command command_of(const struct request *req, const char **ret_extra)
{
	const char *called = path_basename(req->argv[0]);
	struct command c = { .args = req->argv + 1, .n = req->argc - 1, .path = req->path };

	command_name(&c, req->path ? path_basename(req->path) : called, called, req->ident, ret_extra);
	return c;
}

static const struct wrapper *find_wrapper(const struct command *c)
{
	const char *name = c->alias ? c->alias : c->program;

	for (size_t i = 0; i < sizeof(wrappers) / sizeof(wrappers[0]); i++) {
		const struct wrapper *w = &wrappers[i];
		bool is_applets = w->flags & WRAP_APPLET;

		/*
		 * The file busybox, called as rm, is rm: its first word is no applet.  Called as busybox-1,
		 * it takes one.
		 */
		if (is_applets ? strncmp(name, w->name, strlen(w->name)) == 0 : command_is(c, w->name))
			return w;
	}
	return command_is_loader(c) ? &loader : NULL;
}

enum option_effect { OPTION_ALONE, OPTION_TAKES_NEXT, OPTION_STOPS };

static enum option_effect wrapper_option(const struct wrapper *w, const char *arg)
{
	if (arg[1] == '-') {
		if (strchr(arg, '='))
			return OPTION_ALONE;
		return word_in_list(w->longs, arg + 2, strlen(arg + 2)) ? OPTION_TAKES_NEXT : OPTION_ALONE;
	}
	for (const char *p = arg + 1; *p; p++) {
		if (strchr(w->stop, *p))
			return OPTION_STOPS;
		if (strchr(w->shorts, *p))
			return p[1] ? OPTION_ALONE : OPTION_TAKES_NEXT;
	}
	return OPTION_ALONE;
}

static bool is_assignment(const char *word)
{
	return strchr(word, '=') != NULL && word[0] != '=';
}

/* Index of the word that is the wrapped program; count: not found. */
static size_t find_inner(const struct command *c, const struct wrapper *w, size_t count)
{
	size_t i = 0, skip = w->skip;
	bool options = true;

	for (; i < count; i++) {
		const char *arg = command_arg(c, i);

		if (options && strcmp(arg, "--") == 0) {
			options = false;
		} else if (options && arg[0] == '-') {
			enum option_effect effect = wrapper_option(w, arg);

			if (effect == OPTION_STOPS)
				return count;
			if (w->flags & WRAP_ARCH)
				skip = 0;
			i += effect == OPTION_TAKES_NEXT;
		} else if ((w->flags & WRAP_ASSIGNMENTS) && is_assignment(arg)) {
			continue;
		} else if (skip > 0) {
			skip--;
		} else {
			return i;
		}
	}
	return count;
}

/* coreutils --coreutils-prog=rm -rf x */
static bool unwrap_coreutils(const struct command *outer, struct command *ret)
{
	static const char key[] = "--coreutils-prog=";
	const char *arg = command_arg(outer, 0);

	if (strncmp(arg, key, sizeof(key) - 1) != 0 || !arg[sizeof(key) - 1])
		return false;
	*ret = command_tail(outer, 1);
	ret->program = path_basename(arg + sizeof(key) - 1);
	return true;
}

/* $(git --exec-path)/git-push origin: the same as git push origin */
static bool unwrap_git_dash(const struct command *outer, struct command *ret)
{
	const char *const names[] = { outer->program, outer->alias };

	for (size_t i = 0; i < 2; i++) {
		if (!names[i] || strncmp(names[i], "git-", 4) != 0 || !names[i][4] || outer->first)
			continue;
		*ret = *outer;
		ret->program = "git";
		ret->alias = NULL;
		ret->called = NULL;
		ret->path = NULL;
		ret->first = names[i] + 4;
		return true;
	}
	return false;
}

static bool has_user_option(const struct command *c)
{
	size_t n = command_count(c);

	for (size_t i = 0; i < n; i++) {
		const char *arg = command_arg(c, i);

		if (strncmp(arg, "-u", 2) == 0 || strncmp(arg, "--user", 6) == 0)
			return true;
	}
	return false;
}

static const char *env_string(const struct command *c, size_t *ret_tail);

bool command_unwrap(const struct command *outer, struct command *ret_inner)
{
	const struct wrapper *w;
	size_t n, i;

	if (unwrap_git_dash(outer, ret_inner))
		return true;
	w = find_wrapper(outer);
	if (!w)
		return false;
	if ((w->flags & WRAP_APPLET) && unwrap_coreutils(outer, ret_inner))
		return true;
	if ((w->flags & WRAP_USER) && !has_user_option(outer))
		return false;
	if ((w->flags & WRAP_STRING) && env_string(outer, &n))
		return false;
	n = command_count(outer);
	i = find_inner(outer, w, n);
	if (i >= n || !*path_basename(command_arg(outer, i)))
		return false;
	*ret_inner = command_inner(outer, i);
	return true;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f';
}

/*
 * Splits text at blanks and removes quotes, which keep blanks in a word.  The number of words, or -E2BIG.
 */
static int split_words(struct split *store, const char *text, size_t len)
{
	size_t out = 0, n = 0;
	char quote = 0;
	bool open = false;

	if (len + 1 > sizeof(store->text))
		return -E2BIG;
	for (size_t i = 0; i <= len; i++) {
		char c = i < len ? text[i] : '\0';

		if (i == len || (!quote && is_blank(c))) {
			if (open)
				store->text[out++] = '\0';
			open = false;
			continue;
		}
		if (!open) {
			if (n == sizeof(store->words) / sizeof(store->words[0]))
				return -E2BIG;
			store->words[n++] = &store->text[out];
			open = true;
		}
		if (quote ? c == quote : (c == '\'' || c == '"'))
			quote = quote ? 0 : c;
		else
			store->text[out++] = c;
	}
	return (int)n;
}

static int split_into(const struct command *outer, size_t tail, const char *text, struct split *store,
		      struct command *ret)
{
	struct command t = command_tail(outer, tail);
	int n;

	/* The store holds one string.  A string inside a string has no honest use. */
	if (outer->n_pre || t.first)
		return -E2BIG;
	n = split_words(store, text, strlen(text));
	if (n < 0)
		return n;
	t.program = outer->program;
	t.alias = outer->alias;
	t.called = outer->called;
	t.path = outer->path;
	t.pre = store->words;
	t.n_pre = (size_t)n;
	*ret = t;
	return 1;
}

/* env [options] -S STRING [args]: the string of -S, -SSTRING, -vS STRING, --split-string=STRING */
static const char *env_string(const struct command *c, size_t *ret_tail)
{
	static const char key[] = "--split-string";
	static const struct wrapper env = { "env", "uCaS", "unset chdir argv0 split-string", 0, 0, "" };
	size_t n = command_count(c);

	for (size_t i = 0; i < n; i++) {
		const char *arg = command_arg(c, i);
		const char *s;

		if (arg[0] != '-' || strcmp(arg, "--") == 0)
			return NULL;
		*ret_tail = i + 1;
		if (strncmp(arg, key, sizeof(key) - 1) == 0 && arg[sizeof(key) - 1] == '=')
			return arg + sizeof(key);
		s = arg[1] != '-' ? arg + 1 + strcspn(arg + 1, "SuCa") : "";
		if (*s == 'S' && s[1])
			return s + 1;
		if (wrapper_option(&env, arg) != OPTION_TAKES_NEXT)
			continue;
		i++;
		*ret_tail = i + 1;
		if (i < n && (*s == 'S' || strcmp(arg, key) == 0))
			return command_arg(c, i);
	}
	return NULL;
}

static bool starts_with_nocase(const char *s, const char *lower)
{
	for (; *lower; s++, lower++) {
		char c = *s >= 'A' && *s <= 'Z' ? (char)(*s - 'A' + 'a') : *s;

		if (c != *lower)
			return false;
	}
	return true;
}

/* git -c alias.p=push p origin main: the value of the alias that the subcommand names */
static const char *git_alias(const struct command *c, size_t *ret_tail)
{
	static const struct wrapper git = {
		"git", "Cc", "git-dir work-tree namespace super-prefix config-env attr-source shallow-file",
		0,     0,    ""
	};
	size_t n = command_count(c), at = find_inner(c, &git, n);
	const char *value = NULL, *name = command_arg(c, at);

	*ret_tail = at + 1;
	for (size_t i = 0; i + 1 < at; i++) {
		const char *set = command_arg(c, i + 1);
		size_t len;

		if (strcmp(command_arg(c, i), "-c") != 0 || !starts_with_nocase(set, "alias."))
			continue;
		len = strcspn(set + 6, "=");
		if (set[6 + len] == '=' && strlen(name) == len && strncmp(set + 6, name, len) == 0)
			value = set + 6 + len + 1;
	}
	return value;
}

int command_unwrap_split(const struct command *outer, struct split *store, struct command *ret_inner)
{
	const char *text = NULL;
	size_t tail = 0;

	if (command_is(outer, "env"))
		text = env_string(outer, &tail);
	else if (command_is(outer, "git"))
		text = git_alias(outer, &tail);
	/* A shell runs a `!` alias: each of its commands is judged at its own exec. */
	if (!text || (text[0] == '!' && command_is(outer, "git")))
		return 0;
	return split_into(outer, tail, text, store, ret_inner);
}
