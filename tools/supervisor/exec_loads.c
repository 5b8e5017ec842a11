/*
 * The files that the program of an exec opens and runs by itself, because its words name them: the program of
 * a dynamic loader, the script of an interpreter.  They are found as they would be for the caller.
 */
#include <string.h>
#include <unistd.h>

#include "policy/loads.h"

#include "tools/supervisor/exec.h"
#include "tools/supervisor/procfs.h"
#include "tools/tools.h"

struct finder {
	struct exec *x;
	struct caller *c;
	struct stat st; /* of what was found last */
};

/* loads_find_fn.  What has no name (a memfd, a removed file) may be anything. */
static const char *find(void *ctx, const char *word, struct elf_info *ret)
{
	struct finder *f = ctx;
	char *real = caller_scratch(f->c, LIMIT_PATH), link[PROCFS_LINK_MAX];
	_cleanup_close_ int fd = real ? exec_hold(f->x, f->c, word, real) : -1;

	if (!real)
		f->x->is_unknown = true;
	if (fd < 0 || fstat(fd, &f->st) < 0 || !S_ISREG(f->st.st_mode) || f->st.st_nlink == 0)
		return NULL;
	procfs_own_link(fd, link);
	(void)exec_inspect(link, ret);
	return real;
}

void exec_stamp(struct exec *x, const struct stat *st)
{
	if (exec_is_settled(st))
		return;
	snprintf(x->stamp, sizeof(x->stamp), "%jx:%ju %jd.%09ld", (uintmax_t)st->st_dev,
		 (uintmax_t)st->st_ino, (intmax_t)st->st_ctim.tv_sec, st->st_ctim.tv_nsec);
	x->req.file = x->stamp;
}

void exec_loads(struct exec *x, struct caller *c, struct request *req, const struct elf_info *elf)
{
	struct finder f = { .x = x, .c = c };

	if (!loads_fill(req, elf, &c->image, find, &f))
		x->is_unknown = true;
	else if (req->loads)
		exec_stamp(x, &f.st);
}
