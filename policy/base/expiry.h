/* The time that things are kept, as people write it. */
#ifndef PALE_EXPIRY_H
#define PALE_EXPIRY_H

/* "30s", "5m", "48h", "7d" (1s to 3650d) in seconds, or -EINVAL. */
int expiry_parse(const char *word);

#endif
