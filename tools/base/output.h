/*
 * What pale prints: messages, colours, JSON, findings, and untrusted text.
 *
 * Data goes to stdout, messages go to stderr; bytes that come from the agent are always printed escaped.
 */
#ifndef PALE_OUTPUT_H
#define PALE_OUTPUT_H

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

#include "policy/parse/parse.h"

enum paint { PAINT_RED, PAINT_GREEN, PAINT_YELLOW, PAINT_DIM, PAINT_BOLD };

/* Prints one line on stderr after "pale: ", as print_recorded() does. */
void talk(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/*
 * Progress of work that reads many records: a count on standard error, only on a terminal, after a second.
 * progress_step() after each record; progress_end() erases what is shown, as talk() does.
 */
void progress_step(void);
void progress_end(void);
/* Escape sequences, or "" where f must have no colour (NO_COLOR, CLICOLOR_FORCE, isatty). */
const char *paint_on(FILE *f, enum paint p);
/*
 * Sends standard output through $PAGER, or less(1), where it is a terminal, as git does: less ends by itself
 * where one screen is enough.  NULL where there is no pager; pager_close() waits for it.
 */
FILE *pager_open(void);
void pager_close(FILE *pager);
const char *paint_off(FILE *f);
enum paint paint_of_verdict(const char *verdict);
/* Prints untrusted bytes, escaped visibly: all that is not printable ASCII, except on a terminal with UTF-8
 * the words that legible_word() lets through. */
void print_escaped(FILE *f, const char *s);
/*
 * Prints text that a ledger or a helper escaped already, and escapes what could still mislead a terminal.
 */
void print_recorded(FILE *f, const char *s);
/* The same as a string of ASCII (the caller must free it), or NULL. */
char *recorded_visible(const char *s);
/* Undoes record_escape(): the original bytes (the caller must free them), or NULL. */
char *text_unescape(const char *s);
/* print_escaped() as a string of ASCII (the caller must free it), or NULL. */
char *text_visible(const char *s);
/* Prints j with a newline on stdout, in ASCII, and drops the reference. */
void print_json(json_t *j);
/* The same for a line of JSON, unchanged where it is ASCII already. */
void print_json_line(const char *line, size_t len);
/* s as a JSON string; bytes that are not UTF-8 are escaped as in the ledger.  NULL gives null. */
json_t *json_text(const char *s);
/* The string member `key`, "" where it is missing.  Borrowed. */
const char *json_str(const json_t *j, const char *key);
/* Prints file:line:column: severity: text [code], one finding a line, hints below. */
void print_diags(FILE *f, const struct diags *d);
json_t *diags_to_json(const struct diags *d);
const char *severity_name(enum severity s);

#endif
