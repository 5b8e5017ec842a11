/*
 * The hooks of receive-pack, which run in the intake: pre-receive judges what comes in while it lies in git's
 * quarantine; proc-receive hands its descriptors to the serving process and waits.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/system/cleanup.h"
#include "policy/system/system.h"

#include "tools/base/output.h"
#include "tools/gate/checks.h"

#include "service.h"

#define LINE_MAX_ 4200

/* The order's rules; the caller frees ret->deny and keeps j. */
static int read_rules(const json_t *j, struct check_rules *ret)
{
	const json_t *list = json_object_get(j, "deny"), *item;
	const char **deny = calloc(json_array_size(list) + 1, sizeof(*deny));
	struct stat st;
	size_t i;

	*ret = (struct check_rules){ .deny = deny, .secrets_fd = -1 };
	if (!deny || !json_is_object(j))
		return -EPROTO;
	json_array_foreach(list, i, item) deny[ret->n_deny++] = json_string_value(item) ?: "";
	ret->max_files = (unsigned)json_integer_value(json_object_get(j, "max_files"));
	ret->max_size = (uint64_t)json_integer_value(json_object_get(j, "max_size"));
	if (fstat(SECRETS_FD, &st) == 0)
		ret->secrets_fd = SECRETS_FD;
	return 0;
}

/* A line of pre-receive: `OLD NEW NAME`.  False where the line has another form. */
static bool split_line(char *line, struct check_ref *ret)
{
	char *new = strchr(line, ' '), *name = new ? strchr(new + 1, ' ') : NULL;

	line[strcspn(line, "\n")] = '\0';
	if (!name)
		return false;
	*new ++ = *name++ = '\0';
	*ret = (struct check_ref){ line, new, name };
	return true;
}

int hook_pre_receive(void)
{
	static char lines[COURIER_TOGETHER][LINE_MAX_];
	struct check_ref refs[COURIER_TOGETHER];
	_cleanup_json_ json_t *j = NULL;
	struct check_rules rules = { .deny = NULL };
	size_t n = 0;
	int r;

	for (; n < COURIER_TOGETHER && fgets(lines[n], LINE_MAX_, stdin); n++)
		if (!split_line(lines[n], &refs[n])) {
			fprintf(stderr, "a name is too long\n");
			return 1;
		}
	if (n == COURIER_TOGETHER && fgetc(stdin) != EOF) {
		while (fgetc(stdin) != EOF)
			;
		fprintf(stderr, "a push has at most %d refs\n", COURIER_TOGETHER);
		return 1;
	}
	/* git names at least one. */
	if (n == 0) {
		fprintf(stderr, "nothing to check came in\n");
		return 1;
	}
	(void)lseek(RULES_FD, 0, SEEK_SET);
	j = json_loadfd(RULES_FD, 0, NULL);
	r = read_rules(j, &rules);
	if (r == 0)
		r = checks_run(&rules, json_str(j, "git"), json_str(j, "repository"), refs, n, stderr);
	free((void *)rules.deny);
	if (r < 0)
		fprintf(stderr, "the checks could not run: %s\n", strerror(-r));
	return r != 0;
}

int hook_proc_receive(void)
{
	uint8_t status = 1;
	ssize_t n;

	if (send_fds(HOOK_FD, "p", 1, (int[]){ 0, 1, 2 }, 3, 0) < 0)
		return 1;
	close(0);
	close(1);
	close(2);
	while ((n = read(HOOK_FD, &status, 1)) < 0 && errno == EINTR)
		;
	return n == 1 ? status : 1;
}
