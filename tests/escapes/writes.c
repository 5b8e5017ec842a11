/* Ways to make, change and cut what stands outside. */
#include "escape.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

static int write_to(long fd)
{
	return fd >= 0 && write((int)fd, "x", 1) == 1 ? WORKED : STOPPED;
}

PROBE(write_open)
{
	return write_to(DO(open, outside("file"), O_WRONLY, 0));
}

PROBE(write_openat)
{
	return write_to(DO(openat, AT_FDCWD, outside("file"), O_RDWR, 0));
}

PROBE(write_append)
{
	return write_to(DO(open, outside("file"), O_WRONLY | O_APPEND, 0));
}

PROBE(write_openat2)
{
	struct open_how how = { .flags = O_WRONLY };

	return write_to(SC(openat2, AT_FDCWD, outside("file"), &how, sizeof(how)));
}

PROBE(write_openat2_beneath)
{
	struct open_how how = { .flags = O_WRONLY | O_CREAT, .mode = 0644, .resolve = RESOLVE_BENEATH };
	int dir = (int)DO(open, outside("dir"), O_PATH | O_DIRECTORY, 0);

	return write_to(SC(openat2, dir, "new", &how, sizeof(how)));
}

PROBE(write_creat)
{
	return write_to(DO(creat, outside("new"), 0644));
}

PROBE(write_o_creat)
{
	return write_to(DO(open, outside("new"), O_WRONLY | O_CREAT, 0644));
}

PROBE(write_o_creat_read_only)
{
	return if_done(DO(open, outside("new"), O_RDONLY | O_CREAT, 0644));
}

PROBE(write_o_excl)
{
	return write_to(DO(open, outside("new"), O_WRONLY | O_CREAT | O_EXCL, 0644));
}

PROBE(write_o_trunc)
{
	return if_done(DO(open, outside("file"), O_WRONLY | O_TRUNC, 0));
}

PROBE(write_read_only_trunc)
{
	return if_done(DO(open, outside("file"), O_RDONLY | O_TRUNC, 0));
}

PROBE(write_access_mode_3)
{
	/* For ioctl alone; O_ACCMODE has O_PATH in it with musl. */
	return if_done(DO(open, outside("file"), 3 | O_TRUNC, 0));
}

PROBE(write_truncate)
{
	return if_done(DO(truncate, outside("file"), 0));
}

PROBE(write_truncate_by_symlink)
{
	if (symlink(outside("file"), "l") < 0)
		return STOPPED;
	return if_done(DO(truncate, "l", 0));
}

PROBE(write_mkdir)
{
	return if_done(DO(mkdir, outside("new"), 0755));
}

PROBE(write_mkdirat)
{
	int dir = (int)DO(open, outside("dir"), O_PATH | O_DIRECTORY, 0);

	return if_done(DO(mkdirat, dir, "new", 0755));
}

PROBE(write_mknod_fifo)
{
	return if_done(DO(mknod, outside("new"), S_IFIFO | 0644, 0));
}

PROBE(write_mknodat_file)
{
	return if_done(DO(mknodat, AT_FDCWD, outside("new"), S_IFREG | 0644, 0));
}

PROBE(write_mknod_socket)
{
	return if_done(DO(mknod, outside("new"), S_IFSOCK | 0644, 0));
}

PROBE(write_symlink_made)
{
	return if_done(DO(symlink, "target", outside("new")));
}

PROBE(write_symlinkat_made)
{
	int dir = (int)DO(open, outside("dir"), O_PATH | O_DIRECTORY, 0);

	return if_done(DO(symlinkat, "target", dir, "new"));
}

PROBE(write_link_out)
{
	put("mine", "mine");
	return if_done(DO(link, "mine", outside("new")));
}

PROBE(write_linkat_out)
{
	put("mine", "mine");
	return if_done(DO(linkat, AT_FDCWD, "mine", AT_FDCWD, outside("new"), 0));
}

/* Its other name is inside: then it can be written there. */
PROBE(write_link_in)
{
	if (DO(link, outside("file"), "in") < 0)
		return STOPPED;
	return write_to(DO(open, "in", O_WRONLY, 0));
}

