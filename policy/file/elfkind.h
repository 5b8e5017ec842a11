/*
 * What would happen to the preload if this file were executed?  The file is hostile, so every offset is
 * checked.  No allocation, no system call: the caller reads the file.
 */
#ifndef PALE_ELFKIND_H
#define PALE_ELFKIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum elf_kind {
	ELF_UNKNOWN,	/* not ELF, not a script: the kernel refuses it, or binfmt_misc decides */
	ELF_SCRIPT,	/* #! : judge the interpreter */
	ELF_DYNAMIC,	/* PT_INTERP names a known dynamic loader: the preload loads */
	ELF_STATIC,	/* no PT_INTERP */
	ELF_FOREIGN,	/* other class or machine */
	ELF_ODD_LOADER, /* PT_INTERP that is not a known loader */
	ELF_GO,		/* Go: loads the preload, but calls none of its functions */
	ELF_MUSL,	/* dynamic, musl's loader */
	ELF_BROKEN	/* claims to be ELF and is not */
};

struct elf_info {
	enum elf_kind kind;
	char interp[256];     /* ELF: PT_INTERP; script: the interpreter */
	char interp_arg[256]; /* script: its one argument, or "" */
	uint8_t build_id[20];
	uint8_t build_id_len;
	bool is_loader;	    /* the result of elf_is_loader(), where it was called */
	bool is_executable; /* for the process that is judged; set only for loads.h */
};

/* Reads up to len bytes at off of the file into buf; returns the count or -errno. */
typedef long (*elf_read_fn)(void *ctx, void *buf, size_t len, uint64_t off);

/* Never fails: what cannot be read is ELF_BROKEN or ELF_UNKNOWN. async-signal-safe. */
void elf_inspect(elf_read_fn read, void *ctx, struct elf_info *ret);
/* True where the file, of the kind that elf_inspect() found, is a dynamic loader: a program that opens and
 * runs the program that its arguments name. */
bool elf_is_loader(elf_read_fn read, void *ctx, enum elf_kind kind);
const char *elf_kind_text(enum elf_kind kind); /* "statically linked", ... */
/* True where the preload loads and sees the program's calls. */
bool elf_is_hookable(enum elf_kind kind);

#endif
