/* The digest of an environment: the same before the program starts and after its loader has started. */
#ifndef PALE_SUPERVISOR_EXEC_ENVIRON_H
#define PALE_SUPERVISOR_EXEC_ENVIRON_H

#include <sodium.h>
#include <stdbool.h>
#include <stddef.h>

/* A BLAKE2b hash. */
struct exec_sum {
	unsigned char bytes[32];
};

/* Entries one after another, each with its NUL. */
struct environ_sum {
	crypto_generichash_state hash;
	bool in_tunables; /* the value of GLIBC_TUNABLES */
	bool holds;	  /* a separator of the tunables, until it is known what comes after it */
	char separator;
	size_t at; /* so much of the word that is looked for was found; beyond it: not here */
};

void environ_sum_begin(struct environ_sum *e);
void environ_sum_add(struct environ_sum *e, const char *bytes, size_t len);
struct exec_sum environ_sum_end(struct environ_sum *e);

#endif
