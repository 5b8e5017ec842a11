/*
 * What 10,000 rules cost: to compile once, and at each decision against 10 rules.  Both lie on
 * preset agent.  Writes NAME, value for 10 rules, value for 10,000, status (as drive.c does):
 * compile in ms, decisions in ns.  And what the parts of a hooked open cost, in ns, in a loop of their own.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "policy/judge/eval.h"
#include "policy/parse/parse.h"
#include "policy/wire/ring.h"

#define ROUNDS 21
#define BATCH  2000

struct built {
	uint8_t *bytes;
	size_t size;
	struct image img;
	double ms;
};

static double now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median(double *v, size_t n)
{
	qsort(v, n, sizeof *v, by_value);
	return v[n / 2];
}

/* n rules: half paths, three tenths commands, the rest hosts; some of each with globs. */
static char *policy_text(unsigned n, size_t *ret_len)
{
	char *text = NULL;
	FILE *f = open_memstream(&text, ret_len);

	if (!f)
		err(1, "memory");
	fputs("[files]\n", f);
	for (unsigned i = 0; i < n / 2; i++)
		fprintf(f, "readonly = gen/%u/%u/%s%u\n", i % 97, i % 13, i % 10 ? "file" : "*.", i);
	fputs("[commands]\n", f);
	for (unsigned i = 0; i < n * 3 / 10; i++)
		fprintf(f, "ask = tool%u sub%u %s\n", i % 500, i, i % 10 ? "--force" : "...");
	fputs("[network]\n", f);
	for (unsigned i = 0; i < n / 5; i++)
		fprintf(f, "allow = %shost%u.example.org:443\n", i % 10 ? "" : "*.", i);
	fclose(f);
	return text;
}

static void build(unsigned n, struct built *ret)
{
	size_t len;
	char *text = policy_text(n, &len);
	struct policy p;
	struct bundle b;
	struct diags d;
	double start;

	bundle_init(&b);
	b.home = strdup("/home/u");
	b.workspace = strdup("/home/u/ws");
	b.cwd = strdup("/home/u/ws");
	b.agent = strdup("bench");
	b.session = strdup("bench");
	if (bundle_add_source(&b, SOURCE_USER, "/home/u/policy.ini", text, len) < 0)
		errx(1, "bundle");
	diags_init(&d);
	policy_init(&p);
	start = now_ns();
	if (policy_parse(&b, &p, &d) < 0 || image_compile(&p, NULL, &d, &ret->bytes, &ret->size) < 0)
		errx(1, "policy of %u rules: %s", n, d.n ? d.list[0].text : "does not compile");
	ret->ms = (now_ns() - start) / 1e6;
	if (image_open_checked(&ret->img, ret->bytes, ret->size) < 0)
		errx(1, "image");
	policy_done(&p);
	diags_done(&d);
	bundle_done(&b);
	free(text);
}

static double decide(const struct image *img, const struct request *req)
{
	double start = now_ns();

	for (int i = 0; i < BATCH; i++) {
		volatile enum verdict v = eval(img, req).verdict;

		(void)v;
	}
	return (now_ns() - start) / BATCH;
}

static void compare(const char *name, const struct built *few, const struct built *many,
		    const struct request *req)
{
	double a[ROUNDS], b[ROUNDS];

	for (int i = 0; i < ROUNDS; i++) {
		a[i] = decide(&few->img, req);
		b[i] = decide(&many->img, req);
	}
	printf("%s\t%.1f\t%.1f\t0\n", name, median(a, ROUNDS), median(b, ROUNDS));
}

static bool give_up(unsigned round)
{
	(void)round;
	return false;
}

/* One batch of records of an open into an empty ring. */
static double record(struct ring_header *h, struct ring_reader *rd, const struct request *req)
{
	const struct decision d = { .verdict = VERDICT_ALLOW, .reason = REASON_INSIDE, .rule = 1 };
	struct ring_record got;
	double start = now_ns(), took;

	for (int i = 0; i < BATCH; i++) {
		struct ring_record r = ring_decision(req, &d, req->path);

		r.approval = "";
		r.pid = 1;
		ring_write(h, &r, give_up);
	}
	took = (now_ns() - start) / BATCH;
	while (ring_read(rd, 1, NULL, &got) == 1)
		;
	return took;
}

static void parts(const struct built *b, const struct request *walk)
{
	static struct ring_reader rd;
	static struct eval_memo memos[MEMO_WAYS];
	struct request answer = *walk;
	double v[3][ROUNDS];

	rd.h = mmap(NULL, ring_size(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1,
		    0);
	if (rd.h == MAP_FAILED)
		err(1, "ring");
	ring_init(rd.h);
	answer.memo = memos;
	for (int i = 0; i < ROUNDS; i++) {
		v[0][i] = decide(&b->img, &answer);
		v[1][i] = decide(&b->img, walk);
		v[2][i] = record(rd.h, &rd, walk);
	}
	printf("part-answer\t0\t%.1f\t0\npart-walk\t0\t%.1f\t0\npart-record\t0\t%.1f\t0\n",
	       median(v[0], ROUNDS), median(v[1], ROUNDS), median(v[2], ROUNDS));
}

int main(void)
{
	static const char *const argv[] = { "tool77", "sub77", "--force", "x", NULL };
	static const struct request path = { .op = OP_WRITE,
					     .access = ACCESS_WRITE,
					     .path = "/home/u/ws/gen/7/7/src/main/file.c",
					     .cwd = "/home/u/ws" };
	static const struct request command = {
		.op = OP_EXEC, .path = "/usr/bin/tool77", .argv = argv, .argc = 4, .cwd = "/home/u/ws"
	};
	static const struct request host = { .op = OP_RESOLVE, .host = "host777.example.org", .port = 443 };
	struct built few, many;
	double ms[5];

	build(10, &few);
	for (size_t i = 0; i < 5; i++) {
		build(10000, &many);
		ms[i] = many.ms;
		if (i < 4)
			free(many.bytes);
	}
	printf("compile\t%.2f\t%.2f\t0\n", few.ms, median(ms, 5));
	compare("decide-path", &few, &many, &path);
	compare("decide-command", &few, &many, &command);
	compare("decide-host", &few, &many, &host);
	parts(&few, &path);
	free(few.bytes);
	free(many.bytes);
	return 0;
}
