/*
 * A line of the file is a name, a tab and a URL.  No session can write it, or any file of pale's state.
 */
#include "remotes.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "policy/record/replacefile.h"
#include "policy/rules/rule.h"
#include "policy/system/cleanup.h"
#include "policy/system/system.h"

#include "tools/base/output.h"
#include "tools/base/paths.h"
#include "tools/base/readfile.h"
#include "tools/git/ghosts.h"

#define PLACE	  "gate/remotes"
#define FILE_MAX  (1u << 20)
#define NAME_HASH 8 /* bytes */
#define LOCK_MS	  10000

struct known {
	const char *text; /* NULL: none is written down yet */
	const char *path;
	bool says;
};

static bool is_known(const struct ghost *one, const void *ctx)
{
	const struct known *k = ctx;
	size_t name = strlen(one->name), url = strlen(one->url);

	for (const char *at = k->text; at && *at; at += strcspn(at, "\n"), at += *at == '\n')
		if (strncmp(at, one->name, name) == 0 && at[name] == '\t' &&
		    strncmp(at + name + 1, one->url, url) == 0 && at[name + 1 + url] == '\n')
			return true;
	if (k->says)
		talk("note: the remote %s (%s) was not there when the first session began here: a session "
		     "may have added it, so it gets neither gate nor credentials; to take the remotes as "
		     "they are: rm %s",
		     one->name, one->url, k->path);
	return false;
}

static int write_down(const struct ghosts *g, const char *place, const char *name)
{
	_cleanup_close_ int dir = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_free_ char *text = NULL;
	size_t len = 0;
	/* Another session may begin here at the same moment. */
	int r = dir < 0 ? -errno : file_lock(dir, LOCK_MS);
	FILE *f = r < 0 ? NULL : open_memstream(&text, &len);

	if (!f)
		return r < 0 ? r : -errno;
	for (size_t i = 0; i < g->n; i++)
		fprintf(f, "%s\t%s\n", g->list[i].name, g->list[i].url);
	return fclose(f) != 0 ? -ENOMEM : replace_file(dir, name, NULL, 0600, text, len);
}

/* Makes the place, and finds the file of the workspace. */
static int find_file(const char *state, const char *workspace, char place[PATH_MAX],
		     char name[2 * NAME_HASH + 1])
{
	unsigned char hash[crypto_generichash_BYTES_MIN];
	int r = path_join(place, PATH_MAX, state, PLACE);

	crypto_generichash(hash, sizeof(hash), (const unsigned char *)workspace, strlen(workspace), NULL, 0);
	sodium_bin2hex(name, 2 * NAME_HASH + 1, hash, NAME_HASH);
	return r < 0 ? r : dir_make(place);
}

int remotes_known(struct ghosts *g, const struct policy *p, const char *state, const char *workspace,
		  bool anew, bool says)
{
	char place[PATH_MAX], path[PATH_MAX], name[2 * NAME_HASH + 1];
	_cleanup_free_ char *text = NULL;
	struct known k = { .path = path, .says = says };
	size_t len;
	int r = find_file(state, workspace, place, name);

	if (r == 0)
		r = path_join(path, sizeof(path), place, name);
	if (r == 0)
		r = anew ? -ENOENT : file_read(path, FILE_MAX, &text, &len);
	if (r == -ENOENT) {
		r = write_down(g, place, name);
		ghosts_keep(g, ghost_is_named, p);
	} else if (r == 0) {
		k.text = text;
		ghosts_keep(g, ghost_is_named, p);
		ghosts_keep(g, is_known, &k);
	}
	if (r < 0)
		ghosts_done(g);
	return r;
}
