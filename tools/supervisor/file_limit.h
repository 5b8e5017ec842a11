/* Limits that follow from the number of descriptors that the supervisor may have. */
#ifndef PALE_FILE_LIMIT_H
#define PALE_FILE_LIMIT_H

/* The number of objects, each holding a few descriptors, that may exist at once: `most`, or one for each
 * `share` descriptors of the supervisor's limit where that is less, so that calls find enough of them. */
unsigned limit_by_files(unsigned most, unsigned share);

#endif
