/* Ways to remove, move and replace what stands outside. */
#include "escape.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static int held(const char *dir)
{
	return (int)DO(open, dir, O_PATH | O_DIRECTORY, 0);
}

PROBE(remove_unlink)
{
	return if_done(DO(unlink, outside("file")));
}

PROBE(remove_unlinkat)
{
	return if_done(DO(unlinkat, held(outside("sub")), "inner", 0));
}

PROBE(remove_rmdir)
{
	return if_done(DO(rmdir, outside("dir")));
}

PROBE(remove_rmdir_slash)
{
	return if_done(DO(rmdir, outside("dir/")));
}

PROBE(remove_unlinkat_directory)
{
	return if_done(DO(unlinkat, held(outside(".")), "dir", AT_REMOVEDIR));
}

PROBE(remove_chdir)
{
	if (chdir(outside("sub")) < 0)
		return STOPPED;
	return if_done(DO(unlink, "inner"));
}

PROBE(remove_by_dotdot)
{
	char path[8192];

	snprintf(path, sizeof(path), "%s/../file", outside("sub"));
	return if_done(DO(unlink, path));
}

PROBE(remove_by_symlinked_directory)
{
	if (symlink(outside("sub"), "d") < 0)
		return STOPPED;
	return if_done(DO(unlink, "d/inner"));
}

PROBE(remove_by_proc_root)
{
	char path[8192];

	snprintf(path, sizeof(path), "/proc/self/root%s", outside("file"));
	return if_done(DO(unlink, path));
}

PROBE(remove_by_held_in_proc)
{
	char path[128];

	snprintf(path, sizeof(path), "/proc/self/fd/%d/inner", held(outside("sub")));
	return if_done(DO(unlink, path));
}

PROBE(remove_by_neighbour_root)
{
	char path[8192];

	snprintf(path, sizeof(path), "/proc/%d/root%s", (int)escape_neighbour, outside("file"));
	return if_done(DO(unlink, path));
}

PROBE(remove_rename)
{
	return if_done(DO(rename, outside("file"), outside("other")));
}

PROBE(remove_renameat)
{
	return if_done(DO(renameat, held(outside("sub")), "inner", held(outside("dir")), "inner"));
}

PROBE(remove_renameat2)
{
	return if_done(SC(renameat2, AT_FDCWD, outside("file"), AT_FDCWD, outside("other"), 1));
}

PROBE(remove_rename_in)
{
	return if_done(DO(rename, outside("file"), "mine"));
}

PROBE(remove_rename_directory_in)
{
	return if_done(DO(rename, outside("sub"), "mine"));
}

PROBE(remove_rename_over)
{
	put("mine", "mine");
	return if_done(DO(rename, "mine", outside("file")));
}

PROBE(remove_exchange)
{
	put("mine", "mine");
	return if_done(SC(renameat2, AT_FDCWD, "mine", AT_FDCWD, outside("file"), 2));
}

PROBE(remove_exchange_directories)
{
	if (mkdir("mine", 0755) < 0)
		return NOT_HERE;
	return if_done(SC(renameat2, AT_FDCWD, outside("sub"), AT_FDCWD, "mine", 2));
}

/* What stands above the workspace takes the workspace with it. */
PROBE(remove_above_workspace)
{
	char moved[4096], cwd[4096], *slash;

	if (!getcwd(cwd, sizeof(cwd)))
		return NOT_HERE;
	/* WORK/NAME: the workspace's own name, in a directory that is not ours. */
	if ((slash = strrchr(cwd, '/')))
		*slash = '\0';
	snprintf(moved, sizeof(moved), "%.4000s.moved", cwd);
	if (DO(rename, cwd, moved) < 0)
		return STOPPED;
	(void)DO(rename, moved, cwd);
	return WORKED;
}

PROBE(remove_key)
{
	char copy[4096];
	int r;

	snprintf(copy, sizeof(copy), "%s.moved", escape_key);
	r = if_done(DO(rename, escape_key, copy));
	(void)DO(rename, copy, escape_key);
	return r;
}
