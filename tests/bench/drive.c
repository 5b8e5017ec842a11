/*
 * The driver: starts the two workers once, then tells them in turn what to run, so that whatever
 * else the machine does hits both alike.
 *
 *   drive BARE... -- WRAPPED... <rows
 *
 * A row is  NAME ROUNDS PREPARE | MEASURE | CLEAN  ("-" for nothing).  Only MEASURE is measured, and
 * the bare worker prepares and cleans for both.  Where MEASURE is "A || B", it runs both halves.
 * Writes NAME, median of bare, median of wrapped, the first status that was not 0 and the median
 * of the rounds' ratios (tabs between), a line for each row.  The first round warms up and does
 * not count.
 */
#include <err.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_ROUNDS 1000

struct worker {
	pid_t pid;
	FILE *to, *from;
};

static void worker_start(struct worker *w, char **argv)
{
	int to[2], from[2];

	if (pipe(to) < 0 || pipe(from) < 0)
		err(1, "pipe");
	w->pid = fork();
	if (w->pid < 0)
		err(1, "fork");
	if (w->pid == 0) {
		dup2(to[0], 0);
		dup2(from[1], 1);
		for (int fd = 3; fd < 64; fd++)
			close(fd);
		execvp(argv[0], argv);
		err(127, "%s", argv[0]);
	}
	close(to[0]);
	close(from[1]);
	w->to = fdopen(to[1], "w");
	w->from = fdopen(from[0], "r");
}

/* Sends one request and waits for the answer; "-" is none. */
static double worker_ask(struct worker *w, const char *request, int *ret_status)
{
	char line[256];
	double value = 0;
	int status = 0;

	if (strcmp(request, "-") == 0)
		return 0;
	fprintf(w->to, "%s\n", request);
	fflush(w->to);
	if (!fgets(line, sizeof line, w->from) || sscanf(line, "%lf %d", &value, &status) != 2)
		errx(1, "a worker died at: %s", request);
	if (ret_status && *ret_status == 0)
		*ret_status = status;
	return value;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median(double *v, int n)
{
	qsort(v, (size_t)n, sizeof *v, by_value);
	return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

static char *trim(char *s)
{
	size_t n;

	s += strspn(s, " \t");
	for (n = strlen(s); n > 0 && strchr(" \t\n", s[n - 1]); n--)
		s[n - 1] = '\0';
	return s;
}

/* Cuts "PREPARE | MEASURE | CLEAN" and MEASURE's two halves. */
struct row {
	char *prepare, *bare, *wrapped, *clean;
	bool pair; /* both halves are for the bare worker */
};

static struct row row_parse(char *text)
{
	struct row r = { .pair = false };
	char *mid = strstr(text, " | "), *end = mid ? strstr(mid + 3, " | ") : NULL, *half;

	if (!end)
		errx(1, "not a row: %s", text);
	*mid = *end = '\0';
	r.prepare = trim(text);
	r.clean = trim(end + 3);
	half = strstr(mid + 3, " || ");
	if (half) {
		*half = '\0';
		r.pair = true;
	}
	r.bare = trim(mid + 3);
	r.wrapped = half ? trim(half + 4) : r.bare;
	return r;
}

/* One half of a round: what it took. */
static double half_run(struct worker *bare, struct worker *w, const struct row *r, const char *measure,
		       int *status)
{
	double value;

	worker_ask(bare, r->prepare, status);
	value = worker_ask(w, measure, status);
	worker_ask(bare, r->clean, status);
	return value;
}

static void row_run(const char *name, int rounds, const struct row *r, struct worker *bare,
		    struct worker *wrapped)
{
	static double a[MAX_ROUNDS], b[MAX_ROUNDS], ratio[MAX_ROUNDS];
	int status = 0;

	for (int i = -1; i < rounds && status == 0; i++) {
		double x = half_run(bare, bare, r, r->bare, &status);
		double y = half_run(bare, r->pair ? bare : wrapped, r, r->wrapped, &status);

		if (i < 0)
			continue;
		a[i] = x;
		b[i] = y;
		ratio[i] = x > 0 ? y / x : 0;
	}
	if (status)
		rounds = 1;
	printf("%s\t%.1f\t%.1f\t%d\t%.4f\n", name, status ? 0 : median(a, rounds),
	       status ? 0 : median(b, rounds), status, status ? 0 : median(ratio, rounds));
	fflush(stdout);
}

int main(int argc, char **argv)
{
	struct worker bare, wrapped;
	char line[4096], name[64];
	int at = 1, rounds, used;
	struct row row;

	while (at < argc && strcmp(argv[at], "--") != 0)
		at++;
	if (at < 2 || at + 1 >= argc)
		errx(2, "usage: drive BARE... -- WRAPPED... <rows");
	argv[at] = NULL;
	worker_start(&bare, argv + 1);
	worker_start(&wrapped, argv + at + 1);
	while (fgets(line, sizeof line, stdin)) {
		if (line[0] == '#' || sscanf(line, "%63s %d %n", name, &rounds, &used) != 2)
			continue;
		row = row_parse(line + used);
		row_run(name,
			rounds < 1	      ? 1
			: rounds > MAX_ROUNDS ? MAX_ROUNDS
					      : rounds,
			&row, &bare, &wrapped);
	}
	fclose(bare.to);
	fclose(wrapped.to);
	waitpid(bare.pid, NULL, 0);
	waitpid(wrapped.pid, NULL, 0);
	return 0;
}
