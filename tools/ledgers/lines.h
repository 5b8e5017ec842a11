/*
 * Ledgers on disk: found, read line by line, compared with the heads that were kept, removed.
 *
 * The lines of a ledger as they are appended, across the files that it was divided into when they were full.
 * Included by tools.h alone.
 */
#ifndef PALE_LINES_H
#define PALE_LINES_H

#include <stddef.h>

#define LEDGER_NAME "ledger.jsonl"
#define LEDGER_DAYS 90 /* as the helper's RETENTION_DAYS: then it is removed */

struct line_reader {
	int fd;
	void *gz; /* the decompressor of a finished file, or NULL */
	char *buf;
	size_t len, cap, used;
	/* Of a ledger: where it lies, and which of its files is being read; 0 is the one that grows. */
	char *dir;
	unsigned part, next_part;
};

/*
 * Opens a file; one that is called LEDGER_NAME from the first of its finished parts on (ledger.1.jsonl.gz
 * ...). 0 or -errno.
 */
int line_reader_open(struct line_reader *r, const char *path);
/*
 * 1 with a line (without its newline, valid until the next call), 0 at the end of what is written, -EBADMSG
 * where a finished part is damaged, -errno.
 */
int line_reader_next(struct line_reader *r, const char **ret_line, size_t *ret_len);
/* Bytes of an unfinished last line. */
size_t line_reader_torn(const struct line_reader *r);
void line_reader_close(struct line_reader *r);

#endif
