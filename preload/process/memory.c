/*
 * What can be read in this process.
 *
 * To ask the kernel costs a system call.  So it is asked only about memory that is not known to be there.
 * Known are the stack above the present frame, the program's own image, and the heap from the lowest place
 * that the kernel was asked about.  For any other page an answer is good for PAGE_USES calls: a program that
 * unmaps memory and names a file by it right afterwards may still crash.
 */
#include "memory.h"

#include <errno.h>
#include <link.h>
#include <sys/auxv.h>

#include "raw.h"
#include "session.h"

#undef p_type /* resolv.h renames it */

#define PAGE 4096ul
/* The kernel's limit of one argument. */
#define WORD_MAX  (32 * PAGE)
#define PAGE_WAYS 16
#define PAGE_USES 64
/* A frame that is farther from the end of the stack lies on another stack, perhaps of a signal handler. */
#define STACK_MAX (8ul << 20)

/* The end of the heap, as glibc knows it. */
extern void *__curbrk __attribute__((weak));

/* 0 until the kernel is first asked.  Two threads store the same values. */
static uintptr_t image_start, image_end, stack_end, heap_start = UINTPTR_MAX;
/* The page of an answer, and below it the number of uses that are left. */
static uintptr_t pages[PAGE_WAYS];

static inline uintptr_t thread_pointer(void)
{
#if defined(__x86_64__)
	uintptr_t p;

	__asm__("movq %%fs:0, %0" : "=r"(p));
	return p;
#else
	return (uintptr_t)__builtin_thread_pointer();
#endif
}

static bool is_known(uintptr_t at, size_t n)
{
	uintptr_t frame = (uintptr_t)__builtin_frame_address(0), thread = thread_pointer();
	/* glibc keeps what belongs to a thread above the thread's stack. */
	uintptr_t end = thread > frame ? thread : stack_end;

	if (at >= frame && at < end)
		return end - frame < STACK_MAX && end - at >= n;
	if (at >= image_start && at < image_end)
		return image_end - at >= n;
	end = &__curbrk ? (uintptr_t)__curbrk : 0;
	return at >= heap_start && at < end && end - at >= n;
}

/* Finds the program's image and the end of the first thread's stack, where the kernel has put the program's
 * name. */
static __attribute__((cold)) void learn(void)
{
	const ElfW(Phdr) *ph = (const void *)getauxval(AT_PHDR);
	size_t n = ph ? getauxval(AT_PHNUM) : 0;
	uintptr_t start = UINTPTR_MAX, end = 0, base = 0;

	for (size_t i = 0; i < n; i++) {
		if (ph[i].p_type == PT_PHDR)
			base = (uintptr_t)ph - ph[i].p_vaddr;
		if (ph[i].p_type != PT_LOAD)
			continue;
		start = ph[i].p_vaddr < start ? ph[i].p_vaddr : start;
		end = ph[i].p_vaddr + ph[i].p_memsz;
	}
	stack_end = getauxval(AT_EXECFN);
	if (end > start) {
		image_start = base + start;
		image_end = base + end;
	}
}

static bool is_fresh(uintptr_t p)
{
	uintptr_t *slot = &pages[p / PAGE % PAGE_WAYS], v = __atomic_load_n(slot, __ATOMIC_RELAXED);

	if ((v ^ p) >= PAGE || v % PAGE == 0)
		return false;
	__atomic_store_n(slot, v - 1, __ATOMIC_RELAXED);
	return true;
}

/* The kernel reads the word at p and then returns EINVAL, so the call has no effect.  valgrind writes a
 * warning of such a call, and reports a bad pointer itself. */
static bool is_readable(uintptr_t p)
{
	return session.in_valgrind || (p & ~7ul && raw4(SYS_rt_sigprocmask, -1l, p & ~7ul, 0, 8) != -EFAULT);
}

/* Asks the kernel about the page of p, and learns from the answer. */
static __attribute__((cold)) bool ask_kernel(uintptr_t p)
{
	if (!stack_end)
		learn();
	if (!is_readable(p))
		return false;
	/* The heap lies above the image, in one piece. */
	if (p >= image_end && &__curbrk && p < (uintptr_t)__curbrk && p < heap_start)
		heap_start = p;
	__atomic_store_n(&pages[p / PAGE % PAGE_WAYS], (p & ~(PAGE - 1)) | PAGE_USES, __ATOMIC_RELAXED);
	return true;
}

static bool ask(uintptr_t p)
{
	return is_fresh(p) || ask_kernel(p);
}

bool memory_has(const void *p, size_t n)
{
	uintptr_t at = (uintptr_t)p;

	return n == 0 || is_known(at, n) || (ask(at) && ((at ^ (at + n - 1)) < PAGE || ask(at + n - 1)));
}

/* Reads text page by page. */
static bool has_text(const char *text, size_t max)
{
	if (is_known((uintptr_t)text, 1))
		return true;
	for (size_t seen = 0, left; seen < max; seen += left) {
		left = PAGE - ((uintptr_t)text + seen) % PAGE;
		if (!ask((uintptr_t)text + seen))
			return false;
		if (memchr(text + seen, '\0', left))
			return true;
	}
	return true;
}

bool memory_has_path(const char *path)
{
	return has_text(path, LIMIT_PATH);
}

bool memory_has_words(char *const words[])
{
	for (size_t i = 0; words; i++) {
		if (!memory_has(&words[i], sizeof words[i]))
			return false;
		if (!words[i])
			return true;
		if (!has_text(words[i], WORD_MAX))
			return false;
	}
	return true;
}