PROBE(write_link_in_by_descriptor)
{
	char path[64];
	int fd = (int)DO(open, outside("file"), O_RDONLY, 0);

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (DO(linkat, AT_FDCWD, path, AT_FDCWD, "in", AT_SYMLINK_FOLLOW) < 0)
		return STOPPED;
	return write_to(DO(open, "in", O_WRONLY, 0));
}

PROBE(write_rename_out)
{
	put("mine", "mine");
	return if_done(DO(rename, "mine", outside("new")));
}

PROBE(write_rename_directory_out)
{
	if (mkdir("mine", 0755) < 0)
		return NOT_HERE;
	return if_done(DO(rename, "mine", outside("dir")));
}

PROBE(write_renameat2_whiteout)
{
	put("mine", "mine");
	return if_done(SC(renameat2, AT_FDCWD, "mine", AT_FDCWD, outside("new"), 4));
}

PROBE(write_tmpfile)
{
	char path[64];
	int fd = (int)DO(open, outside("."), O_TMPFILE | O_WRONLY, 0644);

	if (fd < 0)
		return STOPPED;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return if_done(DO(linkat, AT_FDCWD, path, AT_FDCWD, outside("new"), AT_SYMLINK_FOLLOW));
}

PROBE(write_tmpfile_out)
{
	char path[64];
	int fd = (int)DO(open, ".", O_TMPFILE | O_WRONLY, 0644);

	if (fd < 0)
		return STOPPED;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return if_done(DO(linkat, AT_FDCWD, path, AT_FDCWD, outside("new"), AT_SYMLINK_FOLLOW));
}

PROBE(write_empty_path_out)
{
	int fd = (int)DO(open, ".", O_TMPFILE | O_WRONLY, 0644);

	if (fd < 0)
		return STOPPED;
	/* AT_EMPTY_PATH of one's own file needs no capability since Linux 6.10. */
	return if_done(DO(linkat, fd, "", AT_FDCWD, outside("new"), AT_EMPTY_PATH));
}

PROBE(write_by_symlink)
{
	if (symlink(outside("file"), "l") < 0)
		return STOPPED;
	return write_to(DO(open, "l", O_WRONLY, 0));
}

PROBE(write_by_dangling_symlink)
{
	if (symlink(outside("new"), "l") < 0)
		return STOPPED;
	return write_to(DO(open, "l", O_WRONLY | O_CREAT, 0644));
}

PROBE(write_by_symlinked_directory)
{
	if (symlink(outside("."), "d") < 0)
		return STOPPED;
	return write_to(DO(open, "d/new", O_WRONLY | O_CREAT, 0644));
}

PROBE(write_mkdir_by_symlinked_directory)
{
	if (symlink(outside("."), "d") < 0)
		return STOPPED;
	return if_done(DO(mkdir, "d/new", 0755));
}

PROBE(write_by_dotdot)
{
	char path[8192];

	snprintf(path, sizeof(path), "%s/../dir/.//../file", outside("sub"));
	return write_to(DO(open, path, O_WRONLY, 0));
}

PROBE(write_held_directory)
{
	int dir = (int)DO(open, outside("."), O_PATH | O_DIRECTORY, 0);

	return write_to(DO(openat, dir, "file", O_WRONLY, 0));
}

PROBE(write_read_descriptor_again)
{
	char path[64];
	int fd = (int)DO(open, outside("file"), O_RDONLY, 0);

	if (fd < 0)
		return STOPPED;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return write_to(DO(open, path, O_WRONLY, 0));
}

PROBE(write_held_file_again)
{
	char path[64];
	int fd = (int)DO(open, outside("file"), O_PATH, 0);

	if (fd < 0)
		return STOPPED;
	snprintf(path, sizeof(path), "/dev/fd/%d", fd);
	return write_to(DO(open, path, O_WRONLY | O_TRUNC, 0));
}

PROBE(write_truncate_held_file)
{
	char path[64];
	int fd = (int)DO(open, outside("file"), O_PATH, 0);

	if (fd < 0)
		return STOPPED;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return if_done(DO(truncate, path, 0));
}

