/*
 * What would happen to the preload if this file were executed?
 *
 * It reads as the kernel does (fs/binfmt_elf.c, fs/binfmt_script.c): the same limits, the first
 * PT_INTERP, the same cut of a script's first line.  Every offset is checked against what was
 * really read; only the caller's read function is trusted.  No allocation, no globals, 1.5 KiB of
 * stack.
 */
#include "elfkind.h"

#include <elf.h>
#include <string.h>

/* The header, program headers, interpreter and notes of most programs lie in the first KiB: one read. */
#define WINDOW_SIZE 1024
/* The kernel takes 64 KiB of program headers; no linker writes more than a few dozen. */
#define PHNUM_MAX 256
#define NOTES_MAX 64
/* BINPRM_BUF_SIZE of the kernel, which reads no more of a script's first line. */
#define SCRIPT_SIZE 256

#if defined(__x86_64__)
#define OWN_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define OWN_MACHINE EM_AARCH64
#else
#error "pale knows the programs of x86-64 and aarch64"
#endif

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define OWN_ORDER ELFDATA2LSB
#else
#define OWN_ORDER ELFDATA2MSB
#endif

/* The piece of the file that was read last. */
struct window {
	elf_read_fn read;
	void *ctx;
	uint64_t off;
	size_t len;
	uint8_t bytes[WINDOW_SIZE];
};

static void window_load(struct window *w, uint64_t off)
{
	w->off = off;
	w->len = 0;
	/* A short read is not the end of the file (network file systems): go on to a zero. */
	while (w->len < WINDOW_SIZE) {
		long n = w->read(w->ctx, w->bytes + w->len, WINDOW_SIZE - w->len, off + w->len);

		if (n <= 0 || (size_t)n > WINDOW_SIZE - w->len)
			break;
		w->len += (size_t)n;
	}
}

/* len bytes (at most WINDOW_SIZE) at off, or NULL.  Valid until the next call. */
static const uint8_t *window_at(struct window *w, uint64_t off, size_t len)
{
	if (len > WINDOW_SIZE || off > UINT64_MAX - WINDOW_SIZE)
		return NULL;
	if (off < w->off || off - w->off > w->len || w->len - (size_t)(off - w->off) < len)
		window_load(w, off);
	if (off - w->off > w->len || w->len - (size_t)(off - w->off) < len)
		return NULL;
	return w->bytes + (off - w->off);
}

/* --- scripts ------------------------------------------------------------------------------------ */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static bool ends_word(char c)
{
	return is_blank(c) || c == '\0';
}

static size_t skip_blanks(const char *line, size_t i, size_t end)
{
	while (i < end && is_blank(line[i]))
		i++;
	return i;
}

/* The length of a line that begins with "#!", or 0 where the kernel would find no interpreter in it. */
static size_t script_line(const char *line)
{
	const char *nl = memchr(line, '\n', SCRIPT_SIZE);
	size_t end, i;

	if (nl) {
		end = (size_t)(nl - line);
	} else {
		/* The kernel refuses a name that the buffer cuts off: ENOEXEC. */
		end = SCRIPT_SIZE - 1;
		for (i = skip_blanks(line, 2, SCRIPT_SIZE); i < SCRIPT_SIZE && !ends_word(line[i]); i++)
			;
		if (i == SCRIPT_SIZE)
			return 0;
	}
	while (end > 2 && is_blank(line[end - 1]))
		end--;
	return end;
}

static void copy_word(char *dst, size_t size, const char *src, size_t n)
{
	n = strnlen(src, n);
	if (n >= size)
		n = size - 1;
	memcpy(dst, src, n);
	dst[n] = '\0';
}

static enum elf_kind inspect_script(const char *line, struct elf_info *ret)
{
	size_t end = script_line(line), name, i;

	if (end <= 2)
		return ELF_UNKNOWN;
	name = skip_blanks(line, 2, end);
	for (i = name; i < end && !ends_word(line[i]); i++)
		;
	if (i == name)
		return ELF_UNKNOWN;
	copy_word(ret->interp, sizeof ret->interp, line + name, i - name);
	if (i < end && line[i]) {
		i = skip_blanks(line, i, end);
		copy_word(ret->interp_arg, sizeof ret->interp_arg, line + i, end - i);
	}
	return ELF_SCRIPT;
}

/* --- ELF ---------------------------------------------------------------------------------------- */

struct loader {
	const char *path;
	enum elf_kind kind;
};

