/*
 * Each fuzz target once over the files of its corpus: `replay DIRECTORY`, where DIRECTORY/NAME has the files
 * of target NAME.  A target that dislikes an input ends the process, as it does under libFuzzer.
 */
#include <dirent.h>
#include <err.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* TARGETS is X(NAME) for each, as the Makefile finds them; there each target's function is fuzz_NAME. */
#define X(name) int fuzz_##name(const uint8_t *data, size_t size);
TARGETS
#undef X

static const struct target {
	const char *name;
	int (*run)(const uint8_t *data, size_t size);
} targets[] = {
#define X(name) { #name, fuzz_##name },
	TARGETS
#undef X
};

/* A copy that ends where the input does, so that a read beyond it is seen. */
static void replay(const struct target *t, const char *path)
{
	FILE *f = fopen(path, "re");
	struct stat st;
	uint8_t *data;
	size_t size;

	if (!f || fstat(fileno(f), &st) < 0)
		err(1, "%s", path);
	size = (size_t)st.st_size;
	data = malloc(size);
	if (fread(data, 1, size, f) != size)
		err(1, "%s", path);
	fprintf(stderr, "%s\n", path);
	(void)t->run(data, size);
	free(data);
	fclose(f);
}

int main(int argc, char **argv)
{
	char path[4096];
	struct dirent *e;
	unsigned n = 0;
	DIR *d;

	if (argc != 2)
		errx(2, "usage: replay DIRECTORY");
	for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", argv[1], targets[i].name);
		d = opendir(path);
		if (!d)
			err(1, "%s", path);
		while ((e = readdir(d))) {
			if (e->d_name[0] == '.')
				continue;
			snprintf(path, sizeof(path), "%s/%s/%s", argv[1], targets[i].name, e->d_name);
			replay(&targets[i], path);
			n++;
		}
		closedir(d);
	}
	printf("%u files\n", n);
	return n == 0;
}
