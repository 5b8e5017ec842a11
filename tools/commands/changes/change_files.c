/* The files of a change, one a row: none is left out, and a binary file is shown by type, size and hash.
 */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "policy/record/digest.h"
#include "policy/system/cleanup.h"

#include "tools/base/output.h"

#include "changes.h"

#define HEAD_SHOWN 16 /* bytes of a binary file */

/* Types by the first bytes. */
static const struct {
	const char *head, *name;
	size_t len;
} types[] = {
	{ "\177ELF", "ELF program", 4 },
	{ "MZ", "Windows program", 2 },
	{ "\211PNG", "PNG image", 4 },
	{ "\377\330\377", "JPEG image", 3 },
	{ "GIF8", "GIF image", 4 },
	{ "PK\3\4", "zip archive", 4 },
	{ "\37\213", "gzip data", 2 },
	{ "BZh", "bzip2 data", 3 },
	{ "\3757zXZ", "xz data", 5 },
	{ "(\265/\375", "zstd data", 4 },
	{ "%PDF", "PDF", 4 },
	{ "\312\376\272\276", "Java class or Mach-O", 4 },
	{ "\0asm", "WebAssembly", 4 },
	{ "SQLite format", "SQLite", 13 },
	{ "#!", "script with NULs", 2 },
	{ "\317\372\355\376", "Mach-O program", 4 },
	{ "!<arch>", "archive", 7 },
	{ "wOF2", "font", 4 },
};

static const char *type_of(const struct object *o)
{
	for (size_t i = 0; i < NELEM(types); i++)
		if (o->len >= types[i].len && memcmp(o->data, types[i].head, types[i].len) == 0)
			return types[i].name;
	return is_text_like(o) ? "text with NULs" : "data";
}

bool is_text_like(const struct object *o)
{
	size_t plain = 0;

	for (size_t i = 0; i < o->len; i++)
		plain += isprint((unsigned char)o->data[i]) || isspace((unsigned char)o->data[i]);
	/* UTF-16 is half NULs. */
	return (o->len >= 2 && memcmp(o->data, "#!", 2) == 0) || plain * 100 >= o->len * 45;
}

/* What the object is, where the counts of lines do not tell. */
static int read_what(const struct view_file *f, struct plumbing *batch, struct object *o)
{
	bool needed =
		f->new_mode == 0120000 || (f->new_mode != 0160000 && (f->added < 0 || f->status == 'H'));

	o->data = NULL;
	return needed && !oid_is_none(f->new_oid) ? batch_get(batch, f->new_oid, OBJECT_MAX, o) : 0;
}

static void print_what(const struct view_file *f, const struct object *o)
{
	char hash[DIGEST_HEX];

	if (f->new_mode == 0120000) {
		fputs(" -> ", stdout);
		print_bytes(o->data, o->len);
		return;
	}
	sha256_hex(o->data, o->len, hash);
	if (f->status != 'H')
		printf("  binary, %s", type_of(o));
	printf("%s%zu bytes, sha256 %s", f->status == 'H' ? "  " : ", ", o->len, hash);
	if (f->status == 'H')
		return;
	fputs(", begins ", stdout);
	print_bytes(o->data, o->len < HEAD_SHOWN ? o->len : HEAD_SHOWN);
}

static void print_modes(const struct view_file *f)
{
	if (f->old_mode && f->new_mode && f->old_mode != f->new_mode)
		printf("  mode %06o -> %06o", f->old_mode, f->new_mode);
	else if (f->status == 'A' || f->status == 'H')
		printf("  mode %06o", f->new_mode);
}

static int print_file(const struct view_file *f, struct plumbing *batch)
{
	const char *kind = view_kind(f);
	struct object o;
	int e = read_what(f, batch, &o);

	if (e < 0)
		return e;
	printf("  %c  ", f->status);
	if (f->from) {
		print_escaped(stdout, f->from);
		fputs(" => ", stdout);
	}
	print_escaped(stdout, f->path);
	if (f->added >= 0 && f->status != 'H')
		printf("  +%ld -%ld", f->added, f->deleted);
	print_modes(f);
	if (*kind)
		printf("  %s%s%s", paint_on(stdout, PAINT_YELLOW), kind, paint_off(stdout));
	if (f->new_mode == 0160000 || f->old_mode == 0160000)
		printf(" %.12s -> %.12s", f->old_oid, f->new_oid);
	if (o.data)
		print_what(f, &o);
	else if (f->added < 0)
		fputs("  binary", stdout);
	if (f->runner)
		printf("  %sruns later: %s%s", paint_on(stdout, PAINT_YELLOW), f->runner, paint_off(stdout));
	putchar('\n');
	if (f->hides)
		printf("     line %u hides or changes files for other readers; here it is not obeyed\n",
		       f->hides);
	object_done(&o);
	return 0;
}

int change_files(struct view *v, struct plumbing *batch)
{
	const char *const heads[] = { "Files that run later", "Files",
				      "Earlier versions, which leave with the history" };
	int at = -1, e = 0;

	for (size_t i = 0; i < v->n_files && e == 0; i++) {
		const struct view_file *f = &v->files[i];
		int part = f->status == 'H' ? 2 : !f->runner;

		if (part != at)
			printf("\n%s%s:%s\n", paint_on(stdout, PAINT_BOLD), heads[part], paint_off(stdout));
		at = part;
		e = print_file(f, batch);
	}
	return e;
}

static json_t *file_to_json(const struct view_file *f, struct plumbing *batch)
{
	char status[2] = { f->status }, hash[DIGEST_HEX], old_mode[8], new_mode[8];
	struct object o;
	json_t *j;

	if (read_what(f, batch, &o) < 0)
		return NULL;
	snprintf(old_mode, sizeof(old_mode), "%06o", f->old_mode);
	snprintf(new_mode, sizeof(new_mode), "%06o", f->new_mode);
	j = json_pack("{ss, so, so, ss, ss, ss, ss, ss, so}", "status", status, "path", json_text(f->path),
		      "from", json_text(f->from), "old_mode", old_mode, "new_mode", new_mode, "old",
		      f->old_oid, "new", f->new_oid, "kind", view_kind(f), "runs_later",
		      json_text(f->runner));
	if (f->added >= 0 && f->status != 'H') {
		json_object_set_new(j, "added", json_integer(f->added));
		json_object_set_new(j, "deleted", json_integer(f->deleted));
	}
	if (o.data && f->new_mode == 0120000)
		json_object_set_new(j, "target", bytes_to_json(o.data, o.len));
	else if (o.data) {
		sha256_hex(o.data, o.len, hash);
		json_object_set_new(j, "size", json_integer((json_int_t)o.len));
		json_object_set_new(j, "sha256", json_string(hash));
		json_object_set_new(j, "type", json_string(f->added < 0 ? type_of(&o) : "text"));
	}
	object_done(&o);
	return j;
}

json_t *change_files_json(struct view *v, struct plumbing *batch)
{
	json_t *list = json_array();

	for (size_t i = 0; i < v->n_files; i++)
		if (json_array_append_new(list, file_to_json(&v->files[i], batch)) < 0) {
			json_decref(list);
			return NULL;
		}
	return list;
}
