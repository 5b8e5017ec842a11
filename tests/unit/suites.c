/*
 * Runs the suites of suites.h: all, or those named on the command line.  -v tells every test.
 * CK_FORK=no runs them in this process, which is what the sanitizers want.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SUITE(name) Suite *suite_##name(void);
#include "suites.h"
#undef SUITE

static const struct {
	const char *name;
	Suite *(*make)(void);
} suites[] = {
#define SUITE(name) { #name, suite_##name },
#include "suites.h"
#undef SUITE
};

#define SUITES (sizeof(suites) / sizeof(suites[0]))

static int is_wanted(const char *name, int argc, char **argv)
{
	int named = 0;

	for (int i = 1; i < argc; i++) {
		if (argv[i][0] == '-')
			continue;
		named = 1;
		if (strcmp(argv[i], name) == 0)
			return 1;
	}
	return !named;
}

int main(int argc, char **argv)
{
	enum print_output how = argc > 1 && strcmp(argv[1], "-v") == 0 ? CK_VERBOSE : CK_NORMAL;
	SRunner *runner = NULL;
	int failed;

	for (size_t i = 0; i < SUITES; i++) {
		if (!is_wanted(suites[i].name, argc, argv))
			continue;
		if (runner)
			srunner_add_suite(runner, suites[i].make());
		else
			runner = srunner_create(suites[i].make());
	}
	if (!runner) {
		fprintf(stderr, "no such suite\n");
		return 2;
	}
	srunner_run_all(runner, how);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
