/*
 * git's configuration files, read once, judged, and put in place as new files: see git.h.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/base/buf.h"
#include "policy/base/path.h"
#include "policy/gitfiles/gitconfig.h"
#include "policy/image/image.h"
#include "policy/record/replacefile.h"
#include "policy/system/cleanup.h"
#include "policy/system/system.h"

#include "git.h"

int git_fd_read(int fd, size_t max, char **ret, size_t *ret_len, mode_t *ret_mode)
{
	_cleanup_free_ char *text = NULL;
	struct stat st;
	int n;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	if ((size_t)st.st_size > max)
		return -EFBIG;
	/* One more than it had: who writes while it is read is seen. */
	text = malloc((size_t)st.st_size + 2);
	if (!text)
		return -ENOMEM;
	n = (int)read_up_to(fd, text, (size_t)st.st_size + 1, -1);
	if (n < 0 || n > st.st_size)
		return n < 0 ? n : -EAGAIN;
	text[n] = '\0';
	*ret_len = (size_t)n;
	*ret_mode = st.st_mode & 07777;
	*ret = text;
	text = NULL;
	return 0;
}

int git_file_read(int dir, const char *name, size_t max, char **ret, size_t *ret_len, mode_t *ret_mode)
{
	_cleanup_close_ int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	return fd < 0 ? -errno : git_fd_read(fd, max, ret, ret_len, ret_mode);
}

void git_config_put_key(struct out *o, const struct gitconfig_entry *e)
{
	text_escaped(o, e->section, strlen(e->section));
	if (e->subsection) {
		text_str(o, ".");
		text_escaped(o, e->subsection, strlen(e->subsection));
	}
	text_str(o, ".");
	text_escaped(o, e->name, strlen(e->name));
}

static void say_forbidden(const struct gitconfig_entry *e, char *why, size_t size)
{
	struct out o = out_of(why, size);

	git_config_put_key(&o, e);
	text_str(&o, " could make git run a program or work elsewhere; the operator may set it: git config ");
	git_config_put_key(&o, e);
	text_str(&o, " VALUE");
	text_end(&o);
}

bool git_config_allows(const struct image *img, const char *before, size_t before_len, const char *now,
		       size_t len, const char *path, char *why, size_t size)
{
	const char *workspace = image_str(img, img->h->workspace);
	struct gitconfig old = { .n = 0 }, new = { .n = 0 };
	const struct gitconfig_entry *e = NULL;
	char dir[LIMIT_PATH];
	unsigned line;
	int r = gitconfig_parse(now, len, &new, &line);

	/* What cannot be read now is no reason to keep what follows: it counts as nothing. */
	if (before && gitconfig_parse(before, before_len, &old, &(unsigned){ 0 }) < 0)
		old.n = 0;
	snprintf(dir, sizeof(dir), "%.*s", (int)(path_basename(path) - path - 1), path);
	if (r < 0)
		snprintf(why, size, "line %u of it cannot be read as git's configuration", line);
	else if ((e = gitconfig_forbidden(&old, &new, dir[0] ? dir : "/", workspace)) != NULL)
		say_forbidden(e, why, size);
	gitconfig_done(&old);
	gitconfig_done(&new);
	return r == 0 && !e;
}

int git_file_install(int dir, const char *name, const char *text, size_t len, mode_t mode)
{
	_cleanup_close_ int fd = -1;
	int r;

	/* A call that was cut short left it. */
	(void)unlinkat(dir, GIT_OWN_COPY, 0);
	fd = openat(dir, GIT_OWN_COPY, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	r = write_all(fd, text, len);
	if (r == 0 && fchmod(fd, mode & 0777) < 0)
		r = -errno;
	if (r == 0 && renameat(dir, GIT_OWN_COPY, dir, name) < 0)
		r = -errno;
	if (r < 0)
		(void)unlinkat(dir, GIT_OWN_COPY, 0);
	return r;
}
