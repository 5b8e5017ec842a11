/*
 * Which process listens at a port, as text for the operator: the program and its user.  /proc does not tell
 * which sockets the processes of other users have.
 */
#include <dirent.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "policy/base/buf.h"

#include "tools/base/proc.h"

#include "ports.h"

static bool has_socket(pid_t pid, const char *link)
{
	char dir[32], to[64];
	const struct dirent *e;
	bool has = false;
	DIR *d;

	snprintf(dir, sizeof(dir), "/proc/%d/fd", (int)pid);
	d = opendir(dir);
	while (d && !has && (e = readdir(d))) {
		ssize_t n = readlinkat(dirfd(d), e->d_name, to, sizeof(to) - 1);

		to[n > 0 ? n : 0] = '\0';
		has = strcmp(to, link) == 0;
	}
	if (d)
		closedir(d);
	return has;
}

static pid_t holder_of(uint32_t inode)
{
	DIR *proc = inode ? opendir("/proc") : NULL;
	char link[32];
	pid_t pid;

	snprintf(link, sizeof(link), "socket:[%u]", inode);
	while ((pid = proc_next(proc)) && !has_socket(pid, link))
		;
	if (proc)
		closedir(proc);
	return pid;
}

static void put_program(struct out *o, pid_t pid)
{
	char link[32], exe[PORT_TEXT / 2];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
	n = pid ? readlink(link, exe, sizeof(exe)) : -1;
	if (n <= 0 || (size_t)n >= sizeof(exe)) {
		text_str(o, "a program that pale cannot see");
		return;
	}
	text_escaped(o, exe, (size_t)n);
	text_str(o, " (pid ");
	text_uint(o, (unsigned)pid);
	text_str(o, ")");
}

const char *port_text(const struct port *port, char buf[PORT_TEXT])
{
	struct out o = out_of(buf, PORT_TEXT);
	struct passwd pw, *found = NULL;
	char names[1024];

	if (port->cookie == 0)
		return "pale cannot determine which program listens there";
	put_program(&o, holder_of(port->inode));
	text_str(&o, " of user ");
	if (getpwuid_r(port->uid, &pw, names, sizeof(names), &found) == 0 && found)
		text_str(&o, found->pw_name);
	else
		text_uint(&o, port->uid);
	text_str(&o, ", outside the session");
	return text_end(&o);
}
