/*
 * Step-up, the operator's side: what a card needs besides an approval is asked where nobody but him can
 * answer, and for that one card.
 *
 * The passphrase is asked on /dev/tty alone (what was typed before is discarded, echo off).  The question
 * shows the phrase that he set with his passphrase, which no program inside a session can read: what does not
 * show it is not pale.
 */
#ifndef PALE_TOOLS_STEPUP_H
#define PALE_TOOLS_STEPUP_H

#include <jansson.h>
#include <stddef.h>

/*
 * Confirms the approval of `card` over the control connection fd: asks, and adds "secret" or "confirmed" to
 * params, those of the coming approval/respond.  0 (also where the card needs nothing), or -errno after
 * telling why: -ECANCELED, -EACCES, -ENOKEY, -ENOTTY.  Wipe params by stepup_wipe() once they are sent.
 */
int stepup_confirm(int fd, const json_t *card, json_t *params);
/* Overwrites the secrets in params, in place. */
void stepup_wipe(json_t *params);
/*
 * A secret from /dev/tty alone.  0 (the caller wipes it), -ECANCELED, -ENOTTY (nowhere to ask), -EMSGSIZE.
 */
int secret_read(const char *prompt, char *secret, size_t size);
/* A line that may be seen. */
int phrase_read(const char *prompt, char *phrase, size_t size);

/* pam.c: the service `pale` for the calling user, on /dev/tty.  0, -EACCES, -ENOSYS (no PAM); told. */
int pam_confirm(const char *text);

#endif
