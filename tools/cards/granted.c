/*
 * The files of grants: read, changed where the file is this user's own, and searched for a grant that would
 * answer a question.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>

#include "policy/record/replacefile.h"
#include "policy/system/cleanup.h"

#include "tools/base/foreign.h"
#include "tools/base/output.h"
#include "tools/base/paths.h"
#include "tools/base/readfile.h"

#include "grants.h"

/* --- reading --- */

static int read_file(const char *dir, struct grant_list *ret, const char **ret_why)
{
	char path[PATH_MAX], *text = NULL;
	size_t len = 0;
	int r = path_join(path, sizeof(path), dir, GRANT_FILE);

	*ret = (struct grant_list){ 0 };
	if (r == 0)
		r = file_read(path, GRANT_FILE_MAX, &text, &len);
	return r < 0 ? r : grant_list_parse(text, ret, ret_why);
}

static void find_dirs(struct kept *k)
{
	struct dirs dirs;
	char *slash;

	if (dirs_find(&dirs) == 0)
		snprintf(k->dir[KEPT_OWN], PATH_MAX, "%s", dirs.state);
	if (foreign_sessions(k->dir[KEPT_FOREIGN], PATH_MAX) < 0)
		k->dir[KEPT_FOREIGN][0] = '\0';
	/* the directory above */
	slash = strrchr(k->dir[KEPT_FOREIGN], '/');
	if (slash)
		*slash = '\0';
}

void kept_read(struct kept *ret)
{
	memset(ret, 0, sizeof(*ret));
	find_dirs(ret);
	for (size_t i = 0; i < KEPT_STORES; i++) {
		const char *why = NULL;
		int r = ret->dir[i][0] ? read_file(ret->dir[i], &ret->list[i], &why) : -ENOENT;

		if (r < 0 && r != -ENOENT && !(i == KEPT_FOREIGN && r == -ENOTDIR))
			talk("%s/%s grants nothing: %s", ret->dir[i], GRANT_FILE, why ? why : strerror(-r));
	}
}

void kept_done(struct kept *k)
{
	for (size_t i = 0; i < KEPT_STORES; i++)
		grant_list_done(&k->list[i]);
}

/* --- changing --- */

static int replace_grants(const char *dir, const struct grant_list *list, const char *without)
{
	_cleanup_free_ char *text = grant_list_text(list, without, NULL, (uint64_t)time(NULL));
	_cleanup_close_ int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (!text || fd < 0)
		return text ? -errno : -ENOMEM;
	return replace_file(fd, GRANT_FILE, NULL, 0600, text, strlen(text));
}

int kept_revoke(const char *dir, const char *id)
{
	_cleanup_close_ int lock = -1;
	struct grant_list list = { 0 };
	char path[PATH_MAX];
	const char *why;
	int r = path_join(path, sizeof(path), dir, GRANT_LOCK);

	if (r < 0)
		return r;
	lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	/* A helper holds this lock only for a moment. */
	if (lock < 0 || flock(lock, LOCK_EX) < 0)
		return -errno;
	r = read_file(dir, &list, &why);
	if (r == 0)
		r = grant_list_find(&list, id) ? replace_grants(dir, &list, id) : -ENOENT;
	grant_list_done(&list);
	return r;
}

/* --- what would answer --- */

json_t *granted_find(const struct image *img, const char *agent, const char *workspace,
		     const struct request *req)
{
	const size_t most = (size_t)KEPT_STORES * GRANT_ENTRIES;
	_cleanup_free_ struct grant_line *lines = calloc(most, sizeof(*lines));
	_cleanup_free_ const struct grant_entry **entries = calloc(most, sizeof(*entries));
	_cleanup_free_ uint8_t *bytes = NULL;
	struct image grants;
	json_t *found = NULL;
	size_t n = 0, at;
	struct kept k;
	char why[256];

	kept_read(&k);
	for (size_t s = 0; lines && entries && s < KEPT_STORES; s++)
		for (size_t i = 0; i < k.list[s].n; i++) {
			const struct grant_entry *e = &k.list[s].list[i];

			if (grant_entry_off(e, agent && *agent ? agent : NULL, workspace,
					    (uint64_t)time(NULL)) ||
			    grant_check(img, e->section, e->line, NULL, why, sizeof(why)) < 0)
				continue;
			lines[n] = (struct grant_line){ e->section, e->line };
			entries[n++] = e;
		}
	if (n > 0 && grants_open(img, lines, n, &bytes, &grants) == 0 && grants_allow(&grants, img, req, &at))
		found = grant_entry_json(entries[at]);
	kept_done(&k);
	return found;
}
