/*
 * ssh for git: ~/.ssh is closed as a whole, since it holds keys.  The host keys that the operator knows, the
 * names that they gave to hosts, and the public keys are no secrets: without them no remote over SSH works.
 */
#include "ssh_copy.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "policy/base/buf.h"
#include "policy/base/util.h"
#include "policy/record/replacefile.h"
#include "policy/system/cleanup.h"

#include "tools/base/paths.h"
#include "tools/base/readfile.h"

#define FILE_MAX (1u << 20)

/* Keywords of ssh_config(5) that say where a host is.  All others may run a program or name a key. */
static const char *const keywords[] = { "Host", "HostName", "User", "Port", "HostKeyAlias" };

/* In one step, under a name of this process until then: another session may start here at the same time. */
static int put(int dir, const char *name, const char *text, size_t len)
{
	_cleanup_close_ int fd = -1;
	char fresh[NAME_MAX + 1];
	int r, n = snprintf(fresh, sizeof(fresh), ".%s.%d", name, (int)getpid());

	if (n < 0 || (size_t)n >= sizeof(fresh))
		return -ENAMETOOLONG;
	if (unlinkat(dir, fresh, 0) < 0 && errno != ENOENT)
		return -errno;
	fd = openat(dir, fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0400);
	if (fd < 0)
		return -errno;
	r = write_all(fd, text, len);
	if (r == 0 && renameat(dir, fresh, dir, name) < 0)
		r = -errno;
	if (r < 0)
		(void)unlinkat(dir, fresh, 0);
	return r;
}

static bool is_kept(const char *line, size_t n)
{
	for (size_t i = 0; i < NELEM(keywords); i++) {
		size_t len = strlen(keywords[i]);

		if (n > len && strncasecmp(line, keywords[i], len) == 0 && strchr(" \t=", line[len]))
			return true;
	}
	return false;
}

/* Copies the kept lines; those of a Match block hold under conditions that are not copied, so they go. */
static char *filter(const char *text, const char *path, size_t *ret_len)
{
	char *out = NULL;
	FILE *f = open_memstream(&out, ret_len);
	bool matches = false;

	if (!f)
		return NULL;
	for (const char *p = text ? text : ""; *p;) {
		size_t n = strcspn(p, "\n"), blank = strspn(p, " \t");
		const char *line = p + (blank < n ? blank : n);
		size_t len = (size_t)(p + n - line);

		if (len > 5 && strncasecmp(line, "Match", 5) == 0)
			matches = true;
		else if (len > 5 && strncasecmp(line, "Host", 4) == 0 && strchr(" \t=", line[4]))
			matches = false;
		if (!matches && is_kept(line, len))
			fprintf(f, "%.*s\n", (int)len, line);
		p += n + (p[n] == '\n');
	}
	fprintf(f, "Host *\nUserKnownHostsFile \"%s/known_hosts\"\nUpdateHostKeys no\nIdentityFile none\n",
		path);
	if (fclose(f) == 0)
		return out;
	free(out);
	return NULL;
}

static int copy_file(int dir, const char *from, const char *name)
{
	_cleanup_free_ char *text = NULL;
	char path[PATH_MAX];
	size_t len = 0;

	if (path_join(path, sizeof(path), from, name) < 0 || file_read(path, FILE_MAX, &text, &len) < 0)
		return 0;
	return put(dir, name, text, len);
}

static int copy_config(int dir, const char *path, const char *from)
{
	_cleanup_free_ char *text = NULL, *kept = NULL;
	char name[PATH_MAX];
	size_t len;

	if (path_join(name, sizeof(name), from, "config") == 0)
		(void)file_read(name, FILE_MAX, &text, &len);
	kept = filter(text, path, &len);
	return kept ? put(dir, "config", kept, len) : -ENOMEM;
}

int ssh_copy(int dir, const char *path, const char *home)
{
	char from[PATH_MAX];
	struct dirent *e;
	int r = path_join(from, sizeof(from), home, ".ssh");
	DIR *keys = r == 0 ? opendir(from) : NULL;

	if (!keys)
		return 0;
	r = copy_config(dir, path, from);
	if (r == 0)
		r = copy_file(dir, from, "known_hosts");
	while (r == 0 && (e = readdir(keys))) {
		size_t n = strlen(e->d_name);

		if (n > 4 && strcmp(e->d_name + n - 4, ".pub") == 0)
			r = copy_file(dir, from, e->d_name);
	}
	(void)closedir(keys);
	return r;
}
