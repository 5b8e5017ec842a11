/*
 * The first policy: it decides the same as its preset, and shows the language by examples.  Each example is
 * a valid line after `# `.
 */
#include <stdio.h>
#include <string.h>

#include "pale_init.h"

#define HIDDEN __attribute__((visibility("hidden")))
#define PRESET "@PRESET@"

extern const char text_user[] HIDDEN, text_project[] HIDDEN, text_floor[] HIDDEN; /* texts.S */

char *init_text(enum init_kind kind, const char *preset)
{
	const char *at = strstr(text_user, PRESET);
	char *text = NULL;

	if (kind != INIT_USER)
		return strdup(kind == INIT_PROJECT ? text_project : text_floor);
	return asprintf(&text, "%.*s%s%s", (int)(at - text_user), text_user, preset, at + strlen(PRESET)) < 0
		       ? NULL
		       : text;
}
