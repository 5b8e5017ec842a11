/*
 * A small assembler for classic BPF, as far as seccomp reads it.
 *
 * A program is a graph of tests whose leaves are actions, and it is built from its leaves: an
 * instruction is added when all that may follow it is there, so every jump goes forward, as classic
 * BPF demands, and every distance is known when it is written (the way of Chromium's code
 * generator, sandbox/linux/bpf_dsl/codegen.cc).  Two things fall out of that: a conditional jump
 * that reaches further than its 8 bits gets a stepping stone, and an instruction that stands there
 * already, near enough and with the same successors, is used again instead of being written twice.
 *
 * A place in the program is what the functions return and take.  Places stay valid; running out of
 * room is remembered and told by bpf_finish().
 */
#ifndef PALE_BPF_H
#define PALE_BPF_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stdint.h>

struct bpf_node {
	struct sock_filter op;
	unsigned yes, no; /* as they were asked for, to know the same node again */
};

struct bpf {
	struct bpf_node *list; /* the last instruction of the program first */
	unsigned n;
	bool full;
};

/* 0 or -ENOMEM.  bpf_done() in each case. */
int bpf_init(struct bpf *p);
void bpf_done(struct bpf *p);

/* Ends with a SECCOMP_RET_ value. */
unsigned bpf_return(struct bpf *p, uint32_t action);
/* A word of struct seccomp_data at that offset becomes what is tested; then next. */
unsigned bpf_load(struct bpf *p, uint32_t offset, unsigned next);
/* Keeps the bits of mask of what is tested; then next. */
unsigned bpf_mask(struct bpf *p, uint32_t mask, unsigned next);
/* test: BPF_JEQ, BPF_JGE, BPF_JGT (unsigned) or BPF_JSET (any bit of k). */
unsigned bpf_test(struct bpf *p, uint16_t test, uint32_t k, unsigned yes, unsigned no);

/* The program that starts at `start`; the caller frees ret->filter.  0, -ENOMEM, -E2BIG. */
int bpf_finish(struct bpf *p, unsigned start, struct sock_fprog *ret);

#endif
