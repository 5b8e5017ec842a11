/*
 * Keeps the rules of the presets, a line for each, and compares them with those of another version.
 */
#include "presets_known.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/base/op.h"
#include "policy/parse/ini.h"
#include "policy/presets/agents.h"
#include "policy/record/replacefile.h"
#include "policy/system/cleanup.h"

#include "tools/base/paths.h"
#include "tools/base/readfile.h"

#define KNOWN_DIR "presets"
#define HASH_SIZE 4

typedef void text_taker(void *ctx, const char *file, const char *text, size_t len);

static void each_text(text_taker *take, void *ctx)
{
	const struct agent_profile *a;
	char file[64];
	const char *name, *text;
	size_t len;

	for (size_t i = 0; (name = preset_name(i)) != NULL; i++) {
		snprintf(file, sizeof(file), "preset %s", name);
		text = preset_text(name, &len);
		take(ctx, file, text, len);
	}
	text = home_text(&len);
	take(ctx, HOME_TABLE, text, len);
	for (size_t i = 0; (a = agent_profile(i)) != NULL; i++) {
		snprintf(file, sizeof(file), "agent %s", a->name);
		take(ctx, file, a->text, (size_t)(a->end - a->text));
	}
}

/* --- the version --- */

static void hash_text(void *ctx, const char *file, const char *text, size_t len)
{
	(void)file;
	crypto_generichash_update(ctx, (const unsigned char *)text, len);
}

/* The hash finds no enemy, only another build. */
void presets_version(char version[VERSION_MAX])
{
	unsigned char hash[crypto_generichash_BYTES_MIN];
	char hex[2 * HASH_SIZE + 1];
	crypto_generichash_state st;

	crypto_generichash_init(&st, NULL, 0, sizeof(hash));
	each_text(hash_text, &st);
	crypto_generichash_final(&st, hash, sizeof(hash));
	sodium_bin2hex(hex, sizeof(hex), hash, HASH_SIZE);
	snprintf(version, VERSION_MAX, "%s-%s", PALE_VERSION, hex);
}

/* --- the rules as lines --- */

struct writer {
	FILE *f;
	const char *file;
	char section[INI_NAME_MAX + 1];
};

static int on_section(void *ctx, const char *header, unsigned line)
{
	struct writer *w = ctx;

	(void)line;
	snprintf(w->section, sizeof(w->section), "%s", header);
	return 0;
}

/* What is only said about a rule is no rule. */
static int on_pair(void *ctx, const struct ini_pair *pair)
{
	struct writer *w = ctx;

	if (strcmp(pair->key, "message") != 0)
		fprintf(w->f, "%s [%s] %s = %s\n", w->file, w->section, pair->key, pair->value);
	return 0;
}

static void write_rules(void *ctx, const char *file, const char *text, size_t len)
{
	struct writer w = { .f = ctx, .file = file };
	const struct ini_handler h = { on_section, on_pair, &w };
	struct diags ignored;

	diags_init(&ignored);
	(void)ini_read(file, text, len, &h, &ignored);
	diags_done(&ignored);
}

static char *all_rules(size_t *ret_len)
{
	char *text = NULL;
	FILE *f = open_memstream(&text, ret_len);
	bool bad;

	if (!f)
		return NULL;
	each_text(write_rules, f);
	bad = ferror(f);
	if (fclose(f) == 0 && !bad)
		return text;
	free(text);
	return NULL;
}

/* --- what is known --- */

static int known_path(const struct dirs *dirs, const char *version, char path[PATH_MAX])
{
	int n = snprintf(path, PATH_MAX, "%s/" KNOWN_DIR "/%s", dirs->state, version);

	return n < PATH_MAX ? 0 : -ENAMETOOLONG;
}

static bool is_named(const char *name, const char *version)
{
	size_t n = strlen(version);

	return strncmp(name, version, n) == 0 && (name[n] == '\0' || name[n] == '-');
}

