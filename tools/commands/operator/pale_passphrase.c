/*
 * pale passphrase set|remove|check: the passphrase that an approval needs if the act cannot be undone.
 *
 * If the helper runs as this user, its file in the state directory is written here; a helper with a user of
 * its own keeps the file itself, and is asked through a running session.  The passphrase is typed on
 * /dev/tty; it is never an argument or in the environment.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "policy/base/util.h"
#include "policy/record/passphrase.h"
#include "policy/system/cleanup.h"

#include "tools/base/installed.h"
#include "tools/base/options.h"
#include "tools/base/output.h"
#include "tools/base/paths.h"
#include "tools/cards/stepup.h"
#include "tools/ledgers/deeds.h"
#include "tools/sessions/control_client.h"
#include "tools/sessions/sessions.h"

/* The typed passphrases.  Wiped at the end. */
struct typed {
	char old[PASSPHRASE_MAX + 2], fresh[PASSPHRASE_MAX + 2], again[PASSPHRASE_MAX + 2];
	char phrase[PHRASE_MAX + 2];
};

/* Where the passphrase is kept: in the state directory, or by the helper of a session. */
struct keeper {
	int dir; /* -1 if a helper keeps it */
	int control;
	bool is_set;
	struct passphrase kept;
};

static int tell_failure(int r, const char *why)
{
	talk("%s", why);
	return r;
}

/* --- kept by a helper with a user of its own --- */

static int keeper_remote(struct keeper *k)
{
	_cleanup_free_ struct session_ref *refs = NULL;
	_cleanup_json_ json_t *status = NULL;
	char why[512];
	size_t n = 0;
	int r = sessions_live(&refs, &n);

	if (r < 0 || n == 0)
		return tell_failure(
			-ENOENT,
			"no session runs: here pale-helper has a user of its own and keeps the passphrase; "
			"start a session (`pale run -- bash`) and repeat this command in another terminal");
	k->control = control_open(refs[0].dir);
	if (k->control < 0)
		return tell_failure(k->control, "the session does not answer");
	r = control_call(k->control, "stepup/status", NULL, &status, why, sizeof(why));
	if (r < 0)
		return tell_failure(r, why);
	k->is_set = json_is_true(json_object_get(status, "set"));
	snprintf(k->kept.phrase, sizeof(k->kept.phrase), "%s",
		 json_string_value(json_object_get(status, "phrase")) ?: "");
	return 0;
}

static int ask_remote(const struct keeper *k, const char *method, const struct typed *t)
{
	json_t *params = json_pack("{so, so, so}", "secret", json_text(t->old), "new", json_text(t->fresh),
				   "phrase", json_text(t->phrase));
	_cleanup_json_ json_t *mine = json_incref(params), *result = NULL;
	char why[512];
	int r = control_call(k->control, method, params, &result, why, sizeof(why));

	stepup_wipe(mine);
	return r < 0 ? tell_failure(r, why) : 0;
}

