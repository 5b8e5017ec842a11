/*
 * What others run and have, seen from inside: their command lines, their shared memory, their terminals'
 * modes, and what a closed directory shows without being opened.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include "escape.h"

static const char *of_neighbour(const char *name)
{
	static char path[96];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)escape_neighbour, name);
	return path;
}

static int read_some(int fd)
{
	char buf[64];

	return fd >= 0 && read(fd, buf, sizeof(buf)) > 0 ? WORKED : STOPPED;
}

PROBE(seen_cmdline)
{
	return read_some((int)DO(open, of_neighbour("cmdline"), O_RDONLY, 0));
}

PROBE(seen_status)
{
	return read_some((int)DO(openat, AT_FDCWD, of_neighbour("status"), O_RDONLY, 0));
}

PROBE(seen_task)
{
	char name[64];

	snprintf(name, sizeof(name), "task/%d/comm", (int)escape_neighbour);
	return read_some((int)DO(open, of_neighbour(name), O_RDONLY, 0));
}

PROBE(seen_list)
{
	return if_done(DO(open, of_neighbour("task"), O_RDONLY | O_DIRECTORY, 0));
}

PROBE(seen_by_place)
{
	int place = (int)DO(open, of_neighbour("."), O_PATH, 0);

	return read_some((int)DO(openat, place, "stat", O_RDONLY, 0));
}

PROBE(seen_up_from_self)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/../%d/cmdline", (int)escape_neighbour);
	return read_some((int)DO(open, path, O_RDONLY, 0));
}

PROBE(seen_by_directory)
{
	if (SC(chdir, of_neighbour("")) < 0)
		return STOPPED;
	return read_some((int)DO(open, "cmdline", O_RDONLY, 0));
}

/* --- /dev/shm ------------------------------------------------------------------------------------------ */

static const char *segment(void)
{
	static char path[64];

	snprintf(path, sizeof(path), "/dev/shm/escape-%d", escape_port);
	return path;
}

PROBE(ipc_segment_read)
{
	return read_some((int)DO(open, segment(), O_RDONLY, 0));
}

PROBE(ipc_segment_write)
{
	return if_done(DO(open, segment(), O_RDWR, 0));
}

PROBE(ipc_segment_append)
{
	return if_done(DO(openat, AT_FDCWD, segment(), O_WRONLY | O_CREAT | O_APPEND, 0600));
}

PROBE(ipc_segment_mode)
{
	return if_done(DO(chmod, segment(), 0600));
}

PROBE(ipc_segment_link)
{
	char own[80];
	long r;

	snprintf(own, sizeof(own), "%s.own", segment());
	r = SC(link, segment(), own);
	if (r == 0)
		(void)SC(unlink, own);
	return if_done(r);
}

/* --- terminals ----------------------------------------------------------------------------------------- */

PROBE(terminal_of_neighbour_mode)
{
	const char *pts = getenv("ESCAPE_PTS");

	return pts ? if_done(DO(chmod, pts, 0620)) : NOT_HERE;
}

PROBE(terminal_of_neighbour_times)
{
	const char *pts = getenv("ESCAPE_PTS");

	return pts ? if_done(SC(utimensat, AT_FDCWD, pts, NULL, 0)) : NOT_HERE;
}

/* --- without opening ------------------------------------------------------------------------------------ */

static const char *beside_key(const char *name)
{
	static char path[512];

	snprintf(path, sizeof(path), "%s", escape_key);
	snprintf(strrchr(path, '/') + 1, 64, "%s", name);
	return path;
}

PROBE(closed_link)
{
	char buf[64];

	return if_done(SC(readlink, beside_key("link"), buf, sizeof(buf)));
}

PROBE(closed_link_beside)
{
	int dir = (int)DO(open, beside_key("."), O_PATH | O_DIRECTORY, 0);
	char buf[64];

	return if_done(SC(readlinkat, dir, "link", buf, sizeof(buf)));
}

PROBE(closed_events)
{
	int fd = inotify_init1(IN_CLOEXEC);

	return if_done(SC(inotify_add_watch, fd, beside_key("."), IN_ALL_EVENTS));
}

PROBE(closed_attribute)
{
	char buf[64];

	return if_done(SC(getxattr, escape_key, "user.escape", buf, sizeof(buf)));
}

PROBE(closed_attributes)
{
	char buf[64];

	return SC(listxattr, escape_key, buf, sizeof(buf)) > 0 ? WORKED : STOPPED;
}
