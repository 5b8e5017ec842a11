/*
 * What the sanitizers of a build are told, and done at the end of each of its programs.  They run as other
 * users and in empty environments, so what is found goes to files, which `make asan-flow` and `make
 * tsan-flow` read.
 *
 * Leaks are looked for here and not by atexit(3): who protects himself from being traced (the helper) cannot
 * be looked at by LeakSanitizer, and at his end he need not be protected any more.  Inside a fence, where
 * tracing is refused by the filter, none are looked for.
 *
 * Where the file `prove` stands beside the reports, each program does what must be found.
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#define REPORTS "/tmp/pale-sanitize"

const char *__asan_default_options(void);
const char *__ubsan_default_options(void);
const char *__tsan_default_options(void);

__attribute__((visibility("default"))) const char *__asan_default_options(void)
{
	return "log_path=" REPORTS "/report:detect_leaks=1:leak_check_at_exit=0:verify_asan_link_order=0";
}

__attribute__((visibility("default"))) const char *__ubsan_default_options(void)
{
	return "log_path=" REPORTS "/report:print_stacktrace=1";
}

__attribute__((visibility("default"))) const char *__tsan_default_options(void)
{
	return "log_path=" REPORTS "/report:report_signal_unsafe=1";
}

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>

static void look_for_leaks(void)
{
	if (prctl(PR_GET_SECCOMP) != 0)
		return;
	(void)prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	(void)__lsan_do_recoverable_leak_check();
}

static void prove(void)
{
	char *volatile p = malloc(7);

	p = malloc(9);
	look_for_leaks();
	free(p);
	_exit(p[1]);
}
#else
static int raced;

static void look_for_leaks(void)
{
}

static void *race(void *arg)
{
	(void)arg;
	raced++;
	return NULL;
}

static void prove(void)
{
	pthread_t t[2];

	for (int i = 0; i < 2; i++)
		if (pthread_create(&t[i], NULL, race, NULL) != 0)
			abort();
	for (int i = 0; i < 2; i++)
		(void)pthread_join(t[i], NULL);
}
#endif

__attribute__((destructor)) static void at_the_end(void)
{
	if (access(REPORTS "/prove", F_OK) == 0)
		prove();
	else
		look_for_leaks();
}
