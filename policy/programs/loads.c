/*
 * Which word of a loader's command line is the program that it opens.  That is unknown where an option is
 * unknown, or where the loader would look for the program in a library path.  No allocation, no system
 * call: the caller opens files.
 */
#include "loads.h"

#include <string.h>

#include "policy/base/path.h"
#include "policy/command/cmd.h"

enum search { SEARCH_LIBRARIES, SEARCH_PATH, SEARCH_NOTHING }; /* for a name without a slash */

struct row {
	const char *names;   /* blank-separated globs */
	const char *dashes;  /* what an option begins with; after a single dash a second one is ignored */
	const char *values;  /* options with a value: the next word, or what follows `=` */
	const char *flags;   /* options that stand alone; `*`: all others */
	const char *nothing; /* options with which it loads nothing */
	const char *argv0;   /* the one of values that sets argv[0] */
	enum search search;
};

static const struct row rows[] = {
	/* glibc elf/rtld.c, musl ldso/dynlink.c */
	{ "ld-*.so* ld.*so* libc.musl-*.so* ld-musl-*", "--",
	  "preload library-path audit inhibit-rpath argv0 glibc-hwcaps-prepend glibc-hwcaps-mask",
	  "inhibit-cache", "list verify list-tunables list-diagnostics help version", "argv0",
	  SEARCH_LIBRARIES },
	/* qemu linux-user/main.c */
	{ "qemu-x86_64* qemu-aarch64* qemu-i386* qemu-arm*", "-",
	  "L E U 0 g s B R p d D dfilter cpu r seed trace plugin tb-size t jitdump",
	  "strace singlestep one-insn-per-tb perfmap xtb", "h help version", "0", SEARCH_NOTHING },
	/* valgrind coregrind/launcher-linux.c; its tools load the program */
	{ "valgrind valgrind.bin *-amd64-linux *-x86-linux *-arm64-linux", "-", "", "*",
	  "h help help-debug help-dyn-options version", "", SEARCH_PATH },
};

static const struct row *row_of(const struct command *c)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if ((c->program && word_like_list(rows[i].names, c->program)) ||
		    (c->alias && word_like_list(rows[i].names, c->alias)))
			return &rows[i];
	return NULL;
}

/* Reads an option; l->at moves to the last of its words. */
static enum loads_what read_option(const struct row *r, const struct command *c, struct loads *l)
{
	const char *name = command_arg(c, l->at) + strlen(r->dashes), *value;
	size_t len;

	name += !r->dashes[1] && *name == '-';
	len = strcspn(name, "=");
	if (word_in_list(r->nothing, name, len))
		return LOADS_NOTHING;
	if (!word_in_list(r->values, name, len))
		return *r->flags == '*' || word_in_list(r->flags, name, len) ? LOADS_FILE : LOADS_UNKNOWN;
	value = name[len] ? name + len + 1 : command_arg(c, ++l->at);
	if (word_in_list(r->argv0, name, len))
		l->called = value;
	return LOADS_FILE;
}

enum loads_what command_loads(const struct command *c, bool is_loader, struct loads *ret)
{
	const struct row *r = row_of(c);
	size_t n = command_count(c);

	*ret = (struct loads){ 0 };
	/* A dynamic loader that has the name of another kind of loader. */
	if (is_loader && r && r != rows)
		return LOADS_UNKNOWN;
	if (is_loader)
		r = rows;
	for (; r && ret->at < n; ret->at++) {
		const char *arg = command_arg(c, ret->at);
		enum loads_what what = LOADS_FILE;

		if (strcmp(arg, "--") == 0) {
			ret->at++;
			break;
		}
		if (strncmp(arg, r->dashes, strlen(r->dashes)) != 0)
			break;
		what = read_option(r, c, ret);
		if (what != LOADS_FILE)
			return what;
	}
	if (!r || ret->at >= n)
		return LOADS_NOTHING;
	if (!ret->called)
		ret->called = command_arg(c, ret->at);
	if (strchr(command_arg(c, ret->at), '/') || r->search == SEARCH_NOTHING)
		return LOADS_FILE;
	return r->search == SEARCH_PATH ? LOADS_NAME : LOADS_UNKNOWN;
}