PROBE(write_by_proc_root)
{
	char path[8192];

	snprintf(path, sizeof(path), "/proc/self/root%s", outside("file"));
	return write_to(DO(open, path, O_WRONLY, 0));
}

PROBE(write_by_neighbour_root)
{
	char path[8192];

	snprintf(path, sizeof(path), "/proc/%d/root%s", (int)escape_neighbour, outside("file"));
	return write_to(DO(open, path, O_WRONLY, 0));
}

PROBE(write_chdir)
{
	if (chdir(outside("dir")) < 0)
		return STOPPED;
	return write_to(DO(open, "../file", O_WRONLY, 0));
}

PROBE(write_bound_socket)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	int s = (int)DO(socket, AF_UNIX, SOCK_STREAM, 0);

	/* By way of a short name: a socket's address is 108 bytes. */
	if (s < 0 || symlink(outside("dir"), "d") < 0)
		return STOPPED;
	strcpy(sun.sun_path, "d/new");
	return if_done(DO(bind, s, (void *)&sun, sizeof(sun)));
}

PROBE(write_shared_mapping_of_key)
{
	return write_to(DO(open, escape_key, O_WRONLY | O_APPEND, 0));
}

PROBE(write_startup_file)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/../.bashrc", escape_other);
	return write_to(DO(open, path, O_WRONLY | O_APPEND | O_CREAT, 0644));
}

PROBE(write_policy)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/../.config/pale/policy.ini", escape_other);
	return if_done(DO(open, path, O_WRONLY | O_APPEND | O_CREAT, 0644));
}

PROBE(write_state)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/../.local/state/pale/planted-%s", escape_other, escape_name);
	return if_done(DO(open, path, O_WRONLY | O_CREAT, 0644));
}

/* --- within the workspace: finer than a floor can be -------------------------------------------------- */

PROBE(fine_write_locked)
{
	return write_to(DO(open, "locked/file", O_WRONLY, 0));
}

PROBE(fine_create_locked)
{
	return if_done(DO(open, "locked/new", O_WRONLY | O_CREAT, 0644));
}

PROBE(fine_trunc_locked)
{
	return if_done(DO(open, "locked/file", O_WRONLY | O_TRUNC, 0));
}

PROBE(fine_truncate_locked)
{
	return if_done(DO(truncate, "locked/file", 0));
}

PROBE(fine_unlink_locked)
{
	return if_done(DO(unlink, "locked/file"));
}

PROBE(fine_rename_locked)
{
	return if_done(DO(rename, "locked/file", "mine"));
}

PROBE(fine_rename_onto_locked)
{
	put("mine", "mine");
	return if_done(DO(rename, "mine", "locked/file"));
}

PROBE(fine_link_locked)
{
	if (DO(link, "locked/file", "mine") < 0)
		return STOPPED;
	return write_to(DO(open, "mine", O_WRONLY, 0));
}

PROBE(fine_chmod_locked)
{
	return if_done(DO(chmod, "locked/file", 0755));
}

PROBE(fine_utimes_locked)
{
	return if_done(DO(utimensat, AT_FDCWD, "locked/file", NULL, 0));
}

PROBE(fine_read_hidden)
{
	return read_it((int)DO(open, "hidden/file", O_RDONLY, 0));
}

PROBE(fine_link_hidden)
{
	if (DO(link, "hidden/file", "mine") < 0)
		return STOPPED;
	return read_it((int)DO(open, "mine", O_RDONLY, 0));
}

PROBE(fine_rename_hidden)
{
	if (DO(rename, "hidden/file", "mine") < 0)
		return STOPPED;
	return read_it((int)DO(open, "mine", O_RDONLY, 0));
}

PROBE(fine_move_hidden)
{
	if (DO(rename, "hidden", "mine") < 0)
		return STOPPED;
	return read_it((int)DO(open, "mine/file", O_RDONLY, 0));
}

PROBE(fine_unlink_kept)
{
	return if_done(DO(unlink, "kept/file"));
}

PROBE(fine_rename_kept)
{
	return if_done(DO(rename, "kept/file", "mine"));
}
