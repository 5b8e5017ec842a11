/* How long things are kept, how large a log becomes: what is a word for it and what is none. */
#include <check.h>
#include <errno.h>

#include "policy/base/expiry.h"

Suite *suite_keep(void);

static const struct {
	const char *word;
	int seconds; /* -EINVAL: none */
} words[] = {
	{ "1s", 1 },
	{ "48h", 48 * 3600 },
	{ "30m", 1800 },
	{ "7d", 7 * 86400 },
	{ "3650d", 3650 * 86400 },
	{ "999999999s", -EINVAL },
	{ "3651d", -EINVAL },
	{ "0h", -EINVAL },
	{ "-1h", -EINVAL },
	{ "+1h", -EINVAL },
	{ " 1h", -EINVAL },
	{ "48", -EINVAL },
	{ "h", -EINVAL },
	{ "", -EINVAL },
	{ "1.5h", -EINVAL },
	{ "1h ", -EINVAL },
	{ "1hh", -EINVAL },
	{ "1H", -EINVAL },
	{ "1w", -EINVAL },
	{ "99999999999999999999s", -EINVAL },
	{ "2147483648s", -EINVAL },
	{ "4294967297s", -EINVAL },
};

START_TEST(test_expiry)
{
	ck_assert_int_eq(expiry_parse(words[_i].word), words[_i].seconds);
}
END_TEST

Suite *suite_keep(void)
{
	Suite *s = suite_create("keep");
	TCase *t = tcase_create("expiry");

	tcase_add_loop_test(t, test_expiry, 0, (int)(sizeof(words) / sizeof(words[0])));
	suite_add_tcase(s, t);
	return s;
}
