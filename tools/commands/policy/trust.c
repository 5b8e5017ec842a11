/* pale trust: pin the project's own policy, so that it may loosen as well as tighten. */
#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "policy/base/util.h"
#include "policy/system/cleanup.h"

#include "tools/base/options.h"
#include "tools/base/output.h"
#include "tools/base/paths.h"
#include "tools/base/readfile.h"
#include "tools/edit/edit.h"
#include "tools/gather/dotenv.h"
#include "tools/gather/pins.h"
#include "tools/ledgers/deeds.h"
#include "tools/sessions/sessions.h"

#define NOT_TRUSTED 1 /* there was nothing to revoke */

/* --- one file ---------------------------------------------------------------------------------------- */

/* The files by which a project sets its own policy. */
static const struct {
	const char *name;
	bool is_env; /* only if it sets something of a policy */
} trusted[] = { { ".pale/policy.ini", false }, { ".env", true } };

/* Makes the path of the i'th file in dir; true if it exists and sets something. */
static bool concerns(const char *dir, size_t i, char *path, size_t size)
{
	if (path_join(path, size, dir, trusted[i].name) < 0)
		return false;
	return trusted[i].is_env ? dotenv_mentions(path) : access(path, F_OK) == 0;
}

struct pinning {
	const struct options *o;
	const struct dirs *dirs;
	const char *path;
	char file[PATH_MAX]; /* the pin */
	bool is_env;
	char *text, *counts, *pin; /* owned: the file, the part that counts, the old pin */
	const char *old;	   /* the part that counted last; NULL: unknown */
	size_t len, counts_len, old_len;
};

static int read_file(struct pinning *p)
{
	struct diags d;
	int r;

	diags_init(&d);
	r = policy_file_read(p->path, &p->text, &p->len, &d);
	if (r == 0 && p->is_env)
		r = dotenv_extract(p->path, p->text, p->len, &p->counts, &d);
	p->counts_len = p->len;
	print_diags(stderr, &d);
	diags_done(&d);
	return r;
}

/* 0, -ECANCELED if the operator declines, -EBADMSG if the file has errors. */
static int consider(struct pinning *p)
{
	const struct trustee t = { .o = p->o,
				   .path = p->path,
				   .is_env = p->is_env,
				   .text = p->is_env ? p->counts : p->text,
				   .len = p->counts_len,
				   .old = p->old,
				   .old_len = p->old_len };
	int r = trust_show(&t);

	if (r < 0 || p->o->yes || !ask_is_possible())
		return r;
	return ask_yes("Trust it until it changes?") ? 0 : -ECANCELED;
}

static int pin(struct pinning *p)
{
	int r = read_file(p);

	if (r < 0 || pin_matches(p->dirs, p->path, p->text, p->len))
		return r;
	p->pin = pin_read(p->file, &p->old, &p->old_len);
	r = consider(p);
	if (r < 0)
		return r;
	r = machine_note("trust/given", p->path, p->text, p->len);
	return r < 0 ? r
		     : machine_done("trust/given", p->path,
				    pin_write(p->file, p->path, p->text, p->len,
					      p->is_env ? p->counts : p->text, p->counts_len));
}

static int unpin(const struct pinning *p)
{
	if (unlink(p->file) < 0)
		return errno == ENOENT ? NOT_TRUSTED : -errno;
	/* What only tightens is done on a full disk too. */
	(void)machine_note("trust/revoked", p->path, NULL, 0);
	return 0;
}

static void tell_pinned(const struct pinning *p, int r)
{
	if (r == -ECANCELED)
		talk("%s is not trusted: it may only tighten", p->path);
	else if (r == -EBADMSG)
		talk("%s has errors and is not trusted", p->path);
	else if (r < 0)
		talk("%s: %s", p->path, strerror(-r));
	else if (r == NOT_TRUSTED)
		talk("%s was not trusted", p->path);
	else
		talk(p->o->revoke ? "%s is no longer trusted: it may only tighten"
				  : "%s is trusted until it changes",
		     p->path);
}

static int trust_one(const struct options *o, const struct dirs *dirs, const char *path, bool is_env)
{
	struct pinning p = { .o = o, .dirs = dirs, .path = path, .is_env = is_env };
	int r = pin_path(dirs, path, p.file, sizeof(p.file));

	if (r == 0)
		r = o->revoke ? unpin(&p) : pin(&p);
	tell_pinned(&p, r);
	free(p.text);
	free(p.counts);
	free(p.pin);
	return r;
}

