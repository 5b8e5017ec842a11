/*
 * Where does the session's pass stand?  `pass DIR` makes hooked calls of every kind in DIR and looks
 * for the pass afterwards: in the register that carried it, and in all memory that is not the policy
 * image.  Prints what it found, or `clean`; `closed` where the gate has no pass.  At the end it plants
 * a copy of its own, which must be found.
 */
#include <dirent.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "policy/image/image.h"

extern char **environ;

/* Never as it is: a copy in our own memory would be found. */
#define MASK 0x5a5a5a5a5a5a5a5aull
static uint64_t masked_pass;

static void missed(const char *what)
{
	printf("failed: %s\n", what);
}

/* --- in the register ---------------------------------------------------------------------------- */

static uint64_t masked_register(void)
{
#if defined(__x86_64__)
	uint64_t r;

	__asm__ volatile("movq %%r9, %0\n\txorq %1, %0" : "=&r"(r) : "r"(MASK));
#else
	uint64_t r;

	__asm__ volatile("eor %0, x5, %1" : "=&r"(r) : "r"(MASK));
#endif
	return r;
}

#define CALL(what)                                                                                           \
	do {                                                                                                 \
		long r = (long)(what);                                                                       \
		uint64_t left = masked_register();                                                           \
                                                                                                             \
		if (left == masked_pass && masked_pass != MASK)                                              \
			printf("in the register after %s\n", #what);                                         \
		if (r < 0)                                                                                   \
			missed(#what);                                                                       \
	} while (0)

static void spawn(void)
{
	char *argv[] = { "true", NULL };
	posix_spawn_file_actions_t fa;
	pid_t pid;

	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_addopen(&fa, 0, "f", O_RDONLY, 0);
	CALL(-posix_spawnp(&pid, "true", &fa, NULL, argv, environ));
	waitpid(pid, NULL, 0);
}

static void calls(void)
{
	CALL(close(open("f", O_CREAT | O_RDWR, 0600)));
	CALL(close(open("./f", O_RDONLY)));
	CALL(symlink("f", "l"));
	CALL(close(open("l", O_RDONLY)));
	CALL(link("f", "h"));
	CALL(rename("h", "h2"));
	CALL(unlink("h2"));
	CALL(mkdir("d", 0700));
	CALL(mkfifo("d/q", 0600));
	CALL(remove("d/q"));
	CALL(closedir(opendir("d")));
	CALL(rmdir("d"));
	CALL(fclose(fopen("f", "r")));
	CALL(chmod("f", 0640));
	CALL(truncate("f", 1));
	spawn();
}

/* --- in memory ---------------------------------------------------------------------------------- */

struct region {
	uintptr_t start, end;
	char rights[8];
	char path[4096];
};

static int next_region(FILE *maps, struct region *r)
{
	char line[8192];

	if (!fgets(line, sizeof(line), maps))
		return 0;
	r->path[0] = '\0';
	sscanf(line, "%lx-%lx %7s %*s %*s %*s %4095s", &r->start, &r->end, r->rights, r->path);
	return 1;
}

static int is_image(const struct region *r)
{
	const char *dir = getenv("PALE_SESSION_DIR");

	return dir && strncmp(r->path, dir, strlen(dir)) == 0 &&
	       strncmp(r->path + strlen(dir), "/image", 6) == 0;
}

static void learn(FILE *maps)
{
	struct region r;

	while (next_region(maps, &r))
		if (is_image(&r))
			masked_pass = ((const struct image_header *)r.start)->pass ^ MASK;
}

static unsigned scan(FILE *maps)
{
	unsigned found = 0;
	struct region r;

	rewind(maps);
	while (next_region(maps, &r)) {
		if (r.rights[0] != 'r' || is_image(&r) || strcmp(r.path, "[vvar]") == 0 ||
		    strncmp(r.path, "[vsyscall", 9) == 0 || strncmp(r.path, "[vvar", 5) == 0)
			continue;
		for (uintptr_t at = r.start; at + 8 <= r.end; at++) {
			uint64_t word;

			memcpy(&word, (const void *)at, sizeof(word));
			word ^= MASK;
			if (word != masked_pass)
				continue;
			found++;
			printf("in memory at %lx of %s\n", at, r.path[0] ? r.path : "nothing");
		}
	}
	return found;
}

/* A scan that finds nothing proves something only if it would have found it. */
static void plant(FILE *maps)
{
	volatile uint64_t *copy = malloc(sizeof(*copy));

	*copy = masked_pass ^ MASK;
	puts("planted");
	if (scan(maps) == 0)
		missed("the planted copy is not found");
}

int main(int argc, char **argv)
{
	FILE *maps = fopen("/proc/self/maps", "r");

	if (argc != 2 || !maps || chdir(argv[1]) != 0)
		return 2;
	masked_pass = MASK;
	learn(maps);
	calls();
	if (masked_pass == MASK) {
		puts("closed");
		return 0;
	}
	if (scan(maps) == 0)
		puts("clean");
	plant(maps);
	return 0;
}
