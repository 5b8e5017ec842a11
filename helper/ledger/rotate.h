/* Full files of the ledger are set aside and compressed. */
#ifndef PALE_HELPER_ROTATE_H
#define PALE_HELPER_ROTATE_H

#include <stdbool.h>
#include <sys/types.h>

struct ledger;

/* Creates LEDGER_FILE, locked as long as it is open: its descriptor, or -errno. */
int ledger_file_make(const struct ledger *l);
bool rotate_due(const struct ledger *l);
/*
 * Adds a checkpoint, sets the file aside as ledger.N.jsonl, continues in a new file and has the old one
 * compressed (.gz).  If that fails, the file continues to grow.
 */
void rotate(struct ledger *l);
/* Ends the compression: parts that are not done stay uncompressed. */
void rotate_stop(void);
#define PART_NAME_MAX 64
/* The file name of a part: ending is "" as it was written, ".gz" compressed. */
void ledger_part_name(char name[PART_NAME_MAX], unsigned part, const char *ending);
/*
 * Compresses one part.  0 once the compressed file is on the disk and the other one is removed, or -errno,
 * and nothing has changed; -EINTR once *stop is set.
 */
int ledger_compress(int dirfd, unsigned part, mode_t mode, const _Atomic bool *stop);

#endif
