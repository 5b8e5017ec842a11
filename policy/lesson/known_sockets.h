/*
 * Well-known sockets by which a program can make another program act outside the fence, and what that can
 * do.  A session reaches them only by a rule; this table only explains why such a socket is not proposed.
 *
 * No state, no system call.
 */
#ifndef PALE_KNOWN_SOCKETS_H
#define PALE_KNOWN_SOCKETS_H

struct known_socket {
	const char *pattern; /* glob over the whole path, `*` crosses slashes; "@..." is an abstract name */
	const char *what;    /* static sentence fragment: what a client of the socket can do */
};

/* The first entry that matches the path (or "@name"), or NULL. */
const struct known_socket *socket_known(const char *path);

#endif
