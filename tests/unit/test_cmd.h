/* A command line judged by a fixture's image. */
#ifndef PALE_TEST_CMD_H
#define PALE_TEST_CMD_H

#include <stdio.h>

#include "image_fixture.h"

#define MAX_ARGS 32

/* Splits at blanks ('single quotes' group); the program is what /usr/bin holds. */
struct line {
	char text[1024], path[256];
	const char *argv[MAX_ARGS + 1];
	size_t n;
};

static inline void line_split(struct line *l, const char *s)
{
	size_t out = 0;

	l->n = 0;
	while (*s && l->n < MAX_ARGS) {
		bool quote = false;

		while (*s == ' ')
			s++;
		if (!*s)
			break;
		l->argv[l->n++] = &l->text[out];
		for (; *s && (quote || *s != ' '); s++) {
			if (*s == '\'')
				quote = !quote;
			else
				l->text[out++] = *s;
		}
		l->text[out++] = '\0';
	}
	l->argv[l->n] = NULL;
	(void)snprintf(l->path, sizeof(l->path), "%s%s", l->argv[0][0] == '/' ? "" : "/usr/bin/", l->argv[0]);
}

static inline struct decision judge(const struct fixture *f, const char *command)
{
	struct request req = { .op = OP_EXEC, .access = ACCESS_READ, .cwd = "/ws" };
	struct decision d;
	struct line l;

	line_split(&l, command);
	req.path = l.path;
	req.argv = l.argv;
	req.argc = l.n;
	eval_command(&f->img, &req, &d, NULL);
	return d;
}

#endif