static const struct loader loaders[] = {
#if defined(__x86_64__)
	{ "/lib64/ld-linux-x86-64.so.2", ELF_DYNAMIC },
	{ "/usr/lib64/ld-linux-x86-64.so.2", ELF_DYNAMIC },
	{ "/lib/ld-linux-x86-64.so.2", ELF_DYNAMIC },
	{ "/usr/lib/ld-linux-x86-64.so.2", ELF_DYNAMIC },
	{ "/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2", ELF_DYNAMIC },
	{ "/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2", ELF_DYNAMIC },
	{ "/lib/ld-musl-x86_64.so.1", ELF_MUSL },
	{ "/usr/lib/ld-musl-x86_64.so.1", ELF_MUSL },
#else
	{ "/lib/ld-linux-aarch64.so.1", ELF_DYNAMIC },
	{ "/usr/lib/ld-linux-aarch64.so.1", ELF_DYNAMIC },
	{ "/lib64/ld-linux-aarch64.so.1", ELF_DYNAMIC },
	{ "/lib/aarch64-linux-gnu/ld-linux-aarch64.so.1", ELF_DYNAMIC },
	{ "/usr/lib/aarch64-linux-gnu/ld-linux-aarch64.so.1", ELF_DYNAMIC },
	{ "/lib/ld-musl-aarch64.so.1", ELF_MUSL },
	{ "/usr/lib/ld-musl-aarch64.so.1", ELF_MUSL },
#endif
};

/* Stores in which some systems keep every loader; root owns them. */
static const char *const stores[] = { "/nix/store/", "/gnu/store/" };

static enum elf_kind loader_kind(const char *interp)
{
	const char *base = strrchr(interp, '/');

	for (size_t i = 0; i < sizeof loaders / sizeof loaders[0]; i++)
		if (strcmp(interp, loaders[i].path) == 0)
			return loaders[i].kind;
	for (size_t i = 0; i < sizeof stores / sizeof stores[0]; i++)
		if (strncmp(interp, stores[i], strlen(stores[i])) == 0 && !strstr(interp, "/../") &&
		    strcmp(base, strrchr(loaders[0].path, '/')) == 0)
			return ELF_DYNAMIC;
	return ELF_ODD_LOADER;
}

static enum elf_kind inspect_interp(struct window *w, const Elf64_Phdr *ph, struct elf_info *ret)
{
	const uint8_t *p;

	/* The kernel refuses a name that is shorter, longer than a path, or not terminated. */
	if (ph->p_filesz < 2 || ph->p_filesz > 4096)
		return ELF_BROKEN;
	if (ph->p_filesz > sizeof ret->interp)
		return ELF_ODD_LOADER;
	p = window_at(w, ph->p_offset, (size_t)ph->p_filesz);
	if (!p || p[ph->p_filesz - 1] != '\0')
		return ELF_BROKEN;
	copy_word(ret->interp, sizeof ret->interp, (const char *)p, (size_t)ph->p_filesz);
	return loader_kind(ret->interp);
}

/* Reads one note.  True for the note that Go's linker writes into every program. */
static bool note_is_go(const Elf64_Nhdr *nh, const uint8_t *name, const uint8_t *desc, struct elf_info *ret)
{
	if (nh->n_namesz == 4 && memcmp(name, "GNU", 4) == 0 && nh->n_type == NT_GNU_BUILD_ID &&
	    nh->n_descsz > 0 && nh->n_descsz <= sizeof ret->build_id) {
		memcpy(ret->build_id, desc, nh->n_descsz);
		ret->build_id_len = (uint8_t)nh->n_descsz;
	}
	return nh->n_namesz == 4 && memcmp(name, "Go\0", 4) == 0 && nh->n_type == 4;
}

static uint64_t round_up(uint64_t n, uint64_t align)
{
	return (n + align - 1) & ~(align - 1);
}

/* True if the segment holds Go's note. */
static bool inspect_notes(struct window *w, const Elf64_Phdr *ph, struct elf_info *ret)
{
	uint64_t align = ph->p_align == 8 ? 8 : 4, off = 0;
	bool go = false;

	for (unsigned i = 0; i < NOTES_MAX && off < ph->p_filesz && ph->p_filesz - off >= sizeof(Elf64_Nhdr);
	     i++) {
		const uint8_t *p;
		Elf64_Nhdr nh;
		uint64_t desc, end;

		if (ph->p_offset > UINT64_MAX - ph->p_filesz)
			return go;
		p = window_at(w, ph->p_offset + off, sizeof nh);
		if (!p)
			return go;
		memcpy(&nh, p, sizeof nh);
		desc = round_up(sizeof nh + (uint64_t)nh.n_namesz, align);
		end = desc + nh.n_descsz;
		if (end > ph->p_filesz - off)
			return go;
		/* Only small notes matter; a long one is skipped unread. */
		p = end <= WINDOW_SIZE ? window_at(w, ph->p_offset + off, (size_t)end) : NULL;
		if (p && note_is_go(&nh, p + sizeof nh, p + desc, ret))
			go = true;
		off += round_up(end, align);
	}
	return go;
}

static enum elf_kind check_header(const Elf64_Ehdr *eh)
{
	const unsigned char *id = eh->e_ident;

	if (id[EI_CLASS] == ELFCLASS32 || (id[EI_CLASS] == ELFCLASS64 && id[EI_DATA] != OWN_ORDER &&
					   (id[EI_DATA] == ELFDATA2LSB || id[EI_DATA] == ELFDATA2MSB)))
		return ELF_FOREIGN;
	if (id[EI_CLASS] != ELFCLASS64 || id[EI_DATA] != OWN_ORDER)
		return ELF_BROKEN;
	if (eh->e_machine != OWN_MACHINE)
		return ELF_FOREIGN;
	if ((eh->e_type != ET_EXEC && eh->e_type != ET_DYN) || eh->e_phentsize != sizeof(Elf64_Phdr) ||
	    eh->e_phnum == 0 || eh->e_phnum > PHNUM_MAX)
		return ELF_BROKEN;
	return ELF_STATIC;
}

