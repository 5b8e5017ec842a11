/*
 * The ELF and script reader against any bytes, behind a read function that also gives short reads; and the
 * words that a script has the kernel start.
 */
#include <string.h>

#include "policy/command/script.h"
#include "policy/file/elfkind.h"

struct file {
	const uint8_t *p;
	size_t n;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static long read_some(void *ctx, void *buf, size_t len, uint64_t off)
{
	const struct file *f = ctx;

	if (off >= f->n)
		return 0;
	if (len > f->n - off)
		len = f->n - (size_t)off;
	if (len > 100)
		len -= len % 7;
	memcpy(buf, f->p + off, len);
	return (long)len;
}

static void script(const struct elf_info *info)
{
	const char *const argv[] = { "zero", "one", "two" };
	const char *words[3 + 4];
	size_t n = script_words(info, "/path", argv, 3, words);

	/* INTERPRETER [ARGUMENT] PATH one two */
	if (n != 4u + (info->interp_arg[0] != '\0') || words[n] || strcmp(words[n - 3], "/path") != 0 ||
	    words[0] != info->interp || info->interp[0] == '\0')
		__builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct file f = { data, size };
	struct elf_info info;

	elf_inspect(read_some, &f, &info);
	/* Only what has no interpreter is one. */
	if (elf_is_loader(read_some, &f, info.kind) && info.kind != ELF_STATIC)
		__builtin_trap();
	if (!memchr(info.interp, '\0', sizeof info.interp) ||
	    !memchr(info.interp_arg, '\0', sizeof info.interp_arg) ||
	    info.build_id_len > sizeof info.build_id || strcmp(elf_kind_text(info.kind), "?") == 0)
		__builtin_trap();
	if (info.kind == ELF_SCRIPT)
		script(&info);
	return 0;
}
