/* What a human is shown of a question. */
#ifndef PALE_HELPER_SHOWN_H
#define PALE_HELPER_SHOWN_H

#include <stddef.h>

struct approval;
struct helper;
struct request;
struct wire_ask;

/* Reduces a question's environment to the variables that a human is shown.  0, or -E2BIG: too many. */
int shown_env(const struct helper *h, struct wire_ask *ask);
/* A variable as it is shown (caller frees): a secret is masked, with a tag that differs by value.  NULL: no
 * memory. */
char *shown_variable(const struct helper *h, const char *entry);
/* The variables of a card, each as it is shown, quoted for a shell (caller frees), or NULL. */
char *shown_variables(const struct helper *h, const struct approval *ap);
/* argv joined, path, or host:port (caller frees), NULL where memory is out. */
char *shown_target(const struct request *req);
/*
 * The aim of a request as it is shown (req->aim, caller frees): what else decides the effect of a yes; ""
 * for nothing.  NULL: no memory.
 */
char *shown_aim(const struct helper *h, const struct request *req);
/*
 * The rule that a push to a directory of this machine needs beside a yes, in words (caller frees); NULL:
 * none.
 */
char *shown_needs(const struct helper *h, const struct approval *ap);
/*
 * What a push sends, in words, or "" for nothing; the first *ret_urls bytes of req->aim are its URLs.
 * Borrowed.
 */
const char *shown_sends(const struct request *req, size_t *ret_urls);

#endif
