/* Macros that every room may use: the elements of an array, the struct around a member, a list that grows. */
#ifndef PALE_UTIL_H
#define PALE_UTIL_H

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))

/* The struct whose member `member` p points to. */
#define CONTAINER_OF(p, type, member) ((type *)(void *)((char *)(p)-offsetof(type, member)))
/* The pointer p, which is NULL afterwards: it has another owner now. */
#define TAKE_PTR(p)                                                                                          \
	({                                                                                                   \
		__typeof__(p) *take_ = &(p);                                                                 \
		__typeof__(p) taken_ = *take_;                                                               \
		*take_ = NULL;                                                                               \
		taken_;                                                                                      \
	})

/*
 * Appends an element, all zero, to a list of n; NULL where there is no memory.  The caller must count it,
 * and must extend the list by this macro alone: it has room up to the next power of two.  Only for code
 * that may allocate.
 */
#define LIST_NEW(list, n)                                                                                    \
	({                                                                                                   \
		size_t n_ = (n);                                                                             \
		__typeof__(list) new_ =                                                                      \
			n_ & (n_ - 1) ? (list) : reallocarray((list), n_ ? 2 * n_ : 1, sizeof(*(list)));     \
		if (new_) {                                                                                  \
			(list) = new_;                                                                       \
			new_ = memset(new_ + n_, 0, sizeof(*new_));                                          \
		}                                                                                            \
		new_;                                                                                        \
	})

#endif
