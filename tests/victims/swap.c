/*
 * swap TOOL file|close: exchanges a program's content through a shared mapping while its exec is judged.
 *
 * TOOL is a copy of this program, which appends its tag to the file `ran` when it is executed without words.
 * A store into a page that is dirty already changes no time of the file.
 * file: stores when the file `go` exists, and then makes the file `stored`.
 * close: waits for `go`, and stores when a reader closes TOOL next: the supervisor does, after it has
 * compared TOOL with what was approved.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* The only place of these letters in the file. */
static volatile char tag[] = "SWAPTAG good";
#define TAG_LEN 8

static int tool(void)
{
	FILE *f = fopen("ran", "a");

	if (f)
		fprintf(f, "%s\n", (const char *)tag + TAG_LEN);
	return f && fclose(f) == 0 ? 0 : 1;
}

static void store(char *at, void *map, size_t size)
{
	memcpy(at + TAG_LEN, "evil", 4);
	munmap(map, size);
}

static void store_at_close(const char *path, char *at, void *map, size_t size)
{
	int in = inotify_init1(IN_NONBLOCK);
	char events[4096];

	if (in < 0 || inotify_add_watch(in, path, IN_CLOSE_NOWRITE) < 0)
		_exit(2);
	while (access("go", F_OK) < 0)
		usleep(1000);
	while (read(in, events, sizeof(events)) > 0)
		;
	for (int left = 20000000; left > 0 && read(in, events, sizeof(events)) <= 0; left--)
		;
	store(at, map, size);
}

int main(int argc, char **argv)
{
	int fd = argc > 2 ? open(argv[1], O_RDWR) : -1;
	struct stat st;
	char *map, *at;
	pid_t pid;

	if (argc == 1)
		return tool();
	if (fd < 0 || fstat(fd, &st) < 0)
		return 2;
	map = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	at = map == MAP_FAILED ? NULL : memmem(map, (size_t)st.st_size, (const char *)tag, TAG_LEN);
	if (!at)
		return 2;
	at[TAG_LEN] = 'g';
	pid = fork();
	if (pid == 0) {
		munmap(map, (size_t)st.st_size);
		execl(argv[1], argv[1], NULL);
		_exit(3);
	}
	if (strcmp(argv[2], "close") == 0) {
		store_at_close(argv[1], at, map, (size_t)st.st_size);
	} else {
		while (access("go", F_OK) < 0)
			usleep(1000);
		store(at, map, (size_t)st.st_size);
		close(open("stored", O_CREAT | O_WRONLY, 0644));
	}
	return waitpid(pid, NULL, 0) == pid ? 0 : 1;
}
