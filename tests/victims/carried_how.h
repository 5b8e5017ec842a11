/* openat2: its struct by size and content, and what each constraint lets through. */
#ifndef PALE_TESTS_CARRIED_HOW_H
#define PALE_TESTS_CARRIED_HOW_H

static void how_said(const char *what, const struct open_how *how)
{
	said(what, raw_openat2(AT_FDCWD, "file", how, sizeof(*how)), "file");
}

static void how_arguments(void)
{
	struct {
		struct open_how how;
		uint8_t more[5000];
	} big = { .how = { .flags = O_RDONLY } };

	how_said("how rdonly", &(struct open_how){ .flags = O_RDONLY });
	how_said("how rdwr", &(struct open_how){ .flags = O_RDWR | O_APPEND | O_CLOEXEC });
	how_said("how mode", &(struct open_how){ .flags = O_RDONLY, .mode = 0600 });
	how_said("how odd mode", &(struct open_how){ .flags = O_RDWR | O_CREAT, .mode = 0100600 });
	how_said("how unknown", &(struct open_how){ .flags = UNKNOWN });
	how_said("how high", &(struct open_how){ .flags = 1ull << 40 });
	how_said("how resolve", &(struct open_how){ .flags = O_RDONLY, .resolve = 0x1000 });
	how_said("how both", &(struct open_how){ .resolve = RESOLVE_BENEATH | RESOLVE_IN_ROOT });
	how_said("how tmpfile", &(struct open_how){ .flags = O_RDONLY | O_TMPFILE, .mode = 0600 });
	how_said("how directory", &(struct open_how){ .flags = O_CREAT | O_DIRECTORY, .mode = 0600 });
	how_said("how large", &(struct open_how){ .flags = O_RDONLY | 0100000 });
	how_said("how cached create", &(struct open_how){ .flags = O_CREAT, .resolve = 0x20 });
	said("how small", raw_openat2(AT_FDCWD, "file", &big, 23), "file");
	said("how none", raw_openat2(AT_FDCWD, "file", &big, 0), "file");
	said("how larger", raw_openat2(AT_FDCWD, "file", &big, 32), "file");
	said("how page", raw_openat2(AT_FDCWD, "file", &big, 4096), "file");
	said("how beyond", raw_openat2(AT_FDCWD, "file", &big, 4097), "file");
	big.more[3] = 1;
	said("how newer", raw_openat2(AT_FDCWD, "file", &big, 32), "file");
	said("how null", raw_openat2(AT_FDCWD, "file", NULL, sizeof(big.how)), "file");
	said("how and path null", raw_openat2(AT_FDCWD, NULL, &big, sizeof(big.how)), "file");
}

static const char *const how_paths[] = {
	"file",
	"dir/inner",
	"dir/../file",
	"../calls/file",
	"to-file",
	"to-dir/inner",
	"to-null",
	"to-nothing",
	"missing",
	"dir/up",
	"/dev/null",
	"/missing",
	"loop",
	"file/x",
	"dir/",
	".",
	"..",
	"",
	"to-abs",
	"to-abs-dir/inner",
	"/proc/self/comm",
	"/proc/self/cwd/file",
	"/proc/self/fd/9",
	"dir/out",
	"file/",
	"to-dir/",
	"missing/",
	"dir/new",
	"to-new",
	"/file",
};

static void how_constraint(const char *name, uint64_t resolve)
{
	static const struct {
		const char *name;
		uint64_t flags;
	} kinds[] = { { "rdonly", O_RDONLY },
		      { "creat", O_RDWR | O_CREAT },
		      { "nofollow", O_RDWR | O_NOFOLLOW },
		      { "excl", O_RDWR | O_CREAT | O_EXCL },
		      { "tmpfile", O_RDWR | O_TMPFILE } };

	for (size_t k = 0; k < NELEM(kinds); k++) {
		for (size_t i = 0; i < NELEM(how_paths); i++) {
			struct open_how how = { .flags = kinds[k].flags, .resolve = resolve };

			/* /dev and / are not ours to try to create in. */
			if (how.flags & (O_CREAT | O_TMPFILE) && how_paths[i][0] == '/' &&
			    !(resolve & (RESOLVE_BENEATH | RESOLVE_IN_ROOT)))
				continue;
			how.mode = kinds[k].flags & O_CREAT || k == 4 ? 0640 : 0;
			printf("%s %s ", name, kinds[k].name);
			said(how_paths[i], raw_openat2(AT_FDCWD, how_paths[i], &how, sizeof(how)),
			     how_paths[i][0] == '/' ? "file" : how_paths[i]);
			unlink("missing");
			unlink("nothing");
			unlink("dir/new");
		}
	}
}

static void how_constraints(void)
{
	char here[4096], path[5000];

	if (!getcwd(here, sizeof(here)))
		exit(96);
	snprintf(path, sizeof(path), "%s/file", here);
	(void)symlink(path, "to-abs");
	snprintf(path, sizeof(path), "%s/dir", here);
	(void)symlink(path, "to-abs-dir");
	(void)symlink("../../x", "dir/out");
	(void)symlink("dir/new", "to-new");
	dup2(open("file", O_RDONLY), 9);
	how_constraint("none", 0);
	how_constraint("beneath", RESOLVE_BENEATH);
	how_constraint("in-root", RESOLVE_IN_ROOT);
	how_constraint("no-symlinks", RESOLVE_NO_SYMLINKS);
	how_constraint("no-magiclinks", RESOLVE_NO_MAGICLINKS);
	how_constraint("no-xdev", RESOLVE_NO_XDEV);
}

#endif
