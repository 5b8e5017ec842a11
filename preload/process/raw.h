/*
 * System calls without libc: no errno, no cancellation, no PLT, so that a hook never enters a function that
 * another preloaded object or the program interposes.  Results are the kernel's: -errno on failure.
 * async-signal-safe, vfork-safe.
 */
#ifndef PALE_RAW_H
#define PALE_RAW_H

#include <asm/unistd.h>
#include <stdint.h>
#include <sys/syscall.h>

#if defined(__clang_analyzer__) || defined(RAW_FAKED)
/* An analyser does not see what the kernel writes through asm; it assumes that a function may write to any
 * address it gets.  In the unit tests a function stands for the kernel (tests/unit/faked.c). */
long raw6(long nr, long a, long b, long c, long d, long e, long f);
long raw_pass(const uint64_t *pass, long nr, long a, long b, long c, long d, long e);
long raw_clone(long flags, void *top, int *pidfd, int (*fn)(void *arg), void *arg);
#else

static inline long raw6(long nr, long a, long b, long c, long d, long e, long f)
{
#if defined(__x86_64__)
	long ret;
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = nr;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc 0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory", "cc");
	return x0;
#else
#error "pale knows the system calls of x86-64 and aarch64"
#endif
}

/*
 * The same for a call with at most five arguments, with the word at `pass` as the sixth: see gate.h.  The
 * pass goes from memory directly into that register, and the register is cleared before any other code
 * runs, so a compiler never spills it.
 */
static inline long raw_pass(const uint64_t *pass, long nr, long a, long b, long c, long d, long e)
{
#if defined(__x86_64__)
	long ret;
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;

	__asm__ volatile("movq %[pass], %%r9\n\tsyscall\n\txorl %%r9d, %%r9d"
			 : "=a"(ret)
			 : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), [pass] "m"(*pass)
			 : "rcx", "r9", "r11", "cc", "memory");
	return ret;
#else
	register long x8 __asm__("x8") = nr;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;

	__asm__ volatile("ldr x5, %[pass]\n\tsvc 0\n\tmov x5, xzr"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), [pass] "Q"(*pass)
			 : "x5", "memory", "cc");
	return x0;
#endif
}

/*
 * clone(2) without libc: a sanitizer interposes libc's function, and takes what it starts for a fork.  The
 * child runs fn(arg), which must not return, on the stack that ends at `top`, aligned to 16 bytes.
 */
static inline long raw_clone(long flags, void *top, int *pidfd, int (*fn)(void *arg), void *arg)
{
#if defined(__x86_64__)
	long ret;

	__asm__ volatile("syscall\n\ttestq %%rax, %%rax\n\tjnz 1f\n\t"
			 "movq %[arg], %%rdi\n\tcall *%[fn]\n\tud2\n1:"
			 : "=a"(ret)
			 : "a"(__NR_clone), "D"(flags), "S"(top), "d"(pidfd), [fn] "r"(fn), [arg] "r"(arg)
			 : "rcx", "r11", "cc", "memory");
	return ret;
#else
	register long x8 __asm__("x8") = __NR_clone;
	register long x0 __asm__("x0") = flags;
	register void *x1 __asm__("x1") = top;
	register void *x2 __asm__("x2") = pidfd;

	__asm__ volatile("svc 0\n\tcbnz x0, 1f\n\tmov x0, %[arg]\n\tblr %[fn]\n\tbrk #1\n1:"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), [fn] "r"(fn), [arg] "r"(arg)
			 : "x30", "memory", "cc");
	return x0;
#endif
}

#endif

#define RAW_ARG(x)		((long)(x))
#define raw0(nr)		raw6(nr, 0, 0, 0, 0, 0, 0)
#define raw1(nr, a)		raw6(nr, RAW_ARG(a), 0, 0, 0, 0, 0)
#define raw2(nr, a, b)		raw6(nr, RAW_ARG(a), RAW_ARG(b), 0, 0, 0, 0)
#define raw3(nr, a, b, c)	raw6(nr, RAW_ARG(a), RAW_ARG(b), RAW_ARG(c), 0, 0, 0)
#define raw4(nr, a, b, c, d)	raw6(nr, RAW_ARG(a), RAW_ARG(b), RAW_ARG(c), RAW_ARG(d), 0, 0)
#define raw5(nr, a, b, c, d, e) raw6(nr, RAW_ARG(a), RAW_ARG(b), RAW_ARG(c), RAW_ARG(d), RAW_ARG(e), 0)

#endif
