/* A program that the policy denies: makes each file that its words name, `ran` where there is none. */
#include <fcntl.h>
#include <unistd.h>

static int make(const char *name)
{
	int fd = open(name, O_WRONLY | O_CREAT, 0644);

	return fd < 0 || close(fd) < 0;
}

int main(int argc, char **argv)
{
	int failed = argc > 1 ? 0 : make("ran");

	for (int i = 1; i < argc; i++)
		failed |= argv[i][0] != '-' && make(argv[i]);
	return failed;
}
