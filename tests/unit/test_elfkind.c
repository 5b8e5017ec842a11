/* The ELF and script reader: files made byte by byte, and broken ones. */
#include <check.h>
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "policy/file/elfkind.h"

Suite *suite_elfkind(void);

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#define LOADER	"/lib64/ld-linux-x86-64.so.2"
#define MUSL	"/lib/ld-musl-x86_64.so.1"
#else
#define MACHINE EM_AARCH64
#define LOADER	"/lib/ld-linux-aarch64.so.1"
#define MUSL	"/lib/ld-musl-aarch64.so.1"
#endif

static uint8_t file[16384];
static size_t file_len;
static size_t chunk; /* at most so many bytes a read */
static unsigned phdrs;

static long read_file(void *ctx, void *buf, size_t len, uint64_t off)
{
	(void)ctx;
	if (off >= file_len)
		return 0;
	len = len < file_len - off ? len : file_len - (size_t)off;
	len = len < chunk ? len : chunk;
	memcpy(buf, file + off, len);
	return (long)len;
}

static long read_nothing(void *ctx, void *buf, size_t len, uint64_t off)
{
	(void)ctx;
	(void)buf;
	(void)len;
	(void)off;
	return -EIO;
}

static struct elf_info inspect(void)
{
	struct elf_info info;

	elf_inspect(read_file, NULL, &info);
	return info;
}

static Elf64_Ehdr *header(void)
{
	return (Elf64_Ehdr *)file;
}

static void start_elf(void)
{
	Elf64_Ehdr eh = { .e_type = ET_DYN,
			  .e_machine = MACHINE,
			  .e_phoff = sizeof eh,
			  .e_phentsize = sizeof(Elf64_Phdr) };

	memset(file, 0, sizeof file);
	memcpy(eh.e_ident, ELFMAG, SELFMAG);
	eh.e_ident[EI_CLASS] = ELFCLASS64;
	eh.e_ident[EI_DATA] = ELFDATA2LSB;
	memcpy(file, &eh, sizeof eh);
	phdrs = 0;
	file_len = sizeof file;
	chunk = sizeof file;
}

static Elf64_Phdr *add_phdr(uint32_t type, const void *bytes, size_t len, size_t at)
{
	Elf64_Phdr ph = { .p_type = type, .p_offset = at, .p_filesz = len, .p_align = 4 };
	uint8_t *to = file + sizeof(Elf64_Ehdr) + phdrs * sizeof ph;

	memcpy(to, &ph, sizeof ph);
	memcpy(file + at, bytes, len);
	header()->e_phnum = (uint16_t)++phdrs;
	return (Elf64_Phdr *)to;
}

static size_t make_note(uint8_t *to, const char *name, uint32_t type, const void *desc, uint32_t len)
{
	Elf64_Nhdr nh = { .n_namesz = 4, .n_descsz = len, .n_type = type };

	memcpy(to, &nh, sizeof nh);
	memcpy(to + sizeof nh, name, 4);
	memcpy(to + sizeof nh + 4, desc, len);
	return sizeof nh + 4 + ((len + 3) & ~3u);
}

static void set_text(const char *text, size_t len)
{
	memset(file, 0, sizeof file);
	memcpy(file, text, len);
	file_len = len;
	chunk = sizeof file;
}

static const struct {
	const char *text;
	enum elf_kind kind;
	const char *interp, *arg;
} scripts[] = {
	{ "#!/bin/sh\n", ELF_SCRIPT, "/bin/sh", "" },
	{ "#! \t/bin/sh\t -e  x \t\nrest", ELF_SCRIPT, "/bin/sh", "-e  x" },
	{ "#!/usr/bin/env python3\n", ELF_SCRIPT, "/usr/bin/env", "python3" },
	{ "#!sh", ELF_SCRIPT, "sh", "" },
	{ "#!\n/bin/sh", ELF_UNKNOWN, "", "" },
	{ "#!", ELF_UNKNOWN, "", "" },
	{ "#!   \t \n", ELF_UNKNOWN, "", "" },
	{ "#", ELF_UNKNOWN, "", "" },
	{ "", ELF_UNKNOWN, "", "" },
	{ "echo hi\n", ELF_UNKNOWN, "", "" },
	{ "\x7f"
	  "EL",
	  ELF_UNKNOWN, "", "" },
	{ "\x7f"
	  "ELF",
	  ELF_BROKEN, "", "" },
};

