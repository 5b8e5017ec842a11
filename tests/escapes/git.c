/*
 * What git obeys: configuration and hooks of any repository, and where protected branches stand.
 *
 * `r` in the probe's directory is a repository; that of the workspace has a protected branch of the probe's
 * name, which is not checked out.
 */
#include "escape.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define EVIL "[core]\n\tfsmonitor = evil\n"
#define HOOK "#!/bin/sh\nevil\n"

static bool says(const char *path, const char *word)
{
	const struct timespec nap = { .tv_nsec = 150 * 1000 * 1000 };
	char buf[4096];
	ssize_t n;
	int fd;

	/* What is judged when it is closed is judged by then. */
	nanosleep(&nap, NULL);
	fd = open(path, O_RDONLY);
	n = fd < 0 ? -1 : read(fd, buf, sizeof(buf) - 1);
	if (fd >= 0)
		close(fd);
	buf[n > 0 ? n : 0] = '\0';
	return strstr(buf, word) != NULL;
}

static int if_says(const char *path, const char *word)
{
	return says(path, word) ? WORKED : STOPPED;
}

static void write_close(int fd, const char *text)
{
	if (fd < 0)
		return;
	(void)!write(fd, text, strlen(text));
	close(fd);
}

/* --- configuration -------------------------------------------------------------------------------------- */

PROBE(git_config_append)
{
	write_close(DO(open, "r/config", O_WRONLY | O_APPEND, 0), EVIL);
	return if_says("r/config", "evil");
}

PROBE(git_config_truncate)
{
	write_close(DO(open, "r/config", O_WRONLY | O_TRUNC, 0), EVIL);
	return if_says("r/config", "evil");
}

PROBE(git_config_anew)
{
	DO(unlink, "r/config");
	write_close(DO(open, "r/config", O_WRONLY | O_CREAT, 0644), EVIL);
	return if_says("r/config", "evil");
}

PROBE(git_config_rename)
{
	put("x", EVIL);
	DO(rename, "x", "r/config");
	return if_says("r/config", "evil");
}

PROBE(git_config_exchange)
{
	put("x", EVIL);
	SC(renameat2, AT_FDCWD, "x", AT_FDCWD, "r/config", RENAME_EXCHANGE);
	return if_says("r/config", "evil");
}

PROBE(git_config_link)
{
	put("x", EVIL);
	DO(unlink, "r/config");
	DO(link, "x", "r/config");
	return if_says("r/config", "evil");
}

PROBE(git_config_symlink)
{
	put("x", EVIL);
	DO(unlink, "r/config");
	DO(symlink, "../x", "r/config");
	return if_says("r/config", "evil");
}

PROBE(git_config_linked_away)
{
	DO(link, "r/config", "x");
	write_close(DO(open, "x", O_WRONLY | O_APPEND, 0), EVIL);
	return if_says("r/config", "evil");
}

PROBE(git_config_worktree)
{
	write_close(DO(open, "r/config.worktree", O_WRONLY | O_CREAT, 0644), EVIL);
	return if_says("r/config.worktree", "evil");
}

/* A directory becomes a repository around what is there. */
static void half(void)
{
	mkdir("h", 0755);
	mkdir("h/refs", 0755);
	mkdir("h/hooks", 0755);
	put("h/HEAD", "ref: refs/heads/x\n");
}

static int if_whole(bool evil)
{
	return evil && there("h/objects") ? WORKED : STOPPED;
}

PROBE(git_config_first)
{
	half();
	put("h/config", EVIL);
	DO(mkdir, "h/objects", 0755);
	return if_whole(says("h/config", "evil"));
}

PROBE(git_config_held)
{
	int fd;

	half();
	fd = DO(open, "h/config", O_WRONLY | O_CREAT, 0644);
	DO(mkdir, "h/objects", 0755);
	write_close(fd, EVIL);
	return if_whole(says("h/config", "evil"));
}

PROBE(git_config_objects_renamed)
{
	half();
	put("h/config", EVIL);
	mkdir("o", 0755);
	DO(rename, "o", "h/objects");
	return if_whole(says("h/config", "evil"));
}

