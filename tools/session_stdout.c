/*
 * pale session stdout: what the agent of a session wrote, from its log.  On a terminal without anything that
 * would act on it; elsewhere as it was written.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>

#include "policy/buf.h"

#include "gc.h"
#include "outputs.h"

#define CHUNK	  4096
#define FOLLOW_MS 100

static void write_visible(const char *s, size_t len)
{
	char buf[4 * CHUNK + 1];
	struct out o = out_of(buf, sizeof(buf));

	text_escaped(&o, s, len);
	text_end(&o);
	fputs(buf, stdout);
}

/* Lines and tabs stay what they are. */
static void write_text(const char *s, size_t len)
{
	while (len) {
		size_t n = 0;

		while (n < len && s[n] != '\n' && s[n] != '\t')
			n++;
		write_visible(s, n > 0 && n < len && s[n] == '\n' && s[n - 1] == '\r' ? n - 1 : n);
		if (n < len)
			putchar(s[n++]);
		s += n;
		len -= n;
	}
}

/* What is there by now.  0 or -errno. */
static int copy(int fd, bool visible)
{
	char buf[CHUNK];
	ssize_t n;

	while ((n = read(fd, buf, sizeof(buf))) > 0) {
		if (visible)
			write_text(buf, (size_t)n);
		else if (fwrite(buf, 1, (size_t)n, stdout) != (size_t)n)
			return -EIO;
	}
	if (fflush(stdout) != 0)
		return -errno;
	return n < 0 ? -errno : 0;
}

static bool session_runs(const char *id)
{
	_cleanup_free_ struct session_ref *refs = NULL;
	size_t n = 0;

	if (sessions_list(&refs, &n) < 0)
		return false;
	for (size_t i = 0; i < n; i++)
		if (strcmp(refs[i].id, id) == 0)
			return !gc_is_dead(&refs[i]);
	return false;
}

/* The log, or -errno. */
static int open_log(const char *id, enum output which)
{
	char stem[PATH_MAX], path[PATH_MAX + 16];
	int r = outputs_find(id, stem), fd;
	struct stat st;

	if (r < 0)
		return r;
	snprintf(path, sizeof(path), "%s%s", stem, output_suffix(which));
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		return fd;
	(void)close(fd);
	return -EINVAL;
}

static int show(const struct options *o, const char *id)
{
	_cleanup_close_ int fd = open_log(id, o->use_stderr ? OUTPUT_STDERR : OUTPUT_STDOUT);
	bool visible = isatty(STDOUT_FILENO) != 0, runs;
	int r;

	if (fd < 0) {
		talk("session %s has no such log: %s", id, strerror(-fd));
		return EXIT_USAGE;
	}
	do {
		/* First, so that what it wrote last is read. */
		runs = o->follow && session_runs(id);
		r = copy(fd, visible);
		if (runs && r == 0)
			(void)poll(NULL, 0, FOLLOW_MS);
	} while (runs && r == 0);
	if (r < 0)
		talk("the log of session %s cannot be read: %s", id, strerror(-r));
	return r < 0 ? EXIT_USAGE : EXIT_OK;
}

int session_stdout(const struct options *o, int argc, char **argv)
{
	const char *prefix = argc > 0 ? argv[0] : "";
	char id[SESSION_ID_MAX];
	int r = argc > 1 ? -EINVAL : outputs_pick(prefix, id);

	if (r == 0)
		return show(o, id);
	if (r == -EINVAL)
		talk("session stdout takes one session");
	else if (r == -EEXIST)
		talk("more than one session begins with %s", prefix);
	else
		talk(*prefix ? "no session %s was logged; [session] logs = DIR logs them"
			     : "no session was logged%s; [session] logs = DIR logs them",
		     prefix);
	return EXIT_USAGE;
}