START_TEST(script_lines)
{
	struct elf_info info;

	set_text(scripts[_i].text, strlen(scripts[_i].text));
	info = inspect();
	ck_assert_int_eq(info.kind, scripts[_i].kind);
	ck_assert_str_eq(info.interp, scripts[_i].interp);
	ck_assert_str_eq(info.interp_arg, scripts[_i].arg);
}
END_TEST

/* The kernel looks at 256 bytes: a name that they cut is refused, an argument is cut. */
START_TEST(script_line_is_cut_like_the_kernel)
{
	struct elf_info info;
	char text[600];

	memset(text, 'a', sizeof text);
	memcpy(text, "#!/", 3);
	set_text(text, sizeof text);
	ck_assert_int_eq(inspect().kind, ELF_UNKNOWN);
	text[20] = ' ';
	set_text(text, sizeof text);
	info = inspect();
	ck_assert_int_eq(info.kind, ELF_SCRIPT);
	ck_assert_uint_eq(strlen(info.interp), 18);
	ck_assert_uint_eq(strlen(info.interp_arg), 255 - 21);
}
END_TEST

static const struct {
	const char *interp;
	enum elf_kind kind;
} interps[] = {
	{ LOADER, ELF_DYNAMIC },
	{ MUSL, ELF_MUSL },
	{ "/tmp/ld-linux-x86-64.so.2", ELF_ODD_LOADER },
	{ "ld-linux-x86-64.so.2", ELF_ODD_LOADER },
	{ "/nix/store/../../tmp" LOADER, ELF_ODD_LOADER },
	{ "/nix/store/abc-glibc-2.38" LOADER, ELF_DYNAMIC },
	{ "/nix/store/x", ELF_ODD_LOADER },
	{ "", ELF_BROKEN },
};

START_TEST(interpreters)
{
	struct elf_info info;

	start_elf();
	add_phdr(PT_INTERP, interps[_i].interp, strlen(interps[_i].interp) + 1, 4096);
	info = inspect();
	ck_assert_int_eq(info.kind, interps[_i].kind);
	ck_assert_int_eq(elf_is_hookable(info.kind), interps[_i].kind == ELF_DYNAMIC);
	if (info.kind != ELF_BROKEN)
		ck_assert_str_eq(info.interp, interps[_i].interp);
}
END_TEST

START_TEST(first_interpreter_counts)
{
	start_elf();
	add_phdr(PT_INTERP, "/tmp/evil", 10, 4096);
	add_phdr(PT_INTERP, LOADER, sizeof LOADER, 5000);
	ck_assert_int_eq(inspect().kind, ELF_ODD_LOADER);
}
END_TEST

START_TEST(static_programs)
{
	start_elf();
	add_phdr(PT_LOAD, "", 1, 4096);
	ck_assert_int_eq(inspect().kind, ELF_STATIC);
	header()->e_type = ET_EXEC;
	ck_assert_int_eq(inspect().kind, ELF_STATIC);
	ck_assert(!elf_is_hookable(ELF_STATIC));
}
END_TEST

