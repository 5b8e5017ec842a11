/*
 * The command before it runs: found as execvp() does, and inspected for whether the preload can work in it.
 * A static or foreign program is reported here, before anything starts.
 */

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "policy/base/path.h"
#include "policy/programs/tool.h"
#include "policy/system/cleanup.h"

#include "program.h"
#include "readfile.h"

static int check_file(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return errno == EACCES ? -EACCES : -ENOENT;
	if (!S_ISREG(st.st_mode) || faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) < 0)
		return -EACCES;
	return 0;
}

static int try_in(const char *dir, size_t len, const char *name, char *ret)
{
	/* An empty element of PATH is the current directory. */
	int n = snprintf(ret, PATH_MAX, "%.*s%s%s", (int)len, dir, len ? "/" : "", name);

	return n < 0 || n >= PATH_MAX ? -ENOENT : check_file(ret);
}

static int search_path(const char *name, char *ret)
{
	const char *path = getenv("PATH");
	int result = -ENOENT;

	if (!path || !*path)
		path = "/usr/local/bin:/usr/bin:/bin";
	for (;;) {
		size_t len = strcspn(path, ":");
		int r = try_in(path, len, name, ret);

		if (r == 0)
			return 0;
		/* As execvp(): goes on after a match without permission, and returns -EACCES if no better
		 * one follows. */
		if (r == -EACCES)
			result = r;
		if (!path[len])
			return result;
		path += len + 1;
	}
}

int program_find(const char *name, struct program *ret)
{
	int r;

	memset(ret, 0, sizeof(*ret));
	if (!*name || strlen(name) >= sizeof(ret->found))
		return -ENOENT;
	if (strchr(name, '/'))
		r = check_file(strcpy(ret->found, name));
	else
		r = search_path(name, ret->found);
	if (r < 0)
		return r;
	return realpath(ret->found, ret->real) ? 0 : -errno;
}

int program_look(const char *path, struct elf_info *ret, bool *ret_setid)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	*ret_setid = (st.st_mode & (S_ISUID | S_ISGID)) != 0;
	elf_inspect(file_read_at, &fd, ret);
	ret->is_loader = elf_is_loader(file_read_at, &fd, ret->kind);
	return 0;
}

/* loads_find_fn */
static const char *find_program(void *ctx, const char *word, struct elf_info *ret)
{
	struct found_files *f = ctx;
	/* There are only FOUND_FILES places: a further file overwrites the last one, and no caller keeps
	 * more. */
	char *path = f->path[f->n < FOUND_FILES ? f->n : FOUND_FILES - 1];
	struct stat st;
	bool setid;

	if (!realpath(word, path) || stat(path, &st) < 0 || !S_ISREG(st.st_mode))
		return NULL;
	if (ret)
		*ret = (struct elf_info){ 0 };
	if (ret)
		(void)program_look(path, ret, &setid);
	if (ret)
		ret->is_executable = faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0;
	f->n++;
	return path;
}

/* loads_path_fn */
static const char *path_list(void *ctx, const char *name)
{
	(void)ctx;
	return getenv(name);
}

bool program_note(struct request *req, const struct image *img, const struct elf_info *elf,
		  struct found_files *room)
{
	room->n = 0;
	if (elf->build_id_len == sizeof(elf->build_id))
		req->ident = image_ident(img, elf->build_id);
	if (!req->ident)
		req->ident = tool_of(req->path);
	return loads_fill(req, elf, img, find_program, path_list, room);
}

bool program_tool(const struct request *of, struct found_files *room, struct tool_script *t)
{
	return tool_find(of, find_program, path_list, room, t);
}

/* In `#!/usr/bin/env node` the program that env runs counts, not env. */
static int follow_env(const struct elf_info *script, char *ret)
{
	struct program inner;

	if (strcmp(path_basename(script->interp), "env") != 0 || !script->interp_arg[0] ||
	    strpbrk(script->interp_arg, "-= \t"))
		return -ENOENT;
	if (program_find(script->interp_arg, &inner) < 0)
		return -ENOENT;
	strcpy(ret, inner.real);
	return 0;
}

int program_inspect(struct program *p)
{
	int r;

	strcpy(p->loaded, p->real);
	r = program_look(p->loaded, &p->elf, &p->setid);
	for (int depth = 0; r == 0 && p->elf.kind == ELF_SCRIPT; depth++) {
		bool setid;

		if (depth == SCRIPT_DEPTH)
			return -ELOOP;
		if (follow_env(&p->elf, p->loaded) < 0)
			strcpy(p->loaded, p->elf.interp);
		r = program_look(p->loaded, &p->elf, &setid);
	}
	return r;
}

const char *program_coverage(struct program *p, const char **ret_kind)
{
	if (program_inspect(p) < 0) {
		*ret_kind = "it cannot be read";
		return "refused";
	}
	*ret_kind = elf_kind_text(p->elf.kind);
	if (elf_is_hookable(p->elf.kind))
		return "hooked";
	switch (p->elf.kind) {
	case ELF_STATIC:
	case ELF_GO:
	case ELF_MUSL:
	case ELF_ODD_LOADER:
		return "kernel only";
	case ELF_FOREIGN:
	case ELF_DYNAMIC:
	case ELF_SCRIPT:
	case ELF_UNKNOWN:
	case ELF_BROKEN:
	default:
		return "refused";
	}
}
