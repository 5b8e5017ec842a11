/*
 * Short questions to the operator who sits here.
 *
 * While a key is waited for the terminal gives them one by one, without echo; whatever ends the wait (a key,
 * the end of input, a signal that kills or stops us) finds it as it was.
 */
#include <ctype.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <termios.h>

#include "edit.h"

#define ESCAPE_MS 50 /* between the bytes of one key of the terminal's */
#define CTRL_D	  4

bool ask_is_possible(void)
{
	return isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
}

bool ask_yes(const char *question)
{
	char line[64];

	if (!ask_is_possible())
		return false;
	fflush(stdout);
	fprintf(stderr, "%s [y/N] ", question);
	(void)tcflush(STDIN_FILENO, TCIFLUSH);
	return fgets(line, sizeof(line), stdin) && (line[0] == 'y' || line[0] == 'Y');
}

/* The rest of a longer line is no answer to the next question. */
static bool read_line(char *buf, size_t size)
{
	int c;

	if (!fgets(buf, (int)size, stdin))
		return false;
	if (!strchr(buf, '\n'))
		while ((c = getc(stdin)) != EOF && c != '\n')
			;
	return true;
}

static void explain(bool may_save)
{
	fprintf(stderr, "Options are:\n  (e)dit again\n  e(x)it without saving\n%s",
		may_save ? "  (Q)uit and save despite the warnings\n" : "");
}

enum next ask_next(bool may_save)
{
	char line[64];

	for (;;) {
		fputs("What now? ", stderr);
		(void)tcflush(STDIN_FILENO, TCIFLUSH);
		if (!read_line(line, sizeof(line)))
			return NEXT_LEAVE;
		switch (line[0]) {
		case 'e':
			return NEXT_EDIT;
		case 'x':
			return NEXT_LEAVE;
		case 'Q':
			if (may_save)
				return NEXT_SAVE;
			talk("a policy with errors is never saved: no session would start with it");
			break;
		default:
			explain(may_save);
		}
	}
}

/* --- one key --- */

struct keys {
	struct termios before;
	sigset_t mask;
	int signals; /* signalfd(2): what would end or stop us waits until the terminal is in order */
};

/* What was typed before does not count. */
static bool keys_begin(struct keys *k)
{
	static const int held[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT };
	struct termios one;
	sigset_t set;

	(void)sigemptyset(&set);
	for (size_t i = 0; i < NELEM(held); i++)
		(void)sigaddset(&set, held[i]);
	if (tcgetattr(STDIN_FILENO, &k->before) < 0)
		return false;
	k->signals = signalfd(-1, &set, SFD_CLOEXEC);
	if (k->signals < 0)
		return false;
	(void)sigprocmask(SIG_BLOCK, &set, &k->mask);
	one = k->before;
	one.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	one.c_cc[VMIN] = 1;
	one.c_cc[VTIME] = 0;
	(void)tcsetattr(STDIN_FILENO, TCSAFLUSH, &one);
	return true;
}

static void keys_end(const struct keys *k)
{
	(void)tcsetattr(STDIN_FILENO, TCSANOW, &k->before);
	(void)close(k->signals);
	(void)sigprocmask(SIG_SETMASK, &k->mask, NULL);
}

/* An arrow is several bytes, the last of them a letter, and no answer. */
static bool is_more(const char *buf, ssize_t n)
{
	struct pollfd more = { .fd = STDIN_FILENO, .events = POLLIN };

	if (n == 2)
		return buf[1] != '\n';
	return n > 2 || (buf[0] == '\033' && poll(&more, 1, ESCAPE_MS) > 0);
}

/* The key, 0 for what is none, -1 at the end of input; or with *ret_signal what came in between. */
static int keys_wait(const struct keys *k, int *ret_signal)
{
	struct pollfd p[] = { { .fd = k->signals, .events = POLLIN },
			      { .fd = STDIN_FILENO, .events = POLLIN } };
	struct signalfd_siginfo si;
	char buf[64];
	ssize_t n;

	for (;;) {
		if (poll(p, NELEM(p), -1) < 0)
			continue;
		if (p[0].revents && read(k->signals, &si, sizeof(si)) == (ssize_t)sizeof(si)) {
			*ret_signal = (int)si.ssi_signo;
			return 0;
		}
		n = read(STDIN_FILENO, buf, sizeof(buf));
		if (n <= 0 || buf[0] == CTRL_D)
			return -1;
		/* Who is used to Enter behind a letter. */
		if (n == 1 && buf[0] == '\n')
			continue;
		return is_more(buf, n) ? 0 : tolower((unsigned char)buf[0]);
	}
}

int ask_key(const char *question)
{
	for (;;) {
		int sig = 0, key;
		struct keys k;

		if (!keys_begin(&k))
			return -1;
		fputs(question, stderr);
		key = keys_wait(&k, &sig);
		keys_end(&k);
		fprintf(stderr, "%c\n", key > ' ' && key < 0x7f ? key : ' ');
		if (sig == 0)
			return key;
		/* It ends us, or stops us until we go on with the question; who ignores it is asked again. */
		(void)raise(sig);
	}
}