/* Of those that `wanted` names, or of all but our own, the one that was used last. */
static int find_known(const struct dirs *dirs, const char *wanted, char since[VERSION_MAX])
{
	char own[VERSION_MAX], path[PATH_MAX];
	struct timespec best = { 0 };
	struct dirent *e;
	struct stat st;
	DIR *dir;
	int r = known_path(dirs, "", path);

	since[0] = '\0';
	dir = r < 0 ? NULL : opendir(path);
	if (!dir)
		return r < 0 ? r : -errno;
	presets_version(own);
	while ((e = readdir(dir)) != NULL) {
		if (e->d_name[0] == '.' || strlen(e->d_name) >= VERSION_MAX ||
		    (wanted ? !is_named(e->d_name, wanted) : strcmp(e->d_name, own) == 0) ||
		    fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode) ||
		    st.st_mtim.tv_sec < best.tv_sec ||
		    (st.st_mtim.tv_sec == best.tv_sec && st.st_mtim.tv_nsec < best.tv_nsec))
			continue;
		best = st.st_mtim;
		strcpy(since, e->d_name);
	}
	(void)closedir(dir);
	return since[0] ? 0 : -ENOENT;
}

/* Whether the line's rule is read where preset is in force. */
static bool concerns(const char *line, const char *preset)
{
	size_t n = strlen(preset);

	if (strncmp(line, HOME_TABLE " ", sizeof(HOME_TABLE)) == 0)
		return preset_has_home(preset);
	if (strncmp(line, "agent ", 6) == 0)
		return preset_has_agents(preset);
	return strncmp(line, "preset ", 7) == 0 && strncmp(line + 7, preset, n) == 0 && line[7 + n] == ' ';
}

static bool has_line(const char *text, const char *line, size_t len)
{
	for (; *text; text += strcspn(text, "\n"), text += *text != '\0')
		if (strncmp(text, line, len) == 0 && text[len] == '\n')
			return true;
	return false;
}

/* Calls fn for each line of `from` that is not in the other text. */
static int each_missing(const char *from, const char *in, const char *preset, char mark, presets_fn *fn,
			void *ctx)
{
	int n = 0;

	for (size_t len; (len = strcspn(from, "\n")) > 0 && from[len]; from += len + 1) {
		if (!concerns(from, preset) || has_line(in, from, len))
			continue;
		fn(ctx, mark, from, (int)len);
		n++;
	}
	return n;
}

int presets_compare(const struct dirs *dirs, const struct policy *p, char since[VERSION_MAX], presets_fn *fn,
		    void *ctx)
{
	const char *preset = p->preset ? p->preset : "agent";
	_cleanup_free_ char *old = NULL, *now = NULL;
	char path[PATH_MAX], own[VERSION_MAX];
	size_t len;
	int r;

	presets_version(own);
	if (p->version && strcmp(p->version, own) == 0)
		return 0;
	r = find_known(dirs, p->version, since);

	if (r == 0)
		r = known_path(dirs, since, path);
	if (r == 0)
		r = file_read(path, LIMIT_POLICY, &old, &len);
	if (r != 0)
		return r;
	now = all_rules(&len);
	if (!now)
		return -ENOMEM;
	r = each_missing(old, now, preset, '-', fn, ctx);
	return r + each_missing(now, old, preset, '+', fn, ctx);
}

int presets_use(const struct dirs *dirs)
{
	_cleanup_free_ char *rules = NULL;
	_cleanup_close_ int dir = -1;
	char version[VERSION_MAX], path[PATH_MAX];
	size_t len;
	int r;

	presets_version(version);
	r = known_path(dirs, version, path);
	if (r < 0)
		return r;
	/* Its time says when it was used last. */
	if (utimensat(AT_FDCWD, path, NULL, AT_SYMLINK_NOFOLLOW) == 0)
		return 0;
	rules = all_rules(&len);
	if (!rules)
		return -ENOMEM;
	*strrchr(path, '/') = '\0';
	r = dir_make(path);
	dir = r < 0 ? -1 : open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (dir < 0)
		return r < 0 ? r : -errno;
	r = replace_file(dir, version, NULL, 0600, rules, len);
	return r < 0 ? r : 1;
}
