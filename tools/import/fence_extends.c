/*
 * `extends` of fence: a file beside the one that says so, the user's own (`@base`), or a template.
 */
#include <errno.h>
#include <string.h>

#include "policy/path.h"

#include "fence.h"

#define FILE_MAX (4u << 20)

static bool ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	return n >= m && strcmp(s + n - m, end) == 0;
}

static bool is_file(const char *name)
{
	return strchr(name, '/') || ends_with(name, ".json") || ends_with(name, ".jsonc");
}

/* As it is written there: from the directory of the file that says so (caller frees), or NULL. */
static char *file_of(const char *file, const char *name)
{
	const char *home = getenv("HOME");
	char *path = NULL;
	int n;

	if (name[0] == '/')
		return strdup(name);
	if (strncmp(name, "~/", 2) == 0)
		n = asprintf(&path, "%s%s", home ? home : "", name + 1);
	else
		n = asprintf(&path, "%.*s%s", (int)(path_basename(file) - file), file, name);
	return n < 0 ? NULL : path;
}

static json_t *load(const char *path, char *why, size_t size)
{
	_cleanup_free_ char *text = NULL;
	json_error_t error;
	json_t *root;
	size_t len;
	int r = file_read(path, FILE_MAX, &text, &len);

	if (r < 0) {
		snprintf(why, size, "%s", strerror(-r));
		return NULL;
	}
	jsonc_strip(text, len);
	root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &error);
	if (!root)
		snprintf(why, size, "line %d: %s", error.line, error.text);
	else if (!json_is_object(root)) {
		snprintf(why, size, "no object");
		json_decref(TAKE_PTR(root));
	}
	return root;
}

/* ~/.config/fence/fence.json, or .jsonc. */
static json_t *load_own(char **ret_file, char *why, size_t size)
{
	static const char *const names[] = { "fence.json", "fence.jsonc" };
	const char *home = getenv("HOME"), *config = getenv("XDG_CONFIG_HOME");
	bool given = config && config[0] == '/';

	for (size_t i = 0; i < NELEM(names); i++) {
		char *file = NULL;
		json_t *root;

		if (asprintf(&file, "%s%s/fence/%s",
			     given  ? config
			     : home ? home
				    : "",
			     given ? "" : "/.config", names[i]) < 0)
			return NULL;
		root = load(file, why, size);
		if (root) {
			*ret_file = file;
			return root;
		}
		free(file);
	}
	return NULL;
}

static json_t *find(const char *file, const char *name, struct fence_base *b, char *why, size_t size)
{
	if (strcmp(name, "@base") == 0)
		return load_own(&b->file, why, size);
	if (!is_file(name)) {
		snprintf(why, size, "no template of that name is known here (fence config show)");
		return fence_template(name);
	}
	b->file = file_of(file, name);
	return b->file ? load(b->file, why, size) : NULL;
}

bool fence_base_read(struct import *im, const char *file, const char *path, const json_t *value,
		     struct fence_base *ret)
{
	const char *name = json_is_string(value) ? json_string_value(value) : NULL;
	char why[256] = "out of memory";

	*ret = (struct fence_base){ .root = NULL };
	if (!name) {
		carry_tell(im, TOLD_LOST, path, "is no name: not understood");
		return false;
	}
	ret->root = find(file, name, ret, why, sizeof(why));
	if (asprintf(&ret->path, "%s(%s)", path, name) < 0)
		ret->path = NULL;
	if (!ret->root || !ret->path) {
		carry_tell(im, TOLD_LOST, path, "`%s`: %s", name, why);
		return false;
	}
	if (!ret->file)
		carry_tell(im, TOLD_NOTE, path, "`%s` as fence had it in August 2026 (fence config show)",
			   name);
	return true;
}

void fence_base_done(struct fence_base *b)
{
	json_decref(b->root);
	free(b->path);
	free(b->file);
}
