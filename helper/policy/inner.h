/* The image of a nested run, made of its bundle inside the image around it. */
#ifndef PALE_HELPER_INNER_H
#define PALE_HELPER_INNER_H

#include "policy/rules/rule.h"

#include "helper/base/images.h"

/* The result of one bundle, before it has a number. */
/* The result of one bundle, before it has a number. */
struct inner {
	struct narrowed made;
	char *workspace, *sources;
	enum mode mode;
};

/* Makes the image of its bundle's text: 0, or -errno with a static sentence.  The caller frees what ret
 * holds. */
int inner_make(const struct image *around, bool may_ask, const char *text, size_t len, struct inner *ret,
	       const char **ret_err);
/* Compiles old's bundle inside `around`: 0 with *ret, which has no bundle of its own, or -errno. */
int inner_again(const struct narrowed *old, const struct image *around, struct narrowed *ret);

#endif