static enum elf_kind inspect_elf(struct window *w, struct elf_info *ret)
{
	const uint8_t *p = window_at(w, 0, sizeof(Elf64_Ehdr));
	enum elf_kind kind;
	bool go = false;
	Elf64_Ehdr eh;

	if (!p)
		return ELF_BROKEN;
	memcpy(&eh, p, sizeof eh);
	kind = check_header(&eh);
	if (kind != ELF_STATIC)
		return kind;
	for (unsigned i = 0; i < eh.e_phnum; i++) {
		Elf64_Phdr ph;

		if (eh.e_phoff > UINT64_MAX - (uint64_t)i * sizeof ph)
			return ELF_BROKEN;
		p = window_at(w, eh.e_phoff + (uint64_t)i * sizeof ph, sizeof ph);
		if (!p)
			return ELF_BROKEN;
		memcpy(&ph, p, sizeof ph);
		/* The kernel takes the first PT_INTERP and looks at no other. */
		if (ph.p_type == PT_INTERP && kind == ELF_STATIC)
			kind = inspect_interp(w, &ph, ret);
		if (ph.p_type == PT_NOTE)
			go |= inspect_notes(w, &ph, ret);
		if (kind == ELF_BROKEN)
			return kind;
	}
	return go && (kind == ELF_DYNAMIC || kind == ELF_MUSL) ? ELF_GO : kind;
}

void elf_inspect(elf_read_fn read, void *ctx, struct elf_info *ret)
{
	struct window w = { .read = read, .ctx = ctx };
	char line[SCRIPT_SIZE];

	memset(ret, 0, sizeof *ret);
	window_load(&w, 0);
	if (w.len >= 2 && w.bytes[0] == '#' && w.bytes[1] == '!') {
		memset(line, 0, sizeof line);
		memcpy(line, w.bytes, w.len < sizeof line ? w.len : sizeof line);
		ret->kind = inspect_script(line, ret);
	} else if (w.len >= SELFMAG && memcmp(w.bytes, ELFMAG, SELFMAG) == 0) {
		ret->kind = inspect_elf(&w, ret);
	}
}

/* False for a static-pie program: it exports no names, or is marked as a program (DF_1_PIE). */
static bool exports_names(struct window *w, const Elf64_Phdr *ph)
{
	size_t most = WINDOW_SIZE / sizeof(Elf64_Dyn);
	size_t n = ph->p_filesz / sizeof(Elf64_Dyn) < most ? (size_t)ph->p_filesz / sizeof(Elf64_Dyn) : most;
	const uint8_t *p = window_at(w, ph->p_offset, n * sizeof(Elf64_Dyn));
	bool exports = false;
	Elf64_Dyn d;

	for (; p && n > 0; n--, p += sizeof d) {
		memcpy(&d, p, sizeof d);
		if (d.d_tag == DT_NULL)
			break;
		if (d.d_tag == DT_FLAGS_1 && d.d_un.d_val & DF_1_PIE)
			return false;
		exports |= d.d_tag == DT_STRSZ && d.d_un.d_val > 1;
	}
	return exports;
}

/* A shared object that has an entry and needs no interpreter. */
bool elf_is_loader(elf_read_fn read, void *ctx, enum elf_kind kind)
{
	struct window w = { .read = read, .ctx = ctx };
	const uint8_t *p = kind == ELF_STATIC ? window_at(&w, 0, sizeof(Elf64_Ehdr)) : NULL;
	Elf64_Ehdr eh = { .e_type = ET_NONE };

	if (p)
		memcpy(&eh, p, sizeof eh);
	for (unsigned i = 0; eh.e_type == ET_DYN && eh.e_entry && i < eh.e_phnum; i++) {
		Elf64_Phdr ph;

		p = window_at(&w, eh.e_phoff + (uint64_t)i * sizeof ph, sizeof ph);
		if (!p)
			return false;
		memcpy(&ph, p, sizeof ph);
		if (ph.p_type == PT_DYNAMIC)
			return exports_names(&w, &ph);
	}
	return false;
}

const char *elf_kind_text(enum elf_kind kind)
{
	static const char *const texts[] = {
		[ELF_UNKNOWN] = "no program that the kernel knows",
		[ELF_SCRIPT] = "a script",
		[ELF_DYNAMIC] = "dynamically linked",
		[ELF_STATIC] = "statically linked",
		[ELF_FOREIGN] = "built for another machine",
		[ELF_ODD_LOADER] = "started by an unknown loader",
		[ELF_GO] = "a Go program",
		[ELF_MUSL] = "linked against musl",
		[ELF_BROKEN] = "a broken program file",
	};

	return (unsigned)kind < sizeof texts / sizeof texts[0] ? texts[kind] : "?";
}

bool elf_is_hookable(enum elf_kind kind)
{
	return kind == ELF_DYNAMIC || kind == ELF_SCRIPT;
}
