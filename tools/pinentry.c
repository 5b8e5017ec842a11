/*
 * pinentry: a passphrase asked by the desktop's own program, over the Assuan protocol (libassuan's manual,
 * "Client code"; pinentry's manual, "Protocol"): lines of at most 1000 bytes, arguments percent-escaped.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "policy/buf.h"

#include "tools.h"
#include "tools/stepup.h"

#define LINE_MAX_ASSUAN 1000
#define TIMEOUT_S	120

struct pinentry {
	pid_t pid;
	int fd;
	char line[LINE_MAX_ASSUAN + 2];
	size_t len;
};

void assuan_escape(const char *text, char *buf, size_t size)
{
	static const char hex[] = "0123456789ABCDEF";
	size_t n = 0;

	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;
		bool plain = c >= 0x20 && c < 0x7f && c != '%';

		if (n + (plain ? 1 : 3) >= size)
			break;
		if (plain) {
			buf[n++] = (char)c;
			continue;
		}
		buf[n++] = '%';
		buf[n++] = hex[c >> 4];
		buf[n++] = hex[c & 15];
	}
	buf[n] = '\0';
}

static int upper_digit(char c)
{
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : hex_digit(c);
}

void assuan_unescape(char *text)
{
	char *to = text;

	while (*text) {
		int high = text[0] == '%' ? upper_digit(text[1]) : -1;
		int low = high >= 0 ? upper_digit(text[2]) : -1;

		if (low >= 0) {
			*to++ = (char)(high << 4 | low);
			text += 3;
		} else {
			*to++ = *text++;
		}
	}
	*to = '\0';
}

/* --- the child --- */

static int start(struct pinentry *p, const char *program)
{
	char *const argv[] = { (char *)program, NULL };
	posix_spawn_file_actions_t fa;
	int pair[2], r;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_adddup2(&fa, pair[1], STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&fa, pair[1], STDOUT_FILENO);
	r = posix_spawnp(&p->pid, program, &fa, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&fa);
	(void)close(pair[1]);
	if (r != 0) {
		(void)close(pair[0]);
		return -r;
	}
	p->fd = pair[0];
	return 0;
}

static void stop(struct pinentry *p)
{
	(void)close(p->fd);
	(void)kill(p->pid, SIGTERM);
	while (waitpid(p->pid, NULL, 0) < 0 && errno == EINTR)
		;
	explicit_bzero(p, sizeof(*p));
}

/* One line without its end, valid until the next call.  0 or -errno. */
static int next_line(struct pinentry *p, char *line)
{
	for (;;) {
		struct pollfd pfd = { .fd = p->fd, .events = POLLIN };
		char *end = memchr(p->line, '\n', p->len);
		ssize_t n;

		if (end) {
			size_t len = (size_t)(end - p->line);

			memcpy(line, p->line, len);
			line[len] = '\0';
			p->len -= len + 1;
			memmove(p->line, end + 1, p->len);
			return 0;
		}
		if (p->len >= LINE_MAX_ASSUAN)
			return -EPROTO;
		n = poll(&pfd, 1, (TIMEOUT_S + 30) * 1000);
		if (n == 0)
			return -ECANCELED;
		if (n > 0)
			n = read(p->fd, p->line + p->len, LINE_MAX_ASSUAN - p->len);
		if (n == 0)
			return -EPROTO;
		if (n < 0 && errno != EINTR)
			return -errno;
		p->len += n > 0 ? (size_t)n : 0;
	}
}

/* Waits for OK; what comes before as data goes to secret.  ERR is -ECANCELED: whoever asks gets none. */
static int answer(struct pinentry *p, char *secret, size_t size)
{
	char line[LINE_MAX_ASSUAN + 2] = "";
	int r;

	while ((r = next_line(p, line)) == 0) {
		if (strncmp(line, "OK", 2) == 0 && (line[2] == '\0' || line[2] == ' '))
			break;
		if (strncmp(line, "ERR ", 4) == 0) {
			r = -ECANCELED;
			break;
		}
		/* We have nothing to tell. */
		if (strncmp(line, "INQUIRE ", 8) == 0)
			(void)send(p->fd, "END\n", 4, MSG_NOSIGNAL);
		if (strncmp(line, "D ", 2) != 0)
			continue;
		assuan_unescape(line + 2);
		if (!secret || strlen(secret) + strlen(line + 2) >= size)
			r = -EMSGSIZE;
		else
			strcat(secret, line + 2);
		if (r < 0)
			break;
	}
	explicit_bzero(line, sizeof(line));
	return r;
}

static int command(struct pinentry *p, const char *name, const char *arg)
{
	char escaped[LINE_MAX_ASSUAN - 40], line[LINE_MAX_ASSUAN + 2];
	int n;

	assuan_escape(arg, escaped, sizeof(escaped));
	n = snprintf(line, sizeof(line), "%s%s\n", name, escaped);
	if (send(p->fd, line, (size_t)n, MSG_NOSIGNAL) != n)
		return -EPIPE;
	return answer(p, NULL, 0);
}

/* Where a pinentry without a window asks.  One that knows no such option may say so. */
static void tell_terminal(struct pinentry *p)
{
	const char *term = getenv("TERM");
	char tty[PATH_MAX];

	if (ttyname_r(STDIN_FILENO, tty, sizeof(tty)) != 0)
		snprintf(tty, sizeof(tty), "/dev/tty");
	(void)command(p, "OPTION ttyname=", tty);
	if (term && *term)
		(void)command(p, "OPTION ttytype=", term);
}

static int converse(struct pinentry *p, const char *text, char *secret, size_t size)
{
	char timeout[16];
	int r = answer(p, NULL, 0); /* its greeting */

	snprintf(timeout, sizeof(timeout), "%d", TIMEOUT_S);
	if (r < 0)
		return -EPROTO;
	tell_terminal(p);
	(void)command(p, "SETTITLE ", "pale");
	(void)command(p, "SETTIMEOUT ", timeout);
	r = command(p, "SETDESC ", text);
	if (r == 0)
		r = command(p, "SETPROMPT ", "Passphrase:");
	/* A question that does not say what it is for is not asked. */
	if (r < 0)
		return -EPROTO;
	if (send(p->fd, "GETPIN\n", 7, MSG_NOSIGNAL) != 7)
		return -EPIPE;
	return answer(p, secret, size);
}

int pinentry_ask(const char *program, const char *text, char *secret, size_t size)
{
	/* Some render `<b>` and `&amp;`. */
	_cleanup_free_ char *plain = text_unmarked(text);
	struct pinentry p = { .fd = -1 };
	char found[PATH_MAX];
	int r = program ? 0 : outside_find(NULL, "pinentry", found);

	if (r == 0)
		r = plain ? start(&p, program ? program : found) : -ENOMEM;
	if (r < 0)
		return r;
	*secret = '\0';
	r = converse(&p, plain, secret, size);
	stop(&p);
	if (r == 0 && !*secret)
		r = -ECANCELED;
	if (r < 0)
		explicit_bzero(secret, size);
	return r;
}