START_TEST(notes)
{
	uint8_t bytes[128], id[20];
	struct elf_info info;
	size_t n;

	memset(id, 0xab, sizeof id);
	start_elf();
	n = make_note(bytes, "GNU", 1, "abi", 4);
	n += make_note(bytes + n, "GNU", NT_GNU_BUILD_ID, id, sizeof id);
	add_phdr(PT_NOTE, bytes, n, 3000);
	add_phdr(PT_INTERP, LOADER, sizeof LOADER, 4096);
	chunk = 100;
	info = inspect();
	ck_assert_int_eq(info.kind, ELF_DYNAMIC);
	ck_assert_uint_eq(info.build_id_len, sizeof id);
	ck_assert_mem_eq(info.build_id, id, sizeof id);
	n = make_note(bytes, "Go\0", 4, "abcdefgh", 8);
	add_phdr(PT_NOTE, bytes, n, 6000);
	ck_assert_int_eq(inspect().kind, ELF_GO);
	ck_assert(!elf_is_hookable(ELF_GO));
}
END_TEST

static bool is_loader(void)
{
	return elf_is_loader(read_file, NULL, inspect().kind);
}

/* The machine's own, glibc's and musl's; a shared object has no entry, a static-pie program no names. */
START_TEST(loaders)
{
	Elf64_Dyn dyn[] = { { DT_FLAGS_1, { DF_1_NOW } }, { DT_STRSZ, { 700 } }, { DT_NULL, { 0 } } };
	Elf64_Phdr *ph;

	start_elf();
	header()->e_entry = 4096;
	ck_assert(!is_loader());
	ph = add_phdr(PT_DYNAMIC, dyn, sizeof dyn, 4096);
	ck_assert(is_loader());
	header()->e_entry = 0;
	ck_assert(!is_loader());
	header()->e_entry = 4096;
	header()->e_type = ET_EXEC;
	ck_assert(!is_loader());
	header()->e_type = ET_DYN;
	dyn[0].d_un.d_val |= DF_1_PIE;
	memcpy(file + 4096, dyn, sizeof dyn);
	ck_assert(!is_loader());
	dyn[0].d_un.d_val = 0;
	dyn[1].d_un.d_val = 1;
	memcpy(file + 4096, dyn, sizeof dyn);
	ck_assert(!is_loader());
	/* Names that stand behind the end. */
	dyn[0] = (Elf64_Dyn){ DT_NULL, { 0 } };
	dyn[1].d_un.d_val = 700;
	memcpy(file + 4096, dyn, sizeof dyn);
	ck_assert(!is_loader());
	ph->p_filesz = UINT64_MAX;
	ph->p_offset = sizeof file - 16;
	ck_assert(!is_loader());
	add_phdr(PT_INTERP, LOADER, sizeof LOADER, 6000);
	ck_assert(!is_loader());
}
END_TEST

START_TEST(lying_notes)
{
	uint8_t bytes[64];
	Elf64_Nhdr nh = { .n_namesz = UINT32_MAX, .n_descsz = UINT32_MAX, .n_type = 3 };
	Elf64_Phdr *ph;
	size_t n = make_note(bytes, "GNU", NT_GNU_BUILD_ID, "abcd", 4);

	start_elf();
	add_phdr(PT_INTERP, LOADER, sizeof LOADER, 4096);
	ph = add_phdr(PT_NOTE, bytes, n, 6000);
	ph->p_filesz = UINT64_MAX;
	ck_assert_int_eq(inspect().kind, ELF_DYNAMIC);
	ph->p_filesz = n - 1;
	ck_assert_uint_eq(inspect().build_id_len, 0);
	ph->p_filesz = sizeof file;
	memcpy(file + 6000, &nh, sizeof nh);
	ck_assert_uint_eq(inspect().build_id_len, 0);
}
END_TEST

static void set_class32(void)
{
	header()->e_ident[EI_CLASS] = ELFCLASS32;
}

static void set_order(void)
{
	header()->e_ident[EI_DATA] = ELFDATA2MSB;
}

static void set_machine(void)
{
	header()->e_machine = EM_386;
}

static void set_bad_class(void)
{
	header()->e_ident[EI_CLASS] = 9;
}

