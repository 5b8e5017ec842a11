/* Macros that every room may use: the elements of an array, a list that grows. */
#ifndef PALE_UTIL_H
#define PALE_UTIL_H

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))

/*
 * A new element, all zero, behind the n of a list that grows by this alone; NULL where there is no memory.
 * The caller counts it.  There is room up to the next power of two.  For what may allocate.
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
