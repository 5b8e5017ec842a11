/* The repository of a remote, made and brought up to date: see mirror.h. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "policy/record/digest.h"
#include "policy/record/replacefile.h"
#include "policy/system/cleanup.h"

#include "tools/base/paths.h"

#include "mirror.h"
#include "plumbing.h"

#define REFS_MAX  (256u << 20)
#define REFS_MANY (64u << 10)
#define CONFIG                                                                                               \
	"[core]\n\trepositoryformatversion = %d\n\tbare = true\n\tfilemode = false\n\tlogAllRefUpdates = "   \
	"false\n\tfsync = committed,reference\n[gc]\n\tauto = 0\n%s"

/* --- the directory --- */

static int put_file(int dir, const char *name, const char *text)
{
	return replace_file(dir, name, NULL, 0600, text, strlen(text));
}

/* A bare repository, without anything of a template; in one step, so that a half one is never found. */
static int make_repository(const struct gate *g, bool sha256)
{
	static const char *const dirs[] = { "objects", "objects/info", "objects/pack",
					    "refs",    "refs/heads",   "info" };
	_cleanup_free_ char *config = NULL;
	_cleanup_close_ int dir = -1;
	char made[PATH_MAX];
	int r = 0;

	if (snprintf(made, sizeof(made), "%s.new", g->repository) >= (int)sizeof(made))
		return -ENAMETOOLONG;
	if ((mkdir(made, 0700) < 0 && errno != EEXIST) ||
	    (dir = open(made, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) < 0)
		return -errno;
	for (size_t i = 0; i < NELEM(dirs); i++)
		if (mkdirat(dir, dirs[i], 0700) < 0 && errno != EEXIST)
			return -errno;
	if (asprintf(&config, CONFIG, sha256, sha256 ? "[extensions]\n\tobjectFormat = sha256\n" : "") < 0)
		return -ENOMEM;
	r = put_file(dir, "config", config);
	if (r == 0)
		r = put_file(dir, "HEAD", "ref: refs/heads/main\n");
	if (r == 0)
		r = plumbing_attributes(made);
	return r < 0 ? r : rename(made, g->repository) < 0 ? -errno : 0;
}

/* Names the repository by the URL and the format of its objects.  The descriptor of its lock, held; or
 * -errno. */
static int lock_repository(struct gate *g, bool sha256)
{
	char lock[PATH_MAX], hex[DIGEST_HEX];
	struct digest d;
	struct stat st;
	int fd, r = snprintf(g->dir, sizeof(g->dir), "%s/gate", g->state);

	r = r < (int)sizeof(g->dir) - 100 ? dir_make(g->dir) : -ENAMETOOLONG;
	if (r == 0)
		r = dir_check_private(g->dir);
	if (r < 0)
		return r;
	digest_begin(&d, "pale gate");
	digest_text(&d, g->url);
	digest_text(&d, sha256 ? "sha256" : "sha1");
	digest_end(&d, hex);
	hex[32] = '\0';
	snprintf(g->repository, sizeof(g->repository), "%.4000s/%s.git", g->dir, hex);
	snprintf(lock, sizeof(lock), "%.4000s/%s.lock", g->dir, hex);
	fd = open(lock, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	while ((r = flock(fd, LOCK_EX)) < 0 && errno == EINTR)
		;
	if (r == 0 && stat(g->repository, &st) < 0)
		r = make_repository(g, sha256);
	if (r == 0)
		return fd;
	(void)close(fd);
	return r < 0 && r != -1 ? r : -errno;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *f)
{
	(void)st;
	(void)type;
	(void)f;
	(void)remove(path);
	return 0;
}

void gate_remove(const char *path)
{
	(void)nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

/* Removes what begins with that and is older than that. */
static void sweep(const char *where, const char *begins, time_t age)
{
	_cleanup_dir_ DIR *dir = opendir(where);
	struct dirent *e;

	while (dir && (e = readdir(dir))) {
		char path[PATH_MAX + 512];
		struct stat st;

		if (strncmp(e->d_name, begins, strlen(begins)) == 0 &&
		    fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    st.st_mtime <= time(NULL) - age) {
			snprintf(path, sizeof(path), "%s/%s", where, e->d_name);
			gate_remove(path);
		}
	}
}

/* What was killed, or found the disk full, leaves half a pack, a quarantine or a directory.  With the lock,
 * no pack is on its way into the repository itself; a push may be, but none takes a day. */
static void sweep_leftovers(const struct gate *g)
{
	char path[PATH_MAX + 32];

	snprintf(path, sizeof(path), "%s/objects/pack", g->repository);
	sweep(path, "tmp_", 0);
	snprintf(path, sizeof(path), "%s/objects", g->repository);
	sweep(path, "tmp_objdir-", 24 * 3600);
	sweep(g->dir, "intake.", 24 * 3600);
}

/* --- what the remote has, and what the mirror has --- */

/*
 * From the courier's list: what `git for-each-ref` would print of the mirror if it were the same; the target
 * of HEAD; and the length of the names of objects, 0 where there are no refs.
 */
static void read_list(struct gate *g, char *list, size_t *ret_hex)
{
	char *to = list;

	*ret_hex = 0;
	g->head[0] = '\0';
	for (char *line = list, *next; *line; line = next) {
		char *name = strchr(line, '\t');

		next = strchrnul(line, '\n');
		if (*next)
			*next++ = '\0';
		if (!name || name > next)
			continue;
		*name++ = '\0';
		if (strncmp(line, "ref: refs/heads/", 16) == 0 && strcmp(name, "HEAD") == 0) {
			snprintf(g->head, sizeof(g->head), "%s", line + 5);
			continue;
		}
		if (strspn(line, "0123456789abcdef") != strlen(line))
			continue;
		*ret_hex = strlen(line);
		if ((strncmp(name, "refs/heads/", 11) != 0 && strncmp(name, "refs/tags/", 10) != 0) ||
		    strstr(name, "^{}"))
			continue;
		memmove(to, line, *ret_hex);
		to += *ret_hex;
		*to++ = '\t';
		memmove(to, name, strlen(name));
		to += strlen(name);
		*to++ = '\n';
	}
	*to = '\0';
}

static int read_mirror(const struct gate *g, char **ret)
{
	const struct depot d = { g->git, g->repository };
	size_t len;

	return plumbing_read(&d,
			     (const char *const[]){ "for-each-ref", "--format=%(objectname)%09%(refname)",
						    "refs/heads/", "refs/tags/", NULL },
			     NULL, REFS_MAX, ret, &len);
}

/* A fetch makes a file of each new ref; where they are many, each look at them would open them all. */
static void pack_refs(const struct gate *g)
{
	const struct depot d = { g->git, g->repository };
	_cleanup_free_ char *out = NULL;
	size_t len;

	(void)plumbing_read(&d, (const char *const[]){ "pack-refs", "--all", NULL }, NULL, 4096, &out, &len);
}

/* HEAD of the mirror is the remote's. */
static int set_head(const struct gate *g)
{
	const struct depot d = { g->git, g->repository };
	_cleanup_free_ char *now = NULL, *said = NULL;
	size_t len;

	if (!g->head[0])
		return 0;
	if (plumbing_read(&d, (const char *const[]){ "symbolic-ref", "HEAD", NULL }, NULL, 4096, &now,
			  &len) == 0 &&
	    strncmp(now, g->head, strlen(g->head)) == 0 && strcmp(now + strlen(g->head), "\n") == 0)
		return 0;
	return plumbing_read(&d, (const char *const[]){ "symbolic-ref", "HEAD", g->head, NULL }, NULL, 4096,
			     &said, &len);
}

int gate_refresh(struct gate *g, char why[WHY_MAX])
{
	_cleanup_free_ char *theirs = NULL, *ours = NULL;
	_cleanup_close_ int lock = -1;
	size_t hex;
	int r = courier_list(g->git, g->url, &theirs, why);

	if (r < 0)
		return r;
	read_list(g, theirs, &hex);
	snprintf(why, WHY_MAX, "the gate's repository cannot be used");
	lock = lock_repository(g, hex == 64);
	if (lock < 0)
		r = lock;
	else if (!gate_is_whole(g->repository))
		r = -EPERM;
	else
		r = read_mirror(g, &ours);
	if (r == 0)
		sweep_leftovers(g);
	if (r == 0 && strcmp(ours, theirs) != 0 && courier_fetch(g->git, g->url, g->repository, why) < 0) {
		sweep_leftovers(g);
		return -EIO;
	}
	if (r == 0 && strlen(theirs) > REFS_MANY && strcmp(ours, theirs) != 0)
		pack_refs(g);
	if (r == 0)
		r = set_head(g);
	if (r < 0 && strlen(why) < 64)
		snprintf(why + strlen(why), WHY_MAX - strlen(why), ": %s", strerror(-r));
	return r;
}

int gate_ref(const struct gate *g, const char *ref, char ret[GIT_HEX])
{
	const struct depot d = { g->git, g->repository };
	_cleanup_free_ char *out = NULL;
	size_t len;
	int r = plumbing_read(
		&d, (const char *const[]){ "for-each-ref", "--format=%(objectname) %(refname)", ref, NULL },
		NULL, REFS_MAX, &out, &len);

	ret[0] = '\0';
	/* Refs below this one are printed, too. */
	for (char *line = r == 0 ? out : NULL, *next; line && *line; line = next) {
		char *name = strchr(line, ' ');

		next = strchrnul(line, '\n');
		if (*next)
			*next++ = '\0';
		if (name && strcmp(name + 1, ref) == 0)
			snprintf(ret, GIT_HEX, "%.*s", (int)(name - line), line);
	}
	return r;
}

bool gate_is_whole(const char *repository)
{
	char path[PATH_MAX + 32];
	struct stat st;

	snprintf(path, sizeof(path), "%s/objects/info/alternates", repository);
	if (lstat(path, &st) == 0)
		return false;
	snprintf(path, sizeof(path), "%s/objects/info/http-alternates", repository);
	return lstat(path, &st) < 0;
}
