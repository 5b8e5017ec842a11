/*
 * Step-up, the operator's side: what a card needs besides an approval is asked where only the operator can
 * answer, and for that one card.
 *
 * The passphrase is asked on /dev/tty alone (what was typed before is discarded, echo off).  The question
 * shows the phrase that the operator set with the passphrase.  No program inside a session can read that
 * phrase, so a prompt without it does not come from pale.
 */
#ifndef PALE_TOOLS_STEPUP_H
#define PALE_TOOLS_STEPUP_H

#include <jansson.h>
#include <stddef.h>

/*
 * Confirms the approval of `card` over the control connection fd: asks, and adds "secret" or "confirmed" to
 * params, which the caller then sends with approval/respond.  0 (also where the card needs no
 * confirmation), or -errno after printing the reason: -ECANCELED, -EACCES, -ENOKEY, -ENOTTY.  The caller
 * must wipe params by stepup_wipe() afterwards.
 */
int stepup_confirm(int fd, const json_t *card, json_t *params);
/* Overwrites the secrets in params, in place. */
void stepup_wipe(json_t *params);
/* Reads a secret from /dev/tty alone.  0 (the caller must wipe it), -ECANCELED, -ENOTTY (no terminal),
 * -EMSGSIZE. */
int secret_read(const char *prompt, char *secret, size_t size);
/* The same for a line that may be visible. */
int phrase_read(const char *prompt, char *phrase, size_t size);

/* pam.c: confirms by the service `pale` for the calling user, on /dev/tty.  0, -EACCES, -ENOSYS (no PAM);
 * errors are printed. */
int pam_confirm(const char *text);

#endif
