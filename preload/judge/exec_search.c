/*
 * The search through PATH that execvp and posix_spawnp make, done here so that the file to be run is known
 * before it runs.  Follows glibc's execvpe in what it skips, which error it remembers and when it gives up.
 */
#include <limits.h>

#include "exec_program.h"

extern char **environ;

/* PATH of this process, not of the environment for the new program, as in libc. */
static const char *search_path(void)
{
	for (char **e = environ; e && *e; e++)
		if (strncmp(*e, "PATH=", 5) == 0)
			return *e + 5;
	return "/bin:/usr/bin";
}

void exec_search_start(struct exec_search *s, const char *file)
{
	*s = (struct exec_search){ .file = file, .error = -ENOENT };
	s->len = strlen(file);
	if (strchr(file, '/'))
		s->dirs = "";
	else if (s->len > NAME_MAX)
		s->error = -ENAMETOOLONG;
	else if (s->len > 0)
		s->dirs = search_path();
}

int exec_search_next(struct exec_search *s, char *buf)
{
	while (s->dirs) {
		size_t n = strcspn(s->dirs, ":");
		const char *dir = s->dirs;

		s->dirs = dir[n] ? dir + n + 1 : NULL;
		if (n + s->len + 2 > LIMIT_PATH) {
			if (n == 0)
				s->error = -ENAMETOOLONG;
			continue;
		}
		memcpy(buf, dir, n);
		/* An empty entry is the working directory. */
		if (n)
			buf[n++] = '/';
		memcpy(buf + n, s->file, s->len + 1);
		return 0;
	}
	return s->eacces ? -EACCES : s->error;
}

bool exec_search_goes_on(struct exec_search *s, int err)
{
	if (err == -EACCES)
		s->eacces = true;
	s->error = err;
	return err == -EACCES || err == -ENOENT || err == -ESTALE || err == -ENOTDIR || err == -ENODEV ||
	       err == -ETIMEDOUT;
}