void loads_place(struct request *req)
{
	const char *extra;
	struct command c;
	struct loads l;
	enum loads_what what;

	if (!req->loads || req->argc == 0)
		return;
	c = command_of(req, &extra);
	/* Where that is unknown, no word follows the loader. */
	what = command_loads(&c, !row_of(&c), &l);
	if (what != LOADS_FILE && what != LOADS_NAME)
		l = (struct loads){ .at = command_count(&c), .called = "" };
	req->loads_at = l.at;
	req->loads_called = l.called;
}

const char *loads_next(const char **list, const char *name, char at[LIMIT_PATH])
{
	const char *dir = *list;
	size_t len = dir ? strcspn(dir, ":") : 0, size = strlen(name) + 1;

	if (!dir)
		return NULL;
	*list = dir[len] ? dir + len + 1 : NULL;
	if (len + size + 2 > LIMIT_PATH)
		return "";
	memcpy(at, len ? dir : ".", len ? len : 1);
	at[len ? len : 1] = '/';
	memcpy(at + (len ? len : 1) + 1, name, size);
	return at;
}

/*
 * The file that a loader takes for a name without a slash.  NULL where the first one found is not
 * executable: the loader may skip it, so it is unknown which one it takes.
 */
static const char *find_in(const char *list, const char *name, struct elf_info *ret, loads_find_fn *find,
			   void *ctx)
{
	char at[LIMIT_PATH];
	const char *real = NULL, *word;

	while (!real && (word = loads_next(&list, name, at)) && *word)
		real = find(ctx, word, ret);
	return real && ret->is_executable ? real : NULL;
}

/*
 * The file of the program that runs: script itself, or its interpreter.  NULL where the interpreter has an
 * argument that is no option, because it may say what runs; this does not hold for env, which executes its
 * argument.
 */
static const char *interpreter_of(const char *script, struct elf_info *inner, loads_find_fn *find, void *ctx)
{
	bool is_told = !*inner->interp_arg || *inner->interp_arg == '-' ||
		       strcmp(path_basename(inner->interp), "env") == 0;
	char interp[sizeof(inner->interp)];

	if (inner->kind != ELF_SCRIPT)
		return script;
	memcpy(interp, inner->interp, sizeof(interp));
	return is_told ? find(ctx, interp, inner) : NULL;
}

bool loads_fill(struct request *req, const struct elf_info *elf, const struct image *img, loads_find_fn *find,
		loads_path_fn *path, void *ctx)
{
	struct elf_info inner = { 0 };
	const char *extra, *word, *file;
	struct command c = command_of(req, &extra), loaded = { 0 };
	struct loads l;
	enum loads_what what = command_loads(&c, elf->is_loader, &l);
	const struct row *row;

	if (what != LOADS_FILE && what != LOADS_NAME)
		return what != LOADS_UNKNOWN;
	word = command_arg(&c, l.at);
	file = what == LOADS_FILE ? find(ctx, word, &inner)
				  : find_in(path(ctx, "PATH"), word, &inner, find, ctx);
	if (file)
		file = interpreter_of(file, &inner, find, ctx);
	if (!file || inner.is_loader || inner.kind == ELF_SCRIPT)
		return false;
	/* valgrind executes its tool, which reads its words: that is an exec of its own. */
	loaded.program = path_basename(file);
	row = row_of(&loaded);
	if (row && strcmp(loaded.program, "valgrind") != 0)
		return false;
	if (inner.build_id_len == sizeof inner.build_id)
		req->loads_ident = image_ident(img, inner.build_id);
	req->loads = file;
	req->loads_at = l.at;
	req->loads_called = l.called;
	return true;
}