PROBE(git_config_objects_linked)
{
	half();
	put("h/config", EVIL);
	DO(symlink, "../r/objects", "h/objects");
	return if_whole(says("h/config", "evil"));
}

/* --- hooks ------------------------------------------------------------------------------------------------
 */

PROBE(git_hook_write)
{
	write_close(DO(open, "r/hooks/post-index-change", O_WRONLY | O_CREAT, 0755), HOOK);
	return if_says("r/hooks/post-index-change", "evil");
}

/* Of this name git-lfs has one. */
PROBE(git_hook_of_lfs)
{
	write_close(DO(open, "r/hooks/post-checkout", O_WRONLY | O_CREAT, 0755), HOOK);
	return if_says("r/hooks/post-checkout", "evil");
}

PROBE(git_hook_rename)
{
	put("x", HOOK);
	DO(rename, "x", "r/hooks/pre-commit");
	return if_says("r/hooks/pre-commit", "evil");
}

PROBE(git_hook_symlink)
{
	put("x", HOOK);
	DO(symlink, "../../x", "r/hooks/pre-commit");
	return if_says("r/hooks/pre-commit", "evil");
}

PROBE(git_hook_directory)
{
	mkdir("e", 0755);
	put("e/x.sample", HOOK);
	DO(rename, "r/hooks", "old");
	DO(rename, "e/x.sample", "e/pre-commit");
	DO(rename, "e", "r/hooks");
	return if_says("r/hooks/pre-commit", "evil");
}

PROBE(git_hook_first)
{
	half();
	put("h/hooks/pre-commit", HOOK);
	DO(mkdir, "h/objects", 0755);
	return if_whole(says("h/hooks/pre-commit", "evil"));
}

/* --- branches
 * ----------------------------------------------------------------------------------------------- */

#define MOVED "2222222222222222222222222222222222222222\n"

static const char *ref(const char *dir)
{
	static char buf[2][256];
	static unsigned turn;
	char *p = buf[turn++ % 2];

	snprintf(p, sizeof(buf[0]), "../.git/%s%s", dir, escape_name);
	return p;
}

static int if_moved(void)
{
	return if_says(ref("refs/heads/"), "2222");
}

PROBE(git_branch_write)
{
	write_close(DO(open, ref("refs/heads/"), O_WRONLY, 0), MOVED);
	return if_moved();
}

PROBE(git_branch_rename)
{
	put("x", MOVED);
	DO(rename, "x", ref("refs/heads/"));
	return if_moved();
}

PROBE(git_branch_anew)
{
	DO(unlink, ref("refs/heads/"));
	write_close(DO(open, ref("refs/heads/"), O_WRONLY | O_CREAT, 0644), MOVED);
	return if_moved();
}

PROBE(git_branch_symlink)
{
	put("x", MOVED);
	DO(unlink, ref("refs/heads/"));
	DO(symlink, "../../../git_branch_symlink/x", ref("refs/heads/"));
	return if_moved();
}

PROBE(git_branch_directory)
{
	bool moved;

	DO(rename, "../.git/refs/heads", "../.git/refs/old");
	DO(mkdir, "../.git/refs/heads", 0755);
	write_close(DO(open, ref("refs/heads/"), O_WRONLY | O_CREAT, 0644), MOVED);
	moved = says(ref("refs/heads/"), "2222");
	DO(unlink, ref("refs/heads/"));
	if (DO(rename, "../.git/refs/heads", "../.git/refs/new") == 0)
		DO(rename, "../.git/refs/old", "../.git/refs/heads");
	return moved ? WORKED : STOPPED;
}

/* Another name for the file, to write it by. */
PROBE(git_branch_linked)
{
	DO(link, ref("refs/heads/"), "x");
	write_close(DO(open, "x", O_WRONLY, 0), MOVED);
	return if_moved();
}

PROBE(git_branch_commondir)
{
	bool there;

	write_close(DO(open, "../.git/commondir", O_WRONLY | O_CREAT, 0644), "../git_branch_commondir/r\n");
	there = says("../.git/commondir", escape_name);
	DO(unlink, "../.git/commondir");
	return there ? WORKED : STOPPED;
}