static int keeper_open(struct keeper *k)
{
	struct installed installed;
	struct dirs dirs;
	char why[512];
	int r;

	*k = (struct keeper){ .dir = -1, .control = -1 };
	r = installed_find(&installed, why, sizeof(why));
	if (r < 0)
		return tell_failure(r, why);
	if (installed.helper_kind != HELPER_OWN)
		return keeper_remote(k);
	r = dirs_find(&dirs);
	if (r == 0)
		r = dir_make(dirs.state);
	if (r == 0)
		k->dir = open(dirs.state, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (r < 0 || k->dir < 0)
		return tell_failure(r < 0 ? r : -errno, "the state directory cannot be made");
	r = passphrase_load(k->dir, &k->kept);
	k->is_set = r != -ENOKEY;
	if (r < 0 && k->is_set)
		return tell_failure(
			r, "the kept passphrase is damaged, or not this user's alone: remove the file "
			   "`passphrase` in pale's state directory, and set it again");
	return 0;
}

static void keeper_close(struct keeper *k)
{
	if (k->dir >= 0)
		(void)close(k->dir);
	if (k->control >= 0)
		(void)close(k->control);
	explicit_bzero(k, sizeof(*k));
}

/* --- input --- */

static int ask_secret(const char *prompt, char *secret, size_t size)
{
	int r = secret_read(prompt, secret, size);

	if (r == -ENOTTY)
		return tell_failure(r, "a passphrase is typed on a terminal");
	return r == -ECANCELED ? tell_failure(r, "no passphrase was given") : r;
}

static int ask_old(const struct keeper *k, struct typed *t)
{
	char prompt[PHRASE_MAX + 96];

	snprintf(prompt, sizeof(prompt), "pale: your phrase: %s\npassphrase that is set: ", k->kept.phrase);
	return ask_secret(prompt, t->old, sizeof(t->old));
}

static int ask_new(struct typed *t)
{
	const char *why;
	int r = ask_secret("pale: new passphrase: ", t->fresh, sizeof(t->fresh));

	if (r < 0)
		return r;
	why = passphrase_unfit(t->fresh);
	if (why)
		return tell_failure(-EINVAL, why);
	r = ask_secret("pale: once more: ", t->again, sizeof(t->again));
	if (r < 0)
		return r;
	if (strcmp(t->fresh, t->again) != 0)
		return tell_failure(-EINVAL, "these are two different passphrases: nothing was changed");
	r = phrase_read("pale: a phrase that you choose, shown whenever pale asks for the passphrase\n"
			"      (what does not show it is not pale): ",
			t->phrase, sizeof(t->phrase));
	if (r < 0)
		return tell_failure(r, "no phrase was given: nothing was changed");
	why = phrase_unfit(t->phrase);
	return why ? tell_failure(-EINVAL, why) : 0;
}

/* --- the three commands --- */

static int check_old(const struct keeper *k, const char *method, const struct typed *t)
{
	int r;

	if (k->dir < 0)
		return ask_remote(k, method, t);
	r = passphrase_check(&k->kept, t->old);
	if (r == -EACCES) {
		machine_refused("stepup/refused", "this is not the passphrase");
		return tell_failure(r, "this is not the passphrase");
	}
	return r < 0 ? tell_failure(r, "the passphrase cannot be checked") : 0;
}

static int set_passphrase(struct keeper *k, struct typed *t)
{
	struct passphrase made;
	int r = k->is_set ? ask_old(k, t) : 0;

	/* Checked before the new passphrase is typed twice. */
	if (r == 0 && k->is_set)
		r = check_old(k, "stepup/check", t);
	if (r == 0)
		r = ask_new(t);
	if (r < 0)
		return r;
	if (k->dir < 0)
		return ask_remote(k, "stepup/set", t);
	r = passphrase_make(&made, t->fresh, t->phrase);
	if (r == 0)
		r = machine_note("stepup/set", "", NULL, 0);
	if (r == 0)
		r = machine_done("stepup/set", "", passphrase_store(k->dir, &made));
	explicit_bzero(&made, sizeof(made));
	return r < 0 ? tell_failure(r, "the passphrase cannot be kept") : 0;
}

static int take_away(struct keeper *k, struct typed *t)
{
	int r = ask_old(k, t);

	if (r == 0)
		r = check_old(k, "stepup/remove", t);
	if (r < 0 || k->dir < 0)
		return r;
	r = machine_note("stepup/removed", "", NULL, 0);
	if (r == 0)
		r = machine_done("stepup/removed", "", passphrase_forget(k->dir));
	return r < 0 ? tell_failure(r, "the passphrase cannot be removed") : 0;
}

static int check_passphrase(struct keeper *k, struct typed *t)
{
	int r = ask_old(k, t);

	return r < 0 ? r : check_old(k, "stepup/check", t);
}

static const struct {
	const char *name;
	bool needs_one;
	int (*run)(struct keeper *k, struct typed *t);
	const char *done;
} actions[] = {
	{ "set", false, set_passphrase, "the passphrase is set" },
	{ "remove", true, take_away, "no passphrase is set any more" },
	{ "check", true, check_passphrase, "this is the passphrase" },
};

static int act(size_t i)
{
	struct keeper k;
	struct typed t = { 0 };
	int r = keeper_open(&k);

	if (r == 0 && actions[i].needs_one && !k.is_set)
		r = tell_failure(-ENOKEY, "no passphrase is set");
	if (r == 0)
		r = actions[i].run(&k, &t);
	explicit_bzero(&t, sizeof(t));
	keeper_close(&k);
	if (r < 0)
		return EXIT_FINDINGS;
	talk("%s", actions[i].done);
	return EXIT_OK;
}

static int passphrase_run(const struct options *o, int argc, char **argv)
{
	(void)o;
	if (session_around()) {
		talk("a session has nothing to do with the operator's passphrase; use another terminal");
		return EXIT_FINDINGS;
	}
	for (size_t i = 0; argc == 1 && i < NELEM(actions); i++)
		if (strcmp(actions[i].name, argv[0]) == 0)
			return act(i);
	talk("usage: pale passphrase set|remove|check");
	return EXIT_USAGE;
}

const struct subcommand subcommand_passphrase = {
	.name = "passphrase",
	.args = "set|remove|check",
	.summary = "set the passphrase that irreversible acts need",
	.usage_status = EXIT_USAGE,
	.run = passphrase_run,
};
