/*
 * The driver: starts the workers once, then tells them in turn what to run, so that whatever else the
 * machine does hits all alike.
 *
 *   drive NAME COMMAND... [, NAME COMMAND...]... <rows
 *
 * A worker's NAME is KIND:LEVEL; KIND:bare, or plain:bare where there is none, is what the others of
 * its kind are compared with.  A row is
 *
 *   NAME ROUNDS KIND PREPARE | MEASURE | CLEAN
 *
 * with "-" for nothing.  Only MEASURE is measured, and plain:bare prepares and cleans for all.  Where
 * MEASURE is "A || B", plain:bare runs both: A for itself, B for each level, whose name stands for `%`.
 *
 * Writes for each row and level, between tabs: NAME, LEVEL, median of bare, median of this level,
 * the first status that was not 0, the median of the rounds' ratios.  The first round warms up and does
 * not count.
 */
#include <err.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_ROUNDS  1000
#define MAX_WORKERS 16

struct worker {
	const char *kind, *level;
	pid_t pid;
	FILE *to, *from;
};

static void worker_start(struct worker *w, char **argv)
{
	int to[2], from[2];
	char *level = strchr(argv[0], ':');

	if (!level || !argv[1])
		errx(2, "not KIND:LEVEL COMMAND: %s", argv[0]);
	*level = '\0';
	w->kind = argv[0];
	w->level = level + 1;
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
		execvp(argv[1], argv + 1);
		err(127, "%s", argv[1]);
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

/* --- workers ----------------------------------------------------------------------------------- */

static struct worker workers[MAX_WORKERS];
static size_t n_workers;

static struct worker *worker_find(const char *kind, const char *level)
{
	for (size_t i = 0; i < n_workers; i++)
		if (strcmp(workers[i].kind, kind) == 0 && strcmp(workers[i].level, level) == 0)
			return &workers[i];
	return NULL;
}

static void workers_start(int argc, char **argv)
{
	for (int at = 1; at < argc; at++) {
		int first = at;

		while (at < argc && strcmp(argv[at], ",") != 0)
			at++;
		if (at == first || n_workers == MAX_WORKERS)
			errx(2, "usage: drive NAME COMMAND... [, NAME COMMAND...]... <rows");
		argv[at] = NULL;
		worker_start(&workers[n_workers++], argv + first);
	}
	if (!worker_find("plain", "bare"))
		errx(2, "no worker is called plain:bare");
}

/* --- rows -------------------------------------------------------------------------------------- */

/* What one side of a comparison took, round by round. */
struct side {
	struct worker *w; /* whose level it is */
	int status;
	double took[MAX_ROUNDS], ratio[MAX_ROUNDS];
};

/* `%` in text replaced by the level. */
static const char *for_level(const char *text, const char *level)
{
	static char buf[4096];
	const char *at = strchr(text, '%');

	if (!at)
		return text;
	snprintf(buf, sizeof buf, "%.*s%s%s", (int)(at - text), text, level, at + 1);
	return buf;
}

/* One side of a round. */
static double side_run(struct side *s, const struct row *r, bool is_bare)
{
	struct worker *plain = worker_find("plain", "bare");
	struct worker *w = r->pair ? plain : s->w;
	double value;

	worker_ask(plain, r->prepare, &s->status);
	value = worker_ask(w, is_bare ? r->bare : for_level(r->wrapped, s->w->level), &s->status);
	worker_ask(plain, r->clean, &s->status);
	return value;
}

static void side_tell(const char *name, int rounds, struct side *bare, struct side *s)
{
	bool ok = bare->status == 0 && s->status == 0;
	static double copy[MAX_ROUNDS];

	memcpy(copy, bare->took, sizeof copy);
	printf("%s\t%s\t%.1f\t%.1f\t%d\t%.4f\n", name, s->w->level, ok ? median(copy, rounds) : 0,
	       ok ? median(s->took, rounds) : 0, s->status ? s->status : bare->status,
	       ok ? median(s->ratio, rounds) : 0);
	fflush(stdout);
}

/* Bare first, then each level of this kind; true while somebody still can. */
static bool round_run(struct side *sides, size_t n, const struct row *r, int at)
{
	double bare = side_run(&sides[0], r, true);
	bool goes_on = false;

	for (size_t i = 0; i < n; i++) {
		struct side *s = &sides[i];
		double value = i == 0 || s->status ? bare : side_run(s, r, false);

		goes_on |= i > 0 && s->status == 0;
		if (at < 0)
			continue;
		s->took[at] = value;
		s->ratio[at] = bare > 0 ? value / bare : 0;
	}
	return goes_on && sides[0].status == 0;
}

static void row_run(const char *name, int rounds, const char *kind, const struct row *r)
{
	static struct side sides[MAX_WORKERS];
	struct worker *bare = worker_find(kind, "bare");
	size_t n = 1;

	sides[0].w = bare ? bare : worker_find("plain", "bare");
	for (size_t i = 0; i < n_workers; i++)
		if (strcmp(workers[i].kind, kind) == 0 && &workers[i] != bare)
			sides[n++].w = &workers[i];
	for (size_t i = 0; i < n; i++)
		sides[i].status = 0;
	for (int i = -1; i < rounds; i++)
		if (!round_run(sides, n, r, i))
			break;
	for (size_t i = 1; i < n; i++)
		side_tell(name, rounds, &sides[0], &sides[i]);
}

int main(int argc, char **argv)
{
	char line[4096], name[64], kind[64];
	int rounds, used;
	struct row row;

	workers_start(argc, argv);
	while (fgets(line, sizeof line, stdin)) {
		if (line[0] == '#' || sscanf(line, "%63s %d %63s %n", name, &rounds, kind, &used) != 3)
			continue;
		row = row_parse(line + used);
		row_run(name, rounds < 1 ? 1 : rounds > MAX_ROUNDS ? MAX_ROUNDS : rounds, kind, &row);
	}
	for (size_t i = 0; i < n_workers; i++)
		fclose(workers[i].to);
	for (size_t i = 0; i < n_workers; i++)
		waitpid(workers[i].pid, NULL, 0);
	return 0;
}
