/* Files read whole. */
#ifndef PALE_READFILE_H
#define PALE_READFILE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

struct diags;

/* Reads a regular file of at most limit bytes; *ret_text is NUL-terminated, the caller must free it.  0 or
 * -errno. */
int file_read(const char *path, size_t limit, char **ret_text, size_t *ret_len);
/* The same, with the status of the file that was read. */
int file_read_as(const char *path, size_t limit, char **ret_text, size_t *ret_len, struct stat *ret_st);
/* A reader for elf_inspect(): ctx points to an int, the descriptor. */
long file_read_at(void *ctx, void *buf, size_t len, uint64_t off);
/* As file_read() for a policy file: it must be regular, owned by root or the user, and not writable by
 * other users.  Otherwise -EPERM and a finding; -ENOENT is left to the caller. */
int policy_file_read(const char *path, char **ret_text, size_t *ret_len, struct diags *d);
/* Only these checks, for a file read by file_read_as(): 0, or -EPERM and a finding. */
int policy_file_check(const char *path, const struct stat *st, struct diags *d);

#endif
