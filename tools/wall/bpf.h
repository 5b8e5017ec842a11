/*
 * A small assembler for classic BPF, as far as seccomp reads it.
 *
 * A program is a graph of tests whose leaves are actions.  It is built from its leaves: an instruction is
 * added after everything that may follow it, so every jump goes forward, as classic BPF demands, and its
 * distance is known (as in Chromium's sandbox/linux/bpf_dsl/codegen.cc).  This also allows two things: a
 * conditional jump that reaches further than its 8 bits gets a stepping stone, and an equal instruction
 * with the same successors that is near enough is used again.
 *
 * The functions take and return positions in the program, which stay valid.  bpf_finish() reports a lack of
 * room.
 */
#ifndef PALE_BPF_H
#define PALE_BPF_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stdint.h>

struct bpf_node {
	struct sock_filter op;
	unsigned yes, no; /* the targets as the caller gave them, to find an equal node */
};

struct bpf {
	struct bpf_node *list; /* the last instruction of the program first */
	unsigned n;
	bool full;
};

/* 0 or -ENOMEM.  bpf_done() in each case. */
int bpf_init(struct bpf *p);
void bpf_done(struct bpf *p);

/* Ends the program with a SECCOMP_RET_ value. */
unsigned bpf_return(struct bpf *p, uint32_t action);
/* Loads the word of struct seccomp_data at that offset for the tests; then next. */
unsigned bpf_load(struct bpf *p, uint32_t offset, unsigned next);
/* Keeps only the bits of mask in the loaded word; then next. */
unsigned bpf_mask(struct bpf *p, uint32_t mask, unsigned next);
/* Tests the loaded word.  test: BPF_JEQ, BPF_JGE, BPF_JGT (unsigned) or BPF_JSET (any bit of k). */
unsigned bpf_test(struct bpf *p, uint16_t test, uint32_t k, unsigned yes, unsigned no);

/* The program that starts at `start`; the caller frees ret->filter.  0, -ENOMEM, -E2BIG. */
int bpf_finish(struct bpf *p, unsigned start, struct sock_fprog *ret);

#endif
