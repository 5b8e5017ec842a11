/*
 * Well-known sockets by which one program has another act for it, outside every fence: who they belong to,
 * and what may come of it.  None of them is allowed but by a rule; this says what a denial is about.
 *
 * No state, no system call.
 */
#ifndef PALE_SOCKETS_H
#define PALE_SOCKETS_H

struct known_socket {
	const char *pattern; /* glob over the whole path, `*` crosses slashes; "@..." is an abstract name */
	const char *what;    /* sentence fragment: "the docker daemon makes whoever may ask it root" */
};

/* The first that the path (or "@name") matches, or NULL. */
const struct known_socket *socket_known(const char *path);

#endif