static void set_object(void)
{
	header()->e_type = ET_REL;
}

static void set_no_phdrs(void)
{
	header()->e_phnum = 0;
}

static void set_many_phdrs(void)
{
	header()->e_phnum = UINT16_MAX;
}

static void set_phdr_size(void)
{
	header()->e_phentsize = 32;
}

static void set_far_phdrs(void)
{
	header()->e_phoff = UINT64_MAX - 10;
}

static void set_cut(void)
{
	file_len = sizeof(Elf64_Ehdr) + 20;
}

static void set_short_header(void)
{
	file_len = sizeof(Elf64_Ehdr) - 1;
}

static void set_interp_outside(void)
{
	((Elf64_Phdr *)(file + sizeof(Elf64_Ehdr)))->p_offset = sizeof file;
}

static void set_interp_far(void)
{
	((Elf64_Phdr *)(file + sizeof(Elf64_Ehdr)))->p_offset = UINT64_MAX - 4;
}

static void set_interp_open(void)
{
	((Elf64_Phdr *)(file + sizeof(Elf64_Ehdr)))->p_filesz--;
}

static void set_interp_long(void)
{
	((Elf64_Phdr *)(file + sizeof(Elf64_Ehdr)))->p_filesz = 300;
}

static const struct {
	void (*breaks)(void);
	enum elf_kind kind;
} broken[] = {
	{ set_class32, ELF_FOREIGN },	{ set_order, ELF_FOREIGN },	  { set_machine, ELF_FOREIGN },
	{ set_bad_class, ELF_BROKEN },	{ set_object, ELF_BROKEN },	  { set_no_phdrs, ELF_BROKEN },
	{ set_many_phdrs, ELF_BROKEN }, { set_phdr_size, ELF_BROKEN },	  { set_far_phdrs, ELF_BROKEN },
	{ set_cut, ELF_BROKEN },	{ set_short_header, ELF_BROKEN }, { set_interp_outside, ELF_BROKEN },
	{ set_interp_far, ELF_BROKEN }, { set_interp_open, ELF_BROKEN },  { set_interp_long, ELF_ODD_LOADER },
};

START_TEST(broken_files)
{
	start_elf();
	add_phdr(PT_INTERP, LOADER, sizeof LOADER, 4096);
	ck_assert_int_eq(inspect().kind, ELF_DYNAMIC);
	broken[_i].breaks();
	ck_assert_int_eq(inspect().kind, broken[_i].kind);
	ck_assert(!elf_is_hookable(broken[_i].kind));
}
END_TEST

START_TEST(unreadable_and_unknown)
{
	struct elf_info info;

	elf_inspect(read_nothing, NULL, &info);
	ck_assert_int_eq(info.kind, ELF_UNKNOWN);
	for (int k = ELF_UNKNOWN; k <= ELF_BROKEN; k++)
		ck_assert_str_ne(elf_kind_text((enum elf_kind)k), "?");
	ck_assert_str_eq(elf_kind_text((enum elf_kind)99), "?");
}
END_TEST

Suite *suite_elfkind(void)
{
	Suite *s = suite_create("elfkind");
	TCase *t = tcase_create("elfkind");

	tcase_add_loop_test(t, script_lines, 0, (int)(sizeof scripts / sizeof scripts[0]));
	tcase_add_test(t, script_line_is_cut_like_the_kernel);
	tcase_add_loop_test(t, interpreters, 0, (int)(sizeof interps / sizeof interps[0]));
	tcase_add_test(t, first_interpreter_counts);
	tcase_add_test(t, static_programs);
	tcase_add_test(t, notes);
	tcase_add_test(t, loaders);
	tcase_add_test(t, lying_notes);
	tcase_add_loop_test(t, broken_files, 0, (int)(sizeof broken / sizeof broken[0]));
	tcase_add_test(t, unreadable_and_unknown);
	suite_add_tcase(s, t);
	return s;
}
