/*
 * The assembler: positions count from the end of the program, so they stay the same while instructions are
 * put in front.
 */
#include "bpf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* How far a jump may reach: 255, less the stepping stones that may be put before its other target. */
#define NEAR 250

int bpf_init(struct bpf *p)
{
	*p = (struct bpf){ .list = calloc(BPF_MAXINSNS, sizeof(*p->list)) };
	return p->list ? 0 : -ENOMEM;
}

void bpf_done(struct bpf *p)
{
	free(p->list);
	p->list = NULL;
}

static bool is_same_node(const struct bpf_node *a, const struct bpf_node *b)
{
	return a->op.code == b->op.code && a->op.k == b->op.k && a->yes == b->yes && a->no == b->no;
}

/* Finds an equal instruction in reach.  One that is out of reach would need a stepping stone, which saves
 * nothing. */
static bool find_near(const struct bpf *p, const struct bpf_node *node, unsigned *ret)
{
	unsigned end = p->n > NEAR ? p->n - NEAR : 0;

	for (unsigned i = p->n; i-- > end;)
		if (is_same_node(&p->list[i], node)) {
			*ret = i;
			return true;
		}
	return false;
}

static unsigned put_node(struct bpf *p, const struct bpf_node *node)
{
	if (p->n == BPF_MAXINSNS) {
		p->full = true;
		return 0;
	}
	p->list[p->n] = *node;
	return p->n++;
}

/* Makes target directly follow p->n: copies it where it ends the program, otherwise puts a jump. */
static unsigned put_stone(struct bpf *p, unsigned target)
{
	struct bpf_node stone = { .op = BPF_STMT(BPF_JMP | BPF_JA, p->n - target - 1),
				  .yes = target,
				  .no = target };

	if (p->list[target].op.code == (BPF_RET | BPF_K))
		stone = p->list[target];
	return put_node(p, &stone);
}

/* The target, or a stepping stone to it, in reach of the next conditional jump. */
static unsigned near_place(struct bpf *p, unsigned target)
{
	const struct bpf_node *at = &p->list[target];
	unsigned known;

	if (p->n - target <= NEAR)
		return target;
	if (at->op.code == (BPF_RET | BPF_K) && find_near(p, at, &known))
		return known;
	return put_stone(p, target);
}

unsigned bpf_return(struct bpf *p, uint32_t action)
{
	struct bpf_node node = { .op = BPF_STMT(BPF_RET | BPF_K, action) };
	unsigned known;

	return find_near(p, &node, &known) ? known : put_node(p, &node);
}

/* Puts an instruction that falls through to the next. */
static unsigned put_straight(struct bpf *p, uint16_t code, uint32_t k, unsigned next)
{
	struct bpf_node node = { .op = BPF_STMT(code, k), .yes = next, .no = next };
	unsigned known;

	if (find_near(p, &node, &known))
		return known;
	if (p->n != next + 1)
		(void)put_stone(p, next);
	return put_node(p, &node);
}

unsigned bpf_load(struct bpf *p, uint32_t offset, unsigned next)
{
	return put_straight(p, BPF_LD | BPF_W | BPF_ABS, offset, next);
}

unsigned bpf_mask(struct bpf *p, uint32_t mask, unsigned next)
{
	return put_straight(p, BPF_ALU | BPF_AND | BPF_K, mask, next);
}

unsigned bpf_test(struct bpf *p, uint16_t test, uint32_t k, unsigned yes, unsigned no)
{
	struct bpf_node node = { .op = BPF_STMT(BPF_JMP | BPF_K | test, k), .yes = yes, .no = no };
	unsigned known, to_yes, to_no;

	if (yes == no)
		return yes;
	if (find_near(p, &node, &known))
		return known;
	to_yes = near_place(p, yes);
	to_no = near_place(p, no);
	node.op.jt = (uint8_t)(p->n - to_yes - 1);
	node.op.jf = (uint8_t)(p->n - to_no - 1);
	return put_node(p, &node);
}

int bpf_finish(struct bpf *p, unsigned start, struct sock_fprog *ret)
{
	struct sock_filter *list;

	if (start + 1 != p->n)
		(void)put_stone(p, start);
	if (p->full)
		return -E2BIG;
	list = calloc(p->n, sizeof(*list));
	if (!list)
		return -ENOMEM;
	for (unsigned i = 0; i < p->n; i++)
		list[i] = p->list[p->n - 1 - i].op;
	*ret = (struct sock_fprog){ .len = (unsigned short)p->n, .filter = list };
	return 0;
}
