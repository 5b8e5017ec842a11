/*
 * PAM, service `pale`: the calling user proves to the machine that it is the operator.  The library is
 * opened only when it is needed, to keep every other start cheap.  What the operator types goes to the
 * modules only.
 */
#include <bsd/readpassphrase.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <security/pam_appl.h>
#include <string.h>

#include "policy/base/util.h"
#include "policy/record/passphrase.h"
#include "policy/system/cleanup.h"

#include "tools/base/output.h"

#include "stepup.h"

struct pam {
	void *library;
	__typeof__(pam_start) *start;
	__typeof__(pam_authenticate) *authenticate;
	__typeof__(pam_acct_mgmt) *acct_mgmt;
	__typeof__(pam_strerror) *strerror;
	__typeof__(pam_end) *end;
};

static int open_pam(struct pam *p)
{
	const struct {
		const char *name;
		void **to;
	} symbols[] = {
		{ "pam_start", (void **)&p->start },
		{ "pam_authenticate", (void **)&p->authenticate },
		{ "pam_acct_mgmt", (void **)&p->acct_mgmt },
		{ "pam_strerror", (void **)&p->strerror },
		{ "pam_end", (void **)&p->end },
	};

	p->library = dlopen("libpam.so.0", RTLD_NOW | RTLD_LOCAL);
	if (!p->library)
		return -ENOSYS;
	for (size_t i = 0; i < NELEM(symbols); i++) {
		*symbols[i].to = dlsym(p->library, symbols[i].name);
		if (!*symbols[i].to)
			return -ENOSYS;
	}
	return 0;
}

/* --- the conversation, on the terminal --- */

/* Prints text that is already escaped. */
static void show_escaped(const char *who, const char *visible)
{
	_cleanup_close_ int tty = open("/dev/tty", O_WRONLY | O_NOCTTY | O_CLOEXEC);

	if (tty >= 0)
		dprintf(tty, "%s%s\n", who, visible);
}

/* The answer to one message (the library frees it), or NULL. */
static char *answer_message(const struct pam_message *m)
{
	_cleanup_free_ char *text = text_visible(m->msg ? m->msg : "");
	char typed[PASSPHRASE_MAX + 2], *copy;
	int flags = RPP_REQUIRE_TTY | (m->msg_style == PAM_PROMPT_ECHO_ON ? RPP_ECHO_ON : RPP_ECHO_OFF);

	if (m->msg_style == PAM_TEXT_INFO || m->msg_style == PAM_ERROR_MSG) {
		show_escaped("", text ? text : "");
		return strdup("");
	}
	if ((m->msg_style != PAM_PROMPT_ECHO_OFF && m->msg_style != PAM_PROMPT_ECHO_ON) || !text ||
	    !readpassphrase(text, typed, sizeof(typed), flags))
		return NULL;
	copy = strdup(typed);
	explicit_bzero(typed, sizeof(typed));
	return copy;
}

static int converse(int n, const struct pam_message **msg, struct pam_response **ret, void *ctx)
{
	struct pam_response *replies;

	(void)ctx;
	if (n <= 0 || n > PAM_MAX_NUM_MSG)
		return PAM_CONV_ERR;
	replies = calloc((size_t)n, sizeof(*replies));
	if (!replies)
		return PAM_BUF_ERR;
	for (int i = 0; i < n; i++) {
		replies[i].resp = answer_message(msg[i]);
		if (replies[i].resp)
			continue;
		while (i-- > 0) {
			explicit_bzero(replies[i].resp, strlen(replies[i].resp));
			free(replies[i].resp);
		}
		free(replies);
		return PAM_CONV_ERR;
	}
	*ret = replies;
	return PAM_SUCCESS;
}

static int authenticate(const struct pam *p, const char *user)
{
	const struct pam_conv conv = { converse, NULL };
	pam_handle_t *pamh = NULL;
	int r = p->start("pale", user, &conv, &pamh);

	if (r == PAM_SUCCESS)
		r = p->authenticate(pamh, PAM_DISALLOW_NULL_AUTHTOK);
	if (r == PAM_SUCCESS)
		r = p->acct_mgmt(pamh, PAM_DISALLOW_NULL_AUTHTOK);
	if (r != PAM_SUCCESS) {
		_cleanup_free_ char *why = text_visible(pamh ? p->strerror(pamh, r) : "PAM does not start");

		talk("not approved: %s", why ? why : "?");
	}
	if (pamh)
		(void)p->end(pamh, r);
	return r == PAM_SUCCESS ? 0 : -EACCES;
}

int pam_confirm(const char *text)
{
	const struct passwd *pw = getpwuid(getuid());
	struct pam p = { 0 };
	int r;

	if (!pw) {
		talk("not approved: this user has no name, so PAM cannot be asked");
		return -EACCES;
	}
	/* The library stays open: some modules leave handlers behind. */
	r = open_pam(&p);
	if (r < 0)
		talk("not approved: the policy wants PAM, and libpam.so.0 is not there");
	if (r < 0)
		return r;
	show_escaped("pale: ", text);
	return authenticate(&p, pw->pw_name);
}
