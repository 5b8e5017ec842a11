/* Step-up: how a card is confirmed, and the question for the passphrase. */
#include "stepup.h"

#include <bsd/readpassphrase.h>
#include <errno.h>
#include <string.h>

#include "policy/base/util.h"
#include "policy/question/carddigest.h"
#include "policy/record/passphrase.h"
#include "policy/system/cleanup.h"

#include "tools/base/output.h"
#include "tools/sessions/control_client.h"

#define SHOWN_MAX 300

/* Cuts visible text, but never inside an escape. */
static bool clip(char *s, size_t most)
{
	if (strlen(s) <= most)
		return false;
	for (size_t i = 1; i < 4; i++)
		if (s[most - i] == '\\')
			most -= i;
	s[most] = '\0';
	return true;
}

/* The text of the question, in lines; escaped, and cut with a mark, since the whole card was shown before.
 * The caller must free it. */
static char *card_question(const json_t *card)
{
	_cleanup_free_ char *shown = recorded_visible(json_str(card, "target")),
			    *phrase = recorded_visible(json_str(card, "phrase"));
	const char *mark = "\nyour phrase: ";
	char *text = NULL, digest[DIGEST_HEX];
	bool cut;

	if (!shown || !phrase || card_digest(card, digest) < 0)
		return NULL;
	cut = clip(shown, SHOWN_MAX);
	/* PAM asks in its own words, and knows no phrase. */
	if (strcmp(json_str(card, "stepup_by"), "pam") == 0)
		mark = "";
	else if (!*phrase)
		mark = "\nyour phrase cannot be shown: none is set: was it you who set this up?";
	if (asprintf(&text, "approve %.16s (%.16s): %s %s%s%s%s", json_str(card, "short"), digest,
		     json_str(card, "op"), shown, cut ? " ... (cut: you have read the whole)" : "", mark,
		     phrase) < 0)
		return NULL;
	return text;
}

static int read_terminal(const char *prompt, char *secret, size_t size, int echo)
{
	/* Discards what was typed before, and restores the terminal even after a signal. */
	if (!readpassphrase(prompt, secret, size, RPP_REQUIRE_TTY | echo)) {
		explicit_bzero(secret, size);
		return errno == EINTR ? -ECANCELED : -ENOTTY;
	}
	if (strlen(secret) == size - 1) {
		explicit_bzero(secret, size);
		return -EMSGSIZE;
	}
	return *secret ? 0 : -ECANCELED;
}

int secret_read(const char *prompt, char *secret, size_t size)
{
	return read_terminal(prompt, secret, size, RPP_ECHO_OFF);
}

int phrase_read(const char *prompt, char *phrase, size_t size)
{
	return read_terminal(prompt, phrase, size, RPP_ECHO_ON);
}

static int ask_terminal(const char *text, char *secret, size_t size)
{
	_cleanup_free_ char *prompt = NULL;

	if (asprintf(&prompt, "pale: %s\npassphrase: ", text) < 0) {
		prompt = NULL;
		return -ENOMEM;
	}
	return secret_read(prompt, secret, size);
}

/* Asks for the passphrase for one card and shows the card's "phrase".  Returns as secret_read(). */
static int ask_passphrase(const json_t *card, char *secret, size_t size)
{
	_cleanup_free_ char *text = card_question(card);

	return text ? ask_terminal(text, secret, size) : -ENOMEM;
}

static int refused(int r)
{
	switch (r) {
	case -ECANCELED:
		talk("not approved: no passphrase was given");
		break;
	case -ENOTTY:
		talk("not approved: it needs the passphrase, and there is no terminal to ask on");
		break;
	case -EMSGSIZE:
		talk("not approved: a passphrase has at most %d bytes", PASSPHRASE_MAX);
		break;
	default:
		talk("not approved: the passphrase cannot be asked for: %s", strerror(-r));
	}
	return r;
}

/* Copies the phrase that the helper keeps into the card. */
static int copy_phrase(int fd, json_t *card)
{
	_cleanup_json_ json_t *status = NULL;
	char why[512];
	int r = control_call(fd, "stepup/status", NULL, &status, why, sizeof(why));

	if (r < 0) {
		talk("not approved: %s", why);
		return r;
	}
	if (!json_is_true(json_object_get(status, "set"))) {
		talk("not approved: the policy wants a passphrase for this and none is set: pale passphrase "
		     "set");
		return -ENOKEY;
	}
	json_object_set(card, "phrase", json_object_get(status, "phrase"));
	return 0;
}

static int by_passphrase(int fd, const json_t *card, json_t *params)
{
	_cleanup_json_ json_t *shown = json_copy((json_t *)card);
	char secret[PASSPHRASE_MAX + 2];
	int r = shown ? copy_phrase(fd, shown) : -ENOMEM;

	if (r < 0)
		return r;
	r = ask_passphrase(shown, secret, sizeof(secret));
	if (r == 0 && json_object_set_new(params, "secret", json_text(secret)) < 0)
		r = -ENOMEM;
	explicit_bzero(secret, sizeof(secret));
	return r < 0 ? refused(r) : 0;
}

static int by_pam(const json_t *card, json_t *params)
{
	_cleanup_free_ char *text = card_question(card);
	int r = text ? pam_confirm(text) : -ENOMEM;

	if (r == 0)
		r = json_object_set_new(params, "confirmed", json_string("pam"));
	return r;
}

int stepup_confirm(int fd, const json_t *card, json_t *params)
{
	const char *by = json_str(card, "stepup_by");

	if (!json_is_true(json_object_get(card, "stepup")))
		return 0;
	if (strcmp(by, "passphrase") == 0)
		return by_passphrase(fd, card, params);
	if (strcmp(by, "pam") == 0)
		return by_pam(card, params);
	talk("not approved: the helper wants a confirmation that this pale does not know");
	return -EPROTO;
}

void stepup_wipe(json_t *params)
{
	static const char *const names[] = { "secret", "new" };

	for (size_t i = 0; i < NELEM(names); i++) {
		const char *s = json_str(params, names[i]);

		/* Wipes the copy that jansson keeps; nothing reads it afterwards. */
		if (*s)
			explicit_bzero((char *)s, strlen(s));
	}
}
