/*
 * Reads the lines of a ledger in order, across the files that it was divided into when they were full.
 */
#ifndef PALE_LINES_H
#define PALE_LINES_H

#include <stddef.h>

#define LEDGER_NAME    "ledger.jsonl"
#define LEDGER_RESERVE "ledger.reserve" /* as the helper's RESERVE_FILE */
#define LEDGER_DAYS    90		/* as the helper's RETENTION_DAYS: older ledgers are removed */

struct line_reader {
	int fd;
	void *gz; /* the decompressor of a finished file, or NULL */
	char *buf;
	size_t len, cap, used;
	/* For a ledger: its directory, and the part that is being read; 0 is the one that grows. */
	char *dir;
	unsigned part, next_part;
};

/* Opens a file.  Where its name is LEDGER_NAME, reading starts with the first of its finished parts
 * (ledger.1.jsonl.gz ...).  0 or -errno. */
int line_reader_open(struct line_reader *r, const char *path);
/* 1 with a line (without its newline, valid until the next call), 0 at the end of the written lines,
 * -EBADMSG where a finished part is damaged, -errno. */
int line_reader_next(struct line_reader *r, const char **ret_line, size_t *ret_len);
/* The number of bytes of an unfinished last line. */
size_t line_reader_torn(const struct line_reader *r);
void line_reader_close(struct line_reader *r);

#endif
