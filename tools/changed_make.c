/*
 * The targets of a Makefile, to tell which of them a session changed: see changed.h.
 *
 * Read as a person would who looks for a name before a colon: what variables and functions make of it is
 * make's own affair.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "changed.h"
#include "policy/cmd.h"
#include "tools.h"

#define TEXT_MAX (1024 * 1024)
#define BLANKS	 " \t\\\n&"

/* Lines that begin so are no rules. */
#define DIRECTIVES                                                                                           \
	"ifeq ifneq ifdef ifndef else endif include -include sinclude define endef override export "         \
	"unexport vpath"

/* The newline that ends a line and what backslashes add to it, or the text's end. */
static char *line_end(char *line)
{
	char *p = line + strcspn(line, "\n");

	while (*p && p > line && p[-1] == '\\') {
		p++;
		p += strcspn(p, "\n");
	}
	return p;
}

/* What parts targets from the rest: a colon that assigns nothing.  NULL: no rule. */
static char *rule_colon(char *line)
{
	char *p = line + strcspn(line, ":=#\n");

	if (line[0] == '\t' || *p != ':' || p[strspn(p, ":")] == '=' ||
	    word_in_list(DIRECTIVES, line, strcspn(line, " \t")))
		return NULL;
	return p;
}

/* Each of the words has the text, behind what it has already: `x: a` and `x: b` are both of x. */
static void add(json_t *targets, char *words, const char *text)
{
	char *rest, *word;

	for (word = strtok_r(words, BLANKS, &rest); word; word = strtok_r(NULL, BLANKS, &rest)) {
		const char *had = json_string_value(json_object_get(targets, word));
		char *all = NULL;

		/* .PHONY is make's own */
		if (word[0] == '.' && isupper((unsigned char)word[1]))
			continue;
		if (asprintf(&all, "%s%s\n", had ? had : "", text) < 0)
			return;
		(void)json_object_set_new_nocheck(targets, word, json_string_nocheck(all));
		free(all);
	}
}

/* Cuts the text up. */
static void read_rules(json_t *targets, char *text)
{
	char *next;

	for (char *line = text; line; line = next) {
		char *end = line_end(line), *colon = rule_colon(line);

		/* a recipe is what follows with a tab, or is blank */
		while (colon && *end && (end[1] == '\t' || end[1] == '\n'))
			end = line_end(end + 1);
		next = *end ? end + 1 : NULL;
		*end = '\0';
		if (!colon)
			continue;
		*colon = '\0';
		add(targets, line, colon + 1);
	}
}

json_t *changed_targets(int dirfd, const char *name)
{
	_cleanup_close_ int fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	_cleanup_free_ char *text = NULL;
	struct stat st;
	json_t *targets;
	ssize_t n;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > TEXT_MAX)
		return NULL;
	text = malloc((size_t)st.st_size + 1);
	n = text ? read(fd, text, (size_t)st.st_size) : -1;
	if (n < 0)
		return NULL;
	text[n] = '\0';
	targets = json_object();
	read_rules(targets, text);
	return targets;
}
