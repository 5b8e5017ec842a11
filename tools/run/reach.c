/*
 * By what ways the operator can be asked while this session runs.  The surroundings of `pale run` are
 * examined once.
 *
 * PALE_PROMPT=0 says that no operator is present, PALE_PROMPT=1 that an operator will answer by `pale
 * approve`; the name follows git's GIT_TERMINAL_PROMPT.  This gives no right to answer: the helper decides
 * that for each connection.
 */
#include "reach.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "policy/base/util.h"
#include "policy/system/cleanup.h"

bool env_is_set(const char *name)
{
	const char *value = getenv(name);

	return value && *value;
}

/* True whatever the standard streams are: the operator has another terminal, or this one later. */
bool terminal_is_here(void)
{
	_cleanup_close_ int fd = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC);

	return fd >= 0;
}

static bool has_tmux(void)
{
	return env_is_set("TMUX");
}

static bool on_path(const char *program)
{
	const char *path = getenv("PATH");
	char file[PATH_MAX];

	for (const char *p = path ? path : ""; *p;) {
		size_t n = strcspn(p, ":");

		if (n > 0 && snprintf(file, sizeof(file), "%.*s/%s", (int)n, p, program) < PATH_MAX &&
		    access(file, X_OK) == 0)
			return true;
		p += n + (p[n] == ':');
	}
	return false;
}

bool desktop_is_here(void)
{
	return env_is_set("DISPLAY") || env_is_set("WAYLAND_DISPLAY");
}

static bool has_desktop(void)
{
	return desktop_is_here() && on_path("notify-send");
}

static bool will_approve(void)
{
	return prompt_wish() == PROMPT_YES;
}

enum prompt prompt_wish(void)
{
	const char *value = getenv("PALE_PROMPT");

	if (!value || !*value)
		return PROMPT_UNSAID;
	return strcmp(value, "0") == 0 ? PROMPT_NO : PROMPT_YES;
}

json_t *reach_list(void)
{
	static const struct {
		const char *word;
		bool (*is_there)(void);
	} words[] = {
		{ "terminal", terminal_is_here },
		{ "tmux", has_tmux },
		{ "desktop", has_desktop },
		{ "approve", will_approve },
	};
	json_t *list = json_array();

	for (size_t i = 0; prompt_wish() != PROMPT_NO && i < NELEM(words); i++)
		if (words[i].is_there())
			json_array_append_new(list, json_string(words[i].word));
	return list;
}