/* A policy's pin is removed even if the file is gone. */
static int trust_all(const struct options *o, const struct dirs *dirs, const char *dir)
{
	char path[PATH_MAX];
	bool any = false, done = false;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < NELEM(trusted); i++) {
		if (!concerns(dir, i, path, sizeof(path)) && !(o->revoke && !trusted[i].is_env))
			continue;
		any = true;
		r = trust_one(o, dirs, path, trusted[i].is_env);
		done |= r == 0;
	}
	if (!any)
		talk("%s/%s: %s", dir, trusted[0].name, strerror(ENOENT));
	if (r == NOT_TRUSTED && done)
		r = 0;
	return any ? r : -ENOENT;
}

/* --- the list ---------------------------------------------------------------------------------------- */

static const char *state_of(const struct dirs *dirs, const char *path)
{
	_cleanup_free_ char *text = NULL;
	size_t len;
	int r = file_read(path, LIMIT_POLICY, &text, &len);

	if (r == -ENOENT || r == -ENOTDIR)
		return "gone";
	if (r < 0)
		return "unreadable";
	return pin_matches(dirs, path, text, len) ? "trusted" : "changed";
}

static int list(const struct options *o, const struct dirs *dirs)
{
	json_t *all = json_array();
	char dir[PATH_MAX], file[PATH_MAX];
	struct dirent **entries = NULL;
	int n = -1, r = path_join(dir, sizeof(dir), dirs->state, "trust");

	if (r == 0)
		n = scandir(dir, &entries, pin_is, alphasort);
	if (r == 0 && n < 0 && errno != ENOENT)
		r = -errno;
	for (int i = 0; i < n; i++) {
		_cleanup_free_ char *path = NULL;

		if (path_join(file, sizeof(file), dir, entries[i]->d_name) == 0)
			path = pin_names(file);
		if (path)
			json_array_append_new(all, json_pack("{ss, so}", "state", state_of(dirs, path),
							     "path", json_text(path)));
		if (path && !o->json) {
			printf("%-10s ", state_of(dirs, path));
			print_escaped(stdout, path);
			putchar('\n');
		}
		free(entries[i]);
	}
	free(entries);
	if (o->json)
		print_json(json_incref(all));
	json_decref(all);
	return r;
}

/* --- the command ------------------------------------------------------------------------------------- */

/* The rules are judged as a session in that directory would have them. */
static int trust_in(const struct options *o, const struct dirs *dirs, const char *name)
{
	char dir[PATH_MAX];

	if (!realpath(name, dir) || chdir(dir) < 0) {
		talk("%s: %s", name, strerror(errno));
		return EXIT_USAGE;
	}
	switch (trust_all(o, dirs, dir)) {
	case 0:
		return EXIT_OK;
	case -ECANCELED:
	case NOT_TRUSTED:
		return EXIT_FINDINGS;
	default:
		return EXIT_USAGE;
	}
}

static int trust_run(const struct options *o, int argc, char **argv)
{
	struct dirs dirs;
	int r;

	if (session_around()) {
		talk("a session may not trust its own project; run `pale trust` outside");
		return EXIT_FINDINGS;
	}
	if (argc > 1 || (o->list ? argc || o->revoke : o->json)) {
		talk("trust takes one directory, or --list alone, as JSON with --json");
		return EXIT_USAGE;
	}
	r = dirs_find(&dirs);
	if (r == 0 && !o->list)
		return trust_in(o, &dirs, argc ? argv[0] : ".");
	if (r == 0)
		r = list(o, &dirs);
	if (r < 0)
		talk("trust: %s", strerror(-r));
	return r < 0 ? EXIT_USAGE : EXIT_OK;
}

static const struct opt opts[] = {
	OPT_FLAG("list", 0, list, "show what is trusted, and what changed since"),
	OPT_FLAG("yes", 'y', yes, "do not ask"),
	OPT_FLAG("revoke", 0, revoke, "take the trust back"),
	OPT_JSON,
	{ 0 },
};

const struct subcommand subcommand_trust = {
	.name = "trust",
	.args = "[--yes|--revoke] [DIR] | --list [--json]",
	.summary = "let a project's .pale/policy.ini loosen the policy, until it changes",
	.opts = opts,
	.usage_status = EXIT_USAGE,
	.run = trust_run,
};
